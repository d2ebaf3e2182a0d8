package diagnose

import (
	"fmt"
	"time"

	"linerate/engine"
)

// standingStill is the least time without payload that is worth a word. Retransmission
// timeouts of a lossy path last 0.2 to 1.6 s.
const standingStill = 3 * time.Second

// caStateLoss is tcpi_ca_state of a connection that waits for a retransmission timer.
const caStateLoss = 4

// standStill (X04): no payload has moved in this direction for some time.
func standStill(e *Evidence, dir engine.Direction) ruling {
	still, ok := e.still(dir).Get()
	if !ok {
		return unseen("counters: " + e.flow(dir).Idle.Why())
	}
	// A low -b sends a block now and then.
	least := standingStill
	if b := e.Test.Spec.Bitrate; b > 0 {
		perBlock := float64(e.Test.Spec.Block()) * 8 / b
		least = max(least, time.Duration(3*perBlock*float64(time.Second)))
	}
	if still < least {
		return no("payload moves")
	}
	f := engine.Finding{
		Severity: engine.SeverityFault, Confidence: engine.Sure, Side: engine.Path, Core: -1,
		Text:     fmt.Sprintf("No payload has moved in %s for %s: the path or the far program stands still", dir, seconds(still)),
		Short:    fmt.Sprintf("%s: no bytes for %s", dir, seconds(still)),
		Proof:    engine.ProofReverse,
		Evidence: e.from(dir, engine.Evidence{Name: "without payload", Value: still.Seconds(), Unit: "s", Side: engine.Local, Age: e.flow(dir).Age}),
	}
	if n := e.unanswered(dir); n > 0 {
		f.Text += fmt.Sprintf("; %s not answered", plural(float64(n), "retransmission in a row was", "retransmissions in a row were"))
		f.Evidence = append(f.Evidence, engine.Evidence{Name: "retransmissions without answer", Value: float64(n), Side: e.side(e.Sender(dir)), Age: e.flow(dir).Age})
	}
	f.Text += ". Try the other direction with d."
	return holds(f)
}

// unanswered is the greatest number of retransmissions in a row that a sender waits for.
func (e *Evidence) unanswered(dir engine.Direction) (most int) {
	streams, _ := e.flow(dir).Sender.Get()
	for i := range streams {
		w := &streams[i]
		if w.Info.Known() && w.Now.CAState == caStateLoss {
			most = max(most, int(w.Now.Retransmits))
		}
	}
	return most
}

// noCause (X03): everything that can be seen was looked at, and nothing explains the
// rate.
func noCause(e *Evidence, dir engine.Direction) ruling {
	if e.Test.Idle {
		f := engine.Finding{
			Severity: engine.SeverityOK, Confidence: engine.Unsure, Side: engine.Path, Core: -1,
			Text:  "Nothing that can be seen without traffic would slow a transfer down.",
			Short: "nothing found without traffic",
		}
		if e.Path.Dest.IsValid() && !e.Test.SameHost && !e.Path.RTT.Idle.Known() && !e.Path.MTU.Out.Known() {
			f.Text = "The host has answered no probe: nothing is known of the way to it. " +
				"Nothing else that can be seen without traffic would slow a transfer down."
			f.Short = "the host answers no probe"
		}
		return holds(f)
	}
	if e.younger(leastAge) || !e.flow(dir).Rate.Known() {
		return no("not asked yet")
	}
	f := engine.Finding{
		Severity: engine.SeverityOK, Confidence: engine.Unsure, Side: engine.Path, Core: -1,
		Text:     "Not enough evidence for a cause: " + e.here(),
		Short:    "no cause found yet",
		Evidence: e.from(dir),
	}
	if cores, ok := e.cores(engine.Far).Get(); ok && !e.Test.SameHost {
		top := spreadOf(cores).top
		f.Text += fmt.Sprintf(", at the far end core %d, %s", top.Core, percent(top.Busy()))
	}
	if t, ok := e.moreStreams(dir); ok && t.gain < helped {
		f.Text += fmt.Sprintf("; %s, so it is no limit of a single stream.", t)
		return holds(f)
	}
	f.Text += ". Press + to see whether another stream helps."
	f.Press, f.Proof = "+", engine.ProofAddStream
	return holds(f)
}

// measuring (X01): the step is too young for any answer.
func measuring(e *Evidence, dir engine.Direction) ruling {
	if !e.younger(leastAge) && e.flow(dir).Rate.Known() {
		return no("the step is old enough")
	}
	return notYet(e, dir)
}

func notYet(e *Evidence, dir engine.Direction) ruling {
	return holds(engine.Finding{
		Severity: engine.SeverityOK, Confidence: engine.Unsure, Side: engine.Path, Core: -1,
		Text:     "Not enough evidence yet: a verdict takes some 6 s of traffic.",
		Short:    "measuring…",
		Evidence: e.from(dir),
	})
}

// measuringFinding is what shows while nothing else does.
func measuringFinding(e *Evidence, dir engine.Direction, since time.Duration) engine.Finding {
	young := Evidence{Test: Test{Spec: e.Test.Spec}, Flows: e.Flows}
	r := rule{code: Measuring, title: "measuring", check: notYet}
	f := r.ask(&young, dir, false).finding
	f.Since = since
	return f
}
