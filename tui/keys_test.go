package tui

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"

	"linerate/engine"
	"linerate/probes"
	"linerate/tui/internal/tuitest"
)

// keyMsg is the message of a key by the name that bubbletea gives it.
func keyMsg(name string) tea.KeyMsg {
	for t, n := range map[tea.KeyType]string{
		tea.KeyEsc: "esc", tea.KeyTab: "tab", tea.KeyEnter: "enter", tea.KeyCtrlC: "ctrl+c", tea.KeyCtrlZ: "ctrl+z",
		tea.KeyPgDown: "pgdown", tea.KeyPgUp: "pgup", tea.KeyDown: "down", tea.KeyUp: "up", tea.KeyShiftTab: "shift+tab",
	} {
		if n == name {
			return tea.KeyMsg{Type: t}
		}
	}
	if name == " " || name == "space" {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// desk is a dashboard under test with its control. Commands are carried out at once;
// timers do not run, the tests send their messages.
type desk struct {
	*Model
	ctl  *recorder
	quit bool
}

func newDesk(s *engine.Snapshot) *desk {
	ctl := &recorder{}
	m := New(newTape(), ctl, Options{Color: "never", Glyphs: "block", Env: noEnv})
	m.later = func(time.Duration, func(time.Time) tea.Msg) tea.Cmd { return nil }
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	d := &desk{Model: m, ctl: ctl}
	if s != nil {
		d.show(s)
	}
	return d
}

// show gives a snapshot to the dashboard. The command that waits for the next one is not
// run: there is none.
func (d *desk) show(s *engine.Snapshot) { d.Update(snapshotMsg{s, nil}) }

// press types keys, each a name of its own.
func (d *desk) press(names ...string) {
	for _, name := range names {
		_, cmd := d.Update(keyMsg(name))
		d.run(cmd)
	}
}

// run carries out a command and all that follow from it.
func (d *desk) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			d.run(c)
		}
	case tea.QuitMsg:
		d.quit = true
	case nil:
	default:
		_, next := d.Update(msg)
		d.run(next)
	}
}

func TestKeysBecomeCommands(t *testing.T) {
	up := func() *engine.Snapshot { return tuitest.Upload() }
	down := func() *engine.Snapshot { return tuitest.Make(engine.Download, 2, 4, 20, 1e9) }
	both := tuitest.BothWays
	tests := []struct {
		name string
		snap func() *engine.Snapshot
		keys string
		want []engine.Command
		see  string // on the screen afterwards
	}{
		{"more", up, "+", []engine.Command{engine.AddStreams{Delta: 1}}, "asked ×9"},
		{"more three times", up, "+ + +", []engine.Command{engine.AddStreams{Delta: 1}, engine.AddStreams{Delta: 1}, engine.AddStreams{Delta: 1}}, "asked ×11"},
		{"more without shift", up, "=", []engine.Command{engine.AddStreams{Delta: 1}}, "asked ×9"},
		{"less", up, "-", []engine.Command{engine.AddStreams{Delta: -1}}, "asked ×7"},
		{"none left", down, "- -", []engine.Command{engine.AddStreams{Delta: -1}}, "1 to 128 streams"},
		{"two digits", up, "1 0", []engine.Command{engine.SetStreams{N: 10}}, "asked ×10"},
		{"one digit is not sent yet", up, "4", nil, "asked ×4"},
		{"a digit and another key", up, "4 d", []engine.Command{engine.SetStreams{N: 4}, engine.SetDirection{Dir: engine.Download}}, "asked ▼ ×4"},
		{"no leading zero", up, "0", nil, ""},
		{"direction from upload", up, "d", []engine.Command{engine.SetDirection{Dir: engine.Download}}, "asked ▼"},
		{"direction twice", up, "d d", []engine.Command{engine.SetDirection{Dir: engine.Download}, engine.SetDirection{Dir: engine.Both}}, "asked ▲▼"},
		{"direction from both", both, "d", []engine.Command{engine.SetDirection{Dir: engine.Upload}}, "asked ▲"},
		{"reverse", up, "R", []engine.Command{engine.SetDirection{Dir: engine.Download}}, "asked ▼"},
		{"reverse back", down, "R", []engine.Command{engine.SetDirection{Dir: engine.Upload}}, "asked ▲"},
		{"both ways", down, "b", []engine.Command{engine.SetDirection{Dir: engine.Both}}, "asked ▲▼"},
		{"find best", up, "a", []engine.Command{engine.FindBest{}}, ""},
		{"end the search", tuitest.Finding, "a", []engine.Command{engine.FindBest{}}, "end search"},
		{"stop", up, "S", []engine.Command{engine.StopTraffic{}}, ""},
		{"start", tuitest.Stopped, "S", []engine.Command{engine.StartTraffic{}}, "S start"},
		{"start after the end", tuitest.Failed, "S", []engine.Command{engine.StartTraffic{}}, "another step"},
		{"undo", up, "U", []engine.Command{engine.Undo{}}, ""},
		{"nothing to undo", down, "U", nil, ""},
		{"UDP", up, "u", nil, "UDP is not built yet in this version"},
		{"quit", up, "q", []engine.Command{engine.Quit{}}, "q again leaves at once"},
		{"quit by Ctrl-C", up, "ctrl+c", []engine.Command{engine.Quit{}}, "q again leaves at once"},
		{"note", up, "n h i q enter", []engine.Command{engine.Note{Text: "hiq"}}, "noted: hiq"},
		{"note dropped", up, "n h i esc", nil, ""},
		{"prove", tuitest.N100, "p", []engine.Command{engine.Prove{}}, ""},
		{"nothing to prove", up, "p", nil, ""},
		{"stopped: no search", tuitest.Stopped, "a", nil, ""},
		{"stopped: the next step can be chosen", tuitest.Stopped, "+", []engine.Command{engine.AddStreams{Delta: 1}}, "asked ×9"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(test.snap())
			d.press(strings.Fields(test.keys)...)
			if diff := cmp.Diff(test.want, d.ctl.commands()); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
			if test.see != "" && !strings.Contains(d.View(), test.see) {
				t.Errorf("%q is not on the screen:\n%s", test.see, d.View())
			}
		})
	}
}

func TestKeysOfOneRead(t *testing.T) {
	d := newDesk(tuitest.Upload())
	d.press("++-", "12")
	want := []engine.Command{engine.AddStreams{Delta: 1}, engine.AddStreams{Delta: 1}, engine.AddStreams{Delta: -1}, engine.SetStreams{N: 12}}
	if diff := cmp.Diff(want, d.ctl.commands()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	d.press(" ")
	d.press(" n", "slow line", "enter")
	if got := d.ctl.commands(); len(got) != 5 || got[4] != (engine.Note{Text: "slow line"}) || d.held != nil {
		t.Errorf("a note in one read: %v, frozen %v", got[4:], d.held != nil)
	}
	d.run(func() tea.Msg { return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("q"), Paste: true} })
	if d.quitting {
		t.Error("pasted text works as keys")
	}
}

func TestDigitEndsAfterItsPause(t *testing.T) {
	d := newDesk(tuitest.Upload())
	d.press("4")
	stale := d.ask.timer - 1
	if _, cmd := d.Update(digitMsg{stale}); cmd != nil || d.ask.digits == 0 {
		t.Error("the timer of an older digit ended the number")
	}
	_, cmd := d.Update(digitMsg{d.ask.timer})
	d.run(cmd)
	if diff := cmp.Diff([]engine.Command{engine.SetStreams{N: 4}}, d.ctl.commands()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	d.press("9", "9")
	if got := d.ctl.commands(); len(got) != 2 || got[1] != (engine.SetStreams{N: 99}) {
		t.Errorf("a second number: %v", got)
	}
}

// The echo stands until the session has taken the change over, and no longer.
func TestEchoEndsWithTheConfirmation(t *testing.T) {
	s := tuitest.Upload()
	d := newDesk(s)
	d.press("+")
	if !strings.Contains(d.View(), "asked ×9") {
		t.Fatalf("no echo:\n%s", d.View())
	}
	asked := *s
	spec := s.Spec
	spec.Streams = 9
	asked.Seq, asked.Asked = s.Seq+1, &spec
	d.show(&asked)
	if d.ask.echo.Streams != 0 || !strings.Contains(d.View(), "asked ×9") {
		t.Errorf("the session's own echo is not shown:\n%s", d.View())
	}
	running := *s
	running.Seq, running.Spec = s.Seq+2, spec
	d.show(&running)
	if strings.Contains(d.View(), "asked") || !strings.Contains(d.View(), "TCP ×9") {
		t.Errorf("after the confirmation:\n%s", d.View())
	}
}

func TestEchoGivesUpWhenTheSessionKnowsBetter(t *testing.T) {
	s := tuitest.Upload()
	d := newDesk(s)
	d.press("+")
	for i := range 2 {
		next := *s
		next.Seq += uint64(i) + 1
		d.show(&next)
	}
	if strings.Contains(d.View(), "asked") {
		t.Errorf("the echo stays though two snapshots do not show the change:\n%s", d.View())
	}
}

func TestRefusedCommandSaysWhy(t *testing.T) {
	d := newDesk(tuitest.Upload())
	d.ctl.fail = errRefused
	d.press("+")
	if v := d.View(); !strings.Contains(v, errRefused.Error()) || strings.Contains(v, "asked") {
		t.Errorf("want the reason and no echo:\n%s", v)
	}
}

func TestHeavyLoadAsksOnceOverSSH(t *testing.T) {
	d := newDesk(tuitest.SSH())
	if !strings.Contains(d.View(), "over your SSH link") {
		t.Errorf("the header does not tell:\n%s", d.View())
	}
	for _, key := range []string{"a", "b"} {
		d.press(key)
		if !strings.Contains(d.View(), "y / n") || len(d.ctl.commands()) != 0 {
			t.Fatalf("%s: no question, or not waited for: %v", key, d.ctl.commands())
		}
		d.press("n")
		if len(d.ctl.commands()) != 0 {
			t.Fatalf("%s went on after n: %v", key, d.ctl.commands())
		}
	}
	d.press("d")
	if got := d.ctl.commands(); len(got) != 1 {
		t.Errorf("a change to download asks: %v", got)
	}
	d.press("a", "y", "b")
	want := []engine.Command{engine.SetDirection{Dir: engine.Download}, engine.FindBest{}, engine.SetDirection{Dir: engine.Both}}
	if diff := cmp.Diff(want, d.ctl.commands()); diff != "" {
		t.Errorf("once allowed it asks no more (-want +got):\n%s", diff)
	}
}

func TestQuitTwiceLeavesAtOnce(t *testing.T) {
	d := newDesk(tuitest.Upload())
	d.press("q")
	if d.forced {
		t.Error("the first q does not wait for the session")
	}
	d.press("q")
	if !d.forced {
		t.Error("the second q waits")
	}
}

func TestSessionEndLeaves(t *testing.T) {
	d := newDesk(tuitest.Upload())
	_, cmd := d.Update(snapshotMsg{nil, io.EOF})
	if d.run(cmd); !d.quit {
		t.Error("the dashboard stays after its source has ended")
	}
}

func TestFreezeHoldsTheView(t *testing.T) {
	s := tuitest.Upload()
	d := newDesk(s)
	d.press(" ")
	frozen := d.View()
	if !strings.Contains(frozen, "❚❚ FROZEN (data goes on)") {
		t.Fatalf("not told:\n%s", frozen)
	}
	next := tuitest.BothWays()
	next.Seq = s.Seq + 1
	d.show(next)
	if d.View() != frozen {
		t.Error("the view moves while it is frozen")
	}
	d.press(" ")
	if v := d.View(); strings.Contains(v, "FROZEN") || !strings.Contains(v, "▲▼ TCP ×4") {
		t.Errorf("after the freeze the newest snapshot is not shown:\n%s", v)
	}
}

func TestEscNeverQuitsAndUndoesTheLastView(t *testing.T) {
	d := newDesk(tuitest.Upload())
	d.press("z", "?")
	d.press("esc")
	if d.view != noView || !d.zoom {
		t.Errorf("Esc in help: view %d, zoom %v, want the zoomed pane back", d.view, d.zoom)
	}
	d.press("esc")
	if d.zoom {
		t.Error("Esc did not leave the zoom")
	}
	d.press("esc", "esc")
	if got := d.ctl.commands(); len(got) != 0 {
		t.Errorf("Esc sent %v", got)
	}
}

func TestTabWalksThePanesOnScreen(t *testing.T) {
	d := newDesk(tuitest.Upload())
	var seen []paneID
	for range 5 {
		d.press("tab")
		seen = append(seen, d.focus)
	}
	if diff := cmp.Diff([]paneID{paneStreams, paneCores, paneLink, paneSteps, paneGraph}, seen); diff != "" {
		t.Errorf("120×40 (-want +got):\n%s", diff)
	}
	d.press("shift+tab")
	if d.focus != paneSteps {
		t.Errorf("backwards: %d", d.focus)
	}
	resize(d.Model, 80, 24)
	d.press("tab", "tab")
	if d.focus != paneStreams {
		t.Errorf("80×24 has three panes; after two tabs from the hidden one the focus is on %s", paneNames[d.focus])
	}
}

func TestScrollingFollowsTheCursor(t *testing.T) {
	d := newDesk(tuitest.Make(engine.Upload, 64, 4, 20, 1e8))
	d.press("s") // by id
	d.press("j", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown")
	if d.cursor != 63 {
		t.Fatalf("cursor at %d, want the last stream", d.cursor)
	}
	if v := d.View(); !strings.Contains(v, "▸  64") || !strings.Contains(v, "above") {
		t.Errorf("stream 64 is not under the cursor, or the rest is not counted:\n%s", v)
	}
	d.press("pgup", "up", "k")
	if d.cursor != 63-13-2 {
		t.Errorf("cursor at %d after going back", d.cursor)
	}
}

func TestSlowLinkSlowsTheScreen(t *testing.T) {
	s := tuitest.SSH()
	d := newDesk(s)
	if every, _ := d.pace(); every != DefaultRefresh {
		t.Errorf("a local terminal is refreshed every %v", every)
	}
	d.opt.SSH = true
	d.touch()
	if every, _ := d.pace(); every != time.Second || !strings.Contains(d.View(), "1 Hz: slow link") {
		t.Errorf("over SSH at 4.6 Mbit/s: every %v\n%s", every, d.View())
	}
	at := func(seq uint64, rate float64) {
		next := *s
		next.Seq, next.Sums = s.Seq+seq, []engine.Sum{{Rate: rate}}
		d.show(&next)
	}
	at(1, 24e6)
	if every, _ := d.pace(); every != time.Second {
		t.Errorf("at 24 Mbit/s it flaps back to %v", every)
	}
	at(2, 26e6)
	if every, _ := d.pace(); every != DefaultRefresh {
		t.Errorf("at 26 Mbit/s: every %v", every)
	}
	d.slow = func() bool { return true }
	if every, why := d.pace(); every != time.Second || why != "slow terminal" {
		t.Errorf("slow terminal: every %v, %q", every, why)
	}
}

func TestSuspendStopsTrafficFirst(t *testing.T) {
	d := newDesk(tuitest.Upload())
	_, cmd := d.Update(keyMsg("ctrl+z"))
	if cmd == nil || !d.paused {
		t.Fatal("Ctrl-Z does nothing")
	}
	_, cmd = d.Update(tea.ResumeMsg{})
	d.run(cmd)
	if diff := cmp.Diff([]engine.Command{engine.StartTraffic{}}, d.ctl.commands()); diff != "" {
		t.Errorf("on return (-want +got):\n%s", diff)
	}
	d = newDesk(tuitest.Stopped())
	d.Update(keyMsg("ctrl+z"))
	_, cmd = d.Update(tea.ResumeMsg{})
	if d.run(cmd); len(d.ctl.commands()) != 0 {
		t.Errorf("traffic that was stopped before is started: %v", d.ctl.commands())
	}
}

func TestFooterShowsOnlyWhatWorks(t *testing.T) {
	d := newDesk(tuitest.Stopped())
	last := func() string {
		lines := strings.Split(resize(d.Model, 220, 60), "\n")
		return lines[len(lines)-1]
	}
	if f := last(); !strings.Contains(f, "S start") || strings.Contains(f, "find best") || strings.Contains(f, "prove") {
		t.Errorf("stopped: %q", f)
	}
	for _, never := range []string{"UDP", "tune", "record", "export"} {
		if strings.Contains(last(), never) {
			t.Errorf("the footer offers %q, which is not there: %q", never, last())
		}
	}
	d = newDesk(tuitest.N100())
	if f := last(); !strings.Contains(f, "p prove") || strings.Contains(f, "undo") {
		t.Errorf("running, provable, one step: %q", f)
	}
	m := New(newTape(), nil, Options{Color: "never", Glyphs: "block", Env: noEnv})
	m.Update(snapshotMsg{tuitest.Upload(), nil})
	d = &desk{Model: m}
	if f := last(); strings.Contains(f, "streams") || !strings.Contains(f, "q quit") {
		t.Errorf("without control: %q", f)
	}
}

// Help comes from the same bindings as the router, so every key in it does something.
func TestHelpListsEveryKey(t *testing.T) {
	k := newKeyMap()
	seen := map[string]bool{}
	for _, g := range k.help() {
		for _, b := range g.keys {
			for _, name := range b.Keys() {
				if seen[name] {
					t.Errorf("key %q is bound twice", name)
				}
				seen[name] = true
			}
		}
	}
	for _, name := range strings.Fields("q ctrl+c ? + - 0 9 R b d a p v S c z esc tab up down j k pgup pgdown s < > y l n x U ctrl+z") {
		if !seen[name] {
			t.Errorf("key %q of the binding table is not in the help", name)
		}
	}
	if !seen[" "] {
		t.Error("space is not in the help")
	}
	if seen["u"] {
		t.Error("help offers UDP, which is not built")
	}
}

func TestUnknownIsNeverShownAsZero(t *testing.T) {
	d := newDesk(tuitest.UnknownFar())
	v := d.View()
	for _, want := range []string{"cores unknown (not without cgo", "interface unknown (netlink: operation not", "far cores unknown"} {
		if !strings.Contains(v, want) {
			t.Errorf("%q is not on the screen:\n%s", want, v)
		}
	}
	for _, line := range strings.Split(v, "\n") {
		if strings.Contains(line, "SUM ▼") && !strings.Contains(line, "retr –") {
			t.Errorf("retransmits of a receiver are not unknown: %q", line)
		}
	}
}

func TestHostThreadsAreMarked(t *testing.T) {
	s := tuitest.N100()
	v := newDesk(s).View()
	for core, want := range map[int]string{2: "99!◂rx-3", 0: "7 ◂tx-1"} {
		if !strings.Contains(v, want) {
			t.Errorf("core %d: %q is not on the screen:\n%s", core, want, v)
		}
	}
	s.Load.Threads = probes.Unknown[[]probes.ThreadLoad](probes.Unsupported, "no")
	s.Seq++
	if v := newDesk(s).View(); strings.Contains(v, "◂rx") {
		t.Error("marks without knowing the threads")
	}
}

func ExampleModel() {
	m := New(nil, nil, Options{Color: "never", Glyphs: "ascii", Spec: engine.Spec{Host: "10.0.0.2", Port: 5201, Streams: 2}})
	m.Update(tea.WindowSizeMsg{Width: 60, Height: 3})
	fmt.Println(m.View())
	// Output:
	// CONNECTING  x2  00:00
	// |VERDICT connecting to 10.0.0.2:5201
	//  q quit  ? help
}

// What a search found gives way to what happens later.
func TestBestIsShownForAWhile(t *testing.T) {
	m := screenOf(tuitest.Upload(), 120, 40, "never", "block")
	found := *m.snap
	found.Seq, found.Best = found.Seq+1, engine.Best{Found: 1, Rate: 479e6, Reason: "2 streams gave +5 % over 1"}
	m.Update(snapshotMsg{&found, nil})
	if frame := m.View(); !strings.Contains(frame, "best: 1 stream, 479 Mbit/s; 2 streams gave +5 % over 1") {
		t.Errorf("what was found is missing:\n%s", frame)
	}
	later := found
	later.Seq, later.Elapsed = found.Seq+1, found.Elapsed+outcomeShown
	m.Update(snapshotMsg{&later, nil})
	if frame := m.View(); strings.Contains(frame, "best: ") {
		t.Errorf("it is still shown after %v:\n%s", outcomeShown, frame)
	}
}
