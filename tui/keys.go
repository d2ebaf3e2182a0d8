package tui

import (
	"runtime"

	"github.com/charmbracelet/bubbles/key"

	"linerate/engine"
	"linerate/tui/internal/pane/why"
)

// keyMap holds every key. Help, footer and the router all read it, so they cannot
// differ. A binding that cannot work now is disabled: it is not in the footer then.
type keyMap struct {
	Quit, Help, More, Less, Digit, Direction, Reverse, BothWays, Best key.Binding
	Prove, Why, Stop, Freeze, Compare, Undo, Note, Export             key.Binding
	Zoom, Back, Focus, FocusBack, Down, Up, PageDown, PageUp          key.Binding
	Top, Bottom                                                       key.Binding
	Sort, Narrower, Wider, Units, Log, UDP, Suspend                   key.Binding
}

func bind(help, text string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, text))
}

func newKeyMap() keyMap {
	k := keyMap{
		Quit:      bind("q", "quit", "q", "ctrl+c"),
		Help:      bind("?", "help", "?"),
		More:      bind("+", "more streams", "+", "="),
		Less:      bind("-", "fewer streams", "-", "_"),
		Digit:     bind("1…9", "that many streams", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"),
		Direction: bind("d", "direction", "d"),
		Reverse:   bind("R", "reverse", "R"),
		BothWays:  bind("b", "both ways", "b"),
		Best:      bind("a", "find best", "a"),
		Prove:     bind("p", "prove", "p"),
		Why:       bind("v", "why", "v"),
		Stop:      bind("S", "stop", "S"),
		Freeze:    bind("space", "freeze", " "),
		Compare:   bind("c", "compare", "c"),
		Undo:      bind("U", "undo", "U"),
		Note:      bind("n", "note", "n"),
		Export:    bind("x", "export", "x"),
		Zoom:      bind("z", "zoom", "z", "enter"),
		Back:      bind("Esc", "back", "esc"),
		Focus:     bind("Tab", "focus", "tab"),
		FocusBack: bind("Shift-Tab", "focus back", "shift+tab"),
		Down:      bind("j", "down", "j", "down"),
		Up:        bind("k", "up", "k", "up"),
		PageDown:  bind("PgDn", "page down", "pgdown", "ctrl+f"),
		PageUp:    bind("PgUp", "page up", "pgup", "ctrl+b"),
		Top:       bind("g", "to the top", "g", "home"),
		Bottom:    bind("G", "to the end", "G", "end"),
		Sort:      bind("s", "sort", "s"),
		Narrower:  bind("<", "shorter time axis", "<", ","),
		Wider:     bind(">", "longer time axis", ">", "."),
		Units:     bind("y", "units", "y"),
		Log:       bind("l", "log scale", "l"),
		UDP:       bind("u", "UDP", "u"),
		Suspend:   bind("Ctrl-Z", "suspend", "ctrl+z"),
	}
	if runtime.GOOS == "windows" { // nothing there could continue the process
		k.Suspend.Unbind()
	}
	return k
}

// enable sets which keys can work now.
func (k *keyMap) enable(m *Model) {
	s := m.snap
	control := m.ctl != nil && s != nil && !m.quitting
	// A test that has ended leaves a session in which a key opens the next step.
	alive := control && s.Phase != engine.Ending
	flows := alive && s.Phase != engine.Stopped && s.Phase != engine.Done
	for _, b := range []struct {
		binding *key.Binding
		on      bool
	}{
		{&k.More, alive}, {&k.Less, alive}, {&k.Digit, alive},
		{&k.Direction, alive}, {&k.Reverse, alive}, {&k.BothWays, alive},
		{&k.Best, flows}, {&k.Prove, flows && (s.Proving.Active() || m.provable() != nil)},
		{&k.Stop, alive}, {&k.Undo, alive && len(s.Segments) > 1},
		{&k.Note, alive}, {&k.Export, m.opt.Export != nil && s != nil},
		{&k.Zoom, s != nil}, {&k.Focus, s != nil}, {&k.FocusBack, s != nil}, {&k.Sort, s != nil},
		{&k.Units, s != nil}, {&k.Log, s != nil}, {&k.Narrower, s != nil}, {&k.Wider, s != nil},
		{&k.Why, s != nil}, {&k.Freeze, s != nil && !m.quitting}, {&k.Compare, s != nil && len(s.Segments) > 0},
		{&k.Back, m.view != noView || m.zoom || m.held != nil},
	} {
		b.binding.SetEnabled(b.on)
	}
	if s == nil {
		return
	}
	stop := "stop"
	if s.Phase == engine.Stopped || s.Phase == engine.Done {
		stop = "start"
	}
	best := "find best"
	if s.Best.Active {
		best = "end search"
	}
	prove := "prove"
	if s.Proving.Active() {
		prove = "end proof"
	} else if f := m.provable(); f != nil && m.screen.w >= actionFrom {
		prove = "prove: " + why.Action(f.Proof)
	}
	freeze := "freeze"
	if m.held != nil {
		freeze = "go on"
	}
	k.Stop.SetHelp("S", stop)
	k.Best.SetHelp("a", best)
	k.Prove.SetHelp("p", prove)
	k.Freeze.SetHelp("space", freeze)
}

// actionFrom is the width from which the footer says what p will do.
const actionFrom = 110

// hint is one entry of the footer.
type hint struct{ key, text string }

// footer lists the keys for the last line, the most useful first. Pairs share an entry.
func (k *keyMap) footer(dst []hint, m *Model) []hint {
	add := func(b key.Binding) {
		if b.Enabled() {
			dst = append(dst, hint{b.Help().Key, b.Help().Desc})
		}
	}
	pair := func(b key.Binding, keys, text string) {
		if b.Enabled() {
			dst = append(dst, hint{keys, text})
		}
	}
	add(k.Quit)
	add(k.Help)
	if m.view != noView || m.zoom {
		add(k.Back)
	}
	if m.view != noView {
		pair(k.Down, "j k PgDn PgUp g G", "scroll")
		if m.view == whyView {
			add(k.Prove)
		}
		return dst
	}
	pair(k.More, "+ -", "streams")
	add(k.Direction)
	add(k.Best)
	add(k.Prove)
	add(k.Why)
	add(k.Compare)
	add(k.Freeze)
	add(k.BothWays)
	add(k.Stop)
	add(k.Zoom)
	add(k.Focus)
	add(k.Sort)
	add(k.Units)
	pair(k.Narrower, "< >", "time")
	add(k.Log)
	add(k.Note)
	add(k.Export)
	add(k.Undo)
	return dst
}

// helpGroup is a part of the help view.
type helpGroup struct {
	title string
	keys  []key.Binding
}

// help lists all keys by what they are for.
func (k *keyMap) help() []helpGroup {
	return []helpGroup{
		{"The test", []key.Binding{k.More, k.Less, k.Digit, k.Direction, k.Reverse, k.BothWays, k.Stop, k.Undo}},
		{"What holds it back", []key.Binding{k.Best, k.Prove, k.Why, k.Compare}},
		{"The screen", []key.Binding{k.Freeze, k.Zoom, k.Back, k.Focus, k.FocusBack, k.Down, k.Up, k.PageDown, k.PageUp, k.Top, k.Bottom, k.Sort}},
		{"The graph", []key.Binding{k.Narrower, k.Wider, k.Units, k.Log}},
		{"Keep", []key.Binding{k.Note, k.Export}},
		{"Leave", []key.Binding{k.Quit, k.Suspend, k.Help}},
	}
}

// longer are the sentences of the help view for keys whose short text says too little.
func longer(b key.Binding) string {
	switch b.Help().Key {
	case "1…9":
		return "that many streams; two digits within 0.6 s make one number"
	case "d":
		return "direction: upload, download, both ways"
	case "R":
		return "reverse the direction"
	case "a":
		return "find best stream count: 1, 2, 4, 8 … until more stop helping"
	case "p":
		return "prove the verdict: changes one thing for 6 s, says what it showed, goes back; again ends it"
	case "v":
		return "why: the numbers behind the verdict, what was ruled out, what could not be seen"
	case "S":
		return "stop or start the traffic"
	case "space":
		return "freeze the view; the test goes on"
	case "c":
		return "compare the steps"
	case "U":
		return "undo: back to the test of the step before"
	case "n":
		return "note into the event log"
	case "x":
		return "export what is on screen, as text and JSON"
	case "s":
		return "sort the streams by another column"
	case "y":
		return "units: bit/s, B/s, binary B/s"
	case "q":
		return "quit, results kept; again: at once"
	case "Ctrl-Z":
		return "suspend: traffic stops first, and starts again on return"
	}
	return b.Help().Desc
}
