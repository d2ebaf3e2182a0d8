package tui

import (
	"context"
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"linerate/engine"
	"linerate/tui/internal/pane/head"
)

// doTimeout is how long a command may take before the status line says that it did not
// get through: the session takes a command at once or not at all.
const doTimeout = 2 * time.Second

// digitTime is the longest pause between two digits of one number.
const digitTime = 600 * time.Millisecond

// asking is what the operator has asked for: the commands on their way, one at a time so
// that they arrive in the order of the keys, and the echo that shows until the session
// has taken them over.
type asking struct {
	queue   []engine.Command
	busy    bool
	echo    head.Ask
	settled int // snapshots since the last command was taken
	number  int // typed so far
	digits  int
	timer   int // number of the digit timer that counts
}

// doneMsg is the end of a command.
type doneMsg struct {
	command engine.Command
	queued  bool // it came by the queue, which may go on now
	err     error
}

// digitMsg ends a number if no digit came after the one that started the timer.
type digitMsg struct{ timer int }

// send queues a command and gives the tea command that delivers it, if none is on its way.
func (m *Model) send(c engine.Command) tea.Cmd {
	m.ask.queue = append(m.ask.queue, c)
	m.ask.settled = 0
	return m.deliver()
}

func (m *Model) deliver() tea.Cmd {
	if m.ask.busy || len(m.ask.queue) == 0 || m.ctl == nil {
		return nil
	}
	c := m.ask.queue[0]
	m.ask.queue = append(m.ask.queue[:0], m.ask.queue[1:]...)
	m.ask.busy = true
	return m.call(c, true)
}

// do delivers a command at once, past the queue.
func (m *Model) do(c engine.Command) tea.Cmd { return m.call(c, false) }

func (m *Model) call(c engine.Command, queued bool) tea.Cmd {
	ctx, ctl := m.ctx, m.ctl
	return func() tea.Msg {
		if !m.calls.enter() {
			return nil
		}
		defer m.calls.leave()
		ctx, cancel := context.WithTimeout(ctx, doTimeout)
		defer cancel()
		return doneMsg{c, queued, ctl.Do(ctx, c)}
	}
}

// done takes the end of a command and starts the next.
func (m *Model) done(msg doneMsg) tea.Cmd {
	if msg.queued {
		m.ask.busy = false
	}
	m.ask.settled = 0
	if msg.err != nil {
		m.ask.echo = head.Ask{}
		return tea.Batch(m.say(msg.err.Error()), m.deliver())
	}
	if note, ok := msg.command.(engine.Note); ok {
		return tea.Batch(m.say("noted: "+note.Text), m.deliver())
	}
	return m.deliver()
}

// settle drops the echo once a snapshot shows what was asked, or two have come since the
// last command was taken: then the session knows better.
func (m *Model) settle(s *engine.Snapshot) {
	if m.ask.busy || len(m.ask.queue) > 0 || m.ask.digits > 0 {
		return
	}
	m.ask.settled++
	now := s.Spec
	if s.Asked != nil {
		now = *s.Asked
	}
	shows := (m.ask.echo.Streams == 0 || m.ask.echo.Streams == now.Streams) &&
		(!m.ask.echo.Turn || m.ask.echo.Dir == now.Direction)
	if shows || m.ask.settled >= 2 {
		m.ask.echo = head.Ask{}
	}
}

// wanted is the spec with everything that has been asked for.
func (m *Model) wanted() engine.Spec {
	spec := m.snap.Spec
	switch {
	case m.snap.Proving.Active(): // a change ends the proof and starts from there
		spec = m.snap.Proving.Back
	case m.snap.Asked != nil:
		spec = *m.snap.Asked
	}
	if n := m.ask.echo.Streams; n > 0 {
		spec.Streams = n
	}
	if m.ask.echo.Turn {
		spec.Direction = m.ask.echo.Dir
	}
	return spec
}

// addStreams asks for one more or one less.
func (m *Model) addStreams(delta int) tea.Cmd {
	n := m.wanted().Streams + delta
	if n < 1 || n > engine.MaxStreams {
		return m.say("1 to " + strconv.Itoa(engine.MaxStreams) + " streams are possible")
	}
	m.ask.echo.Streams = n
	return m.send(engine.AddStreams{Delta: delta})
}

// digit takes one digit of a stream count. The second one completes the number, as does
// a pause.
func (m *Model) digit(d int) tea.Cmd {
	if m.ask.digits == 0 && d == 0 {
		return nil
	}
	m.ask.number = m.ask.number*10 + d
	m.ask.digits++
	m.ask.echo.Streams = m.ask.number
	m.ask.timer++
	if m.ask.digits == 2 {
		return m.number()
	}
	timer := m.ask.timer
	return m.later(digitTime, func(time.Time) tea.Msg { return digitMsg{timer} })
}

// number asks for the stream count that has been typed.
func (m *Model) number() tea.Cmd {
	n := m.ask.number
	m.ask.number, m.ask.digits = 0, 0
	if n < 1 {
		return nil
	}
	return m.send(engine.SetStreams{N: n})
}

// turn asks for a direction.
func (m *Model) turn(dir engine.Direction) tea.Cmd {
	act := func() tea.Cmd {
		m.ask.echo.Dir, m.ask.echo.Turn = dir, true
		return m.send(engine.SetDirection{Dir: dir})
	}
	if dir == engine.Both {
		return m.heavy("both ways", act)
	}
	return act()
}

// reversed is the other way of a single direction; both ways become the way back alone.
func reversed(d engine.Direction) engine.Direction {
	if d == engine.Download {
		return engine.Upload
	}
	return engine.Download
}

// cycled is the direction after d: upload, download, both ways.
func cycled(d engine.Direction) engine.Direction { return (d + 1) % (engine.Both + 1) }
