package tui

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"linerate/engine"
	"linerate/tui/internal/grid"
	"linerate/tui/internal/tuitest"
)

var (
	streamCounts = []int{0, 1, 8, 64, 128}
	coreCounts   = []int{0, 1, 4, 16, 128}
)

func TestPlanCoversEveryScreen(t *testing.T) {
	for w := 20; w <= 220; w++ {
		for h := 5; h <= 70; h++ {
			for _, streams := range streamCounts {
				for _, cores := range coreCounts {
					for _, both := range []bool{false, true} {
						for _, zoom := range []bool{false, true} {
							s := shape{Streams: streams, Cores: cores, FarCores: cores, Both: both, Zoom: zoom, Pane: paneStreams}
							if both {
								s.Streams *= 2
							}
							if err := checkPlan(w, h, s); err != "" {
								t.Fatalf("%d×%d %+v: %s", w, h, s, err)
							}
						}
					}
				}
			}
		}
	}
}

// checkPlan looks for parts that are missing, outside of the screen or on top of each
// other.
func checkPlan(w, h int, s shape) string {
	l := plan(w, h, s)
	parts := []grid.Rect{l.Header, l.Verdict, l.Status, l.Footer}
	for i := range l.Panes {
		parts = append(parts, l.Panes[i])
	}
	if !l.Framed || s.Zoom { // else the sums stand in the graph's frame
		parts = append(parts, l.Sums[0], l.Sums[1])
	}
	covered := 0
	for i, a := range parts {
		if a.Empty() {
			continue
		}
		covered += a.W * a.H
		if a.X < 0 || a.Y < 0 || a.X+a.W > w || a.Y+a.H > h {
			return fmt.Sprintf("part %d %+v is outside", i, a)
		}
		for j, b := range parts[:i] {
			if !b.Empty() && a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				return fmt.Sprintf("parts %d %+v and %d %+v overlap", j, b, i, a)
			}
		}
	}
	switch {
	case l.Header.Empty() || l.Verdict.Empty() || l.Footer.Empty():
		return "header, verdict or keys are missing"
	case l.Class != tiny && l.Panes[paneCores].Empty() && !s.Zoom:
		return "no cores"
	case l.Class >= standard && l.Panes[paneGraph].H < 10 && !s.Zoom:
		return fmt.Sprintf("the graph has %d rows", l.Panes[paneGraph].H)
	}
	// What is not covered is a gap of a column between tables, or rows of a tiny screen.
	if l.Class != tiny && covered < w*(h-1)-h {
		return fmt.Sprintf("%d of %d cells are used", covered, w*h)
	}
	return ""
}

func TestClasses(t *testing.T) {
	for _, test := range []struct {
		w, h int
		want class
	}{
		{59, 12, tiny}, {60, 11, tiny}, {60, 12, compact}, {20, 5, tiny}, {50, 10, tiny}, {39, 70, tiny},
		{80, 24, compact}, {109, 39, compact}, {110, 33, compact}, {200, 30, compact},
		{110, 34, standard}, {179, 60, standard}, {200, 47, standard}, {180, 48, wide}, {220, 70, wide},
		{90, 50, tall}, {109, 40, tall}, {50, 30, tall}, {40, 26, tall}, {40, 25, tiny},
	} {
		if got := classify(test.w, test.h); got != test.want {
			t.Errorf("%d×%d: class %d, want %d", test.w, test.h, got, test.want)
		}
	}
}

// checkFrame makes sure that a frame cannot break a terminal of the size, and shows what
// holds the test back.
func checkFrame(t *testing.T, frame string, w, h int) {
	t.Helper()
	lines := strings.Split(frame, "\n")
	if len(lines) != h {
		t.Fatalf("%d×%d: %d lines", w, h, len(lines))
	}
	for i, line := range lines {
		if n := utf8.RuneCountInString(line); n > w {
			t.Fatalf("%d×%d: line %d has %d cells: %q", w, h, i, n, line)
		}
		if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
			t.Fatalf("%d×%d: line %d has a control character: %q", w, h, i, line)
		}
	}
	if top := strings.Join(lines[:min(h, 3)], "\n"); !strings.Contains(top, "ok:") && !strings.Contains(top, "VERDICT") &&
		!strings.Contains(top, "limit") && !strings.Contains(top, "warning") && !strings.Contains(top, "fault") {
		t.Fatalf("%d×%d: no verdict in\n%s", w, h, top)
	}
}

func resize(m *Model, w, h int) string {
	m.screen.w, m.screen.h = w, h
	return m.View()
}

func TestEverySize(t *testing.T) {
	for _, c := range []struct {
		name         string
		snap         *engine.Snapshot
		stepW, stepH int
	}{{"both ways", tuitest.N100(), 1, 1}, {"many", tuitest.Many(64, 32), 3, 2}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := screenOf(c.snap, 80, 24, "never", "block")
			for w := 20; w <= 220; w += c.stepW {
				for h := 5; h <= 70; h += c.stepH {
					checkFrame(t, resize(m, w, h), w, h)
				}
			}
		})
	}
}

func TestEveryNumberOfStreamsAndCores(t *testing.T) {
	for _, dir := range []engine.Direction{engine.Upload, engine.Both} {
		for _, streams := range streamCounts {
			for _, cores := range coreCounts {
				t.Run(fmt.Sprintf("%v %d streams %d cores", dir, streams, cores), func(t *testing.T) {
					t.Parallel()
					snap := tuitest.Make(dir, streams, cores, 30, 1e8)
					m := screenOf(snap, 80, 24, "never", "block")
					for w := 20; w <= 220; w += 13 {
						for h := 5; h <= 70; h += 5 {
							for _, zoom := range []bool{false, true} {
								m.zoom, m.focus = zoom, paneStreams
								m.touch()
								checkFrame(t, resize(m, w, h), w, h)
							}
						}
					}
				})
			}
		}
	}
}

func TestEveryCase(t *testing.T) {
	for _, c := range tuitest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			for _, glyphs := range []string{"block", "ascii", "braille"} {
				m := screenOf(c.Snap, 80, 24, "never", glyphs)
				for _, view := range []view{noView, helpView, whyView, compareView} {
					for pane := range paneID(panes) {
						m.view, m.focus, m.zoom, m.log = view, pane, view == noView && pane%2 == 1, pane == paneCores
						m.touch()
						for _, size := range [][2]int{{20, 5}, {50, 10}, {60, 12}, {80, 24}, {90, 50}, {120, 40}, {200, 60}} {
							checkFrame(t, resize(m, size[0], size[1]), size[0], size[1])
						}
					}
				}
			}
		})
	}
}

var foldLine = regexp.MustCompile(`…(\d+) more:`)

// What does not fit must be counted: rows and fold line together are all streams.
func TestNoStreamIsCutSilently(t *testing.T) {
	for _, streams := range []int{9, 20, 64, 128} {
		m := screenOf(tuitest.Make(engine.Upload, streams, 4, 30, 1e8), 80, 24, "never", "block")
		for h := 18; h <= 70; h++ {
			frame := resize(m, 100, h)
			rows := 0
			for _, line := range strings.Split(frame, "\n") {
				if strings.Contains(line, " ms ") && strings.Contains(line, " MB ") {
					rows++
				}
			}
			folded := 0
			if m := foldLine.FindStringSubmatch(frame); m != nil {
				folded, _ = strconv.Atoi(m[1])
			}
			if rows+folded != streams {
				t.Fatalf("%d streams on 100×%d: %d rows and %d folded\n%s", streams, h, rows, folded, frame)
			}
		}
	}
}

func FuzzView(f *testing.F) {
	f.Add(8, 4, 80, 24, "cubic", 1e9, uint8(0), "dq?")
	f.Add(128, 128, 20, 5, "\x1b[31m漢", -1.0, uint8(255), "zTab")
	f.Fuzz(func(t *testing.T, streams, cores, w, h int, text string, rate float64, bits uint8, keys string) {
		w, h = 20+w&255, 5+h&127
		dir := engine.Direction(bits % 3)
		s := tuitest.Make(dir, streams&255, cores&511, int(bits&31), rate)
		s.Peer.Agent, s.Label, s.Verdicts[0].Main.Text = text, text, text
		s.Segments[0].Change, s.Events[0].Text = text, text
		if bits&8 != 0 {
			s.Phase = engine.Phase(bits % 6)
		}
		m := screenOf(s, w, h, "never", []string{"block", "ascii", "braille"}[bits%3])
		for _, k := range keys[:min(len(keys), 12)] {
			m.Update(keyMsg(string(k)))
			checkFrame(t, m.View(), w, h)
		}
		checkFrame(t, m.View(), w, h)
	})
}
