package cores

import (
	"strings"
	"testing"
	"time"

	"linerate/engine"
	"linerate/probes"
	"linerate/tui/internal/grid"
	"linerate/tui/internal/style"
)

func draw(w, h int, glyphs *style.Glyphs, s *engine.Snapshot) []string {
	var g grid.Grid
	g.Reset(w, h, glyphs)
	var p Pane
	p.Draw(g.All(), s)
	return strings.Split(string(g.AppendTo(nil, style.NewPalette(style.Bare, style.Dark))), "\n")
}

func load(cores ...probes.CoreLoad) probes.Load {
	for i := range cores {
		cores[i].Core = i
	}
	return probes.Load{Cores: probes.Got(cores)}
}

func TestBarShowsTheParts(t *testing.T) {
	s := &engine.Snapshot{Load: load(
		probes.CoreLoad{User: 0.1, System: 0.4, IRQ: 0.1, SoftIRQ: 0.2, Steal: 0.1, Idle: 0.1},
		probes.CoreLoad{System: 0.96, Idle: 0.04},
		probes.CoreLoad{Idle: 1},
	), Peer: engine.Peer{Loopback: true}}
	for glyphs, want := range map[*style.Glyphs][]string{
		&style.Block: {"  0 ░▒▒▒▒▓██S·   90", "  1 ▒▒▒▒▒▒▒▒▒▒   96!", "  2 ··········    0"},
		&style.ASCII: {"  0 ussssiQQS.   90", "  1 ssssssssss   96!", "  2 ..........    0"},
	} {
		got := draw(22, 4, glyphs, s)
		for i, line := range want {
			if got[i] != line {
				t.Errorf("core %d: %q, want %q", i, got[i], line)
			}
		}
	}
}

func TestThreadsMarkTheirCores(t *testing.T) {
	s := &engine.Snapshot{Load: load(make([]probes.CoreLoad, 3)...)}
	s.Load.Threads = probes.Got([]probes.ThreadLoad{
		{Name: "lr-tx-1", System: 0.5, Core: 1}, {Name: "lr-tx-3", System: 0.2, Core: 1},
		{Name: "lr-rx-4", System: 0.001, Core: 2}, // asleep
		{Name: "lr-rx-5", System: 0.5, Core: 99},  // on a core that is not shown
	})
	got := draw(60, 5, &style.Block, s)
	if !strings.Contains(got[1], "◂tx-1 tx-3") {
		t.Errorf("core 1: %q", got[1])
	}
	for _, i := range []int{0, 2} {
		if strings.Contains(got[i], "◂") {
			t.Errorf("core %d is marked: %q", i, got[i])
		}
	}
}

func TestMoreCoresThanRowsBecomeHeat(t *testing.T) {
	cores := make([]probes.CoreLoad, 40)
	cores[17].SoftIRQ, cores[3].User = 0.99, 0.5
	got := draw(60, 5, &style.Block, &engine.Snapshot{Load: load(cores...), Peer: engine.Peer{Loopback: true}})
	if heat := []rune(strings.TrimSpace(got[0])); len(heat) != 40 || heat[17] != '█' || heat[3] != '▄' {
		t.Errorf("heat %q, want a cell per core", got[0])
	}
	if !strings.HasPrefix(got[1], " 17 █") || !strings.HasPrefix(got[2], "  3 ░") {
		t.Errorf("the busiest are not next: %q, %q", got[1], got[2])
	}
}

func TestFarSide(t *testing.T) {
	known := func(age time.Duration) *engine.Snapshot {
		s := &engine.Snapshot{Load: load(make([]probes.CoreLoad, 4)...)}
		s.Peer = engine.Peer{Linerate: true, Load: probes.Got(load(make([]probes.CoreLoad, 4)...)), LoadAge: age}
		return s
	}
	if got := draw(80, 7, &style.Block, known(180*time.Millisecond)); !strings.Contains(got[0], "local") || !strings.Contains(got[0], "far, 0.2 s ago") {
		t.Errorf("beside each other: %q", got[0])
	}
	if got := strings.Join(draw(40, 12, &style.Block, known(0)), "\n"); strings.Count(got, "  0 ·") != 2 || !strings.Contains(got, "far") {
		t.Errorf("below each other:\n%s", got)
	}
	s := &engine.Snapshot{Load: load(make([]probes.CoreLoad, 1)...)}
	for _, test := range []struct {
		peer engine.Peer
		want string
	}{
		{engine.Peer{Loopback: true}, "far end: same host"},
		{engine.Peer{}, "far cores unknown (not connected)"},
		{engine.Peer{Linerate: true, Load: probes.Got(s.Load), LoadAge: 30 * time.Second}, "far cores: last told 30 s ago"},
	} {
		s.Peer = test.peer
		if got := strings.Join(draw(60, 5, &style.Block, s), "\n"); !strings.Contains(got, test.want) {
			t.Errorf("%q is missing:\n%s", test.want, got)
		}
	}
}

func TestUnknownCoresGiveTheReason(t *testing.T) {
	s := &engine.Snapshot{Load: probes.Load{Cores: probes.Unknown[[]probes.CoreLoad](probes.Unsupported, "needs cgo")}}
	if got := draw(60, 5, &style.Block, s); !strings.Contains(got[0], "local cores unknown (needs cgo)") {
		t.Errorf("got %q", got[0])
	}
}
