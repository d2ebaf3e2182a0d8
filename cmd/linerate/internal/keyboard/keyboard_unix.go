//go:build unix

package keyboard

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ErrBackground means that the shell has put the process into the background, where keys
// belong to others.
var ErrBackground = errors.New("running in the background")

// Open switches the terminal to single keys and reads them until Close. The settings are
// made again when the process comes back to the foreground, since shells put their own in
// between.
func Open(tty *os.File) (*Keyboard, error) {
	fd := int(tty.Fd())
	if !foreground(fd) {
		return nil, ErrBackground
	}
	before, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil, fmt.Errorf("reading the terminal's settings: %w", err)
	}
	single := *before
	single.Lflag &^= unix.ICANON | unix.ECHO
	// A read gives up after 100 ms, so that the reader sees Close.
	single.Cc[unix.VMIN], single.Cc[unix.VTIME] = 0, 1
	if err := unix.IoctlSetTermios(fd, setTermios, &single); err != nil {
		return nil, fmt.Errorf("changing the terminal's settings: %w", err)
	}
	set := func(state *unix.Termios) func() {
		return func() {
			if foreground(fd) {
				unix.IoctlSetTermios(fd, setTermios, state)
			}
		}
	}
	k := &Keyboard{keys: make(chan byte, 16), stop: make(chan struct{}), restore: set(before)}
	// After "bg" a read must fail, not stop the process.
	signal.Ignore(syscall.SIGTTIN)
	k.ended.Go(func() { k.read(fd, set(&single)) })
	return k, nil
}

// comeBack is how often a process in the background looks whether it still is.
const comeBack = 300 * time.Millisecond

// foreground reports whether the terminal's keys are for this process. A terminal that is
// not the controlling one has no jobs.
func foreground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

func (k *Keyboard) read(fd int, again func()) {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	key := make([]byte, 1)
	for {
		select {
		case <-k.stop:
			return
		case <-continued:
			again()
		default:
		}
		n, err := unix.Read(fd, key)
		switch {
		case n == 1:
			k.hand(key[0])
		case err != nil && err != unix.EINTR:
			// In the background, or the terminal is gone. "fg" says nothing to a job that
			// was running.
			select {
			case <-k.stop:
				return
			case <-time.After(comeBack):
				again()
			}
		}
	}
}
