package diagnose

import (
	"fmt"
	"time"

	"linerate/engine"
	"linerate/engine/unit"
)

const (
	// missedTarget is the part of an asked rate below which it is not reached, idleSender
	// the share of a core below which its thread is not why.
	missedTarget, idleSender = 0.95, 0.6
	// timerFits is how near a period must explain the rate.
	timerFits = 0.15
)

// periods are what a sleeping sender is woken after at the earliest: the default timer
// slack, a jiffy of a kernel with 1000 or 250 ticks a second, each with the slack.
var periods = []time.Duration{55 * time.Microsecond, 1060 * time.Microsecond, 4060 * time.Microsecond, 10060 * time.Microsecond}

// timerLimited (R54): the sender sleeps between its bursts for longer than its rate
// allows.
func timerLimited(e *Evidence, dir engine.Direction) ruling {
	spec := &e.Test.Spec
	switch {
	case spec.Bitrate <= 0:
		return no("no -b was given")
	case e.Test.LinkBps > 0:
		return no("the simulated link paces the streams")
	}
	g, ok := e.flow(dir).Rate.Get()
	if !ok {
		return unseen("rate: " + e.flow(dir).Rate.Why())
	}
	n := float64(max(1, spec.Streams))
	if g >= missedTarget*spec.Bitrate*n {
		return no("the asked rate is reached")
	}
	side := e.Sender(dir)
	t := e.busiest(side, dir, true)
	switch {
	case !t.Known():
		return e.notSeen(side, "sending threads", t.Why())
	case t.Value.Busy() >= idleSender:
		return no(fmt.Sprintf("the sending thread uses %s of a core", percent(t.Value.Busy())))
	}
	if streams := e.flow(dir).Sender.Value; !e.Test.UDP {
		app, told := median(streams, (*StreamWindow).appLimited)
		if !told {
			return e.notSeen(side, "TCP_INFO", orElse(e.flow(dir).Sender.Why(), "the kernel does not tell"))
		}
		if app < driven {
			return no("the sockets wait for the network")
		}
	}
	burst := float64(spec.Block() * max(1, spec.Burst))
	for _, p := range periods {
		expected := burst * 8 / p.Seconds()
		if each := g / n; each < (1-timerFits)*expected || each > (1+timerFits)*expected {
			continue
		}
		return holds(engine.Finding{
			Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: e.side(side), Core: -1,
			Text: fmt.Sprintf("Timer granularity: one wake-up per %s with %s gives %s of the %s asked.",
				unit.Duration(p), unit.Bytes(uint64(burst)), unit.Rate(g), unit.Rate(spec.Bitrate*n)),
			Short: "timer granularity limits the sender",
			Proof: engine.ProofNone,
			Evidence: e.from(dir, engine.Evidence{Name: "asked rate", Value: spec.Bitrate * n, Unit: "bit/s", Side: engine.Local},
				engine.Evidence{Name: "bytes per wake-up", Value: burst, Unit: "B", Side: e.side(side)},
				e.share("thread "+t.Value.Name, t.Value.Busy(), side)),
			Remedy: []engine.Remedy{
				{Text: "Send larger bursts.", Temporary: fmt.Sprintf("-b %s/%d", flagRate(spec.Bitrate), max(10, 4*spec.Burst))},
				{Text: "Let the kernel pace instead.", Temporary: "--fq-rate " + flagRate(spec.Bitrate)},
			},
		})
	}
	return no("no timer's period explains the rate")
}
