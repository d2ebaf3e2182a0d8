package lab

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// run starts cmd inside the host and waits for its end, on a thread that stays there as
// long: the program dies with that thread, so it cannot outlive the test binary. started
// is called as soon as it runs.
func (h *Host) run(cmd *exec.Cmd, started func(error)) error {
	return h.Do(func() error {
		err := h.settle(cmd)
		if err == nil {
			err = cmd.Start()
		}
		started(err)
		if err != nil {
			return err
		}
		return cmd.Wait()
	})
}

// settle gives the calling thread, and with it what it starts, the host's cores and
// limits.
func (h *Host) settle(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	if len(h.CPUs) > 0 {
		if err := pin(h.CPUs); err != nil {
			return err
		}
	}
	if h.Group != nil {
		return h.Group.take(cmd)
	}
	return nil
}

// pin binds the calling thread to cores.
func pin(cpus []int) error {
	var set unix.CPUSet
	for _, c := range cpus {
		set.Set(c)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("binding to CPUs %v: %w", cpus, err)
	}
	return nil
}

// Output runs a program on the host and gives what it printed on both outputs.
func (h *Host) Output(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := h.run(cmd, func(error) {})
	return out.Bytes(), err
}

// Program is one that runs beside the test.
type Program struct {
	process *os.Process
	done    chan struct{}
	err     error
}

// start starts cmd on the host and kills it when the test ends.
func (h *Host) start(t testing.TB, cmd *exec.Cmd) *Program {
	t.Helper()
	p := &Program{done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		defer close(p.done)
		p.err = h.run(cmd, func(err error) { started <- err })
	}()
	if err := <-started; err != nil {
		t.Fatalf("starting %s on %s: %v", cmd.Path, h.Name, err)
	}
	p.process = cmd.Process
	t.Cleanup(func() {
		_ = p.process.Kill()
		<-p.done
	})
	return p
}

// Wait waits for the program's end and gives its error as exec.Cmd.Wait does.
func (p *Program) Wait() error {
	<-p.done
	return p.err
}

// Background starts a server on the host, waits until it listens on port, and kills it
// when the test ends.
func (h *Host) Background(t testing.TB, cmd *exec.Cmd, port int) *Program {
	t.Helper()
	p := h.start(t, cmd)
	if err := h.Do(func() error { return awaitListener(t.Context(), port) }); err != nil {
		t.Fatalf("%s on %s: %v", cmd.Path, h.Name, err)
	}
	return p
}

// Doze makes the program work by turns for awake and not at all for asleep, until the test
// ends: a reader that is too slow.
func (p *Program) Doze(t testing.TB, awake, asleep time.Duration) {
	t.Helper()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			for _, turn := range []struct {
				signal os.Signal
				length time.Duration
			}{{syscall.SIGSTOP, asleep}, {syscall.SIGCONT, awake}} {
				_ = p.process.Signal(turn.signal) // it may have ended
				select {
				case <-time.After(turn.length):
				case <-stop:
					_ = p.process.Signal(syscall.SIGCONT)
					return
				}
			}
		}
	})
	t.Cleanup(func() {
		close(stop)
		wg.Wait()
	})
}

// burner is a shell script that never has enough.
const burner = "while :; do :; done"

// Burn keeps cores busy with programs that are none of the test's, n on each of the
// host's CPUs, until the test ends.
func (h *Host) Burn(t testing.TB, n int) {
	t.Helper()
	cpus := h.CPUs
	if cpus == nil {
		for c := range runtime.NumCPU() {
			cpus = append(cpus, c)
		}
	}
	for _, c := range cpus {
		for range n {
			one := *h
			one.CPUs = []int{c}
			one.start(t, exec.Command("/bin/sh", "-c", burner))
		}
	}
}
