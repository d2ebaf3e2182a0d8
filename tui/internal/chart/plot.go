package chart

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/guptarohit/asciigraph"

	"linerate/engine"
	"linerate/tui/internal/grid"
	"linerate/tui/internal/style"
)

// Gutter is the width of what stands left of the first column: a blank, the label, the
// axis.
const Gutter = LabelWidth + 2

// offset is asciigraph's: where its axis stands behind the label.
const offset = 2

// Plotter draws graphs. It keeps its buffers between calls and belongs to one goroutine.
type Plotter struct {
	greatest, least, mean []float64
	series                [][]float64
	options               []asciigraph.Option
}

// Graph is one plot: columns on an axis.
type Graph struct {
	Columns []engine.Point // bits per second; gaps stay blank
	Axis    Axis
	Rows    int  // height; odd, so that the middle has a row of its own
	Down    bool // grows downwards, for the lower half of a mirrored pair
	Line    style.Role
}

// The line joins the columns' means. What lies between their least and greatest values
// shows as dots behind it, so that a stall shorter than a column stays visible.
const (
	blockDot = '·'
	asciiDot = '.'
)

// charSets are those of greatest, least and mean. A blank start cap leaves the column
// before the first sample to the gap.
func charSets(g *style.Glyphs) []asciigraph.CharSet {
	band, line := asciigraph.CreateCharSet(string(blockDot)), asciigraph.DefaultCharSet
	if g.ASCII {
		band, line = asciigraph.CreateCharSet(string(asciiDot)), asciigraph.CreateCharSet("+")
		line.Horizontal, line.VerticalLine, line.EndCap = "-", "|", "-"
	}
	band.StartCap, line.StartCap = " ", " "
	return []asciigraph.CharSet{band, band, line}
}

// Text gives asciigraph's rows for a graph, or "" when there is nothing that it could
// draw. Whatever the columns hold, it does not panic and gives g.Rows lines.
func (p *Plotter) Text(g Graph, glyphs *style.Glyphs) string {
	if g.Rows < 2 || len(g.Columns) == 0 || !p.load(g) {
		return ""
	}
	low, high := 0.0, g.Axis.max()
	if g.Down {
		low, high = -high, 0
	}
	p.options = append(p.options[:0],
		asciigraph.Height(g.Rows-1),
		asciigraph.LowerBound(low),
		asciigraph.UpperBound(high),
		asciigraph.Offset(offset),
		asciigraph.SeriesChars(charSets(glyphs)...),
		asciigraph.YAxisValueFormatter(g.labels()),
	)
	return asciigraph.PlotMany(p.series, p.options...)
}

// load fills the three series from the columns and reports whether any has a value. A
// value that is no number counts as a gap, and none leaves the axis: both would break
// asciigraph's layout. asciigraph draws the way from each point to the next, so the last
// column needs a point after it.
func (p *Plotter) load(g Graph) bool {
	n := len(g.Columns) + 1
	p.greatest, p.least, p.mean = sized(p.greatest, n), sized(p.least, n), sized(p.mean, n)
	p.series = append(p.series[:0], p.greatest, p.least, p.mean)
	top, any := g.Axis.max(), false
	place := func(v float32) float64 {
		h := min(max(g.Axis.height(max(0, float64(v))), 0), top)
		if g.Down {
			return -h
		}
		return h
	}
	for i := range n {
		c := g.Columns[min(i, n-2)]
		if math.IsNaN(float64(c.Mean)) || math.IsInf(float64(c.Mean), 0) {
			p.greatest[i], p.least[i], p.mean[i] = math.NaN(), math.NaN(), math.NaN()
			continue
		}
		any = true
		p.greatest[i], p.least[i], p.mean[i] = place(c.Max), place(c.Min), place(c.Mean)
	}
	return any
}

func sized(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}

// labels is a formatter that prints a label, always LabelWidth wide, on the rows that
// divide the axis evenly, and blanks on the others.
func (g Graph) labels() func(float64) string {
	intervals := g.Rows - 1
	every := intervals / g.Axis.divisions(intervals)
	return func(h float64) string {
		h = math.Abs(h)
		row := int(math.Round(h / g.Axis.max() * float64(intervals)))
		label := ""
		if row%every == 0 {
			label = g.Axis.label(h)
		}
		return strings.Repeat(" ", max(0, LabelWidth-len(label))) + label
	}
}

// Paint draws a graph into the upper left of the area: Gutter cells of axis, then the
// columns. Without samples the axis stands alone.
func (p *Plotter) Paint(a grid.Area, g Graph) {
	glyphs := a.Glyphs()
	text := p.Text(g, glyphs)
	if text == "" {
		g.emptyAxis(a)
		return
	}
	x, y := 0, 0
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == '\n':
			x, y = 0, y+1
		case r == '\x1b': // colours are not asked for; should one come, it ends at its letter
			size += strings.IndexByte(text[size:], 'm') + 1
		default:
			g.cell(a, x, y, r)
			x++
		}
		text = text[size:]
	}
}

func (g Graph) cell(a grid.Area, x, y int, r rune) {
	switch {
	case r == ' ':
	case r == '┤':
		a.Put(x, y, a.Glyphs().Wall, style.Frame)
	case r == '┼': // where the line meets the axis
		if a.Glyphs().ASCII {
			r = '+'
		}
		a.Put(x, y, r, style.Frame)
	case x < Gutter:
		a.Put(x, y, r, style.Dim)
	case r == blockDot || r == asciiDot:
		a.Put(x, y, r, style.Band)
	default:
		a.Put(x, y, r, g.Line)
	}
}

func (g Graph) emptyAxis(a grid.Area) {
	if g.Rows < 2 {
		return
	}
	label, top := g.labels(), g.Axis.max()
	for y := range g.Rows {
		h := top * float64(g.Rows-1-y) / float64(g.Rows-1)
		if g.Down {
			h = top - h
		}
		a.Text(1, y, style.Dim, label(h))
		a.Put(Gutter-1, y, a.Glyphs().Wall, style.Frame)
	}
}

// Row is the row of a graph on which a value stands; -1 when it is not on the axis.
func (g Graph) Row(v float64) int {
	h := g.Axis.height(v)
	if math.IsNaN(h) || h < 0 || h > g.Axis.max() || g.Rows < 2 {
		return -1
	}
	row := int(math.Round(h / g.Axis.max() * float64(g.Rows-1)))
	if g.Down {
		return row
	}
	return g.Rows - 1 - row
}

// Level draws a thin line at a value, behind everything else, with a label at its right
// end where that is free.
func (g Graph) Level(a grid.Area, v float64, label string) {
	y := g.Row(v)
	if y < 0 {
		return
	}
	dash := a.Glyphs().Dash
	free := true
	from := Gutter + len(g.Columns) - a.Width(label) - 2
	for x := Gutter; x < Gutter+len(g.Columns); x++ {
		if a.Get(x, y).Rune == ' ' {
			a.Put(x, y, dash, style.Ceiling)
		} else if x >= from {
			free = false
		}
	}
	if free && from > Gutter+8 {
		a.Put(from, y, ' ', style.Plain)
		end := a.Text(from+1, y, style.Ceiling, label)
		a.Put(end, y, ' ', style.Plain)
	}
}
