package diagnose

import (
	"fmt"
	"strings"

	"linerate/engine"
	"linerate/probes"
)

// ownPart is the least part of the used CPU that must be this test's for the result to be
// the network's.
const ownPart = 0.6

// otherPrograms (R19b): the cores are full, but not with this test.
func otherPrograms(e *Evidence, dir engine.Direction) ruling {
	return e.eachComputer(func(side engine.Side) ruling {
		cores, ok := e.cores(side).Get()
		if !ok {
			return e.notSeen(side, "cores", e.cores(side).Why())
		}
		where := e.where(side)
		if pinned := e.Test.Spec.Affinity; side == engine.Local && pinned >= 0 {
			if c, ok := coreByNumber(cores, pinned); ok {
				return e.pinnedAmongOthers(dir, c)
			}
		}
		s := spreadOf(cores)
		used := s.mean - s.steal
		if used < full || s.least < nearFull {
			if f, ok := e.crowdedOut(dir, side, cores); ok {
				return holds(f)
			}
			return no(sentence(fmt.Sprintf("the %scores have time left: %s used", where, percent(used))))
		}
		process := e.ownProcess(side)
		if !process.Known() {
			return e.notSeen(side, "CPU of this test", process.Why())
		}
		// Softirq time belongs to no process; that of a busy network is the test's.
		own := min(process.Value/float64(s.n)+s.softirq, used)
		if own >= ownPart*used {
			return no(fmt.Sprintf("%s uses %s of the %s that the %scores work", e.ourselves(), percent(own), percent(used), where))
		}
		if e.keepsUp(dir) {
			return no("other programs fill the cores, but this test does not wait for any")
		}
		computer := "this computer"
		if where != "" {
			computer = "the far computer"
		}
		if e.Test.Idle {
			return holds(e.busyBefore(dir, side, used, own))
		}
		return holds(engine.Finding{
			Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: side, Core: -1,
			Text: fmt.Sprintf("Other programs use %s of %s's CPU%s, this test %s: the result is not the network's. Stop them and measure again.",
				percent(used-own), computer, e.greatestOf(side), percent(own)),
			Short: fmt.Sprintf("other programs use %s of %sCPU", percent(used-own), where),
			Evidence: e.from(dir,
				e.share("cores used", used, side),
				e.share("of it this test", own, side)),
			Remedy: []engine.Remedy{quietThem},
		})
	})
}

// ourselves is what takes this program's part of the CPU.
func (e *Evidence) ourselves() string {
	if e.Test.Idle {
		return "this program"
	}
	return "this test"
}

// busyBefore is otherPrograms where no test runs yet: used of the cores is, of which own
// takes the look at them.
func (e *Evidence) busyBefore(dir engine.Direction, side engine.Side, used, own float64) engine.Finding {
	return engine.Finding{
		Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: side, Core: -1,
		Text: fmt.Sprintf("Other programs use %s of this computer's CPU%s: a test now would measure them too. Stop them first.",
			percent(used-own), e.greatestOf(side)),
		Short:    fmt.Sprintf("other programs use %s of CPU", percent(used-own)),
		Evidence: e.from(dir, e.share("cores used by other programs", used-own, side)),
		Remedy:   []engine.Remedy{quietThem},
	}
}

// quietThem is what helps against other programs.
var quietThem = engine.Remedy{Text: "Stop the other programs, give them other cores, or lower their priority.",
	Temporary: "top -o %CPU; renice -n 19 -p PID"}

// pinnedAmongOthers is otherPrograms for a test bound to one core: only that one counts.
func (e *Evidence) pinnedAmongOthers(dir engine.Direction, c probes.CoreLoad) ruling {
	used := c.Busy() - c.Steal
	if used < full {
		return no(fmt.Sprintf("core %d, which the test is bound to, has time left: %s used", c.Core, percent(used)))
	}
	threads, ok := e.Ends[engine.Local].Threads.Get()
	if !ok {
		return unseen("threads: " + e.Ends[engine.Local].Threads.Why())
	}
	if !e.Ends[engine.Far].Threads.Known() && e.maybeOneComputer() {
		return unseen("the far program may run on this core too")
	}
	own := c.SoftIRQ + c.IRQ
	for _, t := range threads {
		if t.Core == c.Core {
			own += t.Busy()
		}
	}
	if e.maybeOneComputer() {
		for _, t := range e.Ends[engine.Far].Threads.Value {
			if t.Core == c.Core {
				own += t.Busy()
			}
		}
	}
	if own >= ownPart*used {
		return no(fmt.Sprintf("this test uses %s of core %d", percent(own), c.Core))
	}
	return holds(engine.Finding{
		Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: engine.Local, Core: c.Core,
		Text: fmt.Sprintf("Other programs use %s of core %d, which -A binds this test to, the test %s: the result is not the network's. Choose another core.",
			percent(used-own), c.Core, percent(own)),
		Short: fmt.Sprintf("other programs use %s of core %d", percent(used-own), c.Core),
		Evidence: e.from(dir,
			e.share(fmt.Sprintf("core %d used", c.Core), used, engine.Local),
			e.share("of it this test", own, engine.Local)),
		Remedy: []engine.Remedy{{Text: "Bind the test to a free core, or to none."}},
	})
}

// ownProcess is the most CPU that the test's programs can be using on one computer: what
// they say, or what nobody else uses. The former counts packet handling that interrupts a
// thread twice where the kernel does not keep interrupt time apart; the latter misses
// programs that a container does not show, and those that live for less than 2 s.
func (e *Evidence) ownProcess(side engine.Side) probes.Reading[float64] {
	told, left := e.toldProcess(side), e.allButOthers(side)
	switch {
	case !left.Known():
		return told
	case !told.Known():
		return left
	}
	return probes.Got(min(told.Value, left.Value))
}

// toldProcess is the CPU that the test's program says it uses on one computer. Where that
// computer runs both ends in two programs, the far one's part is known only from the
// results of an earlier, equal step.
func (e *Evidence) toldProcess(side engine.Side) probes.Reading[float64] {
	own := e.end(side).Process
	switch other := e.Ends[engine.Far-side].Process; {
	case !own.Known() && len(e.Ends[side].Threads.Value) > 0 && !e.maybeOneComputer():
		sum := 0.0 // the threads that move payload are nearly all of it
		for _, t := range e.Ends[side].Threads.Value {
			sum += t.Busy()
		}
		return probes.Got(sum)
	case !own.Known():
		return own
	case !e.Test.SameHost && e.maybeOneComputer():
		// The other program's share is counted here too: at worst it is too much.
		if !other.Known() && side == engine.Local {
			_, other = e.peerCPU(func(s *Step) bool { return s.Spec.Streams == e.Test.Spec.Streams })
		}
		if other.Known() {
			return probes.Got(own.Value + other.Value)
		}
		return probes.Unknown[float64](probes.Absent, "the far program may run on this computer too, and has not told what it uses")
	case !e.Test.SameHost || e.Ends[engine.Far].Threads.Known():
		return own
	}
	_, far := e.peerCPU(func(s *Step) bool { return s.Spec.Streams == e.Test.Spec.Streams })
	if !far.Known() {
		return probes.Unknown[float64](probes.Absent, "the far program runs here too and has not told what it uses")
	}
	return probes.Got(own.Value + far.Value)
}

// allButOthers takes for this test's all that the busiest other threads do not use, where
// the far program may be among what runs here.
func (e *Evidence) allButOthers(side engine.Side) probes.Reading[float64] {
	cores, ok := e.cores(side).Get()
	others := e.end(side).Others
	if !ok || !others.Known() {
		return probes.Unknown[float64](probes.Absent, "the far program may run on this computer too, and has not told what it uses")
	}
	s := spreadOf(cores)
	own := (s.mean - s.steal - s.softirq) * float64(s.n)
	for _, t := range others.Value {
		if strangers(t.Name) {
			own -= t.Busy()
		}
	}
	return probes.Got(max(0, own))
}

// strangers reports a thread that is no part of any test or of the kernel's packet work.
func strangers(name string) bool {
	for _, ours := range append([]string{"ksoftirqd", probes.ThreadPrefix}, measurers...) {
		if strings.HasPrefix(name, ours) {
			return false
		}
	}
	return true
}

// greatestOf names the program that uses most: " (top: ffmpeg)".
func (e *Evidence) greatestOf(side engine.Side) string {
	var top probes.ThreadLoad
	for _, t := range e.end(side).Others.Value {
		if strangers(t.Name) && t.Busy() > top.Busy() {
			top = t
		}
	}
	if top.Name == "" {
		return ""
	}
	return " (top: " + clip(top.Name, 16) + ")"
}

// crowdedOut is otherPrograms where only the core of a payload thread is full: programs that
// are seen to run there take most of it, though other cores may be free.
func (e *Evidence) crowdedOut(dir engine.Direction, side engine.Side, cores []probes.CoreLoad) (engine.Finding, bool) {
	t, ok := e.busiest(side, dir, side == e.Sender(dir)).Get()
	c, found := coreByNumber(cores, t.Core)
	used := c.Busy() - c.Steal
	if e.Test.Idle || !ok || !found || used < full {
		return engine.Finding{}, false
	}
	own := e.ownOn(side, c)
	strange, top := 0.0, probes.ThreadLoad{}
	for _, o := range e.end(side).Others.Value {
		if o.Core != c.Core || !strangers(o.Name) {
			continue
		}
		strange += o.Busy()
		if o.Busy() > top.Busy() {
			top = o
		}
	}
	strange = min(strange, used)
	if own >= ownPart*used || strange < (1-ownPart)*used || e.keepsUp(dir) {
		return engine.Finding{}, false
	}
	does, where := "receiving", e.where(side)
	if t.Sends {
		does = "sending"
	}
	return engine.Finding{
		Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: e.side(side), Core: c.Core,
		Text: fmt.Sprintf("Other programs use %s of %score %d (top: %s), on which the %s thread runs; this test gets %s of it: the result is not the network's. Stop them and measure again.",
			percent(strange), where, c.Core, clip(top.Name, 16), does, percent(own)),
		Short: fmt.Sprintf("other programs use %s of %score %d", percent(strange), where, c.Core),
		Evidence: e.from(dir,
			e.share(fmt.Sprintf("core %d used", c.Core), used, side),
			e.share("of it this test", own, side),
			e.share("of it "+clip(top.Name, 16), top.Busy(), side)),
		Remedy: []engine.Remedy{quietThem},
	}, true
}

// ownOn is the part of a core that goes to this test: its threads there, and the handling of
// packets.
func (e *Evidence) ownOn(side engine.Side, c probes.CoreLoad) float64 {
	own := c.SoftIRQ + c.IRQ
	for _, s := range []engine.Side{engine.Local, engine.Far} {
		if s != side && !e.maybeOneComputer() {
			continue
		}
		for _, t := range e.Ends[s].Threads.Value {
			if t.Core == c.Core {
				own += t.Busy()
			}
		}
	}
	return own
}
