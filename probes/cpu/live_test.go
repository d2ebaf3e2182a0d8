package cpu

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"linerate/probes"
)

func TestTimesOfThisComputer(t *testing.T) {
	r := New()
	before, err := r.Times()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Info(t.Context()).Cores; n != len(before) {
		t.Errorf("times of %d cores, Info says %d", len(before), n)
	}
	spin(50 * time.Millisecond)
	after, err := r.Times()
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range after {
		if i > 0 && c.Core <= after[i-1].Core {
			t.Errorf("core %d follows core %d", c.Core, after[i-1].Core)
		}
		load := c.Since(before[i])
		if sum := load.Busy() + load.Idle; sum < 1-1e-9 || sum > 1+1e-9 {
			t.Errorf("core %d: shares sum to %v: %+v", c.Core, sum, load)
		}
	}
}

func TestTimesGivesTheReason(t *testing.T) {
	if _, err := NewAt(tree(t, nil)).Times(); err == nil || probes.Unread[int](err).Status != probes.Absent {
		t.Errorf("without /proc/stat: %v, want it absent", err)
	}
	empty := NewAt(tree(t, map[string]string{"proc/stat": "cpu  1 2 3 4 5 6 7\nintr 1\n"}))
	if times, err := empty.Times(); err == nil {
		t.Errorf("without a core: %v, want an error", times)
	}
}

func TestOwnThreadShowsUp(t *testing.T) {
	r := New()
	defer r.Close()
	if _, err := r.Threads(nil); errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	const name = "lr-test-1"
	ready, stop := make(chan int), make(chan bool)
	var wg sync.WaitGroup
	wg.Go(func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		nameThread(t, name)
		ready <- threadID()
		for {
			select {
			case <-stop:
				return
			default:
				spin(time.Millisecond)
			}
		}
	})
	tid := <-ready
	before, beforeAll := ownThread(t, r, tid)
	start := time.Now()
	spin(200 * time.Millisecond)
	after, afterAll := ownThread(t, r, tid)
	load := after.Since(before, time.Since(start))
	close(stop)
	wg.Wait()

	if after.Name != name {
		t.Errorf("name %q, want %q", after.Name, name)
	}
	cores, err := r.Times()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(cores, func(c probes.CoreTimes) bool { return c.Core == after.Core }) {
		t.Errorf("last core %d is not one of %d", after.Core, len(cores))
	}
	// Others may keep the cores busy, but not so that a thread that always wants to run
	// stays below a hundredth.
	if load.Busy() < .01 || load.Busy() > 1.01 {
		t.Errorf("a spinning thread was busy %.3f", load.Busy())
	}
	if after.Run < before.Run || after.Run == 0 {
		t.Errorf("exact time went from %v to %v", before.Run, after.Run)
	}
	// Ticks and the exact clock are two counts of one thing.
	if d := after.Run - after.User - after.System; d < -20*time.Millisecond || d > 20*time.Millisecond {
		t.Errorf("exact time %v and ticks %v differ by %v", after.Run, after.User+after.System, d)
	}
	for _, all := range [][]probes.ThreadTimes{beforeAll, afterAll} {
		if !slices.IsSortedFunc(all, func(a, b probes.ThreadTimes) int { return a.TID - b.TID }) {
			t.Errorf("threads are not in order of TID: %+v", all)
		}
	}

	// The thread has ended, but for the main thread, which Go parks instead: its kept
	// file must not be taken for a living one.
	if tid == os.Getpid() {
		return
	}
	deadline := time.Now().Add(5 * time.Second)
	for {
		all, err := r.Threads(nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(all, func(x probes.ThreadTimes) bool { return x.TID == tid }) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a thread that ended 5 s ago is still listed")
		}
		runtime.Gosched()
	}
}

func TestProcessAddsUp(t *testing.T) {
	r := New()
	before, err := r.Process()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	spin(100 * time.Millisecond)
	after, err := r.Process()
	if err != nil {
		t.Fatal(err)
	}
	if load := after.Since(before, time.Since(start)); load.Busy() <= .01 || load.Busy() > float64(runtime.NumCPU())+.1 {
		t.Errorf("a spinning process was busy %.3f", load.Busy())
	}
}

func TestThreadsAllocateLittle(t *testing.T) {
	r := New()
	defer r.Close()
	dst, err := r.Threads(nil)
	if err != nil {
		t.Skip(err)
	}
	allocs := testing.AllocsPerRun(20, func() { dst, err = r.Threads(dst[:0]) })
	if err != nil {
		t.Fatal(err)
	}
	// A name per entry of the folder and the slices that hold them.
	if limit := float64(len(dst)*2 + 20); allocs > limit {
		t.Errorf("%.0f allocations for %d threads, want at most %.0f", allocs, len(dst), limit)
	}
}

func ownThread(t *testing.T, r *Reader, tid int) (probes.ThreadTimes, []probes.ThreadTimes) {
	t.Helper()
	all, err := r.Threads(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range all {
		if x.TID == tid {
			return x, all
		}
	}
	t.Fatalf("thread %d is not among %d", tid, len(all))
	return probes.ThreadTimes{}, nil
}

// spin uses CPU time for d of wall time.
func spin(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
}

func BenchmarkTimes(b *testing.B) {
	r := New()
	for b.Loop() {
		if _, err := r.Times(); err != nil {
			b.Skip(err)
		}
	}
}

func BenchmarkThreads30(b *testing.B) {
	stop := make(chan bool)
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			runtime.LockOSThread()
			<-stop
		})
	}
	r := New()
	defer r.Close()
	var dst []probes.ThreadTimes
	for b.Loop() {
		var err error
		if dst, err = r.Threads(dst[:0]); err != nil {
			b.Skip(err)
		}
	}
	b.ReportMetric(float64(len(dst)), "threads")
	close(stop)
	wg.Wait()
}
