//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/cmd/linerate/internal/ptytest"
)

// inTerminal starts the program in a terminal with an environment of its own.
func inTerminal(t *testing.T, tty *ptytest.Term, env []string, args ...string) (cmd *exec.Cmd, state string) {
	t.Helper()
	cmd = linerate(t.Context(), args...)
	return cmd, startInTerminal(t, tty, cmd, env...)
}

func holds(s string) func(string) bool {
	return func(output string) bool { return strings.Contains(output, s) }
}

// exitCode waits for the program, at most so long.
func exitCode(t *testing.T, cmd *exec.Cmd, limit time.Duration) int {
	t.Helper()
	done := make(chan struct{})
	go func() {
		cmd.Wait()
		close(done)
	}()
	select {
	case <-done:
		return cmd.ProcessState.ExitCode()
	case <-time.After(limit):
		t.Fatalf("%v still runs after %v", cmd.Args, limit)
		return -1
	}
}

const patience = 30 * time.Second

// A terminal that answers nothing must not hold up the start: bubbletea would wait 5 s for
// the background colour. It may take half a second more than without a terminal, where a
// race detector and other programs make it slow too; the best of several runs counts.
func TestMuteTerminal(t *testing.T) {
	best, plain := time.Hour, time.Hour
	for range 5 {
		tty := ptytest.Open(t, 80, 24)
		begin := time.Now()
		cmd, _ := inTerminal(t, tty, nil, "version")
		if code := exitCode(t, cmd, patience); code != 0 {
			t.Fatalf("exit code: got %d, want 0", code)
		}
		best = min(best, time.Since(begin))
		begin = time.Now()
		if err := linerate(t.Context(), "version").Run(); err != nil {
			t.Fatal(err)
		}
		plain = min(plain, time.Since(begin))
		stop := tty.Read()
		tty.WaitFor(t, patience, "version", holds("linerate "))
		stop()
		if strings.Contains(tty.Output(), "\x1b") {
			t.Errorf("version talks to the terminal: %q", tty.Output())
		}
	}
	t.Logf("version took %v in a mute terminal, %v without one", best, plain)
	if best > plain+500*time.Millisecond {
		t.Errorf("version took %v in a mute terminal and %v without one, want at most 0.5 s more", best, plain)
	}
}

// What hides the terminal at the start must not hide its colours from the dashboard.
func TestColours(t *testing.T) {
	tests := []struct {
		name   string
		env    []string
		args   []string
		marked string // in the output; "" no colours at all
	}{
		{"256", nil, nil, ";38;5;"},
		{"true", []string{"COLORTERM=truecolor"}, nil, ";38;2;"},
		{"NO_COLOR", []string{"NO_COLOR=1"}, nil, ""},
		{"never", nil, []string{"--color", "never"}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tty := ptytest.Open(t, 120, 40)
			stop := tty.Read()
			defer stop()
			cmd, _ := inTerminal(t, tty, test.env, append([]string{"demo", "-b", "10M"}, test.args...)...)
			tty.WaitFor(t, patience, "rate on the screen", holds("Mbit/s"))
			tty.Type(t, "q")
			if code := exitCode(t, cmd, patience); code != 0 {
				t.Errorf("exit code: got %d, want 0", code)
			}
			got := tty.Output()
			if test.marked != "" && !strings.Contains(got, test.marked) {
				t.Errorf("no %q on the screen", test.marked)
			}
			if code := colourCode.FindString(got); test.marked == "" && code != "" {
				t.Errorf("there are colours on the screen: %q", code)
			}
		})
	}
}

// A session in a terminal: the screen, keys, the summary on the normal screen and in
// last.txt, and the terminal as it was.
func TestDashboardInTerminal(t *testing.T) {
	tty := ptytest.Open(t, 120, 40)
	before := tty.Termios(t)
	stop := tty.Read()
	defer stop()
	cmd, state := inTerminal(t, tty, nil, "demo", "-b", "10M")
	tty.WaitFor(t, patience, "rate on the screen", holds("Mbit/s"))
	tty.Type(t, "q")
	if code := exitCode(t, cmd, patience); code != 0 {
		t.Errorf("exit code: got %d, want 0", code)
	}
	if diff := cmp.Diff(before, tty.Termios(t)); diff != "" {
		t.Errorf("terminal settings changed (-before +after):\n%s", diff)
	}
	checkSummary(t, state, tty)
}

// afterScreen is what was printed once the alternate screen was left.
func afterScreen(t *testing.T, output string) string {
	t.Helper()
	const leave = "\x1b[?1049l"
	i := strings.LastIndex(output, leave)
	if i < 0 || !strings.Contains(output[:i], "\x1b[?1049h") {
		t.Fatalf("the alternate screen was not entered and left:\n%q", output)
	}
	return output[i+len(leave):]
}

// checkSummary compares what is printed once the screen was left with last.txt.
func checkSummary(t *testing.T, state string, tty *ptytest.Term) {
	t.Helper()
	kept := strings.ReplaceAll(lastSummary(t, state), "\n", "\r\n")
	tty.WaitFor(t, patience, "summary on the normal screen", holds(kept))
	if got := afterScreen(t, tty.Output()); !strings.Contains(got, kept) {
		t.Errorf("the summary is not on the normal screen: %q", got)
	}
}

func lastSummary(t *testing.T, state string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(state, "linerate", "last.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "bit/s") {
		t.Errorf("last.txt has no rate:\n%s", text)
	}
	return string(text)
}

// Signals end the dashboard like q.
func TestDashboardSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			tty := ptytest.Open(t, 120, 24)
			before := tty.Termios(t)
			stop := tty.Read()
			defer stop()
			cmd, state := inTerminal(t, tty, nil, "demo", "-b", "10M")
			tty.WaitFor(t, patience, "rate on the screen", holds("Mbit/s"))
			cmd.Process.Signal(sig)
			if code := exitCode(t, cmd, patience); code != 0 {
				t.Errorf("exit code: got %d, want 0", code)
			}
			if diff := cmp.Diff(before, tty.Termios(t)); diff != "" {
				t.Errorf("terminal settings changed (-before +after):\n%s", diff)
			}
			checkSummary(t, state, tty)
		})
	}
}

// The SSH session dies: the terminal is gone, the test ends, the summary is kept, and the
// server has the results.
func TestTerminalGone(t *testing.T) {
	port, server := serve(t)
	tty := ptytest.Open(t, 80, 24)
	stop := tty.Read()
	cmd, state := inTerminal(t, tty, nil, "127.0.0.1", "-p", port, "-b", "10M")
	tty.WaitFor(t, patience, "rate on the screen", holds("Mbit/s"))
	stop()
	tty.Slave.Close()
	tty.Master.Close()
	exitCode(t, cmd, patience)
	lastSummary(t, state)
	server.out.await(t, "upload received", 1)
	server.Process.Signal(os.Interrupt)
	server.end(t)
	if got := server.out.String(); strings.Contains(got, "interrupted") || strings.Contains(got, "closed") {
		t.Errorf("the server saw no regular end:\n%s", got)
	}
}

// A terminal that takes no output (Ctrl-S, a frozen SSH session) does not slow the
// traffic, and is restored as soon as it goes on.
func TestStalledTerminal(t *testing.T) {
	port, server := serve(t)
	tty := ptytest.Open(t, 200, 60)
	before := tty.Termios(t)
	stop := tty.Read()
	cmd, state := inTerminal(t, tty, nil, "127.0.0.1", "-p", port, "-b", "20M", "--refresh", "100ms")
	tty.WaitFor(t, patience, "rate on the screen", holds("Mbit/s"))
	stop()
	stallFor := 4 * time.Second
	time.Sleep(stallFor) // it is the stall itself, not a guess
	cmd.Process.Signal(syscall.SIGTERM)
	if code := exitCode(t, cmd, patience); code != 0 {
		t.Errorf("exit code: got %d, want 0", code)
	}
	if diff := cmp.Diff(before, tty.Termios(t)); diff != "" {
		t.Errorf("terminal settings while it is stalled (-before +after):\n%s", diff)
	}
	lastSummary(t, state)
	resume := tty.Read()
	defer resume()
	tty.WaitFor(t, patience, "end of the screen", holds("\x1b[?1049l"))

	server.Process.Signal(os.Interrupt)
	server.end(t)
	// 20 Mbit/s are 10 MB in 4 s.
	if got := receivedMB(t, server.out.String()); got < 2.5*stallFor.Seconds()*0.8 {
		t.Errorf("the server received %.1f MB in more than %v at 20 Mbit/s", got, stallFor)
	}
}

// A first connection that fails is one line, not a flash of the screen.
func TestDashboardRefused(t *testing.T) {
	tty := ptytest.Open(t, 80, 24)
	stop := tty.Read()
	defer stop()
	cmd, _ := inTerminal(t, tty, nil, "127.0.0.1", "-p", freePort(t))
	if code := exitCode(t, cmd, patience); code != exitFailed {
		t.Errorf("exit code: got %d, want %d", code, exitFailed)
	}
	tty.WaitFor(t, patience, "error", holds("linerate: error: "))
	if strings.Contains(tty.Output(), "\x1b[?1049h") {
		t.Errorf("the screen was entered:\n%q", tty.Output())
	}
}

// Without a terminal that can be drawn on, lines are printed, and one says why.
func TestDumbTerminal(t *testing.T) {
	port, _ := serve(t)
	tty := ptytest.Open(t, 80, 24)
	stop := tty.Read()
	defer stop()
	cmd, _ := inTerminal(t, tty, []string{"TERM=dumb"}, "127.0.0.1", "-p", port, "-n", "1M")
	if code := exitCode(t, cmd, patience); code != 0 {
		t.Errorf("exit code: got %d, want 0", code)
	}
	tty.WaitFor(t, patience, "end", holds("iperf Done."))
	got := tty.Output()
	if strings.Count(got, "linerate: note: TERM is dumb") != 1 {
		t.Errorf("want one note about TERM:\n%s", got)
	}
	if strings.Contains(got, "\x1b") {
		t.Errorf("escape codes in a dumb terminal: %q", got)
	}
}

// Standard input may be anything: keys come from the terminal.
func TestInputElsewhere(t *testing.T) {
	program, _ := installed(t)
	tty := ptytest.Open(t, 80, 24)
	before := tty.Termios(t)
	stop := tty.Read()
	defer stop()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "exec "+program+" demo -b 10M </dev/null")
	startInTerminal(t, tty, cmd)
	tty.WaitFor(t, patience, "rate on the screen", holds("Mbit/s"))
	tty.Type(t, "q")
	if code := exitCode(t, cmd, patience); code != 0 {
		t.Errorf("exit code: got %d, want 0", code)
	}
	if diff := cmp.Diff(before, tty.Termios(t)); diff != "" {
		t.Errorf("terminal settings changed (-before +after):\n%s", diff)
	}
}

// The server's table, and q.
func TestServeInTerminal(t *testing.T) {
	port := freePort(t)
	tty := ptytest.Open(t, 120, 40)
	before := tty.Termios(t)
	stop := tty.Read()
	defer stop()
	cmd, _ := inTerminal(t, tty, nil, "serve", "-p", port)
	awaitPort(t, port)
	client := start(t, linerate(t.Context(), "run", "127.0.0.1", "-p", port, "-t", "3", "-b", "10M", "-P", "2"))
	tty.WaitFor(t, patience, "table", func(out string) bool {
		return strings.Contains(out, "streams") && strings.Contains(out, "upload") && strings.Contains(out, " Mbit/s")
	})
	client.end(t)
	tty.WaitFor(t, patience, "end of the test", holds("upload received"))
	tty.Type(t, "q")
	if code := exitCode(t, cmd, patience); code != 0 {
		t.Errorf("exit code: got %d, want 0", code)
	}
	if diff := cmp.Diff(before, tty.Termios(t)); diff != "" {
		t.Errorf("terminal settings changed (-before +after):\n%s", diff)
	}
}

// receivedMB adds up what the server's log says it has received.
func receivedMB(t *testing.T, log string) (sum float64) {
	t.Helper()
	for _, m := range receivedPattern.FindAllStringSubmatch(log, -1) {
		var v float64
		if _, err := fmt.Sscan(m[1], &v); err != nil {
			t.Fatal(err)
		}
		sum += v * map[string]float64{"B": 1e-6, "kB": 1e-3, "MB": 1, "GB": 1e3}[m[2]]
	}
	return sum
}

var receivedPattern = regexp.MustCompile(`received ([\d.]+) (B|kB|MB|GB) `)

// colourCode is an SGR sequence that sets a foreground or background.
var colourCode = regexp.MustCompile(`\x1b\[(\d+;)*(3[0-8]|4[0-8]|9[0-7])(;\d+)*m`)
