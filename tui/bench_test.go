package tui

import (
	"strconv"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"linerate/engine"
	"linerate/tui/internal/tuitest"
)

// BenchmarkView draws a frame for a new snapshot: what the budget of 200 µs and 700
// allocations at 120×40 is about. "unchanged" is the frame of every other message.
func BenchmarkView(b *testing.B) {
	for _, size := range []struct {
		w, h int
		snap *engine.Snapshot
		name string
	}{
		{80, 24, tuitest.Upload(), "upload8"},
		{120, 40, tuitest.Upload(), "upload8"},
		{120, 40, tuitest.BothWays(), "bothways4"},
		{200, 60, tuitest.Upload(), "upload8"},
		{120, 40, tuitest.Many(128, 128), "128streams128cores"},
		{200, 60, tuitest.Many(128, 128), "128streams128cores"},
	} {
		b.Run(size.name+"/"+strconv.Itoa(size.w)+"x"+strconv.Itoa(size.h), func(b *testing.B) {
			m := screenOf(size.snap, size.w, size.h, "true", "block")
			twin := *size.snap
			snaps := [...]*engine.Snapshot{size.snap, &twin}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				m.snap = snaps[i&1]
				m.View()
			}
		})
	}
	b.Run("unchanged/120x40", func(b *testing.B) {
		m := screenOf(tuitest.Upload(), 120, 40, "true", "block")
		b.ReportAllocs()
		for b.Loop() {
			m.View()
		}
	})
}

func TestViewBudget(t *testing.T) {
	old := tuitest.Upload()
	m := screenOf(old, 120, 40, "true", "block")
	if n := testing.AllocsPerRun(50, func() { m.View() }); n != 0 {
		t.Errorf("an unchanged view allocates %v times, want 0", n)
	}
	twin := *old
	snaps := [...]*engine.Snapshot{old, &twin}
	i := 0
	n := testing.AllocsPerRun(50, func() {
		i++
		m.snap = snaps[i&1]
		m.View()
	})
	if n > 700 {
		t.Errorf("a new snapshot at 120×40 allocates %v times, want at most 700", n)
	}
	if n == 0 {
		t.Error("a new snapshot was not drawn at all")
	}
}

// screenOf is a dashboard of a size that shows a snapshot.
func screenOf(s *engine.Snapshot, w, h int, color, glyphs string) *Model {
	m := New(nil, &recorder{}, Options{Color: color, Glyphs: glyphs, Env: noEnv, Export: func(string, []byte) (string, error) { return "", nil }})
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	if s != nil {
		m.Update(snapshotMsg{s, nil})
	}
	return m
}

func noEnv(string) (string, bool) { return "", false }
