package diagnose

import (
	"fmt"
	"time"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
)

const (
	// bloated is the queueing delay, seconds, from which a queue is worth a word: an
	// active queue management keeps it near 5 ms.
	bloated = 0.005
	// bloatedLoss is the loss up to which a delay is the main thing, plateauSpread how
	// much the seconds of a flow that fills its path vary.
	bloatedLoss, plateauSpread = 0.01, 0.2
	// ackBits is an acknowledgement with timestamps on the wire of the reverse path,
	// and segmentsPerAck what one usually acknowledges.
	ackBits, segmentsPerAck = 52 * 8, 2
	// ackFits bounds the goodput, in what the reverse path's acknowledgements allow.
	ackFits = 0.35
	// asymmetric is how many times slower the reverse direction must be, or regained how
	// much faster the forward one was without it, for payload there to hold it back.
	asymmetric, regained = 5, 1.25
)

// gradeBad is the delay, seconds, from which a queue should be dealt with.
const gradeBad = 0.060

// bufferbloat (R41): a queue on the path adds much to every round trip.
func bufferbloat(e *Evidence, dir engine.Direction) ruling {
	v, r := e.view(dir)
	if r.state != Holds {
		return r
	}
	ack := e.ackPath(dir, v)
	switch {
	case v.delay.queue < bloated || v.delay.queue < v.delay.least:
		return no(fmt.Sprintf("the load adds %s to the round trip", added(v.delay.queue)))
	case v.loss.recent > bloatedLoss:
		return no(fmt.Sprintf("%s of the segments are sent again", permille(v.loss.recent)))
	case ack.state == Holds && ack.finding.Confidence == engine.Sure:
		return no("the queue stands in the reverse direction")
	}
	if flat, known := e.flow(dir).steady(plateauSpread); known && !flat {
		return no("the rate is not steady")
	}
	grows := fmt.Sprintf("%s → %s", added(v.delay.least), added(v.delay.rtt))
	f := engine.Finding{
		Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: engine.Path, Core: -1,
		Short: fmt.Sprintf("queue adds %s (%s)", added(v.delay.queue), probes.BloatGrade(asDuration(v.delay.queue))),
		Proof: engine.ProofCongestion,
		Evidence: append(v.numbers(e, dir),
			e.socket(dir, "queueing delay", v.delay.queue, "s", v.side),
			e.socket(dir, "queue", v.delay.queue*v.goodput/8, "B", v.side)),
		Remedy: []engine.Remedy{shapeAtBottleneck(e, v)},
	}
	if e.congestion(dir) != bbr {
		f.Remedy = append(f.Remedy, e.system(v.side).sysctl("BBR keeps the queue short.", "net.ipv4.tcp_congestion_control=bbr"))
	}
	if v.delay.queue >= gradeBad {
		f.Severity = engine.SeverityWarning
	}
	f.Text = fmt.Sprintf("A queue adds %s (%s) at %s, %s: about %s wait in it.", added(v.delay.queue), grows,
		unit.Rate(v.goodput), probes.BloatGrade(asDuration(v.delay.queue)), unit.Bytes(uint64(v.delay.queue*v.goodput/8)))
	// Only drops tell in which direction the queue stands: it has overflowed in ours.
	if v.loss.p < anyLoss && ack.state != RuledOut {
		f.Confidence = engine.Likely
		f.Text = fmt.Sprintf("A queue in one of the directions adds %s (%s) at %s, %s: test the reverse.", added(v.delay.queue), grows,
			unit.Rate(v.goodput), probes.BloatGrade(asDuration(v.delay.queue)))
		f.Proof = engine.ProofReverse
	}
	return holds(f)
}

// alone is the rate of a direction in the last step in which nothing else flowed.
func (e *Evidence) alone(dir engine.Direction) probes.Reading[float64] {
	for i := len(e.Steps) - 1; i >= 0; i-- {
		if s := &e.Steps[i]; s.Spec.Direction == dir && s.Rates[dir] > 0 {
			return probes.Got(s.Rates[dir])
		}
	}
	return probes.Unknown[float64](probes.NotRead, "this direction was not tested alone")
}

// shapeAtBottleneck keeps the queue where it can be managed.
func shapeAtBottleneck(e *Evidence, v pathView) engine.Remedy {
	rate := fmt.Sprintf("%.0f", 0.92*v.goodput/1000)
	r := engine.Remedy{
		Text:      "Shape to 90 to 95 % of the rate with cake or fq_codel on the box before the bottleneck.",
		Temporary: fmt.Sprintf("tc qdisc replace dev IF root cake bandwidth %skbit", rate),
	}
	for _, side := range []engine.Side{engine.Local, engine.Far} {
		if e.system(side).family == openWrtLinux {
			r.Persistent = shapeUpload(rate)
			return r
		}
	}
	r.Persistent = "SQM on the router"
	return r
}

// ackCongestion (R42): acknowledgements queue in the reverse direction.
func ackCongestion(e *Evidence, dir engine.Direction) ruling {
	v, r := e.view(dir)
	if r.state != Holds {
		return r
	}
	return e.ackPath(dir, v)
}

// ackPath is R42 for what is known of a path. It is sure when the rate of the reverse
// direction is known and explains the goodput, a guess without, and ruled out by a
// reverse direction with room.
func (e *Evidence) ackPath(dir engine.Direction, v pathView) ruling {
	switch {
	case v.delay.queue < bloated || v.delay.queue < v.delay.least:
		return no(fmt.Sprintf("the load adds %s to the round trip", added(v.delay.queue)))
	case v.loss.p >= anyLoss:
		return no("segments are lost: the queue has overflowed in this direction")
	}
	f := engine.Finding{
		Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: engine.Path, Core: -1,
		Short:    fmt.Sprintf("ACKs queue: +%s", added(v.delay.queue)),
		Proof:    engine.ProofReverse,
		Evidence: v.numbers(e, dir),
		Remedy: []engine.Remedy{{
			Text:      "Let acknowledgements overtake, or thin them out, where the reverse direction is slow.",
			Temporary: "tc qdisc replace dev IF root cake bandwidth RATE ack-filter",
		}},
	}
	needs, ok := e.ackRate(dir)
	if ok {
		f.Evidence = append(f.Evidence, e.socket(dir, "acknowledgements", needs, "bit/s", e.Receiver(dir)))
	}
	back, known := e.reverse(dir).Get()
	if !known {
		if e.Test.Spec.Direction == engine.Both {
			return unseen("the other direction: " + e.other(dir).Why())
		}
		f.Severity, f.Confidence = engine.SeverityLimit, engine.Unsure
		f.Text = fmt.Sprintf("%s more per round trip and no loss: a queue in one of the directions. Test the reverse.", sentence(added(v.delay.queue)))
		return holds(f)
	}
	allowed := back / ackBits * segmentsPerAck * e.segment(dir) * 8
	both := e.Test.Spec.Direction == engine.Both
	switch {
	case v.goodput > (1+ackFits)*allowed:
		return no(fmt.Sprintf("more flows than acknowledgements on %s could allow", unit.Rate(back)))
	case !both && v.goodput < (1-ackFits)*allowed:
		return no(fmt.Sprintf("the reverse direction carries %s, room for the acknowledgements of %s", unit.Rate(back), unit.Rate(allowed)))
	case both && v.goodput < (1-ackFits)*allowed:
		// Beside payload the acknowledgements wait in the same queue, however few; but so
		// they do in two directions that are full alike.
		if alone := e.alone(dir); back > v.goodput/asymmetric && alone.Value < regained*v.goodput {
			return no("both directions fill the path alike")
		}
		f.Confidence = engine.Likely
	}
	if both {
		f.Proof = engine.ProofOneWay
	}
	f.Text = fmt.Sprintf("Acknowledgements queue in the reverse direction, which carries %s: %s drops to %s, %s more per round trip.",
		unit.Rate(back), dir, unit.Rate(v.goodput), added(v.delay.queue))
	f.Evidence = append(f.Evidence, engine.Evidence{Name: "goodput the other way", Value: back, Unit: "bit/s", Side: engine.Local})
	return holds(f)
}

// reverse is what the way back carries: what flows there, or did in an earlier step, or less
// where the receiver's own shaper allows less.
func (e *Evidence) reverse(dir engine.Direction) probes.Reading[float64] {
	back := e.other(dir)
	s, ok := e.shaper(engine.Download - dir).Get()
	if ok && s.bps > 0 && (!back.Known() || s.bps < back.Value) {
		return probes.Got(s.bps)
	}
	return back
}

// ackRate is what the acknowledgements of a direction take of the reverse path, bits/s.
func (e *Evidence) ackRate(dir engine.Direction) (bps float64, ok bool) {
	for i := range e.flow(dir).Sender.Value {
		w := &e.flow(dir).Sender.Value[i]
		if w.Info.Known() && w.Info.Value >= engine.InfoSegs && w.Span >= time.Second {
			bps += float64(w.Now.SegsIn-w.Before.SegsIn) * ackBits / w.Span.Seconds()
			ok = true
		}
	}
	return bps, ok && bps > 0
}

// segmentOf is the size of one stream's segments, bytes: that of ordinary packets where it
// was left out.
func (e *Evidence) segmentOf(w *StreamWindow) float64 {
	switch {
	case w.Now.SndMSS > 0:
		return float64(w.Now.SndMSS)
	case e.sixth():
		return 1428
	}
	return 1448
}

// segment is the size of a direction's segments, bytes.
func (e *Evidence) segment(dir engine.Direction) float64 {
	size, ok := median(e.flow(dir).Sender.Value, func(w *StreamWindow) probes.Reading[float64] {
		return w.share(engine.InfoBase, float64(w.Now.SndMSS), 1)
	})
	if !ok || size <= 0 {
		return 1448
	}
	return size
}
