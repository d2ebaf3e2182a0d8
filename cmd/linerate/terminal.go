package main

import (
	"io"
	"os"
	"runtime"

	"github.com/charmbracelet/x/term"
)

// terminal gives the file behind w if a dashboard can be drawn on it and keys can be read,
// or the reason why not.
func terminal(in io.Reader, w io.Writer) (tty *os.File, why string) {
	out, isFile := w.(*os.File)
	switch name := os.Getenv("TERM"); {
	case !isFile || !term.IsTerminal(out.Fd()):
		return nil, "the output is not a terminal"
	case name == "dumb":
		return nil, "TERM is dumb"
	case name == "" && runtime.GOOS != "windows":
		return nil, "TERM is not set"
	case !hasKeys(in):
		return nil, "there is no terminal to read keys from"
	}
	return out, ""
}

// hasKeys reports whether keys can be read: from standard input, or else from the
// terminal that controls the process.
func hasKeys(in io.Reader) bool {
	if f, isFile := in.(*os.File); isFile && term.IsTerminal(f.Fd()) {
		return true
	}
	if runtime.GOOS == "windows" {
		return false
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	tty.Close()
	return true
}
