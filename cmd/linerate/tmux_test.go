//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tmux is a terminal emulator whose screen can be read.
type tmux struct {
	t      *testing.T
	socket string
}

// inTmux starts the program in a terminal of the given size. When it has ended the screen
// shows its exit code and stays.
func inTmux(t *testing.T, cols, rows int, args ...string) *tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		gate(t, "tmux is needed: %v", err)
	}
	program, dir := installed(t)
	m := &tmux{t: t, socket: fmt.Sprintf("lr-test-%d-%s", os.Getpid(), filepath.Base(dir))}
	line := fmt.Sprintf("XDG_STATE_HOME=%s %s %s; echo exit=$?; sleep 600", dir, program, strings.Join(args, " "))
	m.do("new-session", "-d", "-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows), "sh", "-c", line)
	t.Cleanup(func() { exec.Command("tmux", "-L", m.socket, "kill-server").Run() })
	return m
}

func (m *tmux) do(args ...string) string {
	m.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-L", m.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = append(os.Environ(), "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "SHELL=/bin/sh")
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (m *tmux) screen() string { return m.do("capture-pane", "-p") }

func (m *tmux) press(keys ...string) { m.do(append([]string{"send-keys"}, keys...)...) }

// await polls the screen until want holds.
func (m *tmux) await(what string, want func(screen string) bool) string {
	m.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		screen := m.screen()
		if want(screen) {
			return screen
		}
		if time.Now().After(deadline) {
			m.t.Fatalf("no %s within %v; the screen is:\n%s", what, patience, screen)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// A whole session as an operator has it: start the demo, add a stream, turn the direction,
// quit, read the summary.
func TestDemoInTmux(t *testing.T) {
	m := inTmux(t, 120, 40, "demo", "-b", "50M", "-O", "1")
	m.await("upload", holdsAll("▲ TCP ×1", "Mbit/s"))
	m.press("+")
	m.await("second stream", holdsAll("▲ TCP ×2", "streams 1→2"))
	m.press("d")
	m.await("download", holdsAll("▼ TCP ×2"))
	m.press("q")
	got := m.await("end", holdsAll("exit="))
	if !strings.Contains(got, "exit=0") {
		t.Errorf("exit code is not 0:\n%s", got)
	}
	for _, want := range []string{"streams 1→2", "bit/s", "download"} {
		if !strings.Contains(got, want) {
			t.Errorf("the summary has no %q:\n%s", want, got)
		}
	}
}

func holdsAll(words ...string) func(string) bool {
	return func(screen string) bool {
		for _, w := range words {
			if !strings.Contains(screen, w) {
				return false
			}
		}
		return true
	}
}
