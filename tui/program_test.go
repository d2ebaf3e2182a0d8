package tui

import (
	"bytes"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/exp/teatest"
	"github.com/google/go-cmp/cmp"

	"linerate/engine"
	"linerate/tui/internal/tuitest"
)

// The whole program: a snapshot comes on the screen, a key becomes a command, quitting
// waits for the session's end.
func TestProgram(t *testing.T) {
	src, ctl := newTape(tuitest.N100()), &recorder{}
	m := New(src, ctl, Options{Color: "never", Glyphs: "block", Env: noEnv})
	tm := teatest.NewTestModel(t, m, teatest.WithInitialTermSize(120, 40))
	see := func(text string) {
		t.Helper()
		teatest.WaitFor(t, tm.Output(), func(out []byte) bool { return bytes.Contains(out, []byte(text)) },
			teatest.WithDuration(5*time.Second), teatest.WithCheckInterval(5*time.Millisecond))
	}
	see("Core 2 is full of the receiving thread")
	tm.Send(keyMsg("+"))
	see("asked ×2")
	next := tuitest.BothWays()
	next.Seq++
	src.snaps <- next
	see("▲▼ TCP ×4")
	tm.Send(keyMsg("q"))
	see("q again leaves at once")
	src.close()
	tm.WaitFinished(t, teatest.WithFinalTimeout(5*time.Second))
	want := []engine.Command{engine.AddStreams{Delta: 1}, engine.Quit{}}
	if diff := cmp.Diff(want, ctl.commands()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if m.forced {
		t.Error("one q counts as two")
	}
}

func TestProgramLeavesAtOnceOnTheSecondQuit(t *testing.T) {
	ctl := &recorder{heard: make(chan struct{}, 2)}
	m := New(newTape(tuitest.Upload()), ctl, Options{Color: "never", Glyphs: "block", Env: noEnv})
	tm := teatest.NewTestModel(t, m, teatest.WithInitialTermSize(80, 24))
	teatest.WaitFor(t, tm.Output(), func(out []byte) bool { return bytes.Contains(out, []byte("● RUN")) },
		teatest.WithDuration(5*time.Second), teatest.WithCheckInterval(5*time.Millisecond))
	tm.Send(keyMsg("q"))
	select { // the second command ends the program, and the first with it
	case <-ctl.heard:
	case <-time.After(5 * time.Second):
		t.Fatal("q is not delivered")
	}
	tm.Send(tea.KeyMsg{Type: tea.KeyCtrlC})
	tm.WaitFinished(t, teatest.WithFinalTimeout(5*time.Second))
	if got := ctl.commands(); len(got) != 2 {
		t.Errorf("commands = %v, want Quit twice", got)
	}
	if !m.forced {
		t.Error("Run would not tell that the operator left at once")
	}
}
