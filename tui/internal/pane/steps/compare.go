package steps

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/tui/internal/figure"
	"linerate/tui/internal/grid"
	"linerate/tui/internal/style"
)

// field is one column of the compare view. It is left out on screens narrower than from.
type field struct {
	title string
	width int
	from  int
	cell  func(c *comparison, i int) string
}

// comparison is what the cells are made of.
type comparison struct {
	s      *engine.Snapshot
	g      *style.Glyphs
	u      unit.System
	best   float64 // rate of the fastest step
	fields []field
}

// barWidth is the room for a bar that shows a step's rate.
const barWidth = 16

// Compare is the full table of the steps, each against the one before and the first, for
// a screen of the given width.
func Compare(s *engine.Snapshot, g *style.Glyphs, u unit.System, width int) (p grid.Page) {
	c := comparison{s: s, g: g, u: u}
	for i := range s.Segments {
		c.best = max(c.best, mean(&s.Segments[i]))
	}
	head := ""
	for _, f := range [...]field{
		{"step", 5, 0, func(c *comparison, i int) string { return strconv.Itoa(c.s.Segments[i].Index) }},
		{"change", 20, 0, func(c *comparison, i int) string { return c.s.Segments[i].Change }},
		{"test", 9, 0, (*comparison).test},
		{"time", 8, 0, func(c *comparison, i int) string { return unit.Clock(length(&c.s.Segments[i], c.s.Elapsed)) }},
		{"mean", meanWidth(s), 0, func(c *comparison, i int) string { return rate(&c.s.Segments[i], c.g, c.u) }},
		{"", barWidth + 1, 100, (*comparison).bar},
		{"min to max", 20, 130, func(c *comparison, i int) string { return spans(&c.s.Segments[i], c.u) }},
		{"retr", 8, 140, func(c *comparison, i int) string { return retransmits(&c.s.Segments[i]) }},
		{g.Delta + " before", 10, 0, func(c *comparison, i int) string { return c.change(i, i-1) }},
		{g.Delta + " first", 10, 110, func(c *comparison, i int) string { return c.change(i, 0) }},
		{"gap", 10, 150, (*comparison).gap},
	} {
		if width >= f.from {
			c.fields = append(c.fields, f)
			head += pad(f.title, f.width)
		}
	}
	p.Add(style.Dim, head+"verdict")
	for i := range s.Segments {
		role, ending := style.Plain, c.ending(i)
		if mean(&s.Segments[i]) == c.best && len(s.Segments) > 1 {
			role = style.Bold
			ending += " (fastest)"
		}
		text := c.row(i)
		used := utf8.RuneCountInString(text)
		for rest := ending; ; text = strings.Repeat(" ", used) {
			var line string
			line, rest = grid.Wrap(rest, max(leastEnding, width-used))
			p.Add(role, text+line)
			if rest == "" {
				break
			}
		}
	}
	return p
}

// leastEnding is what a verdict needs to be read in several rows.
const leastEnding = 10

func (c *comparison) row(i int) (text string) {
	for _, f := range c.fields {
		text += pad(f.cell(c, i), f.width)
	}
	return text
}

// ending is how the step ended, or its verdict.
func (c *comparison) ending(i int) string {
	if seg := &c.s.Segments[i]; seg.Err != "" {
		return seg.Err
	}
	return c.s.Segments[i].Title
}

func (c *comparison) test(i int) string {
	spec := &c.s.Segments[i].Spec
	return figure.Arrow(spec.Direction, c.g.Up, c.g.Down, c.g.Both) + " " + c.g.Times + strconv.Itoa(spec.Streams)
}

func (c *comparison) bar(i int) string {
	share := mean(&c.s.Segments[i]) / c.best
	if !(share > 0 && share <= 1) {
		return ""
	}
	return strings.Repeat(string(c.g.Bar), max(1, int(share*barWidth+0.5)))
}

// meanWidth is the room for a step's rate, which has two numbers when payload flowed
// both ways.
func meanWidth(s *engine.Snapshot) int {
	for i := range s.Segments {
		if len(s.Segments[i].Sums) > 1 {
			return 20
		}
	}
	return 10
}

func (c *comparison) change(i, base int) string {
	if i == 0 {
		return ""
	}
	return figure.Delta(change(&c.s.Segments[i], &c.s.Segments[base]))
}

func (c *comparison) gap(i int) string {
	if i == 0 {
		return ""
	}
	return unit.Duration(c.s.Segments[i].Gap)
}

func spans(seg *engine.Segment, u unit.System) string {
	var words []string
	for i := range seg.Sums {
		if sum := &seg.Sums[i]; sum.Max > 0 {
			words = append(words, figure.Short(sum.Min, u)+" to "+figure.Short(sum.Max, u))
		}
	}
	return strings.Join(words, ", ")
}

func retransmits(seg *engine.Segment) string {
	sum, known := uint64(0), len(seg.Sums) > 0
	for i := range seg.Sums {
		r := seg.Sums[i].Retransmits
		known = known && r.Known()
		sum += r.Or(0)
	}
	if !known {
		return unit.None
	}
	return unit.Count(float64(sum))
}

// pad fills a text to width cells and keeps a blank behind it.
func pad(text string, width int) string {
	runes := []rune(text)
	if len(runes) >= width {
		return string(runes[:width-1]) + " "
	}
	return text + strings.Repeat(" ", width-len(runes))
}
