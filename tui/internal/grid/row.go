package grid

import "linerate/tui/internal/style"

// Part is one piece of a line. The greater Drop, the earlier the piece gives way when the
// line is too short; pieces with Drop 0 stay, and the longest of them is cut if need be.
type Part struct {
	Text string
	Role style.Role
	Drop int
}

// Compose writes left parts from the left edge of row y and right parts up to its right
// edge, with gap blanks between parts. What lies between left and right stays as it is.
func (a Area) Compose(y, gap int, left, right []Part) {
	limit := a.keep(gap, left, right)
	x := 0
	for _, p := range left {
		if p.Drop < limit && p.Text != "" {
			x = a.Fit(x, y, a.room(p, limit, gap, left, right), p.Role, p.Text)
			a.Fill(x, y, gap, ' ', style.Plain)
			x += gap
		}
	}
	end := a.W
	for i := len(right) - 1; i >= 0; i-- {
		p := right[i]
		if p.Drop >= limit || p.Text == "" {
			continue
		}
		w := min(a.Width(p.Text), max(0, end-x))
		a.Fit(end-w, y, w, p.Role, p.Text)
		a.Fill(end-w-gap, y, gap, ' ', style.Plain)
		end -= w + gap
	}
}

// keep finds the least Drop that has to go, so that the rest fits.
func (a Area) keep(gap int, left, right []Part) int {
	limit := 1
	for _, ps := range [...][]Part{left, right} {
		for _, p := range ps {
			limit = max(limit, p.Drop+1)
		}
	}
	for limit > 1 && a.used(limit, gap, left, right) > a.W {
		limit--
	}
	return limit
}

func (a Area) used(limit, gap int, left, right []Part) (n int) {
	for _, ps := range [...][]Part{left, right} {
		for _, p := range ps {
			if p.Drop < limit && p.Text != "" {
				n += a.Width(p.Text) + gap
			}
		}
	}
	return n - gap
}

// room is how many cells a left part may use: its own, but for the longest, which
// shrinks by what is missing.
func (a Area) room(p Part, limit, gap int, left, right []Part) int {
	w := a.Width(p.Text)
	over := a.used(limit, gap, left, right) - a.W
	if over <= 0 {
		return w
	}
	for _, q := range left {
		if q.Drop < limit && a.Width(q.Text) > w {
			return w
		}
	}
	return max(0, w-over)
}
