//go:build linux

// Package ptytest gives tests a terminal: a pseudo-terminal whose other end the test
// reads, answers or lets stall.
//
// The tests of cmd/linerate and cmd/linerate/internal/guard use it. It is Linux only, as
// those tests are, and never part of the program.
package ptytest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Term is one pseudo-terminal. The program under test has Slave; the test holds Master.
type Term struct {
	Master, Slave *os.File

	mu    sync.Mutex
	out   bytes.Buffer
	fresh chan struct{} // closed and replaced whenever out grows
}

// Open makes a terminal of the given size. Nobody reads it until Read is called. It is
// closed when the test ends.
func Open(t testing.TB, cols, rows int) *Term {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	term := &Term{Master: master, fresh: make(chan struct{})}
	t.Cleanup(func() { master.Close() })
	var name string
	err = withFD(master, func(fd int) error {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		n, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
		name = fmt.Sprintf("/dev/pts/%d", n)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// Not os.OpenFile: that would make the terminal non-blocking for the program too.
	slave, err := unix.Open(name, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	term.Slave = os.NewFile(uintptr(slave), name)
	t.Cleanup(func() { term.Slave.Close() })
	size := &unix.Winsize{Col: uint16(cols), Row: uint16(rows)}
	err = withFD(term.Slave, func(fd int) error { return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, size) })
	if err != nil {
		t.Fatal(err)
	}
	return term
}

// withFD runs f on the descriptor without taking the file out of the netpoller, so that
// reads can still be interrupted by closing it.
func withFD(file *os.File, f func(fd int) error) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	err = raw.Control(func(fd uintptr) { inner = f(int(fd)) })
	return errors.Join(err, inner)
}

// Start runs cmd with the terminal as its input, output, errors and controlling
// terminal. It is killed when the test ends, if it still lives.
func (m *Term) Start(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = m.Slave, m.Slave, m.Slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
}

// Read collects what the program prints until stop is called, which waits for the reader
// to end, or until the terminal is closed.
func (m *Term) Read() (stop func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 32<<10)
		for {
			n, err := m.Master.Read(buf)
			m.mu.Lock()
			m.out.Write(buf[:n])
			close(m.fresh)
			m.fresh = make(chan struct{})
			m.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return func() {
		m.Master.SetReadDeadline(time.Now())
		<-done
		m.Master.SetReadDeadline(time.Time{})
	}
}

// Output is all that was read so far.
func (m *Term) Output() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.out.String()
}

// Type sends keys to the program.
func (m *Term) Type(t testing.TB, keys string) {
	t.Helper()
	if _, err := m.Master.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// WaitFor returns once want holds of the output, and fails the test when that takes
// longer than limit; what says what was waited for.
func (m *Term) WaitFor(t testing.TB, limit time.Duration, what string, want func(output string) bool) {
	t.Helper()
	deadline := time.After(limit)
	for {
		m.mu.Lock()
		ok, fresh := want(m.out.String()), m.fresh
		m.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-fresh:
		case <-deadline:
			t.Fatalf("no %s within %v; the terminal got:\n%q", what, limit, m.Output())
		}
	}
}

// Termios reads the terminal's settings.
func (m *Term) Termios(t testing.TB) unix.Termios {
	t.Helper()
	var state unix.Termios
	err := withFD(m.Slave, func(fd int) error {
		s, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err == nil {
			state = *s
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return state
}
