package tui

import (
	"strconv"
	"time"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/tui/internal/figure"
	"linerate/tui/internal/grid"
	"linerate/tui/internal/pane/cores"
	"linerate/tui/internal/pane/graph"
	"linerate/tui/internal/pane/head"
	"linerate/tui/internal/pane/link"
	"linerate/tui/internal/pane/steps"
	"linerate/tui/internal/pane/streams"
	"linerate/tui/internal/style"
)

// stamp tells one frame from another: equal stamps, equal frames.
type stamp struct {
	snap *engine.Snapshot
	w, h int
	ui   uint64
}

// screen composes frames. It keeps the panes' buffers and the last frame.
type screen struct {
	pal    *style.Palette
	glyphs *style.Glyphs
	empty  *engine.Snapshot // shown before the first
	w, h   int
	ui     uint64 // counts the changes of what is not in the snapshot

	grid    grid.Grid
	graph   graph.Pane
	streams streams.Pane
	cores   cores.Pane
	hints   []hint
	buf     []byte

	drawn      stamp
	frame      string
	lastScroll int
}

// View gives the frame. While nothing has changed it is the same string, for nothing.
func (m *Model) View() string {
	sc := &m.screen
	now := stamp{m.shown(), sc.w, sc.h, sc.ui}
	if sc.frame == "" || now != sc.drawn {
		m.compose(now.snap)
		sc.buf = sc.grid.AppendTo(sc.buf[:0], sc.pal)
		sc.frame, sc.drawn = string(sc.buf), now
	}
	return sc.frame
}

// shape is what the layout needs to know.
func (m *Model) shape(zoom bool) shape {
	s := m.shown()
	sh := shape{
		Streams: len(s.Streams), Cores: len(s.Load.Cores.Or(nil)),
		Both: s.Spec.Direction == engine.Both, Zoom: zoom, Pane: m.focus,
	}
	if !s.Peer.Loopback {
		sh.FarCores = len(s.Peer.Load.Or(noLoad).Cores.Or(nil))
	}
	return sh
}

// compose draws the whole screen on the grid.
func (m *Model) compose(s *engine.Snapshot) {
	sc := &m.screen
	sc.grid.Reset(sc.w, sc.h, sc.glyphs)
	all := sc.grid.All()
	l := plan(sc.w, sc.h, m.shape(m.zoom && m.view == noView))
	if m.view != noView {
		m.text(all, &l, s)
	} else {
		for p := range l.Panes {
			m.pane(all, &l, paneID(p), s)
		}
	}
	m.heading(all, &l, s)
	m.status(all.At(l.Status), s)
	m.footer(all.At(l.Footer), l.Status.Empty())
}

func (m *Model) heading(all grid.Area, l *layout, s *engine.Snapshot) {
	every, why := m.pace()
	pace := strconv.Itoa(max(1, int(time.Second/every))) + " Hz"
	if why != "" {
		pace += ": " + why
	}
	o := head.Options{Ask: m.ask.echo, Frozen: m.held != nil, Pace: pace, Slowed: why != "", Units: m.units}
	if l.Class == tiny {
		head.Tiny(all.At(l.Header), s, o)
	} else {
		head.Header(all.At(l.Header), s, o)
	}
	head.Verdict(all.At(l.Verdict), s)
	if m.view != noView {
		return
	}
	for i, dir := range s.Spec.Direction.Dirs() {
		if r := l.Sums[i]; !r.Empty() {
			head.Sum(all.At(r), s, dir, m.units)
		}
	}
}

// pane draws one pane with its frame or its rule.
func (m *Model) pane(all grid.Area, l *layout, p paneID, s *engine.Snapshot) {
	a := all.At(l.Panes[p])
	if a.Empty() {
		return
	}
	focus := m.focus == p
	title := paneNames[p]
	inner := a.H - 1
	if l.Framed {
		inner--
	}
	o := streams.Options{Sort: m.sort, Cursor: m.cursor, Focus: focus, Units: m.units}
	switch p {
	case paneGraph:
		if l.Framed {
			title = ""
		}
	case paneStreams:
		title = streams.Title(s, o, streams.Rows(inner, s))
	case paneCores:
		title = cores.Title(s)
	}
	if focus && title != "" {
		title = m.screen.glyphs.Cursor + title
	}
	switch {
	case l.Framed:
		a = a.Frame(title)
	case p == paneLink && a.H == 1: // a line of its own
		if focus {
			a.Text(0, 0, style.Title, m.screen.glyphs.Cursor)
		}
	case p != paneGraph: // the SUM line stands above it as its title
		a = a.Rule(title)
	}
	switch p {
	case paneGraph:
		m.screen.graph.Draw(a, s, graph.Options{Span: spans[m.spanIndex()], Log: m.log, Units: m.units})
	case paneStreams:
		m.screen.streams.Draw(a, s, o)
	case paneCores:
		m.screen.cores.Draw(a, s)
	case paneLink:
		link.Draw(a, s)
	case paneSteps:
		steps.Draw(a, s, m.units)
	case paneEvents:
		steps.Events(a, s)
	}
}

// status draws the line above the keys: what is asked of the operator, else what was
// last said, else what the session waits for.
func (m *Model) status(a grid.Area, s *engine.Snapshot) {
	if a.Empty() {
		return
	}
	text, role := m.message(s)
	right := ""
	if s.SelfCPU.Known() {
		right = "self " + figure.Tenths(s.SelfCPU.Value) + " % of a core"
	}
	a.Compose(0, 2, []grid.Part{{Text: " " + text, Role: role}}, []grid.Part{{Text: right, Role: style.Dim, Drop: 1}})
}

func (m *Model) message(s *engine.Snapshot) (string, style.Role) {
	switch {
	case m.talk.question != "":
		return m.talk.question, style.Notice
	case m.talk.typing:
		return "note: " + m.talk.input.Value() + "_   (Enter keeps it, Esc drops it)", style.Bold
	case s.Note != "" && s.Phase != engine.Running:
		return s.Note, style.Limit
	case m.talk.text != "":
		return m.talk.text, style.Bold
	case s.Note != "":
		return s.Note, style.Plain
	case s.Proving.Active():
		return proofLine(s, m.screen.w)
	case s.Phase == engine.Done:
		return "the test has ended: + d or S open another step, q quits", style.Plain
	case s.Best.Active:
		return "finding the best stream count: trying " + strconv.Itoa(s.Best.Trying), style.Plain
	case s.Proving.Phase == engine.ProofOver && s.Elapsed-s.Proving.At < outcomeShown:
		return proofLine(s, m.screen.w)
	case s.Best.Found > 0 && s.Elapsed-m.bestAt < outcomeShown:
		streams := " streams, "
		if s.Best.Found == 1 {
			streams = " stream, "
		}
		return "best: " + strconv.Itoa(s.Best.Found) + streams + unit.RateIn(s.Best.Rate, m.units) + "; " + s.Best.Reason, style.Plain
	case len(s.Events) > 0:
		e := &s.Events[len(s.Events)-1]
		return unit.Clock(max(0, e.At)) + "  " + e.Text, style.Dim
	}
	return "", style.Plain
}

// footer draws the keys that work now, as many as fit. Where there is no status line,
// messages stand here instead.
func (m *Model) footer(a grid.Area, talks bool) {
	if talks && (m.talk.question != "" || m.talk.typing || m.talk.text != "") {
		m.status(a, m.screen.empty)
		return
	}
	m.screen.hints = m.keys.footer(m.screen.hints[:0], m)
	x := 1
	for _, h := range m.screen.hints {
		if x+a.Width(h.key)+1+a.Width(h.text) > a.W {
			return
		}
		x = a.Text(x, 0, style.Key, h.key) + 1
		x = a.Text(x, 0, style.Dim, h.text) + 2
	}
}
