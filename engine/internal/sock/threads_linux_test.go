//go:build linux

package sock

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const threadsHaveNumbers = true

// nameOf gives a thread's name, or why it cannot be read: no expected name looks so.
func nameOf(tid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/comm", tid))
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(b))
}

// While a loop runs its thread can be found by number and name; afterwards nothing of it
// is left on any thread.
func TestThreadIsNamed(t *testing.T) {
	s := &stream{pair: newPair(t, Options{})}
	cfg := recvConfig()
	cfg.Name = "lr-rx-a name that is too long"
	startRecv(s, cfg)
	startSend(s, sendConfig())
	waitFor(t, "bytes flow", func() bool { return s.received.Bytes() > 0 && s.sent.Bytes() > 0 })
	if got, want := nameOf(s.received.TID()), "lr-rx-a name th"; got != want {
		t.Errorf("receiver's thread is named %q, want %q", got, want)
	}
	if got, want := nameOf(s.sent.TID()), "lr-tx-test"; got != want {
		t.Errorf("sender's thread is named %q, want %q", got, want)
	}
	if s.sent.TID() == s.received.TID() {
		t.Error("both loops run on one thread")
	}
	s.drain(t)
	if s.sent.TID() != 0 || s.received.TID() != 0 {
		t.Error("a loop that has ended still has a thread number")
	}
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		name, err := os.ReadFile("/proc/self/task/" + task.Name() + "/comm")
		if err == nil && strings.HasPrefix(string(name), "lr-") {
			t.Errorf("thread %s is still named %q", task.Name(), name)
		}
	}
}

// The process keeps its name even when the goroutine sits on the main thread.
func TestMainThreadKeepsItsName(t *testing.T) {
	want := nameOf(os.Getpid())
	// Goroutines that hold their threads until one of them has the main one.
	var got string
	found := make(chan struct{})
	release := make(chan struct{})
	for tries := 0; tries < 64 && got == ""; tries++ {
		onMain := make(chan bool)
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			if !onMainThread() {
				onMain <- false
				<-release
				return
			}
			err := onThread("lr-tx-main", -1, nil, func() error {
				got = nameOf(os.Getpid())
				if here := nameOf(unix.Gettid()); here != "lr-tx-main" {
					return fmt.Errorf("the loop's thread is named %q", here)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			onMain <- true
		}()
		if <-onMain {
			close(found)
		}
	}
	close(release)
	select {
	case <-found:
	default:
		t.Skip("no goroutine came onto the main thread")
	}
	if got != want {
		t.Errorf("the process is named %q while a loop runs, want %q", got, want)
	}
}

func TestThreadIsPinned(t *testing.T) {
	var before, during, after unix.CPUSet
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	core := 0
	for !before.IsSet(core) {
		core++
	}
	name := nameOf(unix.Gettid())
	err := onThread("lr-tx-1", core, nil, func() error { return unix.SchedGetaffinity(0, &during) })
	if err != nil {
		t.Fatal(err)
	}
	if !during.IsSet(core) || during.Count() != 1 {
		t.Errorf("pinned to %d cores, want core %d alone", during.Count(), core)
	}
	if err := unix.SchedGetaffinity(0, &after); err != nil {
		t.Fatal(err)
	}
	if after != before || nameOf(unix.Gettid()) != name {
		t.Errorf("thread was not given back as it was: %d cores, name %q", after.Count(), nameOf(unix.Gettid()))
	}

	err = onThread("lr-tx-1", 1023, nil, func() error { return nil })
	if !errors.Is(err, unix.EINVAL) {
		t.Errorf("pinning to a core that is not there: %v, want %v", err, unix.EINVAL)
	}
}
