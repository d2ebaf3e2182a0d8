package session

import (
	"time"

	"linerate/engine"
	"linerate/engine/diagnose"
	"linerate/probes"
)

// timestamps is the bit of TCP_INFO's options that says that segments carry them.
const timestamps = 1

// judge asks the rules what holds the running step back. Much of what they see was read
// after the tick began, at now: its age counts from here.
func (c *conductor) judge(now time.Time) { c.consult(c.since(now), c.evidence(time.Now())) }

func (c *conductor) consult(at time.Duration, e diagnose.Evidence) {
	c.opinion.form(at, &e)
	for i := range c.opinion.verdicts {
		if v := &c.opinion.verdicts[i]; c.opinion.news(v) {
			c.event("%v: %s", v.Dir, v.Main.Title)
		}
	}
}

// evidence is everything the rules may look at.
func (c *conductor) evidence(now time.Time) diagnose.Evidence {
	s := c.step
	e := diagnose.Evidence{
		Test: diagnose.Test{
			Role:      engine.Client,
			Spec:      s.seg.Spec,
			Step:      s.seg.Index,
			Age:       c.since(now) - s.seg.Start,
			PeerAgent: s.info.PeerAgent,
			Linerate:  s.info.Linerate,
			SameHost:  c.peer.Loopback,
			ExpectBps: c.cfg.ExpectBps,
			LinkBps:   c.cfg.LinkBps,
		},
		Path: diagnose.Path{
			Ceiling: c.roof, MTU: c.path.sizes(), RTT: c.path.trip(),
			Dest: c.peer.Addr.Addr(), Source: c.sight.route.Value.Source, Gateway: c.sight.gateway,
			Listener: c.sight.listener,
		},
		Steps: c.past.steps,
	}
	if c.cfg.LinkBps > 0 {
		e.Test.StreamBps = c.wire(s.seg.Spec).Bitrate
	}
	why := s.far.why(s.info.Linerate, now)
	for _, dir := range s.seg.Spec.Direction.Dirs() {
		e.Flows[dir] = s.recent.Flow(now, dir, why)
		if why == "" {
			s.far.flow(&e.Flows[dir], now, dir)
		}
	}
	e.Ends = c.ends(now, why)
	return e
}

// ends is what is known of the two computers. why says why nothing is of the far one; ""
// when it has told. Where they are one, its other threads that move payload are taken for
// the server's, unless the server tells which are.
func (c *conductor) ends(now time.Time, why string) [2]diagnose.End {
	load := c.step.recent.Load()
	age := now.Sub(load.At)
	here := load
	began := c.begin.Add(c.step.seg.Start)
	far := c.step.far.end(why, began, now)
	if c.peer.Loopback {
		client, server := diagnose.Split(load, c.step.meter.scratch)
		here = client
		if len(server.Threads.Value) > 0 && !far.Threads.Known() {
			far = diagnose.NewEnd(server, engine.Server, age)
		}
	}
	near := diagnose.NewEnd(here, engine.Client, age)
	near.Host = probes.Got(c.sight.host)
	near.NIC = probes.Unknown[probes.NIC](c.sight.route.Status, c.sight.route.Why())
	if route, ok := c.sight.route.Get(); ok {
		near.NIC = route.NIC
	}
	c.sharpen(&near, began, now)
	if c.peer.Loopback {
		far.Host, far.NIC = near.Host, near.NIC
	}
	return [2]diagnose.End{engine.Local: near, engine.Far: far}
}

// measureRoof works out what the link leaves for payload.
func (c *conductor) measureRoof() {
	if c.cfg.LinkBps > 0 {
		c.roof = probes.Got(diagnose.SimulatedCeiling(c.cfg.LinkBps))
		return
	}
	stamped := true // the default everywhere, until a socket tells
	if c.step != nil {
		for i := range c.step.meter.streams {
			if info, ok := c.step.meter.streams[i].TCP.Get(); ok {
				stamped = info.Options&timestamps != 0
			}
		}
	}
	c.roof = diagnose.ChainCeiling(c.sight.route, c.sight.statics.adapter.Chain, diagnose.Payload{Timestamps: stamped})
}

// ceiling is the goodput that the link allows.
func (c *conductor) ceiling() probes.Reading[float64] {
	roof, ok := c.roof.Get()
	if !ok {
		return probes.Unknown[float64](c.roof.Status, c.roof.Why())
	}
	return probes.Got(roof.Bps)
}

// headline picks what the list of steps says of one that has ended: the gravest of its
// verdicts.
func headline(verdicts []engine.Verdict) (code, title string) {
	var main *engine.Finding
	for i := range verdicts {
		if f := &verdicts[i].Main; main == nil || f.Severity > main.Severity {
			main = f
		}
	}
	if main == nil {
		return "", ""
	}
	return main.Code, main.Title
}

// SimulatedLink gives a Config.Shape that paces the streams as a link of linkBps would
// share itself out among streams of which none gets more than streamBps (0: no such
// limit); an asked -b stays a limit too. Config.LinkBps must be linkBps as well.
func SimulatedLink(linkBps, streamBps float64) func(engine.Spec) engine.Spec {
	goodput := diagnose.SimulatedCeiling(linkBps).Bps
	return func(spec engine.Spec) engine.Spec {
		share := goodput / float64(max(1, spec.Streams))
		for _, limit := range []float64{streamBps, spec.Bitrate} {
			if limit > 0 {
				share = min(share, limit)
			}
		}
		spec.Bitrate = share
		return spec
	}
}
