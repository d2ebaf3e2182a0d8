package session

import (
	"slices"

	"linerate/engine"
)

// conclude asks the rules a last time about a test that has ended by itself, now that the
// other end has told its part, and hands its result with their answer to the sink. A test
// that was stopped keeps the answer from before: payload has thinned out since.
func (c *conductor) conclude(r *engine.Result) {
	s := c.step
	if c.then == nothing && r.Err == nil && s.seg.Spec.Limited() && c.asked != nil {
		s.seg.PeerCPU = r.RemoteCPU
		s.seg.Sums = atMean(c.sumsNow())
		at := s.meter.lastTick
		e := c.evidence(c.begin.Add(at))
		e.Steps = append(slices.Clip(c.steps), s.kept())
		c.consult(at, e)
	}
	if c.queue != nil {
		c.queue.conclude(engine.Findings(c.verdicts))
	}
}
