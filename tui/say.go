package tui

import (
	"time"

	"github.com/charmbracelet/bubbles/cursor"
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"linerate/engine"
)

// sayTime is how long a message stays in the status line.
const sayTime = 8 * time.Second

// talking is the status line: a message, a question, or the note being typed.
type talking struct {
	text     string
	serial   int // of the message: an older one's end does not wipe a newer one
	question string
	yes      func() tea.Cmd
	consent  bool // loading the SSH session's line has been allowed
	typing   bool
	input    textinput.Model
}

// silenceMsg wipes a message.
type silenceMsg struct{ serial int }

// say puts a message into the status line for a while.
func (m *Model) say(text string) tea.Cmd {
	m.talk.text = text
	m.talk.serial++
	serial := m.talk.serial
	return m.later(sayTime, func(time.Time) tea.Msg { return silenceMsg{serial} })
}

// heavy runs what loads the line hard: after a question, once, when the operator's SSH
// session shares that line.
func (m *Model) heavy(what string, act func() tea.Cmd) tea.Cmd {
	if !m.snap.SSHLink || m.talk.consent {
		return act()
	}
	m.talk.question = what + " loads the link hard, and your SSH session runs over it: go on? y / n"
	m.talk.yes = func() tea.Cmd {
		m.talk.consent = true
		return act()
	}
	return nil
}

// answer takes a key while a question is open. Only y goes on.
func (m *Model) answer(msg tea.KeyMsg) tea.Cmd {
	yes := m.talk.yes
	m.talk.question, m.talk.yes = "", nil
	if s := msg.String(); s == "y" || s == "Y" {
		return yes()
	}
	return m.say("left as it is")
}

// startNote opens the input line.
func (m *Model) startNote() tea.Cmd {
	m.talk.input = textinput.New()
	m.talk.input.CharLimit = 200
	m.talk.input.Cursor.SetMode(cursor.CursorStatic)
	m.talk.input.Focus()
	m.talk.typing = true
	return nil
}

// typeNote takes a key while the input line is open.
func (m *Model) typeNote(msg tea.KeyMsg) tea.Cmd {
	switch msg.Type {
	case tea.KeyEnter:
		m.talk.typing = false
		if text := m.talk.input.Value(); text != "" {
			return m.send(engine.Note{Text: text})
		}
		return nil
	case tea.KeyEsc:
		m.talk.typing = false
		return nil
	}
	var cmd tea.Cmd
	m.talk.input, cmd = m.talk.input.Update(msg)
	return cmd
}
