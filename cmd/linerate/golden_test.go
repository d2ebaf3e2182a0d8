//go:build linux

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"

	"linerate/engine"
	"linerate/engine/session/sessiontest"
	"linerate/tui"
)

// TestMiniPCScreen drives the whole session and the whole dashboard through case 2 of the
// reference results: four cores, one stream each way, core 2 full with the receiving
// thread; then + three times. The screens name the full core, and afterwards the gain.
func TestMiniPCScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, _ := sessiontest.MiniPC(t)
		run := sessiontest.Start(t, cfg)
		d := newDriver(t, run.Session, 120, 40)
		d.pass(10 * time.Second)
		first := d.view()
		for _, want := range []string{"core 2", "6.51", "9.40"} {
			if !strings.Contains(first, want) {
				t.Errorf("one stream each way: no %q on the screen", want)
			}
		}
		golden(t, "minipc-1", first)
		d.press("+++")
		d.pass(10 * time.Second)
		second := d.view()
		for _, want := range []string{"+44 %", "streams 1→4"} {
			if !strings.Contains(second, want) {
				t.Errorf("four streams each way: no %q on the screen", want)
			}
		}
		golden(t, "minipc-4", second)
		run.Quit()
		d.end()
	})
}

// driver stands in for the loop of bubbletea, in the time of a synctest bubble.
type driver struct {
	t        *testing.T
	model    tea.Model
	messages chan tea.Msg
	over     chan struct{}
	cancel   context.CancelFunc
}

// source gives up when the test ends.
type source struct {
	tui.Source
	ctx context.Context
}

func (s source) Next(context.Context) (*engine.Snapshot, error) { return s.Source.Next(s.ctx) }

func newDriver(t *testing.T, s interface {
	tui.Source
	tui.Control
}, cols, rows int) *driver {
	ctx, cancel := context.WithCancel(t.Context())
	opt := tui.Options{Color: "never", Glyphs: "block", Env: func(string) (string, bool) { return "", false }}
	d := &driver{t: t, messages: make(chan tea.Msg, 1024), over: make(chan struct{}), cancel: cancel}
	d.model = tui.New(source{s, ctx}, s, opt)
	d.run(d.model.Init())
	d.update(tea.WindowSizeMsg{Width: cols, Height: rows})
	return d
}

// run carries out a command as bubbletea does, beside everything else.
func (d *driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		msg := cmd()
		select {
		case d.messages <- msg:
		case <-d.over:
		}
	}()
}

func (d *driver) update(msg tea.Msg) {
	if batch, ok := msg.(tea.BatchMsg); ok {
		for _, cmd := range batch {
			d.run(cmd)
		}
		return
	}
	var cmd tea.Cmd
	d.model, cmd = d.model.Update(msg)
	d.run(cmd)
}

// settle takes what has come until nothing more does.
func (d *driver) settle() {
	for {
		synctest.Wait()
		select {
		case msg := <-d.messages:
			d.update(msg)
		default:
			return
		}
	}
}

func (d *driver) pass(span time.Duration) {
	const step = 50 * time.Millisecond
	for ; span > 0; span -= step {
		time.Sleep(step)
		d.settle()
	}
}

func (d *driver) press(keys string) {
	for _, key := range keys {
		d.update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{key}})
		d.settle()
	}
}

func (d *driver) view() string { return d.model.View() }

func (d *driver) end() {
	d.cancel()
	close(d.over)
	// Commands that wait for a time end with it.
	time.Sleep(time.Minute)
}

// golden compares with a file below testdata/golden; LINERATE_UPDATE=1 writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name+".txt")
	if os.Getenv("LINERATE_UPDATE") == "1" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Error(err) // the bubble must be left in order
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
