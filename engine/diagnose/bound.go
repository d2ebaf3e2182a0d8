package diagnose

import (
	"fmt"
	"time"

	"linerate/engine"
)

const (
	// settledAfter is the age from which a path is judged: slow start's overshoot has
	// left the window of 3 s by then.
	settledAfter = 4 * time.Second
	// takesPart is the share of a core from which the payload threads of one direction
	// count as working: when they use less they are not held back by the cores they happen
	// to run on.
	takesPart = 0.3
)

// unsettled says why the path must not be judged yet, "" when it may be.
func (e *Evidence) unsettled(dir engine.Direction) string {
	if e.younger(settledAfter) {
		return "the step is younger than " + seconds(settledAfter)
	}
	if v := ramping(e, dir); v.state == Holds {
		return "still ramping up"
	}
	return ""
}

// cpuBound says which computer's cores hold a direction back, "" when none is seen to. A
// flow that waits for a core shows the signs of a full receive window, a full send buffer
// and a lossy path, so those are not believed then.
func (e *Evidence) cpuBound(dir engine.Direction) string {
	for _, side := range []engine.Side{e.Sender(dir), e.Receiver(dir)} {
		if why := e.coresBind(dir, side); why != "" {
			return why
		}
	}
	return ""
}

func (e *Evidence) coresBind(dir engine.Direction, side engine.Side) string {
	cores, ok := e.cores(side).Get()
	if !ok {
		return ""
	}
	where, s := e.where(side), spreadOf(cores)
	for _, c := range cores {
		if c.SoftIRQ >= handling && c.Idle <= leftOver {
			return fmt.Sprintf("%score %d is full of packet handling", where, c.Core)
		}
	}
	if e.keepsUp(dir) {
		return ""
	}
	if s.full() { // a thread that gets nothing looks like one that needs nothing
		return fmt.Sprintf("%s %s full", s.them(where), s.are())
	}
	t := e.busiest(side, dir, side == e.Sender(dir))
	if !t.Known() {
		if s.top.Busy() >= full {
			return fmt.Sprintf("%score %d is full", where, s.top.Core)
		}
		return e.nobodyFree(s)
	}
	if e.threadsOf(side, dir) < takesPart {
		return ""
	}
	if c, ok := coreByNumber(cores, t.Value.Core); t.Value.Busy() >= full || ok && c.Busy() >= full {
		return fmt.Sprintf("%score %d, on which the payload thread runs, is full", where, t.Value.Core)
	}
	return e.nobodyFree(s)
}

// threadsOf is the share of one core that all payload threads of one direction use at one
// end.
func (e *Evidence) threadsOf(side engine.Side, dir engine.Direction) (busy float64) {
	for _, t := range e.Ends[side].Threads.Value {
		if t.Dir == dir && t.Sends == (side == e.Sender(dir)) {
			busy += t.Busy()
		}
	}
	return busy
}

// nobodyFree says so of a computer that runs, or may run, both ends and has no idle core
// left: their threads wait for each other.
func (e *Evidence) nobodyFree(s spread) string {
	if s.free > 0 || s.mean < busyHere || !e.maybeOneComputer() {
		return ""
	}
	return fmt.Sprintf("both ends run on this computer, whose cores are %s busy", percent(s.mean))
}

// maybeOneComputer reports whether the far end runs, or may well run, on this computer in
// a network of its own: the other end of a veth pair is always here.
func (e *Evidence) maybeOneComputer() bool {
	if e.Test.SameHost {
		return true
	}
	kind, _ := e.kind(engine.Local).Get()
	here, far := e.Ends[engine.Local].Host.Value.Name, e.Ends[engine.Far].Host.Value.Name
	if here.Known() && far.Known() && here.Value != far.Value {
		return false
	}
	return kind == "veth" || kind == "loopback"
}

// together tells whether most of n streams have a property; it is known only if at least
// one stream knows it.
func together(streams []StreamWindow, has func(*StreamWindow) (yes, known bool)) (most, known bool) {
	yes, n := 0, 0
	for i := range streams {
		y, k := has(&streams[i])
		if !k {
			continue
		}
		n++
		if y {
			yes++
		}
	}
	return n > 0 && 2*yes >= n, n > 0
}
