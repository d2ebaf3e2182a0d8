// Package guard puts the terminal back when the program can no longer do it itself: a
// panic in any goroutine, its own or a library's, a fatal error of the Go runtime, or
// kill -9.
//
// Start runs the program's own binary a second time as a watcher. The watcher remembers
// how the terminal was, and reads a pipe that only the program holds open and that the Go
// runtime writes its crash report to (debug.SetCrashOutput). When the pipe ends without
// the mark that Stop leaves, the watcher restores the terminal, saves the report to a file
// and prints where it is.
//
// cmd/linerate uses it around every screen that takes the terminal over. It never keeps
// the program from ending and never restores anything while the program lives.
package guard

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"time"
)

// env marks the process that is to be a watcher; its value is a Use, a colon, and the
// folder for crash files.
const env = "LINERATE_CRASH_WATCHER"

// Use is what a program does with its terminal.
type Use string

const (
	Screen Use = "screen" // the alternate screen, with all that a dashboard switches on
	Lines  Use = "lines"  // the normal screen, with single keys
)

// leave undoes on the screen what the use has done: synchronised output first, so that
// the rest is shown, then mouse and focus reports, bracketed paste, the hidden cursor,
// colours, and the alternate screen last. Where that was not used, leaving it would move
// the cursor.
func (u Use) leave() string {
	if u == Lines {
		return "\x1b[?25h\x1b[m"
	}
	return "\x1b[?2026l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?25h\x1b[m\x1b[?1049l"
}

// The two ways a program leaves its watcher, as the last bytes in the pipe. A crash
// report holds no NUL.
const (
	markClean   = "\x00clean\n"
	markRestore = "\x00restore\n"
)

// startLimit bounds the start of the watcher; a few milliseconds are usual.
const startLimit = 2 * time.Second

// stopLimit bounds the end of a watcher that has been told to go.
const stopLimit = time.Second

// Guard is a running watcher.
type Guard struct {
	pipe  *os.File
	cmd   *exec.Cmd
	ended chan struct{} // closed when the watcher has ended
}

// Start remembers the state of the terminal tty and has a new process watch over this
// one until Stop. Crash files go to folder dir, which is made when one is written.
func Start(tty *os.File, use Use, dir string) (*Guard, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("starting the crash watcher: %w", err)
	}
	in, pipe, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting the crash watcher: %w", err)
	}
	defer in.Close()
	ready, out, err := os.Pipe()
	if err != nil {
		pipe.Close()
		return nil, fmt.Errorf("starting the crash watcher: %w", err)
	}
	defer ready.Close()
	cmd := exec.Command(exe)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), env+"="+string(use)+":"+dir)
	// Plain files, all three: exec then copies nothing and waits for nothing.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, tty
	cmd.SysProcAttr = detached()
	err = cmd.Start()
	out.Close()
	if err != nil {
		pipe.Close()
		return nil, fmt.Errorf("starting the crash watcher: %w", err)
	}
	g := &Guard{pipe: pipe, cmd: cmd, ended: make(chan struct{})}
	go func() {
		defer close(g.ended)
		cmd.Wait()
	}()
	if err := g.arm(ready); err != nil {
		g.leave(markClean)
		return nil, fmt.Errorf("starting the crash watcher: %w", err)
	}
	return g, nil
}

// arm waits until the watcher has the terminal's state and turns the crash report over
// to it, with all goroutines in it.
func (g *Guard) arm(ready *os.File) error {
	timer := time.AfterFunc(startLimit, func() { g.cmd.Process.Kill() })
	defer timer.Stop()
	if _, err := io.ReadFull(ready, make([]byte, 1)); err != nil {
		return fmt.Errorf("waiting for it: %w", err)
	}
	if err := debug.SetCrashOutput(g.pipe, debug.CrashOptions{}); err != nil {
		return err
	}
	debug.SetTraceback("all")
	return nil
}

// Stop ends the watcher after the program has restored the terminal by its own means. It
// waits for the watcher's end, a second at most. A nil Guard is fine.
func (g *Guard) Stop() { g.leave(markClean) }

// Restore is Stop for a program that could not restore the terminal, because the terminal
// takes no more output: the watcher does it as soon as the terminal lets it, even after
// this process has ended.
func (g *Guard) Restore() { g.leave(markRestore) }

func (g *Guard) leave(mark string) {
	if g == nil {
		return
	}
	debug.SetTraceback("single")
	debug.SetCrashOutput(nil, debug.CrashOptions{})
	g.pipe.WriteString(mark)
	g.pipe.Close()
	select {
	case <-g.ended:
	case <-time.After(stopLimit):
	}
}
