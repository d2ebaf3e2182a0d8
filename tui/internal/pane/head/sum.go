package head

import (
	"strconv"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/tui/internal/figure"
	"linerate/tui/internal/grid"
	"linerate/tui/internal/style"
)

// Sum draws one direction's totals into row 0 of the area. It overwrites only the cells
// it needs, so that it can stand in the line of a frame.
func Sum(a grid.Area, s *engine.Snapshot, dir engine.Direction, u unit.System) {
	g := a.Glyphs()
	arrow := figure.Arrow(dir, g.Up, g.Down, "")
	sum := s.Sum(dir)
	if sum == nil {
		a.Compose(0, 2, []grid.Part{{Text: " SUM " + arrow + " " + unit.None, Role: style.Dim}}, nil)
		return
	}
	right := []grid.Part{
		{Text: "mean " + mean(sum, u), Drop: 2},
		{Text: span(sum, u), Role: style.Dim, Drop: 6},
		{Text: "retr " + figure.PerSecond(sum.RetransRate) + "/s", Role: retransRole(sum), Drop: 3},
		{Text: possible(sum, u), Role: style.Dim, Drop: 4},
		{Text: delta(a, s, sum), Role: style.Bold, Drop: 1},
	}
	if !sum.RetransRate.Known() {
		right[2].Text = "retr " + unit.None
	}
	left := []grid.Part{{Text: " SUM " + arrow + " " + figure.Rate(sum.Rate, u), Role: tone(dir)}}
	a.Sub(0, 0, a.W-1, 1).Compose(0, 2, left, right)
	a.Put(a.W-1, 0, ' ', style.Plain)
}

// mean is unknown at the moment from which it counts.
func mean(sum *engine.Sum, u unit.System) string {
	if sum.Mean == 0 && sum.Rate > 0 {
		return unit.None
	}
	return figure.Rate(sum.Mean, u)
}

func span(sum *engine.Sum, u unit.System) string {
	if sum.Max <= 0 {
		return ""
	}
	return "min " + figure.Short(sum.Min, u) + " max " + figure.Short(sum.Max, u)
}

func possible(sum *engine.Sum, u unit.System) string {
	if !sum.Ceiling.Known() {
		return ""
	}
	return "of " + figure.Rate(sum.Ceiling.Value, u) + " possible"
}

// delta is what the last change brought, and the time without payload that it cost.
func delta(a grid.Area, s *engine.Snapshot, sum *engine.Sum) string {
	seg := s.Segment()
	if seg == nil || seg.Gap <= 0 {
		return ""
	}
	gap := "gap " + unit.Duration(seg.Gap)
	if !sum.Delta.Known() {
		return gap
	}
	return a.Glyphs().Delta + " " + figure.Delta(sum.Delta.Value) + " to step " + strconv.Itoa(sum.DeltaTo) + ", " + gap
}

func retransRole(sum *engine.Sum) style.Role {
	if sum.RetransRate.Known() && sum.RetransRate.Value > 0 {
		return style.Warning
	}
	return style.Plain
}
