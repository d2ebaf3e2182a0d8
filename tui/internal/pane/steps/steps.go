package steps

import (
	"math"
	"strconv"
	"strings"
	"time"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/tui/internal/figure"
	"linerate/tui/internal/grid"
	"linerate/tui/internal/style"
)

// mean is the rate a step is compared by: all its directions together.
func mean(seg *engine.Segment) float64 {
	sum := 0.0
	for i := range seg.Sums {
		sum += seg.Sums[i].Mean
	}
	return sum
}

// length is how long a step has run.
func length(seg *engine.Segment, now time.Duration) time.Duration {
	if seg.End > 0 {
		return max(0, seg.End-seg.Start)
	}
	return max(0, now-seg.Start)
}

// change is a step's rate against another's; NaN when one of them has none, or ran in
// another direction.
func change(seg, before *engine.Segment) float64 {
	if before == nil || before.Spec.Direction != seg.Spec.Direction {
		return math.NaN()
	}
	if a, b := mean(before), mean(seg); a > 0 && b > 0 {
		return b/a - 1
	}
	return math.NaN()
}

// brought is what the step brought against the last one with payload in the same
// direction.
func brought(seg *engine.Segment, g *style.Glyphs) string {
	var words []string
	for i := range seg.Sums {
		sum := &seg.Sums[i]
		if !sum.Delta.Known() {
			continue
		}
		arrow := ""
		if len(seg.Sums) > 1 {
			arrow = figure.Arrow(sum.Dir, g.Up, g.Down, "")
		}
		words = append(words, arrow+figure.Delta(sum.Delta.Value))
	}
	return strings.Join(words, " ")
}

func rate(seg *engine.Segment, g *style.Glyphs, u unit.System) string {
	text := ""
	for i := range seg.Sums {
		if i > 0 {
			text += " "
		}
		text += figure.Arrow(seg.Sums[i].Dir, g.Up, g.Down, "") + figure.Short(seg.Sums[i].Mean, u)
	}
	if text == "" {
		return unit.None
	}
	return text
}

// Draw draws the newest steps that fit, the running one last, and a fold line for the
// older ones.
func Draw(a grid.Area, s *engine.Snapshot, u unit.System) {
	g := a.Glyphs()
	n := len(s.Segments)
	if n == 0 {
		a.Fit(1, 0, a.W-1, style.Dim, "no step yet")
		return
	}
	both := false
	for i := range s.Segments {
		both = both || len(s.Segments[i].Sums) > 1
	}
	const index, clock = 4, 7
	rateW, deltaW := 9, 9
	if both {
		rateW, deltaW = 18, 16
	}
	changeW := max(12, min(26, (a.W-index-clock-rateW-deltaW)/2))
	x := index + 1
	a.Text(x, 0, style.Dim, "change")
	a.Right(x+changeW+clock, 0, style.Dim, "time")
	a.Right(x+changeW+clock+rateW, 0, style.Dim, "mean")
	a.Right(x+changeW+clock+rateW+deltaW, 0, style.Dim, g.Delta+" before")
	verdict := x + changeW + clock + rateW + deltaW + 2
	if a.W-verdict >= 8 {
		a.Text(verdict, 0, style.Dim, "verdict")
	}
	rows := a.H - 1
	first := 0
	y := 1
	if n > rows {
		first = n - rows + 1
		a.Fit(1, y, a.W-1, style.Dim, g.Ellipsis+strconv.Itoa(first)+" earlier (c lists all)")
		y++
	}
	for i := first; i < n && y < a.H; i++ {
		seg := &s.Segments[i]
		role := style.Plain
		if i == n-1 {
			role = style.Bold
			a.Text(0, y, style.Mark, g.Cursor)
		}
		a.Right(index, y, role, strconv.Itoa(seg.Index))
		a.Fit(x, y, changeW, role, seg.Change)
		a.Right(x+changeW+clock, y, role, unit.Clock(length(seg, s.Elapsed)))
		a.Right(x+changeW+clock+rateW, y, role, rate(seg, g, u))
		a.Right(x+changeW+clock+rateW+deltaW, y, role, brought(seg, g))
		text := seg.Title
		if seg.Err != "" {
			text = seg.Err
		}
		if a.W-verdict >= 8 {
			a.Fit(verdict, y, a.W-verdict, style.Dim, text)
		}
		y++
	}
}

// Events draws the newest events that fit, newest first; a long one takes two rows.
func Events(a grid.Area, s *engine.Snapshot) {
	if len(s.Events) == 0 {
		a.Fit(1, 0, a.W-1, style.Dim, "nothing yet")
		return
	}
	y := 0
	for i := len(s.Events) - 1; i >= 0 && y < a.H; i-- {
		e := &s.Events[i]
		x := a.Text(1, y, style.Dim, unit.Clock(max(0, e.At))) + 2
		text := e.Text
		if a.Width(text) > a.W-x && y+1 < a.H {
			var head string
			head, text = grid.Wrap(text, a.W-x)
			a.Fit(x, y, a.W-x, style.Plain, head)
			y++
		}
		a.Fit(x, y, a.W-x, style.Plain, text)
		y++
	}
}
