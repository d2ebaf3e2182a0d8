package session

import (
	"errors"
	"fmt"
	"time"

	"linerate/engine"
	"linerate/probes"
)

const (
	// proofSettle is left out at the begin of a step that is compared: TCP needs about so
	// long to find its rate. A longer Config.Settle or Spec.Omit counts instead.
	proofSettle = 2 * time.Second
	// proofTime is how long what is tried is measured; as much of the running step, where
	// there is as much, it is compared with.
	proofTime = 6 * time.Second
	// proofLeast is the least of the running step that is worth comparing with.
	proofLeast = 3 * time.Second
)

// backWords are what the list of steps says of the way back.
const backWords = "back from the proof"

var (
	errNoProof      = errors.New("this verdict has no proof action")
	errNoVerdict    = errors.New("there is no verdict to prove yet")
	errLimitedProof = errors.New("this proof needs a test without -t, -n or -k")
)

// proof is the one action that shows whether a finding is right: one thing is changed for
// some seconds, compared, and changed back.
type proof struct {
	engine.Proving
	finding engine.Finding
	trial   trial
	before  pace          // of the running step
	after   pace          // of what is tried
	until   time.Duration // when the measuring ends; 0 before its step runs
}

// prove starts the proof of a verdict, or cancels the one under way.
func (c *conductor) prove() error {
	if c.proof.Active() {
		c.cancelProof(0)
		return nil
	}
	f := engine.Provable(c.opinion.verdicts)
	switch {
	case c.stage == idle && !c.done:
		return errStopped
	case c.stage == idle:
		return errNoTest
	case c.stage != flowing || !c.changeAt.IsZero():
		return errNotFlows
	case len(c.opinion.verdicts) == 0:
		return errNoVerdict
	case f == nil:
		return errNoProof
	case c.spec.Limited() && f.Proof != engine.ProofMTU:
		return errLimitedProof
	}
	c.searchOver("cancelled")
	c.proof = proof{finding: *f, Proving: engine.Proving{
		Code: f.Code, Title: f.Title, Dir: f.Dir, Action: f.Proof,
		Phase: engine.ProofWaiting, Back: c.spec,
	}}
	c.event("proving: %s", f.Title)
	c.tickProof(c.since(time.Now()))
	return nil
}

// settled is when a step with this spec that began at session time begin can be measured.
func (c *conductor) settled(begin time.Duration, spec engine.Spec) time.Duration {
	return begin + max(proofSettle, c.cfg.Settle, spec.Omit)
}

// tickProof does what is due at session time at while payload flows.
func (c *conductor) tickProof(at time.Duration) {
	p := &c.proof
	switch {
	case p.Phase == engine.ProofWaiting && p.Action == engine.ProofMTU:
		c.sweep()
	case p.Phase == engine.ProofWaiting:
		c.startTrial(at)
	case p.Phase == engine.ProofTrying && p.until > 0 && at >= p.until:
		p.after, _ = c.step.gauge.since(p.until-proofTime, p.trial.in)
		p.Phase = engine.ProofReturning
		c.want = p.Back
		c.replace(plan{spec: p.Back, change: backWords, back: true})
	}
}

// startTrial opens the step of a proof once there is enough of the running one to compare
// it with.
func (c *conductor) startTrial(at time.Duration) {
	p := &c.proof
	if why := engine.ProofMissing(p.Action); why != "" {
		c.endProof(engine.Undecided, why)
		return
	}
	from, in := ways(&p.finding, c.spec.Direction)
	ready := c.settled(c.step.seg.Start, c.spec)
	before, ok := c.step.gauge.since(max(ready, at-proofTime), from)
	if !ok || before.span < proofLeast-gaugeEvery {
		p.until = ready + proofLeast
		return
	}
	t, why := c.trialOf(&p.finding, before.rate)
	if why != "" {
		c.endProof(engine.Undecided, why)
		return
	}
	t.from, t.in = from, in
	p.trial, p.before, p.until = t, before, 0
	p.Phase, p.Trying = engine.ProofTrying, t.words
	c.want = t.spec
	c.replace(plan{spec: t.spec, change: "proof: " + t.change, proof: true})
}

// proofBegun is told that a step has begun at session time at.
func (c *conductor) proofBegun(at time.Duration) {
	p := &c.proof
	switch {
	case p.Phase == engine.ProofTrying && p.until == 0 && c.step.seg.Proof:
		p.until = c.settled(at, c.spec) + proofTime
	case p.Phase == engine.ProofReturning:
		c.endProof(p.showed())
	}
}

// proofStepEnded takes from the results of a step what its running sockets did not tell:
// how much a far sender had to send again.
func (c *conductor) proofStepEnded(seg *engine.Segment) {
	p := &c.proof
	if !p.Active() || seg.Results == nil {
		return
	}
	side, dir := &p.before, p.trial.from
	if seg.Proof {
		side, dir = &p.after, p.trial.in
	}
	if !side.loss.Known() && dir != engine.Both {
		side.loss, side.segments = lossOf(seg.Results, dir)
	}
}

// lossOf is the share of segments that were sent again in a whole test.
func lossOf(r *engine.Result, dir engine.Direction) (loss probes.Reading[float64], segments float64) {
	again, sent := r.Retransmits(dir), r.Sent(dir)
	switch {
	case !again.Known():
		return probes.Unknown[float64](again.Status, again.Why()), 0
	case !sent.Known() || sent.Value.Bytes == 0 || r.Info.MSS <= 0:
		return probes.Unknown[float64](probes.Absent, "the results do not tell how much was sent"), 0
	}
	segments = float64(sent.Value.Bytes) / float64(r.Info.MSS)
	return probes.Got(float64(again.Value) / segments), segments
}

// proofRefused is told that the server refused a step.
func (c *conductor) proofRefused(err error) {
	switch p := &c.proof; p.Phase {
	case engine.ProofTrying:
		c.endProof(engine.Undecided, fmt.Sprintf("%s could not be tried: %v", p.trial.words, err))
	case engine.ProofReturning:
		c.endProof(p.showed())
	}
}

// endProof says what a proof has shown.
func (c *conductor) endProof(answer engine.ProofAnswer, showed string) {
	p := &c.proof
	p.Phase, p.Answer, p.Showed, p.At = engine.ProofOver, answer, showed, c.since(time.Now())
	c.event("proof: %s", showed)
}

// dropProof ends a proof early. A comparison that is complete is still told. The operator
// wants the test from before again.
func (c *conductor) dropProof(why string) (tried bool) {
	p := &c.proof
	tried = p.Phase == engine.ProofTrying && p.Action != engine.ProofMTU
	switch {
	case !p.Active():
		return false
	case p.Phase == engine.ProofReturning:
		c.endProof(p.showed())
	default:
		c.endProof(engine.Undecided, why)
	}
	if tried {
		c.want, c.words = p.Back, ""
	}
	return tried
}

// cancelProof ends a proof and goes back to the test from before, unless another change
// comes within wait.
func (c *conductor) cancelProof(wait time.Duration) (tried bool) {
	tried = c.dropProof("cancelled")
	if tried {
		c.words, c.changeAt = backWords, time.Now().Add(wait)
	}
	return tried
}

// proving is the state of the proof for a snapshot of session time at.
func (p *proof) proving(at time.Duration) engine.Proving {
	out := p.Proving
	if p.Active() && p.until > at {
		out.Left = p.until - at
	}
	return out
}
