package tui

import (
	"slices"
	"strconv"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"linerate/engine"
)

// key routes a key: to a question, the input line, or what it is bound to. Keys that
// come in one read, as on a slow line, bubbletea gives as one message: they are taken
// one by one. What is pasted is text and no keys.
func (m *Model) key(msg tea.KeyMsg) tea.Cmd {
	switch {
	case msg.Paste && !m.talk.typing:
		return nil
	case msg.Type == tea.KeyRunes && len(msg.Runes) > 1 && !msg.Paste:
		cmds := make([]tea.Cmd, 0, len(msg.Runes))
		for _, r := range msg.Runes {
			cmds = append(cmds, m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: msg.Alt}))
		}
		return tea.Batch(cmds...)
	}
	switch {
	case msg.Type == tea.KeyCtrlC:
		return m.quit()
	case m.talk.question != "":
		return m.answer(msg)
	case m.talk.typing:
		return m.typeNote(msg)
	case m.view != noView && m.scrolls(msg):
		return nil
	}
	if m.ask.digits > 0 && !key.Matches(msg, m.keys.Digit) {
		return tea.Batch(m.number(), m.press(msg.String()))
	}
	return m.press(msg.String())
}

// keyName lets key.Matches work on a name.
type keyName string

func (k keyName) String() string { return string(k) }

// press does what a key is bound to.
func (m *Model) press(name string) tea.Cmd {
	k, is := &m.keys, func(b key.Binding) bool { return key.Matches(keyName(name), b) }
	switch {
	case is(k.Quit):
		return m.quit()
	case is(k.Help):
		m.toggle(helpView)
	case is(k.Why):
		m.toggle(whyView)
	case is(k.Compare):
		m.toggle(compareView)
	case is(k.Back):
		m.back()
	case is(k.More):
		return m.addStreams(1)
	case is(k.Less):
		return m.addStreams(-1)
	case is(k.Digit):
		d, _ := strconv.Atoi(name)
		return m.digit(d)
	case is(k.Direction):
		return m.turn(cycled(m.wanted().Direction))
	case is(k.Reverse):
		return m.turn(reversed(m.wanted().Direction))
	case is(k.BothWays):
		return m.turn(engine.Both)
	case is(k.Best):
		return m.best()
	case is(k.Prove):
		return m.prove()
	case is(k.Stop):
		return m.stopStart()
	case is(k.Undo):
		return m.send(engine.Undo{})
	case is(k.Note):
		return m.startNote()
	case is(k.Export):
		return m.export()
	case is(k.UDP):
		return m.say("UDP is not built yet in this version")
	case is(k.Suspend):
		return m.suspend()
	case is(k.Freeze):
		m.freeze()
	case m.ctl != nil && slices.Contains(k.Prove.Keys(), name): // it is not enabled
		return m.noProof()
	default:
		return m.look(name)
	}
	return nil
}

// look changes only what is seen.
func (m *Model) look(name string) tea.Cmd {
	k, is := &m.keys, func(b key.Binding) bool { return key.Matches(keyName(name), b) }
	page := max(1, m.screen.h/3)
	switch {
	case is(k.Zoom):
		m.zoom = !m.zoom
	case is(k.Focus):
		m.focus = m.neighbour(1)
	case is(k.FocusBack):
		m.focus = m.neighbour(panes - 1)
	case is(k.Down):
		m.move(1)
	case is(k.Up):
		m.move(-1)
	case is(k.PageDown):
		m.move(page)
	case is(k.PageUp):
		m.move(-page)
	case is(k.Top):
		m.move(-engine.MaxStreams * 2)
	case is(k.Bottom):
		m.move(engine.MaxStreams * 2)
	case is(k.Sort):
		m.sort = m.sort.Next()
		return m.say("streams sorted by " + m.sort.String())
	case is(k.Narrower):
		m.span = max(0, m.spanIndex()-1)
	case is(k.Wider):
		m.span = min(len(spans)-1, m.spanIndex()+1)
	case is(k.Units):
		m.units = m.units.Next()
	case is(k.Log):
		m.log = !m.log
	}
	return nil
}

// spanIndex is the time axis in use: the least that shows the whole session, as far as
// it grows by itself.
func (m *Model) spanIndex() int {
	if m.span >= 0 {
		return m.span
	}
	for i := range longestAuto {
		if m.shown().Elapsed <= spans[i] {
			return i
		}
	}
	return longestAuto
}

// move scrolls the streams.
func (m *Model) move(delta int) {
	m.focus = paneStreams
	m.cursor = min(max(0, m.cursor+delta), max(0, len(m.shown().Streams)-1))
}

// neighbour is the next pane with a place on this screen. A zoomed pane gives way to any.
func (m *Model) neighbour(step int) paneID {
	l := plan(m.screen.w, m.screen.h, m.shape(false))
	p := m.focus
	for range panes {
		p = (p + paneID(step)) % panes
		if !l.Panes[p].Empty() {
			return p
		}
	}
	return m.focus
}

func (m *Model) toggle(v view) {
	if m.view == v {
		v = noView
	}
	m.view, m.scroll = v, 0
}

// back leaves a view, then the zoom, then the freeze; it never quits, because a slow
// line may turn an arrow key into Esc.
func (m *Model) back() {
	switch {
	case m.view != noView:
		m.view = noView
	case m.zoom:
		m.zoom = false
	default:
		m.held = nil
	}
}

// scrolls takes the keys that scroll a text view.
func (m *Model) scrolls(msg tea.KeyMsg) bool {
	switch {
	case key.Matches(msg, m.keys.Down):
		m.scroll++
	case key.Matches(msg, m.keys.Up):
		m.scroll--
	case key.Matches(msg, m.keys.PageDown):
		m.scroll += max(1, m.screen.h-8)
	case key.Matches(msg, m.keys.PageUp):
		m.scroll -= max(1, m.screen.h-8)
	case key.Matches(msg, m.keys.Top):
		m.scroll = 0
	case key.Matches(msg, m.keys.Bottom):
		m.scroll = m.screen.lastScroll
	default:
		return false
	}
	m.scroll = min(max(0, m.scroll), m.screen.lastScroll)
	return true
}

func (m *Model) freeze() {
	if m.held != nil {
		m.held = nil
		return
	}
	m.held = m.snap
}

func (m *Model) best() tea.Cmd {
	if m.snap.Best.Active {
		return m.send(engine.FindBest{})
	}
	return m.heavy("find best stream count", func() tea.Cmd { return m.send(engine.FindBest{}) })
}

func (m *Model) stopStart() tea.Cmd {
	if m.snap.Phase == engine.Stopped || m.snap.Phase == engine.Done {
		return m.send(engine.StartTraffic{})
	}
	return m.send(engine.StopTraffic{})
}

// quit asks the session to end; the program leaves when it has. The second time, or
// when there is nothing to wait for, it leaves at once.
func (m *Model) quit() tea.Cmd {
	m.held, m.view, m.talk.typing, m.talk.question = nil, noView, false, ""
	switch {
	case m.ctl == nil || m.over:
		return tea.Quit
	case m.quitting:
		m.forced = true
		return tea.Sequence(m.do(engine.Quit{}), tea.Quit)
	}
	m.quitting = true
	return tea.Batch(m.do(engine.Quit{}), m.say("ending the test; q again leaves at once"),
		m.later(leaveTime, func(time.Time) tea.Msg { return leaveMsg{} }))
}

// suspend stops the traffic before the shell stops us: SIGTSTP freezes the sending
// threads too, and the server would see a stalled test.
func (m *Model) suspend() tea.Cmd {
	if m.ctl == nil || m.snap == nil || m.snap.Phase != engine.Running {
		return tea.Suspend
	}
	m.paused = true
	return tea.Sequence(m.do(engine.StopTraffic{}), tea.Suspend)
}

func (m *Model) resume() tea.Cmd {
	if !m.paused {
		return nil
	}
	m.paused = false
	return m.send(engine.StartTraffic{})
}
