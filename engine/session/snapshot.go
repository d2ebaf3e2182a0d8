package session

import (
	"fmt"
	"slices"
	"time"

	"linerate/engine"
)

// event adds a line to the log.
func (c *conductor) event(format string, args ...any) {
	c.changed = true
	c.diary.add(c.since(time.Now()), fmt.Sprintf(format, args...))
}

// publish puts the present state into the mailbox.
func (c *conductor) publish(now time.Time) *engine.Snapshot {
	c.changed = false
	c.seq++
	s := &engine.Snapshot{
		Seq:      c.seq,
		At:       now,
		Elapsed:  c.since(now),
		Phase:    c.phase(),
		Note:     c.note(now),
		Peer:     c.peer,
		Spec:     c.spec,
		Label:    c.cfg.Label,
		Segments: c.past.segments[:len(c.past.segments):len(c.past.segments)],
		Streams:  c.streams,
		Sums:     c.sums,
		Host:     c.sight.host,
		Route:    c.sight.route,
		PathRTT:  c.path.trip(),
		PathMTU:  c.path.sizes(),
		Load:     c.sight.load,
		Drops:    c.sight.drops,
		Verdicts: c.opinion.verdicts,
		Best:     c.search.Best,
		Proving:  c.proof.proving(c.since(now)),
		History:  c.history.view(),
		Moved:    c.past.moved,
		Events:   c.diary.events,
		SSHLink:  c.sight.sshLink,
		SelfCPU:  c.sight.self,
		Err:      c.failure,
	}
	c.ages(&s.Peer, now)
	if c.want != c.spec && c.worked && !c.over {
		asked := c.want
		s.Asked = &asked
	}
	if c.step != nil {
		c.streams, c.sums = c.streamsNow(), c.sumsNow()
		c.sight.drops = c.vitals.lost(c.begin.Add(c.step.seg.Start))
		s.Drops = c.sight.drops
		s.Streams, s.Sums = c.streams, c.sums
		s.Moved += c.step.meter.moved()
		seg := c.step.seg
		seg.Sums = s.Sums
		seg.Verdict, seg.Title = headline(c.opinion.verdicts)
		s.Segments = append(slices.Clone(c.past.segments), seg)
	}
	c.box.put(s)
	return s
}

// ages says how old it is what the far end has told.
func (c *conductor) ages(p *engine.Peer, now time.Time) {
	if load, ok := p.Load.Get(); ok {
		p.LoadAge = max(0, now.Sub(load.At))
	}
	if drops, ok := p.Drops.Get(); ok {
		p.DropsAge = max(0, now.Sub(drops.At))
	}
	if c.step != nil && !c.step.far.FactsAt.IsZero() {
		p.FactsAge = max(0, now.Sub(c.step.far.FactsAt))
	}
}

// phase is what the session is doing, in the operator's terms.
func (c *conductor) phase() engine.Phase {
	switch {
	case c.done && c.stage == idle:
		return engine.Done
	case c.then == leave:
		return engine.Ending
	case !c.worked:
		return engine.Connecting
	case c.stage == flowing, c.stage == opening && c.try.chain:
		return engine.Running
	case c.stage == idle:
		return engine.Stopped
	default:
		return engine.Changing
	}
}

// note says what is being waited for.
func (c *conductor) note(now time.Time) string {
	switch {
	case c.over || c.stage == idle || c.stage == flowing:
		return ""
	case c.then == leave && !c.quitBy.IsZero():
		left := max(0, c.quitBy.Sub(now)+time.Second-1).Truncate(time.Second)
		return fmt.Sprintf("waiting for the server's results, %d s left", left/time.Second)
	case c.then == leave:
		return "ending at once"
	case c.then == halt:
		return "stopping"
	case !c.worked:
		return fmt.Sprintf("connecting to %s port %d", c.try.spec.Host, c.try.spec.Port)
	case c.stage == closing:
		return "ending the step"
	case c.try.chain:
		return ""
	default:
		return "opening " + c.try.change
	}
}
