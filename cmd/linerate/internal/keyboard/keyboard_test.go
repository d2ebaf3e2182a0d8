//go:build linux

package keyboard

import (
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"linerate/cmd/linerate/internal/ptytest"
)

func TestKeys(t *testing.T) {
	tty := ptytest.Open(t, 80, 24)
	before := tty.Termios(t)
	k, err := Open(tty.Slave)
	if err != nil {
		t.Fatal(err)
	}
	stop := tty.Read()
	tty.Type(t, "q")
	if got := next(t, k); got != 'q' {
		t.Errorf("key: got %q, want q", got)
	}
	if tty.Termios(t).Lflag&unix.ISIG == 0 {
		t.Error("Ctrl-C no longer sends a signal")
	}
	k.Close()
	stop()
	if diff := cmp.Diff(before, tty.Termios(t)); diff != "" {
		t.Errorf("terminal settings after Close (-before +after):\n%s", diff)
	}
	if got := tty.Output(); got != "" {
		t.Errorf("the key was echoed: %q", got)
	}
}

// After Ctrl-Z and fg the shell has put its own settings in place.
func TestKeysAfterContinue(t *testing.T) {
	tty := ptytest.Open(t, 80, 24)
	before := tty.Termios(t)
	k, err := Open(tty.Slave)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if err := unix.IoctlSetTermios(int(tty.Slave.Fd()), setTermios, &before); err != nil {
		t.Fatal(err)
	}
	// The running read still waits for a whole line: give it one.
	tty.Type(t, "\n")
	next(t, k)
	syscall.Kill(syscall.Getpid(), syscall.SIGCONT)
	deadline := time.Now().Add(10 * time.Second)
	for tty.Termios(t).Lflag&unix.ICANON != 0 {
		if time.Now().After(deadline) {
			t.Fatal("single keys are not back 10 s after SIGCONT")
		}
		tty.Type(t, "\n") // lets a read that waits for a line return
		time.Sleep(10 * time.Millisecond)
	}
}

func next(t *testing.T, k *Keyboard) byte {
	t.Helper()
	select {
	case key := <-k.Keys():
		return key
	case <-time.After(10 * time.Second):
		t.Fatal("no key within 10 s")
		return 0
	}
}
