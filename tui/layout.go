package tui

import (
	"linerate/tui/internal/grid"
	"linerate/tui/internal/pane/graph"
)

// class is one of the ways the screen is divided.
type class uint8

const (
	tiny     class = iota // rate, verdict, keys, and what little fits between
	compact               // graph above streams and cores, rules between
	tall                  // everything stacked
	standard              // framed panes in three rows
	wide                  // with the cores as a column and the event log
)

// paneID names a pane. The order is the one in which Tab walks.
type paneID uint8

const (
	paneGraph paneID = iota
	paneStreams
	paneCores
	paneLink
	paneSteps
	paneEvents

	panes = iota
)

var paneNames = [panes]string{"SUM", "STREAMS", "CORES", "LINK", "STEPS", "EVENTS"}

// shape is what the division depends on beside the size.
type shape struct {
	Streams, Cores, FarCores int
	Both                     bool
	Zoom                     bool // Pane fills the screen
	Pane                     paneID
}

// layout says where everything stands. A pane with an empty rectangle is not shown.
type layout struct {
	Class   class
	Framed  bool // panes have frames, and the SUM lines stand in the graph's
	Header  grid.Rect
	Verdict grid.Rect
	Sums    [2]grid.Rect // of the first and the second direction
	Panes   [panes]grid.Rect
	Status  grid.Rect // empty on the smallest screens: messages replace the keys there
	Footer  grid.Rect
}

// plan divides a screen of w × h cells.
func plan(w, h int, s shape) layout {
	l := layout{Class: classify(w, h)}
	body := l.edges(w, h, s)
	switch {
	case s.Zoom:
		l.Framed = l.Class >= standard
		l.Panes[s.Pane] = body
	case l.Class == tiny:
		if body.H >= 4 && w >= 30 {
			l.Panes[paneCores] = body
		}
	case l.Class == compact:
		l.compact(body, s)
	case l.Class == tall:
		l.stacked(body, s)
	default:
		l.Framed = true
		l.framed(body, s)
	}
	return l
}

func classify(w, h int) class {
	switch {
	case w >= 180 && h >= 48:
		return wide
	case w >= 110 && h >= 34:
		return standard
	case w >= 40 && h >= 40, w < 60 && w >= 40 && h >= 26:
		return tall
	case w < 60 || h < 12:
		return tiny
	}
	return compact
}

// edges places the lines at the top and the bottom and gives what is left between.
func (l *layout) edges(w, h int, s shape) grid.Rect {
	row := func(y, n int) grid.Rect { return grid.Rect{X: 0, Y: y, W: w, H: n} }
	dirs := 1
	if s.Both {
		dirs = 2
	}
	y := 0
	take := func(n int) grid.Rect {
		r := row(y, n)
		y += n
		return r
	}
	l.Header = take(min(1, h))
	verdict := 2
	if h < 9 && dirs == 1 || h < 4 {
		verdict = 1
	}
	l.Verdict = take(min(verdict, h-y))
	if l.Class != tiny && (l.Class < standard || s.Zoom) {
		for i := range dirs {
			l.Sums[i] = take(1)
		}
	}
	end := h
	if end > y {
		end--
		l.Footer = row(end, 1)
	}
	if end > y && h >= 6 {
		end--
		l.Status = row(end, 1)
	}
	return row(y, end-y)
}

// compact: the graph above, streams and cores beside each other below, and where there is
// room for it a line about the path.
func (l *layout) compact(body grid.Rect, s shape) {
	const leastTable, leastForPath = 6, 15
	if body.H >= leastForPath {
		body.H--
		l.Panes[paneLink] = grid.Rect{X: body.X, Y: body.Y + body.H, W: body.W, H: 1}
	}
	table := body
	if room := body.H - leastTable; room >= graph.Least(s.Both)+1 {
		// The rows that the tables can use beyond half of the body go to the graph.
		height := max(body.H*11/20, body.H-tableRows(s)-1)
		height = min(height, room)
		if !s.Both {
			height -= height % 2 // an odd plot, axis, labels, retransmits
		}
		l.Panes[paneGraph] = grid.Rect{X: body.X, Y: body.Y, W: body.W, H: height}
		table.Y += height
		table.H -= height
	}
	l.Panes[paneStreams], l.Panes[paneCores] = beside(table, 9, 16, 1)
}

// beside divides a rectangle at num/den of its width, gap cells between.
func beside(r grid.Rect, num, den, gap int) (left, right grid.Rect) {
	left, right = r, r
	left.W = r.W * num / den
	right.X += left.W + gap
	right.W -= left.W + gap
	return left, right
}

// tableRows is how many rows the tables could fill, title and sums included.
func tableRows(s shape) int {
	streams := s.Streams + 2
	if s.Both {
		streams++
	}
	return max(streams, max(s.Cores, s.FarCores)+2)
}

// want is a pane's claim to height: not shown below least, no use above most.
type want struct {
	pane        paneID
	least, most int
}

// stack gives the panes heights out of r: each the least, then in order up to the most,
// what is left to the first. Panes at the end that do not fit are left out.
func (l *layout) stack(r grid.Rect, wants []want) {
	room, n := r.H, 0
	for _, w := range wants {
		if room < w.least {
			break
		}
		room -= w.least
		n++
	}
	y := r.Y
	for i, w := range wants[:n] {
		extra := min(room, max(0, w.most-w.least))
		if i == 0 && n > 0 {
			extra = max(extra, room-slack(wants[1:n]))
		}
		room -= extra
		height := w.least + extra
		l.Panes[w.pane] = grid.Rect{X: r.X, Y: y, W: r.W, H: height}
		y += height
	}
}

// slack is how much more the panes could use beyond the least.
func slack(wants []want) (n int) {
	for _, w := range wants {
		n += max(0, w.most-w.least)
	}
	return n
}

// stacked: all panes below each other, for tall and narrow screens.
func (l *layout) stacked(body grid.Rect, s shape) {
	least := 10
	if s.Both {
		least = 13
	}
	if body.H < 30 {
		least = graph.Least(s.Both) + 1
	}
	streams := s.Streams + 3
	if s.Both {
		streams++
	}
	cores := s.Cores + s.FarCores + 5
	l.stack(body, []want{
		{paneGraph, least, least},
		{paneStreams, 5, min(streams, 20)},
		{paneCores, 4, min(cores, 24)},
		{paneSteps, 4, 6},
		{paneLink, 4, 9},
	})
}

// framed: three rows of frames, or with the width for it a column of cores.
func (l *layout) framed(body grid.Rect, s shape) {
	least := 12
	if s.Both {
		least = 15
	}
	if l.Class == wide {
		l.columned(body, s, least)
	} else {
		const bottom = 9
		body, foot := above(body, body.H-bottom)
		table := min(max(tableRows(s)+2, 9), body.H-least)
		top, mid := above(body, body.H-table)
		l.Panes[paneGraph] = top
		l.Panes[paneStreams], l.Panes[paneCores] = beside(mid, 1, 2, 0)
		l.Panes[paneLink], l.Panes[paneSteps] = beside(foot, 1, 2, 0)
	}
	g := l.Panes[paneGraph]
	l.Sums[0] = grid.Rect{X: g.X + 2, Y: g.Y, W: g.W - 4, H: 1}
	if s.Both {
		l.Sums[1] = grid.Rect{X: g.X + 2, Y: g.Y + g.H - 1, W: g.W - 4, H: 1}
	}
}

// columned: graph and streams beside a column of cores. Where the cores leave room in it,
// link and events stand below them, else in a row at the bottom.
func (l *layout) columned(body grid.Rect, s shape, leastGraph int) {
	const bottom = 11
	left, right := beside(body, 16, 25, 0)
	if cores := s.Cores + s.FarCores + coresBeside; cores+linkFull+leastEvents <= body.H {
		l.Panes[paneCores], right = above(right, cores)
		l.Panes[paneLink], l.Panes[paneEvents] = above(right, linkFull)
		left, l.Panes[paneSteps] = above(left, left.H-bottom)
	} else {
		body, foot := above(body, body.H-bottom)
		left.H = body.H
		right.H = body.H
		l.Panes[paneCores] = right
		link, rest := beside(foot, 2, 5, 0)
		l.Panes[paneLink] = link
		l.Panes[paneSteps], l.Panes[paneEvents] = beside(rest, 3, 5, 0)
	}
	streams := min(max(tableRows(shape{Streams: s.Streams, Both: s.Both})+2, 10), left.H-leastGraph)
	l.Panes[paneGraph], l.Panes[paneStreams] = above(left, left.H-streams)
}

const (
	// coresBeside is what the frame and the legend of the cores take beside the bars, with
	// the caption of the far ones.
	coresBeside = 8
	// linkFull is a frame around all that there is to say of the link, with room for two
	// lines that are too long.
	linkFull = 15
	// leastEvents is a frame around a few events.
	leastEvents = 6
)

// above divides a rectangle at height h.
func above(r grid.Rect, h int) (top, bottom grid.Rect) {
	top, bottom = r, r
	top.H = h
	bottom.Y += h
	bottom.H -= h
	return top, bottom
}
