//go:build linux

package main

import (
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/cmd/linerate/internal/ptytest"
)

// crashing is the program with a way to crash it, which only this test binary has: SIGUSR1
// brings the end that CRASH names, while everything else runs.
func crashing() {
	end := os.Getenv("CRASH")
	if os.Getenv("LINERATE_CRASH_WATCHER") == "" { // the watcher is this binary too
		now := make(chan os.Signal, 1)
		signal.Notify(now, syscall.SIGUSR1)
		go func() {
			<-now
			crash(end)
		}()
	}
	main()
}

func crash(end string) {
	switch end {
	case "own goroutine":
		panic("test: own goroutine")
	case "library goroutine":
		time.AfterFunc(0, func() { panic("test: library goroutine") })
	case "fatal error":
		m := map[int]int{}
		for range 4 {
			go func() {
				for i := 0; ; i++ {
					m[i%8]++
				}
			}()
		}
	}
}

// TestDashboardCrash crashes the whole program under its dashboard: the terminal is as it
// was before, and a line says where the report is.
func TestDashboardCrash(t *testing.T) {
	for _, end := range []string{"own goroutine", "library goroutine", "fatal error"} {
		t.Run(end, func(t *testing.T) {
			tty := ptytest.Open(t, 120, 40)
			before := tty.Termios(t)
			stop := tty.Read()
			defer stop()
			cmd := linerate(t.Context(), "demo", "-b", "10M")
			cmd.Args[0] = "crashing"
			startInTerminal(t, tty, cmd, "CRASH="+end)
			tty.WaitFor(t, patience, "rate on the screen", holds("Mbit/s"))
			cmd.Process.Signal(syscall.SIGUSR1)
			if code := exitCode(t, cmd, patience); code != 2 {
				t.Errorf("exit code: got %d, want 2, that of a crashed Go program", code)
			}
			tty.WaitFor(t, patience, "crash notice", holds("the crash report is in "))
			if diff := cmp.Diff(before, tty.Termios(t)); diff != "" {
				t.Errorf("terminal settings changed (-before +after):\n%s", diff)
			}
			if last := afterScreen(t, tty.Output()); !strings.HasPrefix(last, "linerate: error: crashed: ") {
				t.Errorf("after the screen was left: got %q", last)
			}
		})
	}
}

// startInTerminal gives the program a terminal and an environment of its own; it returns
// the state folder.
func startInTerminal(t *testing.T, tty *ptytest.Term, cmd *exec.Cmd, env ...string) (state string) {
	t.Helper()
	state = t.TempDir()
	cmd.Env = append([]string{"TERM=xterm-256color", "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH"), "XDG_STATE_HOME=" + state}, env...)
	tty.Start(t, cmd)
	return state
}
