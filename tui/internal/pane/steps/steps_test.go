package steps

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
	"linerate/tui/internal/grid"
	"linerate/tui/internal/style"
)

func seg(index int, dir engine.Direction, means ...float64) engine.Segment {
	s := engine.Segment{Index: index, Change: "change", Spec: engine.Spec{Direction: dir, Streams: index},
		Start: time.Duration(index) * 10 * time.Second, End: time.Duration(index+1) * 10 * time.Second}
	for i, m := range means {
		s.Sums = append(s.Sums, engine.Sum{Dir: engine.Direction(i), Mean: m, Min: m / 2, Max: m * 2})
	}
	return s
}

func TestChange(t *testing.T) {
	up1, up2 := seg(1, engine.Upload, 4e9), seg(2, engine.Upload, 6e9)
	both := seg(3, engine.Both, 4e9, 4e9)
	none := seg(4, engine.Upload)
	for _, test := range []struct {
		name        string
		seg, before *engine.Segment
		want        float64
	}{
		{"more", &up2, &up1, 0.5},
		{"less", &up1, &up2, -1.0 / 3},
		{"another direction", &both, &up1, math.NaN()},
		{"no rate", &none, &up1, math.NaN()},
		{"the first", &up1, nil, math.NaN()},
	} {
		got := change(test.seg, test.before)
		if math.Abs(got-test.want) > 1e-9 || math.IsNaN(got) != math.IsNaN(test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestOlderStepsAreCounted(t *testing.T) {
	s := &engine.Snapshot{Elapsed: time.Minute}
	for i := 1; i <= 9; i++ {
		s.Segments = append(s.Segments, seg(i, engine.Upload, float64(i)*1e9))
	}
	s.Segments[8].Sums[0].Delta = probes.Got(0.125)
	var g grid.Grid
	g.Reset(70, 5, &style.Block)
	Draw(g.All(), s, unit.BitsSI)
	rows := strings.Split(string(g.AppendTo(nil, style.NewPalette(style.Bare, style.Dark))), "\n")
	if !strings.Contains(rows[1], "…6 earlier") {
		t.Errorf("fold line %q", rows[1])
	}
	if !strings.HasPrefix(rows[4], "▸  9 ") || !strings.Contains(rows[4], "+13 %") {
		t.Errorf("the running step %q", rows[4])
	}
}

func TestCompare(t *testing.T) {
	s := &engine.Snapshot{Segments: []engine.Segment{seg(1, engine.Upload, 2e9), seg(2, engine.Upload, 8e9), seg(3, engine.Upload, 4e9)}}
	s.Segments[2].Err = "the server closed the connection"
	page := Compare(s, &style.Block, unit.BitsSI, 160)
	for i, wants := range [][]string{
		{"step", "Δ before", "Δ first", "gap"},
		{"1", "▲ ×1", "00:10", "▲2.00 G", "████ "},
		{"2", "▲8.00 G", strings.Repeat("█", barWidth), "+300 %", "(fastest)"},
		{"3", "▲4.00 G", "-50 %", "+100 %", "the server closed the connection"},
	} {
		for _, want := range wants {
			if !strings.Contains(page[i].Text, want) {
				t.Errorf("row %d: %q is not in %q", i, want, page[i].Text)
			}
		}
	}
	for _, l := range Compare(s, &style.Block, unit.BitsSI, 76) {
		if strings.Contains(l.Text, "first") || strings.Contains(l.Text, "gap") {
			t.Errorf("a narrow screen gets every column: %q", l.Text)
		}
	}
}

// The verdict goes on below the step on a narrow screen.
func TestCompareWrapsTheVerdict(t *testing.T) {
	s := &engine.Snapshot{Segments: []engine.Segment{seg(1, engine.Upload, 2e9), seg(2, engine.Upload, 8e9)}}
	s.Segments[0].Title = "one sending thread fills a core"
	var got []string
	for _, l := range Compare(s, &style.Block, unit.BitsSI, 78) {
		got = append(got, l.Text)
	}
	want := []string{
		"step change              test     time    mean      Δ before  verdict",
		"1    change              ▲ ×1     00:10   ▲2.00 G             one sending",
		"                                                              thread fills a",
		"                                                              core",
		"2    change              ▲ ×2     00:10   ▲8.00 G   +300 %     (fastest)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
