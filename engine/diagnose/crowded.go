package diagnose

import (
	"fmt"

	"linerate/engine"
	"linerate/probes"
)

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
