package diagnose

import (
	"fmt"
	"strings"

	"linerate/engine"
	"linerate/probes"
)

const (
	// ownPart is the least part of the used CPU that must be this test's for the result
	// to be the network's.
	ownPart = 0.6
	// busyHere is the mean load from which a computer that runs both ends and has no
	// free core is called busy: one stream over loopback keeps two cores at 85 and 65 %.
	// busyAlone is higher, since with a real network other limits are more likely.
	busyHere, busyAlone = 0.60, 0.85
	// pacing is the least share of a core at which one of two threads on the same
	// computer sets the pace of the other.
	pacing = 0.6
)

// sides lists the computers of a test: one or two.
func (e *Evidence) sides() []engine.Side {
	if e.Test.SameHost {
		return []engine.Side{engine.Local}
	}
	return []engine.Side{engine.Local, engine.Far}
}

// eachComputer asks about each computer and gives the first that holds. What cannot be
// told of one of them cannot be told at all.
func (e *Evidence) eachComputer(ask func(side engine.Side) ruling) ruling {
	answer := no("")
	for _, side := range e.sides() {
		v := ask(side)
		if v.state == Holds {
			return v
		}
		answer.state = max(answer.state, v.state)
		if answer.why != "" && strings.HasPrefix(v.why, "far end") {
			answer.why += "; "
		} else if answer.why != "" {
			answer.why += "; far end: "
		}
		answer.why += v.why
	}
	return answer
}

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

// allCoresFull (R10b): no core of a computer has time left.
func allCoresFull(e *Evidence, dir engine.Direction) ruling {
	return e.eachComputer(func(side engine.Side) ruling {
		cores, ok := e.cores(side).Get()
		if !ok {
			return unseen("cores: " + e.cores(side).Why())
		}
		s := spreadOf(cores)
		if !s.full() {
			return no(fmt.Sprintf("the %scores are %s busy, the least of them %s", e.where(side), percent(s.mean), percent(s.least)))
		}
		if s.steal >= stolenMean && s.mean-s.steal < full {
			return no(fmt.Sprintf("they are full, but the hypervisor takes %s of them", percent(s.steal)))
		}
		if e.keepsUp(dir) {
			return no("they are full, but this test does not wait for any")
		}
		them := s.them(e.where(side))
		f := engine.Finding{
			Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: side, Core: -1,
			Text:  sentence(fmt.Sprintf("%s %s full (%s busy): more streams cannot help much.%s", them, s.are(), percent(s.mean), e.both())),
			Short: fmt.Sprintf("%s full (%s)", them, percent(s.mean)),
			Proof: engine.ProofAddStream,
			Evidence: e.from(dir,
				e.share("cores busy, mean", s.mean, side),
				e.share("least busy core", s.least, side),
				e.share("softirq and irq, mean", s.softirq, side)),
			Remedy: []engine.Remedy{{Text: "A larger MTU, zero copy (-Z) and --skip-rx-copy cost less CPU per byte; so do offloads that are off."}},
		}
		if s.steal >= 0.1 {
			f.Text += fmt.Sprintf(" The hypervisor takes %s of them.", percent(s.steal))
		}
		if t, ok := e.moreStreams(dir); ok {
			f.Text += fmt.Sprintf(" %s.", t)
			if t.gain <= -helped {
				f.Press = "-"
			}
		}
		return holds(f)
	})
}

// coresBusy (R10c): no core is full, but none is free either; or both ends share a
// computer, where nothing but their threads can set the pace.
func coresBusy(e *Evidence, dir engine.Direction) ruling {
	if !e.unpaced() {
		return no("the test is paced")
	}
	return e.eachComputer(func(side engine.Side) ruling {
		cores, ok := e.cores(side).Get()
		if !ok {
			return unseen("cores: " + e.cores(side).Why())
		}
		s := spreadOf(cores)
		if s.full() {
			return no("they are full")
		}
		if used, any := e.payloadUses(side); any && used < takesPart {
			return no(fmt.Sprintf("this test's threads use only %s of a core", percent(used)))
		}
		if s.free > 0 {
			return e.paceEachOther(dir, s)
		}
		least := busyAlone
		if e.maybeOneComputer() {
			least = busyHere
		}
		if s.mean < least {
			return no(fmt.Sprintf("the %scores are %s busy", e.where(side), percent(s.mean)))
		}
		them := s.them(e.where(side))
		f := e.busyFinding(dir, side, s)
		f.Text = sentence(fmt.Sprintf("%s %s busy (%s)", them, s.are(), e.workers(side, s)))
		f.Short = fmt.Sprintf("%s busy (%s)", them, percent(s.mean))
		e.orMoreStreams(&f, dir)
		return holds(f)
	})
}

// payloadUses is the share of one core that all payload threads on one computer use, and
// whether any was seen.
func (e *Evidence) payloadUses(side engine.Side) (busy float64, any bool) {
	for _, s := range []engine.Side{engine.Local, engine.Far} {
		if s != side && !e.maybeOneComputer() {
			continue
		}
		for _, t := range e.Ends[s].Threads.Value {
			busy, any = busy+t.Busy(), true
		}
	}
	return busy, any
}

// paceEachOther speaks of two threads on one computer, each waiting for the other while
// cores are free.
func (e *Evidence) paceEachOther(dir engine.Direction, s spread) ruling {
	if !e.Test.SameHost && !(e.maybeOneComputer() && e.Ends[engine.Far].Threads.Known()) {
		return no(fmt.Sprintf("%s could take another thread", count(s.free, "core")))
	}
	tx, rx := e.pair(engine.Local)
	if !tx.Known() && !rx.Known() {
		return unseen("threads: " + tx.Why())
	}
	if max(tx.Value.Busy(), rx.Value.Busy()) < pacing {
		return no("neither the sending nor the receiving thread is busy")
	}
	f := e.busyFinding(dir, engine.Local, s)
	f.Confidence = engine.Likely
	f.Text = "Both ends run on one computer and pace each other"
	if w := workload(tx, rx); w != "" {
		f.Text += " (" + w + ")"
	}
	f.Text += ", while " + sitIdle(s.free)
	f.Short = "both ends here pace each other"
	e.orMoreStreams(&f, dir)
	return holds(f)
}

// orMoreStreams ends the sentence: another stream may help, unless the last ones did
// not.
func (e *Evidence) orMoreStreams(f *engine.Finding, dir engine.Direction) {
	t, ok := e.moreStreams(dir)
	if ok && t.gain < helped {
		f.Text += fmt.Sprintf(": more streams do not help, %s.", t)
		return
	}
	f.Text += ": + may still help."
	f.Press, f.Proof = "+", engine.ProofAddStream
	if len(f.Short) <= 32 {
		f.Short += ", try +"
	}
}

func (e *Evidence) busyFinding(dir engine.Direction, side engine.Side, s spread) engine.Finding {
	f := engine.Finding{
		Severity: engine.SeverityLimit, Confidence: engine.Likely, Side: side, Core: -1,
		Evidence: e.from(dir,
			e.share("cores busy, mean", s.mean, side),
			e.share("least busy core", s.least, side),
			e.share(fmt.Sprintf("core %d busy", s.top.Core), s.top.Busy(), side)),
	}
	if e.maybeOneComputer() {
		f.Confidence = engine.Sure
	}
	return f
}

// workers says who keeps the cores busy: the threads where they are known, else the
// cores themselves.
func (e *Evidence) workers(side engine.Side, s spread) string {
	if w := workload(e.pair(side)); w != "" {
		return w
	}
	return percent(s.mean) + " on average"
}

// pair gives the busiest sending and the busiest receiving thread on one computer.
func (e *Evidence) pair(side engine.Side) (tx, rx probes.Reading[Thread]) {
	tx, rx = e.busiest(side, engine.Both, true), e.busiest(side, engine.Both, false)
	if e.maybeOneComputer() {
		tx = busier(tx, e.busiest(engine.Far, engine.Both, true))
		rx = busier(rx, e.busiest(engine.Far, engine.Both, false))
	}
	return tx, rx
}

// busier gives the thread that uses more, or the one that is known.
func busier(a, b probes.Reading[Thread]) probes.Reading[Thread] {
	if b.Known() && (!a.Known() || b.Value.Busy() > a.Value.Busy()) {
		return b
	}
	return a
}

// workload prints the two threads: "sending thread 85 %, receiving thread 65 %".
func workload(tx, rx probes.Reading[Thread]) string {
	switch {
	case tx.Known() && rx.Known():
		return fmt.Sprintf("sending thread %s, receiving thread %s", percent(tx.Value.Busy()), percent(rx.Value.Busy()))
	case tx.Known():
		return "sending thread " + percent(tx.Value.Busy())
	case rx.Known():
		return "receiving thread " + percent(rx.Value.Busy())
	}
	return ""
}
