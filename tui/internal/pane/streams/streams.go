package streams

import (
	"slices"
	"strconv"
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
	Sort   Sort
	Cursor int // row under the cursor; the table scrolls so that it shows
	Focus  bool
	Units  unit.System
}

// Pane draws the table. The zero value is ready; it belongs to one goroutine.
type Pane struct {
	rows     []int // order of the streams
	sortedBy Sort
	sortedAt time.Duration // session time
	fair     [2]float64
	greatest float64
	units    unit.System
	rates    []float64
	trail    []engine.Point
	shown    [columnCount]bool
	bar      int // width of the share bar, 0 none
	trailW   int // of the trail
}

// Title names the pane, with its order and what of it shows, and whose numbers retransmits,
// window and round trip are where the far end sends.
func Title(s *engine.Snapshot, o Options, rows int) string {
	n := len(s.Streams)
	title := "STREAMS " + strconv.Itoa(n)
	if n > 1 {
		title += " by " + o.Sort.resolve(n <= rows).String()
	}
	for i := range s.Streams {
		if st := &s.Streams[i]; st.Dir == engine.Download {
			return title + toldBy(s, st)
		}
	}
	return title
}

// toldBy says where the numbers of a far sender come from, for the title.
func toldBy(s *engine.Snapshot, st *engine.Stream) string {
	switch {
	case s.Peer.Linerate && (st.Cwnd.Known() || st.TCPAge > 0):
		return "  far tcp " + figure.Age(st.TCPAge)
	case s.Peer.Linerate:
		return "  far tcp not told yet"
	}
	return "  far tcp – (stock iperf3)"
}

// Rows is how many streams have a row of their own in a pane of height h.
func Rows(h int, s *engine.Snapshot) int {
	n := len(s.Streams)
	room := h - 1 - len(s.Sums)
	if n <= room {
		return n
	}
	return max(0, room-1-heatRows(h, s))
}

// heatRows is how many rows the heat strip takes when the streams do not fit: one per
// direction, none where the fold line stands for a few streams only or the pane is low.
func heatRows(h int, s *engine.Snapshot) int {
	room := h - 1 - len(s.Sums)
	if room < 5 || len(s.Streams) < room+room/2 {
		return 0
	}
	return len(s.Sums)
}

// Draw draws the table into the area.
func (p *Pane) Draw(a grid.Area, s *engine.Snapshot, o Options) {
	p.units = o.Units
	p.survey(s)
	n := len(s.Streams)
	if n == 0 {
		a.Fit(1, 0, a.W-1, style.Dim, "no streams yet")
		return
	}
	fit := Rows(a.H, s)
	p.order(s, o.Sort.resolve(n <= fit))
	p.layout(a, len(s.Sums) > 1)

	p.head(a, s)
	y := 1
	if n > fit {
		y = p.heat(a, y, heatRows(a.H, s), s)
	}
	cursor := min(max(0, o.Cursor), n-1)
	top := min(max(0, cursor-fit+1), max(0, n-fit))
	for i := top; i < min(n, top+fit); i++ {
		st := &s.Streams[p.rows[i]]
		p.row(a, y, st, len(s.Sums) > 1)
		if o.Focus && i == cursor {
			a.Row(y).Tint(0, style.Selected)
			a.Text(0, y, style.Selected, a.Glyphs().Cursor)
		}
		y++
	}
	if n > fit {
		p.fold(a, y, s, top, fit)
		y++
	}
	for i := range s.Sums {
		p.sum(a, y, s, &s.Sums[i])
		y++
	}
}

// idWidth is the cursor, the direction where there are two, and the number.
func idWidth(both bool) int {
	if both {
		return 6
	}
	return 5
}

const (
	leastBar, mostBar = 5, 24
	leastTrail        = 10
)

// layout chooses the columns for the width: those needed most first, then the bar, then
// the trail of the last seconds.
func (p *Pane) layout(a grid.Area, both bool) {
	p.shown = [columnCount]bool{}
	room := a.W - idWidth(both)
	p.bar, p.trailW = 0, 0
	for need := 0; need <= columnCount; need++ {
		for i := range columns {
			if c := &columns[i]; c.need == need && c.width <= room {
				p.shown[i] = true
				room -= c.width
			}
		}
		switch need {
		case 3:
			if room >= leastBar+1 {
				p.bar = leastBar
				room -= leastBar + 1
			}
		case 4:
			if room >= leastTrail+2 {
				p.trailW = leastTrail
				room -= leastTrail + 2
			}
		}
	}
	if p.bar > 0 {
		grow := min(room, mostBar-leastBar)
		p.bar += grow
		room -= grow
	}
	if p.trailW > 0 {
		p.trailW += min(room, 20)
	}
}

// cells calls f for each shown column with the column before which it ends, and gives
// where bar and trail begin. The bar stands behind the rate.
func (p *Pane) cells(x int, f func(i, end int)) (bar, trail int) {
	for i := range columns {
		if p.shown[i] {
			x += columns[i].width
			f(i, x)
		}
		if i == 0 && p.bar > 0 {
			bar = x + 1
			x += p.bar + 1
		}
	}
	return bar, x + 2
}

func (p *Pane) head(a grid.Area, s *engine.Snapshot) {
	both := len(s.Sums) > 1
	a.Right(idWidth(both), 0, style.Dim, "id")
	bar, trail := p.cells(idWidth(both), func(i, end int) {
		title := columns[i].title
		if i == 0 {
			title = figure.Unit(p.units)
		}
		a.Right(end, 0, style.Dim, title)
	})
	if p.bar > 0 {
		a.Fit(bar, 0, p.bar, style.Dim, "share")
	}
	if p.trailW > 0 {
		a.Fit(trail, 0, p.trailW, style.Dim, "last "+strconv.Itoa(p.trailW*chart.PerCell(a.Glyphs()))+" s")
	}
}

func (p *Pane) row(a grid.Area, y int, st *engine.Stream, both bool) {
	g := a.Glyphs()
	role := style.Up
	if st.Dir == engine.Download {
		role = style.Down
	}
	if both {
		a.Text(1, y, role, figure.Arrow(st.Dir, g.Up, g.Down, ""))
	}
	a.Right(idWidth(both), y, style.Plain, strconv.Itoa(st.Number()))
	bar, trail := p.cells(idWidth(both), func(i, end int) {
		cell := style.Plain
		switch {
		case i == 0:
			cell = style.Bold
		case columns[i].title == "retr/s" && st.RetransRate.Or(0) > 0:
			cell = style.Warning
		}
		a.Right(end, y, cell, columns[i].cell(p, st))
	})
	if p.bar > 0 && p.greatest > 0 {
		chart.Bar(a, bar, y, p.bar, st.Rate/p.greatest, role)
	}
	if p.trailW > 0 {
		p.drawTrail(a, trail, y, st, role)
	}
}

func (p *Pane) drawTrail(a grid.Area, x, y int, st *engine.Stream, role style.Role) {
	n := p.trailW * chart.PerCell(a.Glyphs())
	if cap(p.trail) < n {
		p.trail = make([]engine.Point, n)
	}
	p.trail = p.trail[:n]
	end := st.Trail.End()
	st.Trail.Columns(end-time.Duration(n)*time.Second, end, p.trail)
	chart.Trail(a, x, y, p.trail, p.greatest, role)
}

const heatHint = "a cell per stream: rate to fair share"

// heat draws a cell per stream, its height the rate over twice the fair share, on at
// most limit rows; when even that is too short, several streams share a cell.
func (p *Pane) heat(a grid.Area, y, limit int, s *engine.Snapshot) int {
	g := a.Glyphs()
	for i := range s.Sums {
		dir := s.Sums[i].Dir
		if i >= limit {
			return y
		}
		role := style.Up
		if dir == engine.Download {
			role = style.Down
		}
		n := 0
		for j := range s.Streams {
			if s.Streams[j].Dir == dir {
				n++
			}
		}
		x := a.Text(1, y, role, figure.Arrow(dir, g.Up, g.Down, "")) + 1
		room := a.W - x - 1
		if room < 1 {
			return y
		}
		perCell := (n + room - 1) / room
		k, least := 0, 0.0
		for j := range s.Streams {
			st := &s.Streams[j]
			if st.Dir != dir {
				continue
			}
			if k%perCell == 0 || st.Rate < least { // the slowest of a cell is what matters
				least = st.Rate
			}
			k++
			if k%perCell == 0 || k == n {
				a.Put(x+(k-1)/perCell, y, g.Level(least, 2*p.fair[dir&1]), role)
			}
		}
		if end := x + (n+perCell-1)/perCell; end+len(heatHint) < a.W {
			a.Text(end+2, y, style.Dim, heatHint)
		}
		y++
	}
	return y
}

// fold stands for the rows that are not shown.
func (p *Pane) fold(a grid.Area, y int, s *engine.Snapshot, top, fit int) {
	p.rates = p.rates[:0]
	for i, row := range p.rows {
		if i < top || i >= top+fit {
			p.rates = append(p.rates, s.Streams[row].Rate)
		}
	}
	slices.Sort(p.rates)
	n := len(p.rates)
	if n == 0 {
		return
	}
	text := " " + a.Glyphs().Ellipsis + strconv.Itoa(n) + " more: " +
		figure.Short(p.rates[0], p.units) + " to " + figure.Short(p.rates[n-1], p.units) +
		", median " + figure.Short(p.rates[n/2], p.units)
	if top > 0 {
		text += ", " + strconv.Itoa(top) + " above"
	}
	a.Fit(0, y, a.W, style.Dim, text)
}

// sum is the last row of a direction: its rate, retransmits, and in the room of the bar
// and behind, fairness and the change against the step before.
func (p *Pane) sum(a grid.Area, y int, s *engine.Snapshot, sum *engine.Sum) {
	g := a.Glyphs()
	both := len(s.Sums) > 1
	role := style.Up
	if sum.Dir == engine.Download {
		role = style.Down
	}
	label := g.Sum
	if both {
		label += figure.Arrow(sum.Dir, g.Up, g.Down, "")
	}
	a.Text(1, y, style.Bold, label)
	rateEnd := idWidth(both)
	retrEnd := 0
	bar, _ := p.cells(rateEnd, func(i, end int) {
		switch columns[i].title {
		case "rate":
			rateEnd = end
			a.Right(end, y, role, figure.Short(sum.Rate, p.units))
		case "retr/s":
			retrEnd = end
			a.Right(end, y, style.Plain, figure.PerSecond(sum.RetransRate))
		}
	})
	change := ""
	if sum.Delta.Known() {
		change = g.Delta + " " + figure.Delta(sum.Delta.Value)
	}
	fairness := ""
	if index := figure.Fairness(sum.Fairness); index != "" {
		fairness = "fair " + index
	}
	x := retrEnd + 2
	if p.bar >= a.Width(change) {
		a.Text(bar, y, style.Bold, change)
	} else if change != "" {
		x = a.Fit(x, y, a.W-x, style.Bold, change) + 2
	}
	if a.Width(fairness) <= a.W-x {
		a.Text(x, y, style.Dim, fairness)
	}
}
