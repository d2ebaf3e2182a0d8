package diagnose

import (
	"fmt"
	"strings"

	"linerate/engine"
	"linerate/probes"
)

// Thresholds of a core's or thread's share of time. The window is 2 s (loadWindow), and
// /proc/stat counts in ticks of 10 ms, so a full core reads 0.95 to 1.
const (
	full     = 0.95 // of one core, of one thread, and of all cores on average
	nearFull = 0.90 // each of all cores, when their mean is full: the last few per cent are noise
	idle     = 0.50 // idle share from which a core could take another thread

	mostCores = 8192 // that Linux can be built for
)

// spread sums up the cores of one computer.
type spread struct {
	n           int
	mean, least float64 // busy share
	free        int     // cores idle enough for another thread
	top         probes.CoreLoad
	steal       float64 // mean
	softirq     float64 // mean, hard interrupts included
	packets     float64 // softirq of the core that has most of it
}

func spreadOf(cores []probes.CoreLoad) spread {
	s := spread{n: len(cores), least: 1}
	for _, c := range cores {
		busy := c.Busy()
		s.mean += busy
		s.least = min(s.least, busy)
		s.steal += c.Steal
		s.softirq += c.SoftIRQ + c.IRQ
		s.packets = max(s.packets, c.SoftIRQ)
		if c.Idle >= idle {
			s.free++
		}
		if busy > s.top.Busy() {
			s.top = c
		}
	}
	n := float64(max(1, s.n))
	s.mean /= n
	s.steal /= n
	s.softirq /= n
	return s
}

// full reports whether no core has time left.
func (s spread) full() bool { return s.n > 0 && s.mean >= full && s.least >= nearFull }

// them names the cores of a computer: "both cores", "all 4 far cores".
func (s spread) them(where string) string {
	switch s.n {
	case 1:
		return "the only " + where + "core"
	case 2:
		return "both " + where + "cores"
	}
	return fmt.Sprintf("all %d %scores", s.n, where)
}

// are is the verb to them.
func (s spread) are() string {
	if s.n == 1 {
		return "is"
	}
	return "are"
}

// cores gives the cores that work for one end.
func (e *Evidence) cores(side engine.Side) probes.Reading[[]probes.CoreLoad] {
	r := e.end(side).Cores
	if r.Known() && len(r.Value) == 0 {
		return probes.Unknown[[]probes.CoreLoad](probes.Failed, "no core was read")
	}
	return r
}

// coreByNumber finds one core.
func coreByNumber(cores []probes.CoreLoad, number int) (probes.CoreLoad, bool) {
	for _, c := range cores {
		if c.Core == number {
			return c, true
		}
	}
	return probes.CoreLoad{}, false
}

// freeBeside counts the cores but one that could take another thread.
func freeBeside(cores []probes.CoreLoad, number int) (n int) {
	for _, c := range cores {
		if c.Core != number && c.Idle >= idle {
			n++
		}
	}
	return n
}

// busiest gives the busiest thread of one end that sends (or receives) in one of the
// directions of dir.
func (e *Evidence) busiest(side engine.Side, dir engine.Direction, sends bool) probes.Reading[Thread] {
	threads, ok := e.Ends[side].Threads.Get()
	if !ok {
		return probes.Unknown[Thread](e.Ends[side].Threads.Status, e.Ends[side].Threads.Why())
	}
	best := probes.Unknown[Thread](probes.Absent, "no thread of this test was seen")
	for _, t := range threads {
		if t.Sends == sends && dir.Has(t.Dir) && (!best.Known() || t.Busy() > best.Value.Busy()) {
			best = probes.Got(t)
		}
	}
	return best
}

// onCore says where a thread works and how much, and gives the larger figure: that of
// its core, or its own when it wanders between cores.
func onCore(t Thread, cores []probes.CoreLoad, where string) (text string, share float64) {
	c, ok := coreByNumber(cores, t.Core)
	if !ok || c.Busy() < min(t.Busy(), nearFull) {
		return fmt.Sprintf("%s of one, now %score %d", percent(t.Busy()), where, t.Core), t.Busy()
	}
	share = max(t.Busy(), c.Busy())
	return fmt.Sprintf("%score %d at %s", where, t.Core, percent(share)), share
}

// cpuMask writes a bit for each of n cores as the kernel's cpumask files take it: groups
// of 32 bits in hex, the highest first. Where their number is not known the shell works it
// out.
func cpuMask(n int) string {
	if n <= 0 || n > mostCores {
		return "$(printf %x $(( (1 << $(nproc)) - 1 )))"
	}
	var groups []string
	if rest := n % 32; rest > 0 {
		groups = append(groups, fmt.Sprintf("%x", uint32(1)<<rest-1))
	}
	for range n / 32 {
		groups = append(groups, "ffffffff")
	}
	return strings.Join(groups, ",")
}
