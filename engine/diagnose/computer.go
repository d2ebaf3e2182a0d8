package diagnose

import (
	"fmt"
	"strings"

	"linerate/engine"
	"linerate/probes"
)

const (
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
	f.Text += ", while " + count(s.free, "core") + sits(s.free)
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
	f.Text += ": another stream (+) may still help."
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
