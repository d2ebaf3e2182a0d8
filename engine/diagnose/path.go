package diagnose

import (
	"fmt"
	"math"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
)

const (
	// anyLoss is the least loss that can bound a rate: 100 Mbit/s at 40 ms.
	anyLoss = 1e-5
	// spuriousFrom is the share of needless retransmissions from which reordering, not
	// loss, causes them.
	spuriousFrom = 0.5
	// quiet and quietPart bound the queueing delay, seconds and in least round trips, of
	// a path without a queue.
	quiet, quietPart = 0.002, 0.2
	// allowsLeast and allowsMost bound the goodput, in what random loss allows, of a flow
	// that random loss limits; from beyondLoss on something else does.
	allowsLeast, allowsMost, beyondLoss = 0.5, 2.0, 3.0
	// policedLoss is what CUBIC loses at a policer, with timeouts and retransmissions
	// that are lost again; policedAlways is so much that BBR shows it alone.
	policedLoss, policedAlways = 0.005, 0.01
	// A policer of so many times the rate drops nothing of it. CUBIC stays below one with a
	// bucket that is too small, but not so far.
	wayBelow = 8.0
	// insideComputer is the least round trip time, seconds, below which packets over veth
	// have not left the computer: a busy pair of cores loses 0.02 % there.
	insideComputer = 0.0005
	// noQueue is the queueing delay, in least round trips, below which drops come from no
	// queue. lostAgain is the share of retransmissions lost again from which a policer
	// drops: 2.7 and 3.3 % were seen at policers, 0.9 % at random loss.
	noQueue, lostAgain = 0.25, 0.02
	// smallestPort is the least buffer, bytes, that a port has: 20 packets.
	smallestPort = 32 << 10
	// shallowLeast and shallowMost bound the loss of a queue that is too short, and
	// shallowQueue its delay in least round trips; sawtooth is the part of the path's
	// rate that such a flow still reaches.
	shallowLeast, shallowMost, shallowQueue, sawtooth = 0.001, 0.01, 0.5, 0.85
)

// pathView is what the rules about a path look at.
type pathView struct {
	goodput float64
	loss    lossOf
	delay   delays
	allows  float64 // what random loss of this size allows, bits/s
	side    engine.Side
}

// view gathers it; a ruling that does not hold says what is missing.
func (e *Evidence) view(dir engine.Direction) (pathView, ruling) {
	v := pathView{side: e.Sender(dir)}
	g, ok := e.flow(dir).Rate.Get()
	if !ok {
		return v, unseen("rate: " + e.flow(dir).Rate.Why())
	}
	l := e.loss(dir)
	if !l.Known() {
		return v, e.notSeen(v.side, "retransmissions", l.Why())
	}
	d := e.delay(dir)
	if !d.Known() {
		return v, e.notSeen(v.side, "round trip time", d.Why())
	}
	if why := e.shaped(dir); why != "" {
		return v, no(why)
	}
	v.goodput, v.loss, v.delay = g, l.Value, d.Value
	v.allows = e.lossAllows(dir, v.loss.p)
	return v, ruling{state: Holds}
}

// numbers lists the evidence that every finding about a path shows.
func (v pathView) numbers(e *Evidence, dir engine.Direction) []engine.Evidence {
	return e.from(dir,
		e.socket(dir, "segments sent again", v.loss.p, "share", v.side),
		e.socket(dir, "round trip time", v.delay.rtt, "s", v.side),
		e.socket(dir, "least round trip time", v.delay.least, "s", v.side))
}

// randomLoss (R38): the path loses segments at random, whatever the rate.
func randomLoss(e *Evidence, dir engine.Direction) ruling {
	v, r := e.view(dir)
	if r.state != Holds {
		return r
	}
	spread, luckless := v.loss.dispersion, e.unlucky(dir, v.loss)
	full, _ := e.fullEachTime(dir)
	switch {
	case v.loss.p < anyLoss:
		return no(fmt.Sprintf("%s of the segments are sent again", permille(v.loss.p)))
	case v.delay.least < insideComputer && e.maybeOneComputer():
		return no("the packets do not leave this computer: what it loses is for want of CPU")
	case v.loss.pd.Known() && v.loss.pd.Value >= spuriousFrom:
		return no("most retransmissions are false alarms")
	case v.delay.queue >= max(quiet, quietPart*v.delay.least):
		return no(fmt.Sprintf("a queue of %s stands on the path", added(v.delay.queue)))
	case full:
		return no("the losses come at the same window each time: something is full then")
	case spread.Known() && spread.Value >= clusteredFrom:
		return no("the losses come in bursts")
	case v.goodput < allowsLeast*luckless || v.goodput > allowsMost*v.allows:
		return no(fmt.Sprintf("a random loss of %s would allow %s", permille(v.loss.p), unit.Rate(v.allows)))
	}
	f := engine.Finding{
		Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: engine.Path, Core: -1,
		Text: fmt.Sprintf("%s random loss at %s allows about %s%s: find where the path damages or drops them.",
			permille(v.loss.p), added(v.delay.rtt), unit.Rate(v.allows), toWhom(e.congestion(dir))),
		Short: fmt.Sprintf("random loss of %s", permille(v.loss.p)),
		Press: "+", Proof: engine.ProofCongestion,
		Evidence: append(v.numbers(e, dir), engine.Evidence{Name: "Mathis rate", Value: v.allows, Unit: "bit/s", Side: engine.Path, Age: e.flow(dir).Age}),
		Remedy:   []engine.Remedy{{Text: "Look for damaged frames on every hop."}},
	}
	if e.congestion(dir) != bbr {
		f.Remedy = append(f.Remedy, e.system(v.side).sysctl("BBR does not slow down for single losses.", "net.ipv4.tcp_congestion_control=bbr"))
	}
	f.Remedy = append(f.Remedy, engine.Remedy{Text: "More streams share the losses."})
	if !spread.Known() || !v.loss.pd.Known() || v.goodput < allowsLeast*v.allows {
		f.Confidence = engine.Likely
	}
	return holds(f)
}

// unlucky is what random loss allows when fewer losses were seen than there mostly are: a
// count of n is off by √n.
func (e *Evidence) unlucky(dir engine.Direction, l lossOf) float64 {
	return e.lossAllows(dir, l.p*(1+(math.Sqrt(l.retrans)+1)/max(1, l.retrans)))
}

func toWhom(congestion string) string {
	switch congestion {
	case "":
		return ""
	case cubic, bbr:
		return " to " + map[string]string{cubic: "CUBIC", bbr: "BBR"}[congestion]
	}
	return " to " + clip(congestion, 16)
}

// policer (R39): something on the path drops what exceeds a rate, without a queue.
func policer(e *Evidence, dir engine.Direction) ruling {
	v, r := e.view(dir)
	if r.state != Holds {
		return r
	}
	again, resent := e.tcp(v.side, "TcpExt.TCPLostRetransmit"), e.tcp(v.side, "Tcp.RetransSegs")
	timeouts := e.timeouts(dir)
	confirmed := again.Value > 0 && timeouts.Value > 0
	relost := probes.Unknown[float64](again.Status, again.Why())
	if again.Known() && resent.Value > 0 {
		relost = probes.Got(again.Value / resent.Value)
	}
	flat := v.delay.queue < noQueue*v.delay.least
	lost := min(v.loss.p, v.loss.recent) // a policer drops all the time
	brim := e.atTheBrim(dir, v)
	switch {
	case e.plateau(dir).Value > wayBelow*v.goodput:
		return no(fmt.Sprintf("%s went through in an earlier step", unit.Rate(e.plateau(dir).Value)))
	case brim:
	case lost < policedLoss:
		return no(fmt.Sprintf("%s of the segments are sent again", permille(lost)))
	case v.loss.pd.Known() && v.loss.pd.Value >= spuriousFrom:
		return no("most retransmissions are false alarms")
	case v.goodput < beyondLoss*v.allows:
		return no(fmt.Sprintf("a random loss of %s would allow %s", permille(v.loss.p), unit.Rate(v.allows)))
	case lost < policedAlways && !confirmed:
		if !again.Known() || !timeouts.Known() {
			return e.notSeen(v.side, "lost retransmissions", orElse(again.Why(), timeouts.Why()))
		}
		return no("no retransmission was lost again, or none timed out")
	case !flat && !relost.Known():
		return e.notSeen(v.side, "lost retransmissions", relost.Why())
	case !flat && relost.Value < lostAgain:
		return no(fmt.Sprintf("a queue of %s stands on the path", added(v.delay.queue)))
	}
	f := engine.Finding{
		Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: engine.Path, Core: -1,
		Text: fmt.Sprintf("The path polices at %s: it drops %s without queueing. Pace just below.",
			e.policedAt(dir, v.goodput), permille(v.loss.p)),
		Short:    fmt.Sprintf("policed at about %s", unit.Rate(e.policedRate(dir, v.goodput))),
		Proof:    engine.ProofRate95,
		Evidence: append(v.numbers(e, dir), engine.Evidence{Name: "Mathis rate", Value: v.allows, Unit: "bit/s", Side: engine.Path, Age: e.flow(dir).Age}),
		Remedy: []engine.Remedy{
			{Text: "Pace each stream below its share of the rate.", Temporary: "--fq-rate " + flagRate(wholeRate(0.95*v.goodput/float64(max(1, e.Test.Spec.Streams))))},
			e.system(v.side).shapeSum(0.95 * v.goodput),
		},
	}
	if relost.Known() {
		f.Evidence = append(f.Evidence, e.vital("retransmissions lost again", relost.Value, "share", v.side))
	}
	if !confirmed && e.congestion(dir) != bbr {
		f.Confidence = engine.Likely
	}
	return holds(f)
}

// atTheBrim reports losses that come whenever the sender reaches one window, though no
// more queues then than any port holds: a policer with a deep bucket, which CUBIC meets
// seldom.
func (e *Evidence) atTheBrim(dir engine.Direction, v pathView) bool {
	full, _ := e.fullEachTime(dir)
	return full && v.loss.p >= anyLoss && v.loss.pd.Known() && v.loss.pd.Value < spuriousFrom &&
		v.delay.queue < noQueue*v.delay.least && v.delay.queue*v.goodput/8 < smallestPort &&
		!(v.delay.least < insideComputer && e.maybeOneComputer())
}

// timeouts are the retransmission timeouts of a direction's sender.
func (e *Evidence) timeouts(dir engine.Direction) probes.Reading[float64] {
	n := e.tcp(e.Sender(dir), "TcpExt.TCPTimeouts")
	own := 0.0
	for _, w := range e.flow(dir).Sender.Value {
		if w.Info.Known() && w.Info.Value >= engine.InfoRTO {
			own += float64(w.Now.TotalRTO)
		}
	}
	if own > n.Value {
		return probes.Got(own)
	}
	return n
}

// policedRate is the rate a policer allows: what BBR or UDP reached in an earlier step, or
// else the best three seconds in a row, since CUBIC stays well below it; in a single one a
// full bucket adds to it.
func (e *Evidence) policedRate(dir engine.Direction, g float64) float64 {
	seconds := e.flow(dir).Seconds
	for i := 3; i <= len(seconds); i++ {
		g = max(g, mean(seconds[i-3:i]))
	}
	return max(g, e.plateau(dir).Value)
}

// policedAt words that rate.
func (e *Evidence) policedAt(dir engine.Direction, g float64) string {
	rate := e.policedRate(dir, g)
	if e.congestion(dir) == bbr || rate > 1.1*g {
		return "about " + unit.Rate(rate)
	}
	return unit.Rate(rate) + " or somewhat more"
}

// wholeRate rounds a rate down to two digits, so that it can be typed.
func wholeRate(bps float64) float64 {
	scale := 1.0
	for bps >= 100*scale {
		scale *= 10
	}
	return float64(int(bps/scale)) * scale
}

// shapeSum holds all that leaves an interface to a rate, bits/s.
func (s system) shapeSum(bps float64) engine.Remedy {
	kbit := fmt.Sprintf("%.0f", wholeRate(bps)/1000)
	command := fmt.Sprintf("tc qdisc replace dev %[1]s root handle 1: htb default 1; tc class add dev %[1]s parent 1: classid 1:1 htb rate %[2]skbit", s.nic, kbit)
	persistent := s.atBoot(s.nic, command)
	if s.family == openWrtLinux {
		persistent = shapeUpload(kbit)
	}
	return s.do("Shape the sum just below the rate, at the sender or on the last router before the policer.", command, persistent)
}

// shallowQueueOnPath (R40): a switch's buffer is too short for the sender's bursts.
func shallowQueueOnPath(e *Evidence, dir engine.Direction) ruling {
	v, r := e.view(dir)
	if r.state != Holds {
		return r
	}
	plateau := e.plateau(dir)
	spread := v.loss.dispersion
	full, _ := e.fullEachTime(dir)
	switch {
	case v.loss.p < shallowLeast || v.loss.p > shallowMost:
		return no(fmt.Sprintf("%s of the segments are sent again", permille(v.loss.p)))
	case v.loss.pd.Known() && v.loss.pd.Value >= spuriousFrom:
		return no("most retransmissions are false alarms")
	case v.delay.queue > shallowQueue*v.delay.least:
		return no(fmt.Sprintf("a queue of %s stands on the path", added(v.delay.queue)))
	case plateau.Known() && v.goodput < sawtooth*plateau.Value:
		return no(ofRate(v.goodput, plateau.Value) + " that BBR or UDP reached")
	case full: // that says more than how the losses are spread
	case !plateau.Known() && v.goodput < beyondLoss*v.allows:
		return no(fmt.Sprintf("a random loss of %s would allow %s", permille(v.loss.p), unit.Rate(v.allows)))
	case spread.Known() && spread.Value < clusteredFrom:
		return no("the losses do not come in bursts")
	}
	f := engine.Finding{
		Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: engine.Path, Core: -1,
		Text: fmt.Sprintf("A buffer on the path is small: %s lost at the peaks, and the sawtooth costs about 5 %% of %s.",
			permille(v.loss.p), unit.Rate(max(v.goodput, plateau.Value))),
		Short:    "a buffer on the path is small",
		Proof:    engine.ProofRate95,
		Evidence: v.numbers(e, dir),
		Remedy: []engine.Remedy{
			{Text: "Pace the streams.", Temporary: "--fq-rate " + flagRate(wholeRate(0.95*v.goodput/float64(max(1, e.Test.Spec.Streams))))},
			{Text: "Use fewer streams, or change flow control on the switch ports."},
		},
	}
	if !full && !spread.Known() || !plateau.Known() {
		f.Confidence = engine.Likely
	}
	return holds(f)
}

// plateau is what BBR or UDP reached in an earlier step of the same direction.
func (e *Evidence) plateau(dir engine.Direction) probes.Reading[float64] {
	best := probes.Unknown[float64](probes.NotRead, "neither BBR nor UDP was tried")
	for i := range e.Steps {
		s := &e.Steps[i]
		if r := s.Rates[dir]; r > 0 && (s.UDP || s.Spec.Congestion == bbr) && r >= best.Value {
			best = probes.Got(r)
		}
	}
	return best
}
