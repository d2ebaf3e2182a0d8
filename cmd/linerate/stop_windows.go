//go:build windows

package main

import (
	"os"
	"syscall"
)

// endings are the signals that end a run. Go delivers the closing of the console window as
// SIGTERM.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM}

func isHangUp(os.Signal) bool { return false }

// lives reports whether a process exists. On Windows finding one means opening it.
func lives(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	p.Release()
	return true
}
