package session

import (
	"slices"
	"time"

	"linerate/engine"
)

// conclude asks the rules a last time about a test that has ended by itself, now that the
// other end has told its part, and hands its result with their answer to the sink. What
// they see is from the last seconds of payload: since then cores and streams rest.
func (c *conductor) conclude(r *engine.Result) {
	s := c.step
	if c.then == nothing && r.Err == nil && s.seg.Spec.Limited() && c.opinion.asked != nil && c.opinion.asked.Test.Step == s.seg.Index {
		s.seg.PeerCPU = r.RemoteCPU
		s.seg.Sums = atMean(c.sumsNow())
		e := *c.opinion.asked
		e.Steps = append(slices.Clip(c.past.steps), s.kept())
		c.consult(s.meter.lastTick, e)
	}
	if c.queue != nil {
		c.queue.conclude(engine.Findings(c.opinion.verdicts))
	}
}

// paidOut reports whether the time of a limited test is over: what is still on its way are
// results.
func (s *step) paidOut(now time.Time) bool {
	spec := s.info.Spec
	return spec.Duration > 0 && now.Sub(s.info.Start) >= spec.Omit+spec.Duration
}
