package main

import (
	"io"
	"os"
	"runtime"

	"github.com/charmbracelet/x/term"
)

// console is a terminal that a dashboard can use.
type console struct {
	screen *os.File // drawn on
	keys   *os.File // read from: standard input, or the terminal that controls the process
	opened bool     // keys must be closed
}

// terminal gives the console of the program, or the reason why it has none.
func terminal(in io.Reader, w io.Writer) (c *console, why string) {
	out, isFile := w.(*os.File)
	switch name := os.Getenv("TERM"); {
	case !isFile || !term.IsTerminal(out.Fd()):
		return nil, "the output is not a terminal"
	case name == "dumb":
		return nil, "TERM is dumb"
	case name == "" && runtime.GOOS != "windows":
		return nil, "TERM is not set"
	}
	if f, isFile := in.(*os.File); isFile && term.IsTerminal(f.Fd()) {
		return &console{screen: out, keys: f}, ""
	}
	if runtime.GOOS == "windows" {
		return nil, "the input is not a terminal" // resizing works with standard input only
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, "there is no terminal to read keys from"
	}
	return &console{screen: out, keys: tty, opened: true}, ""
}

func (c *console) close() {
	if c != nil && c.opened {
		c.keys.Close()
	}
}
