package main

import (
	"linerate/cmd/linerate/internal/quiet"

	"context"
	"os"

	"linerate/cmd/linerate/internal/guard"
)

func main() {
	if guard.Main() {
		return
	}
	quiet.Restore()
	collectRarely()
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
