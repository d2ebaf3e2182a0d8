package session

import (
	"fmt"
	"math"

	"linerate/engine"
	"linerate/engine/diagnose"
	"linerate/engine/unit"
)

// By how much what is tried must differ, as shares. A comparison of 6 s on a quiet path
// repeats within 2 or 3 %.
const (
	alike      = 0.05 // less is no difference
	helped     = 0.20 // what a second stream must bring where one thread or window was the limit
	oneSided   = 0.20 // by which directions differ that are not alike
	released   = 0.50 // what a direction gains when the other one held it back
	unhindered = 0.50 // what another congestion control gains when losses held the first one back
	moved      = 0.10 // what another core must bring
	lossGone   = 0.20 // of the loss, or less: it depends on the rate
	lossStays  = 0.50 // of the loss, or more: it does not
	noLoss     = 1e-5 // shares of segments below this are no loss
	fewLosses  = 8    // that many must be expected for their absence to mean something
	queueGone  = 0.50 // of the queue, or less
	rateKept   = 0.80 // of the rate, or more
)

// Endings of a sentence about what a proof showed.
const (
	proven   = "proven"
	doubtful = "the verdict is doubtful"
)

// showed words what the comparison says about the finding.
func (p *proof) showed() (engine.ProofAnswer, string) {
	switch p.Action {
	case engine.ProofAddStream:
		return p.moreStreamsShowed()
	case engine.ProofReverse:
		if p.trial.from != p.trial.in {
			return p.reverseShowed()
		}
		return p.oneWayShowed()
	case engine.ProofOneWay:
		return p.oneWayShowed()
	case engine.ProofCongestion:
		return p.congestionShowed()
	case engine.ProofRate95:
		return p.rateShowed()
	default:
		return p.pinShowed()
	}
}

// gain is the change of the rate as a share; +Inf where nothing moved before.
func (p *proof) gain() float64 {
	if p.before.rate <= 0 {
		if p.after.rate <= 0 {
			return 0
		}
		return math.Inf(1)
	}
	return p.after.rate/p.before.rate - 1
}

// gave says what the trial brought: "2 streams gave 9.41 Gbit/s, +82 %".
func (p *proof) gave() string {
	text := p.trial.words + " gave " + unit.Rate(p.after.rate)
	if p.Back.Direction == engine.Both && p.trial.in != engine.Both && p.trial.spec.Direction == engine.Both {
		text += " " + p.trial.in.String()
	}
	return text + ", " + gained(p.gain())
}

// gained prints a gain: "+82 %", "±1 %", "30 times as much".
func gained(gain float64) string {
	switch n := math.Round(100 * gain); {
	case math.IsInf(gain, 1):
		return "nothing before"
	case math.Abs(gain) < alike/2:
		return fmt.Sprintf("±%.0f %%", math.Abs(n))
	case gain >= 9:
		return fmt.Sprintf("%.0f times as much", gain+1)
	default:
		return fmt.Sprintf("%+.0f %%", n)
	}
}

// moreStreamsShowed: a finding that says to press + expects a gain, the others expect that
// one stream more adds nothing. One of many streams adds less than a second one.
func (p *proof) moreStreamsShowed() (engine.ProofAnswer, string) {
	share := 1 / float64(max(1, p.Back.Streams))
	gain, gave := p.gain(), p.gave()
	helps, nothing := gain >= min(helped, share/2), gain < min(alike, share/4)
	question := p.finding.Severity == engine.SeverityOK && p.finding.Confidence == engine.Unsure
	switch {
	case !helps && !nothing:
		return engine.Undecided, gave + ": a little more, which does not tell"
	case helps && question:
		return engine.Undecided, gave + ": the limit is per stream"
	case nothing && question:
		return engine.Undecided, gave + ": not a per-stream limit" + p.lossier()
	case helps && p.finding.Press == "+":
		return engine.Proven, gave + ": the limit is per stream: " + proven
	case nothing && p.finding.Press == "+":
		return engine.Doubtful, gave + ": not a per-stream limit" + p.lossier() + ": " + doubtful
	case helps:
		return engine.Doubtful, gave + ": another stream does help: " + doubtful
	case gain <= -alike:
		return engine.Proven, gave + ": more streams only get in each other's way: " + proven
	}
	return engine.Proven, gave + ": more streams add nothing" + p.lossier() + ": " + proven
}

// lossier tells of loss that grew while the rate did not: a path that is full.
func (p *proof) lossier() string {
	before, after := p.before.loss, p.after.loss
	if !before.Known() || !after.Known() || after.Value < 10*noLoss || after.Value < 2*before.Value {
		return ""
	}
	return fmt.Sprintf(", and loss rose to %s: the path is full", share(after.Value))
}

// reverseShowed compares the finding's direction with the other one, alone.
func (p *proof) reverseShowed() (engine.ProofAnswer, string) {
	gave := fmt.Sprintf("%s gave %s, %v %s", p.trial.words, unit.Rate(p.after.rate), p.Dir, unit.Rate(p.before.rate))
	gain := p.gain()
	switch p.Code {
	case diagnose.StandStill:
		if p.after.rate <= 0 {
			return engine.Undecided, p.trial.words + " moves nothing either: the far end or the whole path stands still"
		}
		return engine.Proven, fmt.Sprintf("%s gave %s: only %v stands still: %s", p.trial.words, unit.Rate(p.after.rate), p.Dir, proven)
	case diagnose.Bufferbloat, diagnose.AckCongestion:
		return p.queueWay(gave)
	}
	switch {
	case gain >= oneSided:
		return engine.Proven, gave + ": only " + p.Dir.String() + " is slow: " + proven
	case gain <= -oneSided:
		return engine.Doubtful, gave + ": the other direction is slower still: " + doubtful
	case p.Code == diagnose.HalfDuplex:
		return engine.Undecided, gave + ": alike one at a time; it is both at once that half duplex slows"
	}
	return engine.Doubtful, gave + ": both directions are alike: " + doubtful
}

const (
	// ackBits is what an acknowledgement takes on Ethernet without payload, and
	// segmentsPerAck how many segments one stands for.
	ackBits        = 52 * 8
	segmentsPerAck = 2
	segmentBits    = 1448 * 8
	// ackFits is how near a rate must be to what the acknowledgements allow to be held by
	// them.
	ackFits = 0.3
)

// queueWay tells in which direction a queue stands: a reverse direction with room for the
// acknowledgements has none.
func (p *proof) queueWay(gave string) (engine.ProofAnswer, string) {
	allows := p.after.rate / ackBits * segmentsPerAck * segmentBits
	acks := p.Code == diagnose.AckCongestion
	room := p.before.rate < (1-ackFits)*allows
	answer, ending := engine.Proven, proven
	if acks == room {
		answer, ending = engine.Doubtful, doubtful
	}
	if room {
		return answer, fmt.Sprintf("%s: room for the acknowledgements of %s, the queue stands in %v: %s", gave, unit.Rate(allows), p.Dir, ending)
	}
	return answer, fmt.Sprintf("%s: its acknowledgements allow only %s: %s", gave, unit.Rate(allows), ending)
}

// oneWayShowed compares a direction alone with the same beside the other one.
func (p *proof) oneWayShowed() (engine.ProofAnswer, string) {
	alone, beside := p.after.rate, p.before.rate
	if p.Back.Direction != engine.Both {
		alone, beside = beside, alone
	}
	gave := fmt.Sprintf("%v alone gave %s, with both ways %s", p.trial.in, unit.Rate(alone), unit.Rate(beside))
	switch {
	case alone >= (1+released)*beside && alone > 0:
		return engine.Proven, gave + ": the two hinder each other: " + proven
	case alone <= (1+2*alike)*beside:
		return engine.Doubtful, gave + ": the other direction costs it nothing: " + doubtful
	}
	return engine.Undecided, gave + ": a little more, which does not tell"
}

// congestionShowed: another congestion control shows what held the first one back.
func (p *proof) congestionShowed() (engine.ProofAnswer, string) {
	gave, gain := p.gave(), p.gain()
	if p.Code == diagnose.Bufferbloat {
		return p.bloatShowed(gave)
	}
	switch {
	case gain >= unhindered && p.Code == diagnose.RandomLoss:
		return engine.Proven, gave + ": single losses held it back: " + proven
	case gain >= unhindered:
		return engine.Proven, gave + ": the congestion control held it back: " + proven
	case gain >= helped:
		return engine.Undecided, gave + ": somewhat more, which does not tell"
	case p.Code == diagnose.Reordering:
		return engine.Undecided, gave + ": the false alarms cost little"
	}
	return engine.Doubtful, gave + ": not for the congestion control: " + doubtful
}

// bloatShowed: BBR keeps a queue short that another one fills.
func (p *proof) bloatShowed(gave string) (engine.ProofAnswer, string) {
	before, ok := p.before.queue.Get()
	after, okay := p.after.queue.Get()
	if !ok || !okay {
		return engine.Undecided, gave + ": the queue cannot be seen: " + nameOr(p.before.queue.Why(), p.after.queue.Why())
	}
	text := fmt.Sprintf("%s, and the queue adds %s instead of %s", gave, unit.Duration(after), unit.Duration(before))
	switch {
	case float64(after) <= queueGone*float64(before) && p.gain() >= rateKept-1:
		return engine.Proven, text + ": the sender filled it: " + proven
	case float64(after) <= queueGone*float64(before):
		return engine.Undecided, text + ": at a lower rate, which does not tell"
	}
	return engine.Doubtful, text + ": another sender fills it: " + doubtful
}

// rateShowed: below the rate a policer or a short queue drops nothing, random loss goes on.
func (p *proof) rateShowed() (engine.ProofAnswer, string) {
	before, ok := p.before.loss.Get()
	after, okay := p.after.loss.Get()
	at := fmt.Sprintf("at %s, 95 %% of the rate,", unit.Rate(p.after.rate))
	if p.after.rate < rateKept*p.before.rate {
		at = fmt.Sprintf("at %s of the asked 95 %%", unit.Rate(p.after.rate))
	}
	switch {
	case !ok || !okay:
		return engine.Undecided, at + " the loss cannot be seen: " + nameOr(p.before.loss.Why(), p.after.loss.Why())
	case before < noLoss:
		return engine.Undecided, fmt.Sprintf("%s loss is %s, and there was none before either", at, share(after))
	case before*p.after.segments < fewLosses:
		return engine.Undecided, fmt.Sprintf("%s loss is %s; with %s before that is too few segments to tell", at, share(after), share(before))
	}
	text := fmt.Sprintf("%s loss is %s instead of %s", at, share(after), share(before))
	switch {
	case after <= max(lossGone*before, noLoss):
		return engine.Proven, text + ": it depends on the rate: " + proven
	case after >= lossStays*before:
		return engine.Doubtful, text + ": it does not depend on the rate: " + doubtful
	}
	return engine.Undecided, text + ": less, which does not tell"
}

// pinShowed: on a core of its own a thread does more.
func (p *proof) pinShowed() (engine.ProofAnswer, string) {
	gave, gain := p.gave(), p.gain()
	switch {
	case gain >= moved:
		return engine.Proven, gave + ": the core was the limit: " + proven
	case gain < alike:
		return engine.Doubtful, gave + ": not for the core: " + doubtful
	}
	return engine.Undecided, gave + ": a little more, which does not tell"
}

// share prints a share of segments: "0.14 %", "none".
func share(s float64) string {
	if s < noLoss {
		return "none"
	}
	return fmt.Sprintf("%.2g %%", 100*s)
}
