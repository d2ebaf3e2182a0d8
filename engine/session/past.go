package session

import (
	"slices"
	"time"

	"linerate/engine"
	"linerate/engine/diagnose"
	"linerate/probes"
)

// past is what has ended in this session.
type past struct {
	segments  []engine.Segment // oldest first; never written again
	steps     []diagnose.Step  // of those that ran
	numbers   []int            // of steps, as the list of segments counts them
	payloadTo time.Duration    // when the payload of the last step ended
	moved     uint64           // bytes
}

// remember takes in a step that has ended, with what later ones and the rules need to know
// of it.
func (p *past) remember(s *step) {
	p.segments = append(p.segments, s.seg)
	p.steps = append(p.steps, s.kept())
	p.numbers = append(p.numbers, s.seg.Index)
	p.payloadTo = s.seg.End
	p.moved += s.meter.moved()
}

// kept is a step as the rules remember it.
func (s *step) kept() diagnose.Step {
	kept := diagnose.Step{
		Spec:    s.seg.Spec,
		PeerCPU: probes.Unknown[float64](s.seg.PeerCPU.Status, s.seg.PeerCPU.Why()),
	}
	for _, sum := range s.seg.Sums {
		if s.meter.averaged() { // the beginning of a step is nothing to compare with
			kept.Rates[sum.Dir] = sum.Mean
		}
	}
	if cpu, ok := s.seg.PeerCPU.Get(); ok {
		kept.PeerCPU = probes.Got(cpu.Total / 100)
	}
	return kept
}

// baseline is the step that a direction's rate is compared with.
type baseline struct {
	mean probes.Reading[float64] // bits/s
	step int                     // its number
}

// before gives, for each direction, the last step in which it flowed.
func (p *past) before() (last [2]baseline) {
	for dir := range last {
		last[dir].mean = probes.Unknown[float64](probes.Absent, "no step before in this direction")
		for i, s := range slices.Backward(p.steps) {
			if !s.Spec.Direction.Has(engine.Direction(dir)) {
				continue
			}
			last[dir] = baseline{probes.Unknown[float64](probes.Absent, "the step before was too short"), p.numbers[i]}
			if s.Rates[dir] > 0 {
				last[dir].mean = probes.Got(s.Rates[dir])
			}
			break
		}
	}
	return last
}
