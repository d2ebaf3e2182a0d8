package grid

import (
	"unicode"
	"unicode/utf8"

	"linerate/tui/internal/style"
)

// Rect is a rectangle on the sheet. One with a width or height of 0 is not there.
type Rect struct{ X, Y, W, H int }

// Empty reports whether nothing fits into r.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// Area is a part of a sheet with its own origin. Writing outside of it does nothing.
type Area struct {
	Rect
	g *Grid
}

// At is the rectangle r of the area, clipped to it.
func (a Area) At(r Rect) Area {
	x0, y0 := max(r.X, 0), max(r.Y, 0)
	x1, y1 := min(r.X+r.W, a.W), min(r.Y+r.H, a.H)
	return Area{Rect: Rect{X: a.X + x0, Y: a.Y + y0, W: max(0, x1-x0), H: max(0, y1-y0)}, g: a.g}
}

// Sub is At with the four numbers.
func (a Area) Sub(x, y, w, h int) Area { return a.At(Rect{x, y, w, h}) }

// Row is line y of the area, over its whole width.
func (a Area) Row(y int) Area { return a.Sub(0, y, a.W, 1) }

// Glyphs are the characters to draw with.
func (a Area) Glyphs() *style.Glyphs { return a.g.glyphs }

// Put writes one cell.
func (a Area) Put(x, y int, r rune, role style.Role) {
	if x < 0 || y < 0 || x >= a.W || y >= a.H {
		return
	}
	a.g.cells[(a.Y+y)*a.g.w+a.X+x] = Cell{r, role}
}

// Get reads one cell; outside of the area there are blanks.
func (a Area) Get(x, y int) Cell {
	if x < 0 || y < 0 || x >= a.W || y >= a.H {
		return blank
	}
	return a.g.cells[(a.Y+y)*a.g.w+a.X+x]
}

// Fill writes n equal cells from x to the right.
func (a Area) Fill(x, y, n int, r rune, role style.Role) {
	for i := range n {
		a.Put(x+i, y, r, role)
	}
}

// Tint changes the role of a row's cells and leaves their characters.
func (a Area) Tint(y int, role style.Role) {
	for x := range a.W {
		a.Put(x, y, a.Get(x, y).Rune, role)
	}
}

// Text writes s from x to the right and gives the column after it. Runes that are not
// known to be one cell wide become "?", control characters too; where glyphs are ASCII,
// signs are spelled.
func (a Area) Text(x, y int, role style.Role, s string) int {
	for _, r := range s {
		if a.g.glyphs.ASCII && r >= utf8.RuneSelf {
			for _, r := range style.Spell(r) {
				a.Put(x, y, r, role)
				x++
			}
			continue
		}
		if r, shown := visible(r); shown {
			a.Put(x, y, r, role)
			x++
		}
	}
	return x
}

// Width is the number of cells that Text uses for s.
func (a Area) Width(s string) (n int) {
	for _, r := range s {
		if a.g.glyphs.ASCII && r >= utf8.RuneSelf {
			n += len(style.Spell(r))
		} else if _, shown := visible(r); shown {
			n++
		}
	}
	return n
}

// visible maps a rune to what is shown for it. Combining marks are left out.
func visible(r rune) (rune, bool) {
	switch {
	case r >= ' ' && r < 0x7f:
		return r, true
	case r == '\n' || r == '\t' || r == 0xa0:
		return ' ', true
	case style.Narrow(r):
		return r, true
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0, false
	}
	return '?', true
}

// Right writes s so that it ends before column end.
func (a Area) Right(end, y int, role style.Role, s string) {
	a.Text(end-a.Width(s), y, role, s)
}

// Fit writes s into at most w cells from x on; what does not fit is cut and ends in an
// ellipsis. It gives the column after the text.
func (a Area) Fit(x, y, w int, role style.Role, s string) int {
	if a.Width(s) <= w {
		return a.Text(x, y, role, s)
	}
	dots := a.g.glyphs.Ellipsis
	room := w - a.Width(dots)
	if room < 0 {
		return x
	}
	a.Sub(x, y, room, 1).Text(0, 0, role, s)
	return a.Text(x+room, y, role, dots)
}

// Frame draws a box around the area with a title in its upper line and gives the inside.
func (a Area) Frame(title string) Area {
	g := a.g.glyphs
	if a.W < 4 || a.H < 3 {
		return a
	}
	for _, y := range [...]int{0, a.H - 1} {
		a.Fill(1, y, a.W-2, g.Horizontal, style.Frame)
	}
	for y := 1; y < a.H-1; y++ {
		a.Put(0, y, g.Vertical, style.Frame)
		a.Put(a.W-1, y, g.Vertical, style.Frame)
	}
	a.Put(0, 0, g.TopLeft, style.Frame)
	a.Put(a.W-1, 0, g.TopRight, style.Frame)
	a.Put(0, a.H-1, g.BottomLeft, style.Frame)
	a.Put(a.W-1, a.H-1, g.BottomRight, style.Frame)
	a.caption(2, title)
	return a.Sub(1, 1, a.W-2, a.H-2)
}

// Rule draws a line with a title over the area, where there is no room for a box, and
// gives what is below it.
func (a Area) Rule(title string) Area {
	a.Fill(0, 0, a.W, a.g.glyphs.Horizontal, style.Frame)
	a.caption(1, title)
	return a.Sub(0, 1, a.W, a.H-1)
}

func (a Area) caption(x int, title string) {
	if title == "" {
		return
	}
	a.Put(x-1, 0, ' ', style.Frame)
	end := a.Fit(x, 0, max(0, a.W-x-2), style.Title, title)
	a.Put(end, 0, ' ', style.Frame)
}
