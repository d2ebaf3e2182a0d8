package diagnose

import (
	"fmt"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
)

const (
	// collapsed is the part of the other direction's rate below which a direction has
	// collapsed, and recovered how many times faster it must be alone.
	collapsed, recovered = 0.5, 1.5
	// ordinaryMTU is the size of packets that every network carries.
	ordinaryMTU = 1500
)

// largeFramesLost (R44b): large frames are lost only while both directions run.
func largeFramesLost(e *Evidence, dir engine.Direction) ruling {
	both, alone := e.twoWay(dir), e.alone(dir)
	if e.Test.Spec.Direction == dir {
		alone = e.flow(dir).Rate
	}
	switch {
	case !both.Known():
		return unseen("both directions at once: " + both.Why())
	case both.Value.rate <= 0:
		return no("nothing at all passes: that is no overload")
	case both.Value.rate >= collapsed*both.Value.other:
		return no(fmt.Sprintf("with both directions it reaches %s, the other %s", unit.Rate(both.Value.rate), unit.Rate(both.Value.other)))
	}
	side := e.Sender(dir)
	mtu, fits := e.mtu(side), e.largestPacket(dir)
	switch {
	case !mtu.Known():
		return e.notSeen(side, "MTU", mtu.Why())
	case mtu.Value <= ordinaryMTU:
		return no("no large frames are used")
	case fits.Known() && fits.Value < mtu.Value:
		return no("large packets do not even pass one by one")
	}
	for _, s := range e.sides() {
		if e.end(s).NIC.Value.Duplex.Value == "half" {
			return no("half duplex explains it")
		}
	}
	f := engine.Finding{
		Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: engine.Path, Core: -1,
		Short: "large frames lost when both ways run",
		Proof: engine.ProofOneWay,
		Evidence: e.from(dir, engine.Evidence{Name: "with both directions", Value: both.Value.rate, Unit: "bit/s", Side: engine.Local},
			engine.Evidence{Name: "the other direction then", Value: both.Value.other, Unit: "bit/s", Side: engine.Local},
			e.fact("MTU", float64(mtu.Value), "B", side)),
		Remedy: []engine.Remedy{
			e.system(side).mtu(fmt.Sprintf("Use a smaller MTU on both hosts%s.", e.bestMTU()), e.smallerMTU()),
			{Text: "Try pause frames on the switch ports, another switch or another card."},
		},
	}
	cause := "a card's or a switch's buffer, or pause frames"
	switch {
	case alone.Known() && alone.Value < recovered*both.Value.rate:
		return no(fmt.Sprintf("alone it reaches only %s", unit.Rate(alone.Value)))
	case alone.Known():
		f.Text = fmt.Sprintf("Large frames are lost only while both directions run (%s then, %s alone): %s%s.",
			unit.Rate(both.Value.rate), unit.Rate(alone.Value), cause, passes(fits, mtu.Value))
		f.Evidence = append(f.Evidence, engine.Evidence{Name: "alone", Value: alone.Value, Unit: "bit/s", Side: engine.Local})
		if !fits.Known() {
			f.Confidence = engine.Likely
		}
	default:
		f.Confidence = engine.Likely
		f.Text = fmt.Sprintf("One direction collapses while both run (%s beside %s) with MTU %d: %s. Test it alone.",
			unit.Rate(both.Value.rate), unit.Rate(both.Value.other), mtu.Value, cause)
	}
	return holds(f)
}

func passes(fits probes.Reading[int], mtu int) string {
	if !fits.Known() {
		return ""
	}
	return fmt.Sprintf("; MTU %d itself passes", mtu)
}

// pair is one direction beside the other.
type pair struct{ rate, other float64 }

// twoWay gives a direction's rate while both ran: now, or in the last step that did.
func (e *Evidence) twoWay(dir engine.Direction) probes.Reading[pair] {
	back := engine.Download - dir
	if e.Test.Spec.Direction == engine.Both {
		a, b := e.flow(dir).Rate, e.flow(back).Rate
		switch {
		case !a.Known():
			return probes.Unknown[pair](a.Status, a.Why())
		case !b.Known():
			return probes.Unknown[pair](b.Status, b.Why())
		}
		return probes.Got(pair{a.Value, b.Value})
	}
	for i := len(e.Steps) - 1; i >= 0; i-- {
		if s := &e.Steps[i]; s.Spec.Direction == engine.Both {
			return probes.Got(pair{s.Rates[dir], s.Rates[back]})
		}
	}
	return probes.Unknown[pair](probes.NotRead, "not tested")
}

// smallerMTU is that of the best two-way step, or the one that every network carries.
func (e *Evidence) smallerMTU() int {
	best, sum := ordinaryMTU, 0.0
	for i := range e.Steps {
		s := &e.Steps[i]
		if total := s.Rates[0] + s.Rates[1]; s.Spec.Direction == engine.Both && s.MTU > 0 && total > sum {
			best, sum = s.MTU, total
		}
	}
	return best
}

// bestMTU tells of the MTU at which earlier steps did best, where there were any.
func (e *Evidence) bestMTU() string {
	best := e.smallerMTU()
	for i := range e.Steps {
		if e.Steps[i].MTU == best {
			return fmt.Sprintf(": %d did best of those tried", best)
		}
	}
	return ""
}
