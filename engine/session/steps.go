package session

import (
	"context"
	"time"

	"linerate/engine"
	"linerate/engine/diagnose"
	"linerate/engine/iperf"
	"linerate/engine/unit"
	"linerate/probes"
)

// endlessFor are the durations that a test without a limit asks for, in turn, until the
// server accepts one. Limited ones are chained into one step.
var endlessFor = []time.Duration{0, time.Hour, time.Minute, 10 * time.Second}

// plan is a test to be opened.
type plan struct {
	spec   engine.Spec
	change string
	chain  bool // it continues the running step
	back   bool // it goes back to what worked
	proof  bool // a proof tries something
}

// step is the running step.
type step struct {
	seg    engine.Segment // what is known from its begin on
	test   Test
	info   engine.TestInfo
	meter  *meter
	recent *diagnose.Recent // for the rules
	far    farSight         // of test
	gauge  gauge            // for proofs
	result *engine.Result   // of its chained tests that have ended
	before [2]baseline      // by direction
	still  [2]bool          // the operator was told that nothing moves
}

// wire is the spec that goes to the server for an asked one.
func (c *conductor) wire(spec engine.Spec) engine.Spec {
	if c.cfg.Shape != nil {
		spec = c.cfg.Shape(spec)
	}
	if !spec.Limited() {
		spec.Duration = endlessFor[c.endless]
	}
	return spec
}

// options tell where a test with this spec is opened: on the address that answered
// before, and patiently, as long as it is the same server.
func (c *conductor) options(spec engine.Spec) iperf.Options {
	opt := iperf.Options{Agent: c.cfg.Agent}
	if c.queue != nil {
		opt.Sink = c.queue
	}
	same := spec.Host == c.works.Host && spec.Port == c.works.Port && spec.Family == c.works.Family
	if c.worked && same {
		opt.Addr, opt.Retry = c.peer.Addr, reopenFor
	}
	return opt
}

// open starts to open a test. Its outcome comes back as an attempt, its end as a Result.
func (c *conductor) open(p plan) {
	ctx, cancel := context.WithCancel(c.ctx)
	c.stage, c.then, c.try, c.cancel = opening, nothing, p, cancel
	c.failure, c.done, c.changed = nil, false, true
	spec, opt := c.wire(p.spec), c.options(p.spec)
	c.wg.Go(func() {
		t, err := c.cfg.Start(ctx, spec, opt)
		c.opened <- attempt{t, err}
		if err == nil {
			c.ended <- t.Run(ctx)
		}
	})
}

func (c *conductor) onOpened(a attempt) {
	c.changed = true
	if a.err != nil {
		c.cancel()
		c.stage = idle
		c.onRefused(a.err)
		return
	}
	now := time.Now()
	c.stage, c.due.tick = flowing, now.Add(tick)
	c.begun(a.test, now)
	switch {
	case c.then != nothing: // a command came while the test was being opened
		c.stop()
	case c.queued:
		c.queued = false
		c.send()
	}
}

// begun enters a test whose payload flows.
func (c *conductor) begun(t Test, now time.Time) {
	info := t.Info()
	if info.Start.IsZero() || info.Start.After(now) {
		info.Start = now
	}
	at := c.since(info.Start)
	omit := c.try.spec.Omit
	if omit == 0 {
		omit = c.cfg.Settle
	}
	window := max(c.try.spec.Interval, 0)
	if window == 0 {
		window = time.Second
	}
	if c.try.chain {
		c.step.meter = newMeter(at, info.Conns, window, omit, c.step.meter)
	} else {
		c.step = &step{meter: newMeter(at, info.Conns, window, omit, nil)}
		c.step.seg = engine.Segment{
			Index:   len(c.past.segments) + 1,
			Change:  c.try.change,
			Spec:    c.try.spec,
			Proof:   c.try.proof,
			Start:   at,
			PeerCPU: probes.Unknown[engine.CPUUse](probes.NotRead, "the server tells at the end of the step"),
		}
		c.step.before = c.past.before()
		c.opinion.told = [2]string{}
		if c.worked {
			c.step.seg.Gap = max(0, at-c.past.payloadTo)
		}
		c.tellBegin(&c.step.seg, info)
	}
	c.step.test, c.step.info = t, info
	c.step.recent, c.step.far = diagnose.NewRecent(info.Start), newFarSight(info.Start)
	c.spec, c.works, c.worked = c.try.spec, c.try.spec, true
	c.met(info)
	c.measureRoof()
	c.look()
	c.searchBegun(at)
	c.proofBegun(at)
}

func (c *conductor) tellBegin(seg *engine.Segment, info engine.TestInfo) {
	if !c.worked {
		agent := ""
		if info.PeerAgent != "" {
			agent = " (" + info.PeerAgent + ")"
		}
		c.event("connected to %v%s", info.Control.Remote, agent)
		return
	}
	c.event("step %d: %s, %s without payload", seg.Index, seg.Change, unit.Duration(seg.Gap))
}

// onRefused decides what follows when a test could not be opened.
func (c *conductor) onRefused(err error) {
	switch {
	case c.then == leave:
		c.endStep(nil, nil)
		c.over = true
	case c.then == halt:
		c.endStep(nil, nil)
		c.stopped()
	case errorCode(err) == codeTooLong && !c.try.spec.Limited() && c.endless+1 < len(endlessFor):
		c.endless++
		c.open(c.try)
	case !c.worked:
		c.failure, c.over = err, true
	case c.try.chain:
		c.endStep(nil, err)
		c.fail(err)
	default:
		c.refused(err)
	}
}

// refused notes a change that failed, and goes on with what was asked meanwhile or else
// back, once, to what worked.
func (c *conductor) refused(err error) {
	failed := c.try
	now := c.since(time.Now())
	c.past.segments = append(c.past.segments, engine.Segment{
		Index: len(c.past.segments) + 1, Change: failed.change, Spec: failed.spec,
		Start: now, End: now, Err: err.Error(), Proof: failed.proof,
		PeerCPU: probes.Unknown[engine.CPUUse](probes.Absent, "the step did not begin"),
	})
	c.searchRefused(failed.spec.Streams, err)
	c.proofRefused(err)
	queued := c.queued
	c.queued = false
	switch {
	case queued && c.want != failed.spec:
		c.event("%s: %v", failed.change, err)
		c.open(plan{spec: c.want, change: c.describe(c.works, c.want)})
	case !failed.back && c.works != failed.spec:
		c.event("%s: %v; going back", failed.change, err)
		c.want, c.words = c.works, ""
		c.open(plan{spec: c.works, change: "back: " + changes(failed.spec, c.works), back: true})
	default:
		c.fail(err)
	}
}
