package chart

import (
	"linerate/engine"
	"linerate/tui/internal/grid"
	"linerate/tui/internal/style"
)

// Strip draws one row of bars: a cell per column, as high as the column's greatest value
// is of top. A gap stays blank, a known zero is a dot, and everything above zero shows
// at least the lowest bar.
func Strip(a grid.Area, x, y int, cols []engine.Point, top float64, role style.Role) {
	for i, c := range cols {
		if c.Gap() {
			continue
		}
		r := a.Glyphs().Level(float64(c.Max), top)
		if r == a.Glyphs().Zero {
			a.Put(x+i, y, r, style.Idle)
		} else {
			a.Put(x+i, y, r, role)
		}
	}
}

// Trail is Strip with two columns a cell where braille is drawn; cols has 2 × width
// columns then. Elsewhere it is Strip.
func Trail(a grid.Area, x, y int, cols []engine.Point, top float64, role style.Role) {
	if !a.Glyphs().Braille {
		Strip(a, x, y, cols, top, role)
		return
	}
	// Dots of the left and the right half from the lowest up, as in Unicode's table.
	left, right := [...]rune{0, 0x40, 0x44, 0x46, 0x47}, [...]rune{0, 0x80, 0xa0, 0xb0, 0xb8}
	for i := 0; i+1 < len(cols); i += 2 {
		r := '\u2800' + left[quarter(cols[i], top)] + right[quarter(cols[i+1], top)]
		if r != '\u2800' {
			a.Put(x+i/2, y, r, role)
		}
	}
}

// PerCell is how many columns Trail puts into a cell.
func PerCell(g *style.Glyphs) int {
	if g.Braille {
		return 2
	}
	return 1
}

func quarter(c engine.Point, top float64) int {
	if c.Gap() || top <= 0 {
		return 0
	}
	return min(4, max(1, int(float64(c.Max)/top*4+0.5)))
}

// Bar draws a share of width cells.
func Bar(a grid.Area, x, y, width int, share float64, role style.Role) {
	if !(share > 0) {
		return
	}
	g := a.Glyphs()
	eighths := min(int(share*float64(width*8)+0.5), width*8)
	a.Fill(x, y, eighths/8, g.Bar, role)
	if rest := eighths % 8; rest > 0 && !g.ASCII {
		// ▉ to ▏ follow each other in Unicode, seven eighths first.
		a.Put(x+eighths/8, y, '▉'+rune(7-rest), role)
	} else if rest >= 4 || eighths < 8 {
		a.Put(x+eighths/8, y, g.Bar, role)
	}
}

// Greatest is the largest value of columns, 0 when there is none.
func Greatest(cols []engine.Point) (top float64) {
	for _, c := range cols {
		if v := float64(c.Max); v > top {
			top = v
		}
	}
	return top
}
