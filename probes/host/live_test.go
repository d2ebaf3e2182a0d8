package host

import (
	"net/netip"
	"runtime"
	"sync"
	"testing"
	"time"

	"linerate/probes"
)

// What holds on every computer that builds this: facts are known or have a reason,
// shares sum to one, an own busy thread is seen.
func TestThisComputer(t *testing.T) {
	s := New()
	defer s.Close()
	h := s.Host(t.Context())
	if h.OS != runtime.GOOS || h.Arch != runtime.GOARCH || h.CPU.Cores < 1 {
		t.Errorf("host %+v", h)
	}
	for what, r := range map[string]probes.Reading[string]{
		"name": h.Name, "kernel": h.Kernel, "platform": h.Platform, "virtual": h.Virtual, "model": h.CPU.Model, "governor": h.CPU.Governor,
	} {
		if r.Status == probes.NotRead || r.Known() == (r.Why() != "") || r.Known() && r.Value == "" {
			t.Errorf("%s: %+v is neither known nor has a reason", what, r)
		}
	}
	if !h.Name.Known() || !h.Kernel.Known() {
		t.Errorf("name %+v, kernel %+v", h.Name, h.Kernel)
	}

	if first := s.Load(); first.Cores.Known() || first.Process.Known() {
		t.Errorf("first reading gave %+v", first)
	}
	for start := time.Now(); time.Since(start) < 150*time.Millisecond; {
	}
	l := s.Load()
	if l.Window < minWindow {
		t.Errorf("window %v, want at least %v", l.Window, minWindow)
	}
	for _, c := range l.Cores.Value {
		if sum := c.Busy() + c.Idle; sum < 1-1e-9 || sum > 1+1e-9 {
			t.Errorf("core %d: shares sum to %v: %+v", c.Core, sum, c)
		}
	}
	if l.Process.Known() && l.Process.Value.Busy() < .01 {
		t.Errorf("a spinning process was busy %.3f", l.Process.Value.Busy())
	}
	if runtime.GOOS == "linux" && (!l.Cores.Known() || !l.Threads.Known() || !l.Process.Known()) {
		t.Errorf("unknown on Linux: cores %q, threads %q, process %q", l.Cores.Why(), l.Threads.Why(), l.Process.Why())
	}
}

func TestHostAndRouteTogether(t *testing.T) {
	s := New()
	defer s.Close()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if h := s.Host(t.Context()); !h.Name.Known() {
				t.Errorf("name: %s", h.Name.Why())
			}
		})
		wg.Go(func() {
			if r := s.Route(t.Context(), netip.MustParseAddr("127.0.0.1")); !r.Known() {
				t.Errorf("route: %s", r.Why())
			}
		})
	}
	for range 4 {
		s.Load()
	}
	wg.Wait()
}

// BenchmarkLoad is one reading of cores, 30 threads of a test and the process.
func BenchmarkLoad(b *testing.B) {
	stop := make(chan bool)
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			runtime.LockOSThread()
			<-stop
		})
	}
	s := New()
	defer s.Close()
	var now time.Duration
	s.clock = func() (time.Duration, error) { now += time.Second; return now, nil }
	b.ReportAllocs()
	for b.Loop() {
		s.Load()
	}
	close(stop)
	wg.Wait()
}
