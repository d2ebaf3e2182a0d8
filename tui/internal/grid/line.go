package grid

import (
	"strconv"
	"strings"

	"linerate/tui/internal/style"
)

// Line is one row of a text view: help, the reasons of a verdict, the table of steps.
type Line struct {
	Text string
	Role style.Role
}

// Page is a text view under construction.
type Page []Line

// Add appends a row.
func (p *Page) Add(role style.Role, text string) { *p = append(*p, Line{text, role}) }

// Scroll draws the lines from number top on and gives the first number that would still
// fill the area, for clamping. While lines are left below, the last row says how many.
func (a Area) Scroll(lines Page, top int) (last int) {
	last = max(0, len(lines)-a.H)
	top = min(max(0, top), last)
	rows := a.H
	if top < last && rows > 1 {
		rows--
		left := len(lines) - top - rows
		a.Fit(0, rows, a.W, style.Dim, a.g.glyphs.Ellipsis+strconv.Itoa(left)+" more lines: j PgDn G")
	}
	for y := 0; y < rows && top+y < len(lines); y++ {
		l := lines[top+y]
		a.Fit(0, y, a.W, l.Role, l.Text)
	}
	return last
}

// Reflow breaks the rows that are wider than w at words and indents what follows.
func Reflow(lines Page, w int) (out Page) {
	for _, l := range lines {
		text := strings.TrimLeft(l.Text, " ")
		margin := l.Text[:len(l.Text)-len(text)]
		hang := margin + "  "
		for {
			head, tail := Wrap(text, max(8, w-len(margin)))
			out.Add(l.Role, margin+head)
			if tail == "" {
				break
			}
			text, margin = tail, hang
		}
	}
	return out
}
