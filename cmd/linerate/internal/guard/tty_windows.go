//go:build windows

package guard

import (
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

var survived = []os.Signal{os.Interrupt, syscall.SIGTERM}

// detached keeps Ctrl-C, which Windows sends to a whole process group, from the watcher.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// remember reads the modes of the console, output by tty and input by name, and returns
// what leaves the screen and restores them. The screen comes first: the modes may end the
// console's reading of escape sequences.
func remember(tty *os.File, leave string) (restore func(), err error) {
	out := windows.Handle(tty.Fd())
	var outMode uint32
	if err := windows.GetConsoleMode(out, &outMode); err != nil {
		return nil, err
	}
	in, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	var inMode uint32
	if err := windows.GetConsoleMode(windows.Handle(in.Fd()), &inMode); err != nil {
		in.Close()
		return nil, err
	}
	return func() {
		io.WriteString(tty, leave)
		windows.SetConsoleMode(windows.Handle(in.Fd()), inMode)
		windows.SetConsoleMode(out, outMode)
	}, nil
}
