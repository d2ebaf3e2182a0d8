package chart

import (
	"time"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/tui/internal/grid"
	"linerate/tui/internal/style"
)

// Timeline divides a span of session time into columns. Columns lie on fixed borders, so
// that the picture moves by whole columns and does not shimmer.
type Timeline struct {
	From, To time.Duration
	Columns  int
}

// slot is the finest step of the history: columns are whole slots, or some of them would
// have one sample more than others and show a beat.
const slot = 100 * time.Millisecond

// NewTimeline gives the columns that show about span up to now.
func NewTimeline(now, span time.Duration, columns int) Timeline {
	if columns <= 0 {
		return Timeline{}
	}
	width := (span/time.Duration(columns) + slot - 1) / slot * slot
	width = max(width, slot)
	to := (now + width - 1) / width * width
	return Timeline{From: to - width*time.Duration(columns), To: to, Columns: columns}
}

// Read fills dst, of Columns points, from a series.
func (t Timeline) Read(s engine.Series, dst []engine.Point) { s.Columns(t.From, t.To, dst) }

// Column is where a moment lies; it may be outside of 0 … Columns-1.
func (t Timeline) Column(at time.Duration) int {
	if t.Columns == 0 || at < t.From {
		return -1
	}
	return int((at - t.From) / ((t.To - t.From) / time.Duration(t.Columns)))
}

// Mark is the begin of a step on the time axis.
type Mark struct {
	At     time.Duration
	Index  int
	Change string
}

// Axis draws the line under a graph, with a tick per mark.
func (t Timeline) Axis(a grid.Area, y int, marks []Mark) {
	g := a.Glyphs()
	a.Put(Gutter-1, y, g.Corner, style.Frame)
	a.Fill(Gutter, y, t.Columns, g.Axis, style.Frame)
	for _, m := range marks {
		if x := t.Column(m.At); x >= 0 && x < t.Columns {
			a.Put(Gutter+x, y, g.Tick, style.Mark)
		}
	}
}

// Marks draws the lines of the marks through rows 0 … rows-1 of a graph, behind it.
func (t Timeline) Marks(a grid.Area, rows int, marks []Mark) {
	for _, m := range marks {
		x := t.Column(m.At)
		if x < 0 || x >= t.Columns {
			continue
		}
		for y := range rows {
			if r := a.Get(Gutter+x, y).Rune; r == ' ' || r == a.Glyphs().Dash && !a.Glyphs().ASCII {
				a.Put(Gutter+x, y, a.Glyphs().Mark, style.Mark)
			}
		}
	}
}

// Labels writes the row under the axis: the age of the left edge, "now" at the right,
// and between them the number of each mark with what changed. Where two would collide
// only the numbers stay, and where those collide the newer one.
func (t Timeline) Labels(a grid.Area, y int, now time.Duration, marks []Mark) {
	const nowText = "now"
	end := Gutter + t.Columns
	a.Text(end-len(nowText), y, style.Dim, nowText)
	limit := end - len(nowText) - 1
	left := Gutter
	if x := a.Width("-" + unit.Clock(now-t.From)); x+2 < t.Columns {
		left = a.Text(Gutter-1, y, style.Dim, "-"+unit.Clock(max(0, now-t.From))) + 1
	}
	for i := len(marks) - 1; i >= 0; i-- {
		m := marks[i]
		x := Gutter + t.Column(m.At)
		number := Circled(m.Index)
		switch full := number + " " + m.Change; {
		case t.Column(m.At) < 0 || x < left || x+a.Width(number) > limit:
			continue
		case m.Change != "" && x+a.Width(full) <= limit:
			a.Text(x, y, style.Mark, full)
		default:
			a.Text(x, y, style.Mark, number)
		}
		limit = x - 1
	}
}

// Circled is the number of a step as it stands on the axis.
func Circled(n int) string {
	if n >= 1 && n <= 20 {
		return string('①' + rune(n-1))
	}
	return "(" + unit.Count(float64(n)) + ")"
}
