package graph

import (
	"time"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/tui/internal/chart"
	"linerate/tui/internal/figure"
	"linerate/tui/internal/grid"
	"linerate/tui/internal/style"
)

// Options are the operator's choices.
type Options struct {
	Span  time.Duration // of the time axis
	Log   bool
	Units unit.System
}

// emptyTop is the scale of a graph without samples, bits/s.
const emptyTop = 1e6

// Pane draws the graph. The zero value is ready; it belongs to one goroutine.
type Pane struct {
	plotter  chart.Plotter
	scale    chart.Scale
	units    unit.System // of scale
	marks    []chart.Mark
	up, down []engine.Point
	other    []engine.Point // of the direction that does not flow now; later of the strips
}

// Draw draws the graph of a snapshot into the area.
func (p *Pane) Draw(a grid.Area, s *engine.Snapshot, o Options) {
	both := s.Spec.Direction == engine.Both
	rows := share(a.H, both)
	columns := a.W - chart.Gutter
	if rows.plot < 3 || columns < 8 {
		return
	}
	now := moment(s)
	t := chart.NewTimeline(now, o.Span, columns)
	p.read(s, t, both)
	p.marks = marks(p.marks[:0], s)

	axis := axisOf(o)
	greatest := max(chart.Greatest(p.up), chart.Greatest(p.down)) / axis.Div
	if greatest == 0 {
		greatest = emptyTop / axis.Div
	}
	if o.Units != p.units { // the same numbers are another rate now
		p.scale, p.units = chart.Scale{}, o.Units
	}
	axis.Top = p.scale.Fit(greatest, s.Elapsed, axis.Base)

	y := 0
	upper := a.Sub(0, 0, a.W, rows.plot)
	p.half(upper, s, t, axis, o, upper0(s.Spec.Direction))
	y += rows.plot
	t.Axis(a, y, p.marks)
	y++
	if both {
		lower := a.Sub(0, y, a.W, rows.plot)
		p.half(lower, s, t, axis, o, engine.Download)
		y += rows.plot
	}
	t.Labels(a, y, now, p.marks)
	p.strips(a, y+1, rows.strips, s, t)
}

// upper0 is the direction of the upper plot.
func upper0(d engine.Direction) engine.Direction {
	if d == engine.Both {
		return engine.Upload
	}
	return d
}

// half draws one plot with its link rate and the lines of the steps behind it.
func (p *Pane) half(a grid.Area, s *engine.Snapshot, t chart.Timeline, axis chart.Axis, o Options, dir engine.Direction) {
	g := chart.Graph{Columns: p.up, Axis: axis, Rows: a.H, Line: style.Up}
	if dir == engine.Download {
		g.Line = style.Down
		g.Down = s.Spec.Direction == engine.Both
		if g.Down {
			g.Columns = p.down
		}
	}
	p.plotter.Paint(a, g)
	if sum := s.Sum(dir); sum != nil && sum.Ceiling.Known() {
		g.Level(a, sum.Ceiling.Value, "line rate "+figure.Short(sum.Ceiling.Value, o.Units))
	}
	t.Marks(a, a.H, p.marks)
}

// read fills up and down with the columns to draw. With one direction only up is used,
// for whichever flows; where it has nothing, the other one's past is shown, so that a
// change of direction does not wipe the graph.
func (p *Pane) read(s *engine.Snapshot, t chart.Timeline, both bool) {
	p.up, p.down, p.other = sized(p.up, t.Columns), sized(p.down, t.Columns), sized(p.other, t.Columns)
	if both {
		t.Read(s.History.Up, p.up)
		t.Read(s.History.Down, p.down)
		return
	}
	p.down = p.down[:0]
	now, before := s.History.Up, s.History.Down
	if s.Spec.Direction == engine.Download {
		now, before = before, now
	}
	t.Read(now, p.up)
	t.Read(before, p.other)
	for i, c := range p.up {
		if (c.Gap() || c.Max == 0) && !p.other[i].Gap() {
			p.up[i] = p.other[i]
		}
	}
}

// strips draws the rows below the graph, the most telling first.
func (p *Pane) strips(a grid.Area, y, n int, s *engine.Snapshot, t chart.Timeline) {
	for i, strip := range [...]struct {
		name   string
		series engine.Series
		role   style.Role
	}{
		{"retr", s.History.Retrans, style.Warning},
		{"rtt", s.History.RTT, style.Plain},
		{"cwnd", s.History.Cwnd, style.Dim},
	} {
		if i >= n {
			return
		}
		t.Read(strip.series, p.other)
		a.Right(chart.Gutter-1, y+i, style.Dim, strip.name)
		chart.Strip(a, chart.Gutter, y+i, p.other, chart.Greatest(p.other), strip.role)
	}
}

// moment is the right edge of the time axis: the last sample, or the session's clock
// when nothing has been sampled for a while.
func moment(s *engine.Snapshot) time.Duration {
	last := max(s.History.Up.End(), s.History.Down.End())
	if s.Elapsed-last > time.Second || last > s.Elapsed+time.Second {
		return s.Elapsed
	}
	return last
}

// marks are the begins of the steps after the first: where the first begins is where
// the graph begins.
func marks(dst []chart.Mark, s *engine.Snapshot) []chart.Mark {
	for i := range s.Segments {
		if seg := &s.Segments[i]; i > 0 {
			dst = append(dst, chart.Mark{At: seg.Start, Index: seg.Index, Change: seg.Change})
		}
	}
	return dst
}

func axisOf(o Options) chart.Axis {
	a := chart.Axis{Div: 1, Base: 1000, Log: o.Log}
	if o.Units != unit.BitsSI {
		a.Div = 8
	}
	if o.Units == unit.Binary {
		a.Base = 1024
	}
	return a
}

func sized(p []engine.Point, n int) []engine.Point {
	if cap(p) < n {
		return make([]engine.Point, n)
	}
	return p[:n]
}

// rows is how the height of the pane is used: plot rows (of each half), the axis, the
// labels and the strips.
type rows struct{ plot, strips int }

// Least is the height below which the pane shows nothing useful.
func Least(both bool) int {
	if both {
		return 9
	}
	return 6
}

// share divides the height. Plots have an odd number of rows, so that half of the
// scale has a row and a label of its own.
func share(h int, both bool) (r rows) {
	switch {
	case h >= 19:
		r.strips = 3
	case h >= 15:
		r.strips = 2
	case h >= Least(both)+1:
		r.strips = 1
	}
	room := h - 2 - r.strips
	if both {
		room /= 2
	}
	r.plot = room - (room+1)%2
	left := h - 2 - r.strips - r.plot
	if both {
		left -= r.plot
	}
	r.strips = min(3, r.strips+left)
	return r
}
