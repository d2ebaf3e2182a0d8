package tui

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"linerate/engine"
	"linerate/tui/internal/figure"
)

// proofTime is how long the step of a proof runs before it is read: the ramp of the
// first seconds would blur it.
const proofTime = 3 * time.Second

// proof is the one action that shows whether a verdict is right, under way.
type proof struct {
	title  string
	key    string
	dir    engine.Direction
	before float64 // rate of the step before, bits/s
	step   int     // index of the step before
}

// provable is the first verdict with a proof that is a key of ours; nil: none.
func (m *Model) provable() *engine.Finding {
	if m.snap == nil {
		return nil
	}
	for i := range m.snap.Verdicts {
		f := &m.snap.Verdicts[i].Main
		if f.Proof != "" && strings.Contains("+-dRba", f.Proof) && len(f.Proof) == 1 {
			return f
		}
	}
	return nil
}

// prove presses the proof's key and remembers what to compare with.
func (m *Model) prove() tea.Cmd {
	f := m.provable()
	seg := m.snap.Segment()
	if f == nil || seg == nil {
		return m.say("this verdict has no proof that a key could run")
	}
	m.proof = &proof{title: f.Title, key: f.Proof, dir: f.Dir, before: total(seg.Sums), step: seg.Index}
	return tea.Batch(m.say("proving: pressing "+f.Proof), m.press(f.Proof))
}

// watchProof reads the step that the proof opened, once it has run long enough.
func (m *Model) watchProof(s *engine.Snapshot) tea.Cmd {
	p, seg := m.proof, s.Segment()
	if p == nil || seg == nil || seg.Index <= p.step || s.Best.Active {
		return nil
	}
	if s.Elapsed-seg.Start < proofTime+seg.Spec.Omit && s.Phase == engine.Running {
		return nil
	}
	m.proof = nil
	after := total(seg.Sums)
	if p.before <= 0 || after <= 0 {
		return m.say("the proof with " + p.key + " showed nothing: no rate to compare")
	}
	gain := after/p.before - 1
	text := "proof: " + p.key + " took it from " + figure.Rate(p.before, m.units) + " to " +
		figure.Rate(after, m.units) + " (" + figure.Delta(gain) + ")"
	switch {
	case p.key == "+" && gain >= 0.2:
		text += ": it was the limit"
	case p.key == "+" && gain < 0.05:
		text += ": one more stream does not help, so it was not the limit"
	}
	return m.say(text)
}

// total is the rate of a step over its directions.
func total(sums []engine.Sum) (rate float64) {
	for i := range sums {
		rate += sums[i].Mean
	}
	return rate
}
