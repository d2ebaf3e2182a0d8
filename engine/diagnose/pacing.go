package diagnose

import (
	"fmt"
	"math"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
)

const (
	// reached is the part of an asked rate that counts as reaching it. A run of -b 20M
	// showed 20.1 Mbit/s, one of a slower sender stays well below.
	reached = 0.97
	// pacedReached is lower, since the kernel's pacing counts headers too: --fq-rate 30M
	// gave 28.0 to 28.7 Mbit/s of payload.
	pacedReached = 0.9
	// A program is the limit when its sockets say so in most samples, have data for less
	// than restingSocket of the time, and hold next to nothing unsent, bytes.
	mostlyLimited, restingSocket, emptyQueue = 0.7, 0.6, 64 << 10
	// unqueued is the queueing delay, in least round trips, below which BBR's own pace
	// is all that holds a flow back.
	unqueued = 0.1
)

// askedRate (R35): the test was asked for no more, and gets it; or the program offers
// the network no more.
func askedRate(e *Evidence, dir engine.Direction) ruling {
	spec := &e.Test.Spec
	if e.Test.LinkBps > 0 {
		return no("the simulated link paces the streams")
	}
	if spec.Bitrate <= 0 {
		return offersLess(e, dir)
	}
	f := e.flow(dir)
	g, ok := f.Rate.Get()
	if !ok {
		return unseen("rate: " + f.Rate.Why())
	}
	// At low rates a window holds a few blocks only: what counts is a longer mean, and
	// one block per stream may always be missing from it.
	span := f.Window.Seconds()
	if n := len(f.Seconds); float64(n) > span {
		span, g = float64(n), mean(f.Seconds)
	}
	target := spec.Bitrate * float64(spec.Streams)
	block := float64(spec.Block()*spec.Streams) * 8 / max(span, 1)
	if g < reached*target-min(block, target/2) {
		return no(fmt.Sprintf("%s asked", ofRate(g, target)))
	}
	flag := "-b " + flagRate(spec.Bitrate)
	text := fmt.Sprintf("Your %s is the limit: %s is what was asked for", flag, unit.Rate(g))
	if spec.Streams > 1 {
		text += fmt.Sprintf(" of %d streams", spec.Streams)
	}
	return holds(engine.Finding{
		Text:     text + "; without -b the link shows what it can do.",
		Short:    "your " + flag + " is the limit",
		Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: e.side(e.Sender(dir)), Core: -1,
		Evidence: e.from(dir, engine.Evidence{Name: "asked rate", Value: target, Unit: "bit/s", Side: engine.Local}),
		Remedy:   []engine.Remedy{{Text: "Run without -b, or with a higher rate."}},
	})
}

// offersLess is R35 without an asked rate: the sockets wait for the program.
func offersLess(e *Evidence, dir engine.Direction) ruling {
	r := &e.flow(dir).Sender
	streams, ok := r.Get()
	if !ok {
		return e.notSeen(e.Sender(dir), "TCP_INFO", r.Why())
	}
	app, ok := median(streams, (*StreamWindow).appLimited)
	busy, timed := median(streams, (*StreamWindow).Busy)
	unsent, counted := median(streams, func(w *StreamWindow) probes.Reading[float64] {
		return w.share(engine.InfoMinRTT, float64(w.Now.NotSentBytes), 1)
	})
	g, rated := e.flow(dir).Rate.Get()
	limit, _ := e.pacingRate(dir)
	switch {
	case !ok || !timed || !counted:
		return e.notSeen(e.Sender(dir), "TCP_INFO", whyOf(streams, (*StreamWindow).Busy))
	case !rated:
		return unseen("rate: " + e.flow(dir).Rate.Why())
	case app < mostlyLimited || busy >= restingSocket:
		return no(fmt.Sprintf("no -b was given, and the sockets had data for %s of the time", percent(busy)))
	case unsent > emptyQueue:
		return no("no -b was given, and data waits in the sockets")
	case limit.Known() && limit.Value > 0:
		return no("the sockets are paced")
	}
	if why := e.cpuBound(dir); why != "" {
		return no(why)
	}
	side := e.Sender(dir)
	return holds(engine.Finding{
		Text: fmt.Sprintf("The %sprogram itself offers only %s: its sockets had data for %s of the time.",
			orElse(e.where(side), "sending "), unit.Rate(g), percent(busy)),
		Short:    fmt.Sprintf("the program offers only %s", unit.Rate(g)),
		Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: e.side(side), Core: -1,
		Proof: engine.ProofDiscard,
		Evidence: e.from(dir, e.socket(dir, "application limited", app, "share", side),
			e.socket(dir, "socket busy", busy, "share", side)),
		Remedy: []engine.Remedy{e.system(side).say("Let the program write more at a time, or read ahead from its disk.")},
	})
}

// paced (R36): the kernel, or the simulated link, holds the streams at a rate.
func paced(e *Evidence, dir engine.Direction) ruling {
	if e.Test.LinkBps > 0 {
		return simulated(e, dir)
	}
	f := e.flow(dir)
	g, ok := f.Rate.Get()
	if !ok {
		return unseen("rate: " + f.Rate.Why())
	}
	limit, source := e.pacingRate(dir)
	if !limit.Known() {
		return unseen("pacing: " + limit.Why())
	}
	target := limit.Value
	switch {
	case target <= 0:
		return byBBR(e, dir, g)
	case g < pacedReached*target:
		return no(ofRate(g, target) + " paced")
	}
	return holds(engine.Finding{
		Text:     fmt.Sprintf("Paced to %s by %s, and that is reached (%s).", unit.Rate(target), source, unit.Rate(g)),
		Short:    "paced to " + unit.Rate(target),
		Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: e.side(e.Sender(dir)), Core: -1,
		Evidence: e.from(dir, engine.Evidence{Name: "pacing rate", Value: target, Unit: "bit/s", Side: e.side(e.Sender(dir)), Age: f.Age}),
		Remedy:   []engine.Remedy{{Text: "Run without --fq-rate, or with a higher rate."}},
	})
}

// byBBR is R36 for a flow that nothing but BBR's estimate of the path paces. It is no
// more than a description: the estimate is of something.
func byBBR(e *Evidence, dir engine.Direction, g float64) ruling {
	if e.congestion(dir) != bbr {
		return no("the sockets are not paced")
	}
	streams := e.flow(dir).Sender.Value
	pace := 0.0
	for i := range streams {
		pace += float64(streams[i].Now.PacingRate) * 8
	}
	l, known := e.loss(dir).Get()
	d, timed := e.delay(dir).Get()
	switch {
	case !known || !timed:
		return e.notSeen(e.Sender(dir), "TCP_INFO", e.loss(dir).Why())
	case g < pacedReached*pace || pace <= 0 || l.p > 0 || d.queue >= unqueued*d.least:
		return no("BBR's pace is not what is reached")
	}
	return holds(engine.Finding{
		Text: fmt.Sprintf("BBR paces the streams to %s: it takes that for what the path carries, and nothing is lost and nothing queues.",
			unit.Rate(pace)),
		Short:    "BBR paces to " + unit.Rate(pace),
		Severity: engine.SeverityLimit, Confidence: engine.Unsure, Side: e.side(e.Sender(dir)), Core: -1,
		Proof:    engine.ProofCongestion,
		Evidence: e.from(dir, e.socket(dir, "pacing rate", pace, "bit/s", e.Sender(dir))),
	})
}

// pacingRate sums what the kernel lets the sockets of one direction send, bits/s, and
// says whose wish that is; 0 when at least one of them is not paced.
func (e *Evidence) pacingRate(dir engine.Direction) (limit probes.Reading[float64], source string) {
	spec := &e.Test.Spec
	if spec.FQRate > 0 {
		return probes.Got(spec.FQRate * float64(spec.Streams)), "your --fq-rate " + flagRate(spec.FQRate)
	}
	streams, ok := e.flow(dir).Sender.Get()
	if !ok {
		r := &e.flow(dir).Sender
		return probes.Unknown[float64](r.Status, r.Why()), ""
	}
	sum := 0.0
	for i := range streams {
		rate := streams[i].Now.MaxPacingRate
		of := streams[i].share(engine.InfoPacing, float64(rate)*8, 1)
		if !of.Known() {
			return of, ""
		}
		if rate == 0 || rate == math.MaxUint64 {
			return probes.Got(0.0), ""
		}
		sum += of.Value
	}
	return probes.Got(sum), "SO_MAX_PACING_RATE"
}

// simulated tells what the simulated link gives to each stream.
func simulated(e *Evidence, dir engine.Direction) ruling {
	g, ok := e.flow(dir).Rate.Get()
	if !ok {
		return unseen("rate: " + e.flow(dir).Rate.Why())
	}
	each := e.Test.StreamBps
	if each <= 0 {
		each = e.Test.Spec.Bitrate
	}
	target := each * float64(e.Test.Spec.Streams)
	link := SimulatedCeiling(e.Test.LinkBps)
	switch {
	case target <= 0:
		return no("the simulated link does not hold single streams")
	case target >= atCeiling*link.Bps:
		return no("the streams together fill the simulated link")
	case g < reached*target:
		return no(ofRate(g, target) + " simulated")
	}
	return holds(engine.Finding{
		Text: fmt.Sprintf("The simulated link gives each stream %s, %s of %s together: press + for another stream.",
			unit.Rate(each), unit.Rate(g), unit.Rate(link.Bps)),
		Short:    "simulated: " + unit.Rate(each) + " a stream, press +",
		Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: engine.Path, Core: -1,
		Press: "+", Proof: engine.ProofAddStream,
		Evidence: e.from(dir, engine.Evidence{Name: "simulated rate per stream", Value: each, Unit: "bit/s", Side: engine.Path}),
	})
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(1, len(values)))
}
