package chart

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/engine"
	"linerate/tui/internal/grid"
	"linerate/tui/internal/style"
)

func TestTimelineMovesByWholeColumns(t *testing.T) {
	a := NewTimeline(61*time.Second, time.Minute, 50)
	if width := (a.To - a.From) / 50; width != 1200*time.Millisecond {
		t.Errorf("a column is %v, want 1.2 s", width)
	}
	if a.To%(1200*time.Millisecond) != 0 || a.To < 61*time.Second {
		t.Errorf("the right edge %v is not a column border after now", a.To)
	}
	b := NewTimeline(61*time.Second+500*time.Millisecond, time.Minute, 50)
	if d := b.To - a.To; d != 0 && d != 1200*time.Millisecond {
		t.Errorf("half a second later the edge moved by %v", d)
	}
	if w := NewTimeline(time.Second, time.Second, 100); w.To-w.From != 10*time.Second {
		t.Errorf("columns finer than the history: %v for 100", w.To-w.From)
	}
	if z := NewTimeline(time.Second, time.Minute, 0); z.Columns != 0 || z.Column(0) != -1 {
		t.Errorf("no columns: %+v", z)
	}
}

func TestLabelsDropToNumbersOnCollision(t *testing.T) {
	tl := NewTimeline(60*time.Second, 60*time.Second, 60)
	marks := []Mark{
		{10 * time.Second, 2, "streams 1→2"},
		{30 * time.Second, 3, "streams 2→4"},
		{36 * time.Second, 4, "streams 4→8"},
		{37 * time.Second, 5, "upload → both ways"},
		{38 * time.Second, 6, "d"},
	}
	for _, test := range []struct {
		glyphs *style.Glyphs
		want   string
	}{
		{&style.Block, "" +
			"      └──────────┴───────────────────┴─────┴┴┴─────────────────────\n" +
			"      -01:00     ② streams 1→2       ③     ④ ⑥ d                now"},
		{&style.ASCII, "" +
			"      +----------+-------------------+-----+++---------------------\n" +
			"      -01:00     2 streams 1->2      3     4 6 d                now"},
	} {
		got := draw(70, 2, test.glyphs, func(a grid.Area) {
			tl.Axis(a, 0, marks)
			tl.Labels(a, 1, 60*time.Second, marks)
		})
		if diff := cmp.Diff(strings.Split(test.want, "\n"), strings.Split(got, "\n")); diff != "" {
			t.Errorf("axis (-want +got):\n%s", diff)
		}
	}
}

func TestMarksStandBehindTheLine(t *testing.T) {
	tl := NewTimeline(10*time.Second, 10*time.Second, 10)
	got := draw(20, 2, &style.Block, func(a grid.Area) {
		a.Text(Gutter+5, 0, style.Up, "─")
		tl.Marks(a, 2, []Mark{{At: 5 * time.Second}, {At: -time.Second}, {At: time.Hour}})
	})
	if want := "            ─\n            ┊"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestStripTellsZeroFromGap(t *testing.T) {
	cols := []engine.Point{{Min: nan, Mean: nan, Max: nan}, {}, {Max: 0.01}, {Max: 4}, {Max: 8}}
	for glyphs, want := range map[*style.Glyphs]string{&style.Block: " ·▁▄█", &style.ASCII: " _.=@"} {
		if got := draw(9, 1, glyphs, func(a grid.Area) { Strip(a, 0, 0, cols, 8, style.Plain) }); got != want {
			t.Errorf("strip = %q, want %q", got, want)
		}
	}
}

func TestTrailHasTwoSamplesACellInBraille(t *testing.T) {
	cols := []engine.Point{{Max: 4}, {Max: 8}, {Min: nan, Mean: nan, Max: nan}, {Max: 8}}
	if got := draw(9, 1, &style.Braille, func(a grid.Area) { Trail(a, 0, 0, cols, 8, style.Plain) }); got != "⣼⢸" {
		t.Errorf("trail = %q, want ⣼⢸", got)
	}
	if PerCell(&style.Braille) != 2 || PerCell(&style.Block) != 1 {
		t.Error("columns per cell")
	}
}

func TestBar(t *testing.T) {
	for share, want := range map[float64]string{0: "", 0.01: "▏", 0.5: "████", 0.55: "████▍", 1: "████████", 7: "████████"} {
		if got := draw(8, 1, &style.Block, func(a grid.Area) { Bar(a, 0, 0, 8, share, style.Up) }); got != want {
			t.Errorf("Bar(%v) = %q, want %q", share, got, want)
		}
	}
	for share, want := range map[float64]string{0.01: "#", 0.5: "####", 0.54: "####", 0.57: "#####"} {
		if got := draw(8, 1, &style.ASCII, func(a grid.Area) { Bar(a, 0, 0, 8, share, style.Up) }); got != want {
			t.Errorf("ASCII Bar(%v) = %q, want %q", share, got, want)
		}
	}
}
