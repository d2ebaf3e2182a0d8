package host

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"linerate/probes"
	"linerate/probes/host/hosttest"
)

var approx = cmpopts.EquateApprox(0, 1e-9)

// Case 2 of reference-results: one stream each way on four cores keeps one of them
// full, and the whole system at 30 %.
func TestLoadOfOneFullCore(t *testing.T) {
	h := hosttest.New(t, hosttest.N100())
	s := NewAt(h.Root())
	defer s.Close()
	if l := s.Load(); l.Cores.Why() != "first reading" || l.Threads.Why() != "first reading" || l.Process.Why() != "first reading" || l.Window != 0 {
		t.Errorf("first call gave %+v", l)
	}
	cores := []probes.CoreLoad{
		{Core: 0, User: .01, System: .02, Idle: .97},
		{Core: 1, Idle: .98, SoftIRQ: .02},
		{Core: 2, User: .04, System: .81, SoftIRQ: .15},
		{Core: 3, User: .02, System: .08, SoftIRQ: .05, Steal: 0, Idle: .85},
	}
	threads := []probes.ThreadLoad{
		{TID: 4711, Name: "linerate", User: .01, Core: 3},
		{TID: 4720, Name: "lr-rx-1", User: .04, System: .81, Core: 2},
		{TID: 4721, Name: "lr-tx-3", User: .01, System: .07, Core: 3},
	}
	for step, dt := range []time.Duration{time.Second, 500 * time.Millisecond * 2, 10 * time.Second} {
		h.Advance(dt, cores, threads)
		l := s.Load()
		if l.Window != dt {
			t.Errorf("step %d: window %v, want %v", step, l.Window, dt)
		}
		if diff := cmp.Diff(cores, l.Cores.Value, approx); diff != "" {
			t.Errorf("step %d: cores (-want +got):\n%s", step, diff)
		}
		if diff := cmp.Diff(threads[1:], l.Threads.Value, approx); diff != "" {
			t.Errorf("step %d: threads (-want +got):\n%s", step, diff)
		}
		want := probes.ThreadLoad{Name: "linerate", User: .06, System: .88, Core: -1}
		if diff := cmp.Diff(want, l.Process.Value, approx); diff != "" {
			t.Errorf("step %d: process (-want +got):\n%s", step, diff)
		}
	}
	busy := 0.0
	for _, c := range s.lastLoad.Cores.Value {
		busy += c.Busy() / 4
	}
	if math.Abs(busy-.30) > 1e-9 {
		t.Errorf("whole system busy %.3f, want 0.300", busy)
	}
}

func TestLoadWithinATenthOfASecond(t *testing.T) {
	h := hosttest.New(t, hosttest.N100())
	s := NewAt(h.Root())
	s.Load()
	h.Advance(time.Second, busy(4, .5), nil)
	want := s.Load()
	for range 3 {
		h.Advance(30*time.Millisecond, busy(4, 1), nil)
		if diff := cmp.Diff(want, s.Load()); diff != "" {
			t.Fatalf("a call within 100 ms made a new window (-before +now):\n%s", diff)
		}
	}
	h.Advance(30*time.Millisecond, busy(4, 1), nil)
	l := s.Load()
	if l.Window != 120*time.Millisecond {
		t.Errorf("window %v, want 120ms: it starts at the last load given", l.Window)
	}
	if got := l.Cores.Value[2].Busy(); math.Abs(got-1) > 1e-9 {
		t.Errorf("busy %.3f, want 1", got)
	}
}

func TestCoresComeAndGo(t *testing.T) {
	h := hosttest.New(t, hosttest.Workstation())
	s := NewAt(h.Root())
	s.Load()
	steps := []struct {
		online []int
		want   []int // cores with a load
	}{
		{seq(0, 16), seq(0, 16)},
		{append(seq(0, 4), seq(8, 16)...), append(seq(0, 4), seq(8, 16)...)},
		{seq(0, 16), append(seq(0, 4), seq(8, 16)...)}, // 4 to 7 came back within the window
		{seq(0, 16), seq(0, 16)},
		{seq(15, 16), seq(15, 16)},
	}
	for i, step := range steps {
		var cores []probes.CoreLoad
		for _, c := range step.online {
			cores = append(cores, probes.CoreLoad{Core: c, System: float64(c) / 20})
		}
		h.Advance(time.Second, cores, nil)
		var got []int
		for _, c := range s.Load().Cores.Value {
			got = append(got, c.Core)
			if math.Abs(c.Busy()-float64(c.Core)/20) > 1e-9 {
				t.Errorf("step %d: core %d busy %.3f, want %.3f", i, c.Core, c.Busy(), float64(c.Core)/20)
			}
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("step %d: cores with a load (-want +got):\n%s", i, diff)
		}
	}
}

func TestThreadsComeAndGo(t *testing.T) {
	h := hosttest.New(t, hosttest.N100())
	s := NewAt(h.Root())
	s.Load()
	tx := func(tid int, share float64) probes.ThreadLoad {
		return probes.ThreadLoad{TID: tid, Name: fmt.Sprintf("lr-tx-%d", tid-4800), System: share, Core: tid % 4}
	}
	steps := [][]probes.ThreadLoad{
		{tx(4801, .9)}, // born in the window: all its time is in it
		{tx(4801, .9), tx(4802, .3)},
		{tx(4802, .5)},
		nil,
		{tx(4801, .1)},
	}
	for i, want := range steps {
		h.Advance(time.Second, busy(4, .25), want)
		l := s.Load()
		if diff := cmp.Diff(want, l.Threads.Value, approx); diff != "" {
			t.Errorf("step %d (-want +got):\n%s", i, diff)
		}
		sum := 0.0
		for _, x := range want {
			sum += x.Busy()
		}
		if got := l.Process.Value.Busy(); math.Abs(got-sum) > 1e-9 {
			t.Errorf("step %d: process busy %.3f, want the sum of its threads %.3f", i, got, sum)
		}
	}
}

func TestLoadOf256Cores(t *testing.T) {
	m := hosttest.Workstation()
	m.Cores = 256
	h := hosttest.New(t, m)
	s := NewAt(h.Root())
	s.Load()
	h.Advance(time.Second, busy(256, .37), nil)
	l := s.Load()
	if n := len(l.Cores.Value); n != 256 {
		t.Fatalf("%d cores, want 256", n)
	}
	for i, c := range l.Cores.Value {
		if c.Core != i || math.Abs(c.Busy()-.37) > 1e-9 {
			t.Errorf("place %d: %+v, want core %d busy 0.37", i, c, i)
		}
	}
}

// Each part of /proc may be missing on its own and come back.
func TestLoadPartsFailAlone(t *testing.T) {
	for _, missing := range []string{"proc/stat", "proc/self/task", "proc/self/stat", "proc/uptime"} {
		t.Run(missing, func(t *testing.T) {
			h := hosttest.New(t, hosttest.N100())
			s := NewAt(h.Root())
			s.Load()
			path := filepath.Join(h.Root(), missing)
			if err := os.Rename(path, path+".gone"); err != nil {
				t.Fatal(err)
			}
			// Not through Advance: it would put the files back.
			if missing != "proc/uptime" {
				if err := os.WriteFile(filepath.Join(h.Root(), "proc/uptime"), []byte("3700.00 14000.00\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			l := s.Load()
			broken := map[string]probes.Status{}
			for part, status := range map[string]probes.Status{"proc/stat": l.Cores.Status, "proc/self/task": l.Threads.Status, "proc/self/stat": l.Process.Status} {
				if status != probes.OK {
					broken[part] = status
				}
			}
			want := map[string]probes.Status{missing: probes.Absent}
			if missing == "proc/uptime" {
				want = map[string]probes.Status{"proc/stat": probes.Absent, "proc/self/task": probes.Absent, "proc/self/stat": probes.Absent}
			}
			if diff := cmp.Diff(want, broken); diff != "" {
				t.Errorf("unknown parts (-want +got):\n%s", diff)
			}
			for _, why := range []string{l.Cores.Why(), l.Threads.Why(), l.Process.Why()} {
				if why != "" && !strings.Contains(why, "reading ") {
					t.Errorf("reason %q does not say what was read", why)
				}
			}

			if err := os.Rename(path+".gone", path); err != nil {
				t.Fatal(err)
			}
			h.Advance(200*time.Second, busy(4, .5), nil)
			s.Load()
			h.Advance(time.Second, busy(4, .5), nil)
			if l := s.Load(); !l.Cores.Known() || !l.Threads.Known() || !l.Process.Known() {
				t.Errorf("after the files are back: %+v", l)
			}
		})
	}
}

func TestAtMostOne(t *testing.T) {
	got := atMostOne(probes.ThreadLoad{User: .24, System: .96})
	if diff := cmp.Diff(probes.ThreadLoad{User: .2, System: .8}, got, approx); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestParseUptime(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"3600.00 14368.00\n": time.Hour,
		"0.01 0.00\n":        10 * time.Millisecond,
		"86400.37 1\n":       24*time.Hour + 370*time.Millisecond,
	} {
		if got, err := parseUptime(text); err != nil || got != want {
			t.Errorf("parseUptime(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "\n", "x 1", "-1 1", "NaN 1", "1e300 1", "Inf"} {
		if got, err := parseUptime(text); err == nil {
			t.Errorf("parseUptime(%q) = %v, want an error", text, got)
		}
	}
}

func FuzzParseUptime(f *testing.F) {
	f.Add("3600.00 14368.00\n")
	f.Add("1e9 1")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parseUptime(text)
		if err != nil {
			return
		}
		if d < 0 {
			t.Fatalf("parseUptime(%q) = %v", text, d)
		}
		again, err := parseUptime(fmt.Sprintf("%.2f 0.00\n", d.Seconds()))
		if err != nil || again != d {
			t.Fatalf("written and read again: %v, %v, want %v", again, err, d)
		}
	})
}

// busy gives n cores the same share of system time.
func busy(n int, share float64) []probes.CoreLoad {
	cores := hosttest.Idle(n)
	for i := range cores {
		cores[i].System, cores[i].Idle = share, 1-share
	}
	return cores
}

// seq gives the numbers from first up to, without, end.
func seq(first, end int) []int {
	var s []int
	for i := first; i < end; i++ {
		s = append(s, i)
	}
	return s
}
