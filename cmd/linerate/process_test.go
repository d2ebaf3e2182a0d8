//go:build linux

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// linerate prepares this test binary to run as linerate.
func linerate(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Args[0] = "linerate"
	return cmd
}

// keepInherited keeps from the processes that tests start what this one was started with
// besides 0, 1 and 2: iperf3 prints file descriptors, so its numbers would shift.
func keepInherited() {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		panic(err)
	}
	for _, file := range open {
		if fd, err := strconv.Atoi(file.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// installed puts this test binary, which is linerate when it is called so, into a folder of
// its own, for shells.
func installed(t *testing.T) (program, dir string) {
	t.Helper()
	dir = t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "linerate")
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	return program, dir
}

// capture is what a process has printed so far.
type capture struct {
	mu    sync.Mutex
	text  bytes.Buffer
	fresh chan struct{} // capacity 1
}

func newCapture() *capture { return &capture{fresh: make(chan struct{}, 1)} }

func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case c.fresh <- struct{}{}:
	default:
	}
	return c.text.Write(p)
}

func (c *capture) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// await waits until the text contains s n times.
func (c *capture) await(t *testing.T, s string, n int) {
	t.Helper()
	limit := time.After(30 * time.Second)
	for strings.Count(c.String(), s) < n {
		select {
		case <-c.fresh:
		case <-limit:
			t.Fatalf("%d × %q did not come within 30 s; got:\n%s", n, s, c)
		}
	}
}

// process is a running program.
type process struct {
	*exec.Cmd
	out, err *capture
}

// start runs a program until the test ends at the latest.
func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{Cmd: cmd, out: newCapture(), err: newCapture()}
	cmd.Stdout, cmd.Stderr = p.out, p.err
	if cmd.Env == nil {
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return p
}

// end waits for the program and gives its exit code.
func (p *process) end(t *testing.T) int {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- p.Wait() }()
	select {
	case <-done:
		return p.ProcessState.ExitCode()
	case <-time.After(30 * time.Second):
		t.Fatalf("%v still runs after 30 s; it printed:\n%s%s", p.Args, p.out, p.err)
		return -1
	}
}

// serve starts a server of ours and gives its port.
func serve(t *testing.T, flags ...string) (port string, p *process) {
	t.Helper()
	port = freePort(t)
	p = start(t, linerate(t.Context(), append([]string{"serve", "-p", port}, flags...)...))
	awaitPort(t, port)
	return port, p
}
