package grid

import (
	"unicode/utf8"

	"linerate/tui/internal/style"
)

// Cell is one character and what it means.
type Cell struct {
	Rune rune
	Role style.Role
}

var blank = Cell{Rune: ' '}

// Grid is a sheet of cells. The zero value is empty; Reset gives it a size.
type Grid struct {
	w, h   int
	cells  []Cell
	glyphs *style.Glyphs
}

// Reset makes the sheet w × h blank cells drawn with the given glyphs.
func (g *Grid) Reset(w, h int, glyphs *style.Glyphs) {
	w, h = max(0, w), max(0, h)
	if n := w * h; cap(g.cells) < n {
		g.cells = make([]Cell, n)
	} else {
		g.cells = g.cells[:n]
	}
	for i := range g.cells {
		g.cells[i] = blank
	}
	g.w, g.h, g.glyphs = w, h, glyphs
}

// All is the whole sheet.
func (g *Grid) All() Area { return Area{Rect: Rect{W: g.w, H: g.h}, g: g} }

// AppendTo appends the sheet to dst, rows separated by newlines, blank ends of rows left
// out, each row self-contained: it ends in the plain role.
func (g *Grid) AppendTo(dst []byte, pal *style.Palette) []byte {
	for y := range g.h {
		if y > 0 {
			dst = append(dst, '\n')
		}
		dst = appendRow(dst, g.cells[y*g.w:(y+1)*g.w], pal)
	}
	return dst
}

func appendRow(dst []byte, row []Cell, pal *style.Palette) []byte {
	end := len(row)
	for end > 0 && row[end-1].Rune == ' ' && !style.Inked(row[end-1].Role) {
		end--
	}
	role := style.Plain
	for _, c := range row[:end] {
		if c.Role != role && (c.Rune != ' ' || style.Inked(c.Role) || style.Inked(role)) {
			role = c.Role
			dst = append(dst, pal.SGR(role)...)
		}
		if c.Rune < utf8.RuneSelf {
			dst = append(dst, byte(c.Rune))
		} else {
			dst = utf8.AppendRune(dst, c.Rune)
		}
	}
	if role != style.Plain {
		dst = append(dst, pal.SGR(style.Plain)...)
	}
	return dst
}
