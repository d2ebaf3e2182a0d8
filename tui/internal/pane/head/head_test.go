package head

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/tui/internal/grid"
	"linerate/tui/internal/style"
)

func draw(w, h int, paint func(grid.Area)) []string {
	var g grid.Grid
	g.Reset(w, h, &style.Block)
	paint(g.All())
	return strings.Split(string(g.AppendTo(nil, style.NewPalette(style.Bare, style.Dark))), "\n")
}

func TestHeaderSaysWhatWasAsked(t *testing.T) {
	spec := engine.Spec{Host: "h", Streams: 2}
	more, both := spec, spec
	more.Streams = 5
	both.Direction = engine.Both
	for _, test := range []struct {
		name string
		snap engine.Snapshot
		ask  Ask
		want string
	}{
		{"nothing", engine.Snapshot{Spec: spec}, Ask{}, ""},
		{"by a key just now", engine.Snapshot{Spec: spec}, Ask{Streams: 3}, "asked ×3"},
		{"by a key, direction", engine.Snapshot{Spec: spec}, Ask{Dir: engine.Download, Turn: true}, "asked ▼"},
		{"taken over by the session", engine.Snapshot{Spec: spec, Asked: &more}, Ask{}, "asked ×5"},
		{"the key is newer", engine.Snapshot{Spec: spec, Asked: &more}, Ask{Streams: 6}, "asked ×6"},
		{"both", engine.Snapshot{Spec: spec, Asked: &both}, Ask{Streams: 6}, "asked ▲▼ ×6"},
		{"search", engine.Snapshot{Spec: spec, Best: engine.Best{Active: true, Trying: 4}}, Ask{}, "finding best: trying ×4"},
	} {
		line := draw(100, 1, func(a grid.Area) { Header(a, &test.snap, Options{Ask: test.ask}) })[0]
		if got := strings.Contains(line, "asked") || strings.Contains(line, "finding"); got != (test.want != "") || !strings.Contains(line, test.want) {
			t.Errorf("%s: %q, want %q in it", test.name, line, test.want)
		}
	}
}

// The label of a simulated link and the SSH notice survive the narrowest header.
func TestHeaderKeepsWhatMustBeSeen(t *testing.T) {
	s := &engine.Snapshot{Spec: engine.Spec{Host: "a-rather-long-host-name.example.net", Port: 5201, Streams: 128},
		Peer:  engine.Peer{Agent: "iperf 3.18", Addr: netip.MustParseAddrPort("192.0.2.7:5201")},
		Label: "simulated link 10G", SSHLink: true, Phase: engine.Running, Moved: 1e12}
	for w := 80; w <= 200; w += 10 {
		line := draw(w, 1, func(a grid.Area) { Header(a, s, Options{Pace: "1 Hz: slow link", Slowed: true}) })[0]
		for _, want := range []string{"simulated link 10G", "over your SSH link", "● RUN", "×128"} {
			if !strings.Contains(line, want) {
				t.Errorf("width %d: %q is missing in %q", w, want, line)
			}
		}
	}
}

func TestTargetIsAnAddressWithPort(t *testing.T) {
	for _, test := range []struct {
		peer engine.Peer
		spec engine.Spec
		want string
	}{
		{engine.Peer{Host: "server"}, engine.Spec{Port: 5201}, "server:5201"},
		{engine.Peer{}, engine.Spec{Host: "server"}, "server"},
		{engine.Peer{Host: "2001:db8::1"}, engine.Spec{Port: 5201}, "[2001:db8::1]:5201"},
		{engine.Peer{Addr: netip.MustParseAddrPort("192.0.2.7:443")}, engine.Spec{Port: 5201}, "192.0.2.7:443"},
	} {
		if got := target(&engine.Snapshot{Peer: test.peer, Spec: test.spec}); got != test.want {
			t.Errorf("%+v: %q, want %q", test.peer, got, test.want)
		}
	}
}

func finding(sev engine.Severity, conf engine.Confidence, text, short string) engine.Finding {
	return engine.Finding{Severity: sev, Confidence: conf, Text: text, Short: short, Title: "title"}
}

func TestVerdict(t *testing.T) {
	long := "Core 2 is full of the receiving thread (98 %) while 3 others idle: press + for another stream."
	limit := engine.Verdict{Dir: engine.Download, Main: finding(engine.SeverityLimit, engine.Sure, long, "core 2 is full: press +")}
	ok := engine.Verdict{Dir: engine.Upload, Main: finding(engine.SeverityOK, engine.Sure, "Line rate.", "line rate")}
	unsure := engine.Verdict{Main: finding(engine.SeverityWarning, engine.Likely, "Small buffer.", "")}
	measuring := engine.Verdict{Main: finding(engine.SeverityOK, engine.Unsure, "Measuring.", "")}
	unhinted, unheaded, twice := limit, limit, limit
	unhinted.Main.Text = strings.Repeat("word ", 12) + "abc " + strings.Repeat("tail ", 14) + "and end."
	unheaded.Main.Text = strings.Repeat("word ", 14) + "a " + strings.Repeat("tail ", 14) + "and end."
	twice.Main.Text = "Core 2 is full of packets. Spread them. Or else buy a computer with more."
	numbered := limit
	numbered.Main.Text = "Core 2 is full."
	numbered.Main.Evidence = []engine.Evidence{{Name: "core 2", Value: 0.98, Unit: "share"}}
	tests := []struct {
		name string
		w, h int
		snap engine.Snapshot
		want []string
	}{
		{"fits in a row", 119, 2, engine.Snapshot{Verdicts: []engine.Verdict{limit}}, []string{"▌VERDICT limit: " + long + "  [v] why", "▌"}},
		{"wraps, the number with its unit", 60, 2, engine.Snapshot{Verdicts: []engine.Verdict{limit}}, []string{
			"▌VERDICT limit: Core 2 is full of the receiving thread", "▌ (98 %) while 3 others idle: press + for another stream."}},
		{"fits without the hint only", 80, 2, engine.Snapshot{Verdicts: []engine.Verdict{unhinted}}, []string{
			"▌VERDICT limit: " + strings.Repeat("word ", 12) + "abc", "▌ " + strings.Repeat("tail ", 14) + "and end."}},
		{"fits without the heading only", 80, 2, engine.Snapshot{Verdicts: []engine.Verdict{unheaded}}, []string{
			"▌limit: " + strings.Repeat("word ", 14) + "a", "▌ " + strings.Repeat("tail ", 14) + "and end."}},
		{"the last sentence goes", 40, 2, engine.Snapshot{Verdicts: []engine.Verdict{twice}}, []string{
			"▌limit: Core 2 is full of packets.", "▌ Spread them."}},
		{"one row: the short form", 50, 1, engine.Snapshot{Verdicts: []engine.Verdict{limit}}, []string{"▌limit: core 2 is full: press +"}},
		{"two directions", 50, 2, engine.Snapshot{Verdicts: []engine.Verdict{ok, limit}}, []string{"▌▲ ok: Line rate.", "▌▼ limit: core 2 is full: press +"}},
		{"two directions, one row: the worse", 50, 1, engine.Snapshot{Verdicts: []engine.Verdict{ok, limit}}, []string{"▌▼ limit: core 2 is full: press +"}},
		{"not sure", 70, 1, engine.Snapshot{Verdicts: []engine.Verdict{unsure}}, []string{"▌VERDICT warning ! likely: Small buffer."}},
		{"names no cause", 70, 1, engine.Snapshot{Verdicts: []engine.Verdict{measuring}}, []string{"▌VERDICT Measuring."}},
		{"names no cause, two directions", 70, 2, engine.Snapshot{Verdicts: []engine.Verdict{measuring, ok}}, []string{"▌▲ Measuring.", "▌▲ ok: Line rate."}},
		{"its numbers", 70, 2, engine.Snapshot{Verdicts: []engine.Verdict{numbered}}, []string{"▌VERDICT limit: Core 2 is full.", "▌ core 2 98 %"}},
		{"none yet", 60, 1, engine.Snapshot{Phase: engine.Running}, []string{"▌VERDICT not enough evidence yet"}},
		{"stopped", 60, 1, engine.Snapshot{Phase: engine.Stopped}, []string{"▌VERDICT traffic is stopped: S starts it"}},
		{"failed", 70, 1, engine.Snapshot{Phase: engine.Done, Err: errors.New("connection refused"), Verdicts: []engine.Verdict{ok}},
			[]string{"▌VERDICT fault !! connection refused"}},
	}
	for _, test := range tests {
		got := draw(test.w, test.h, func(a grid.Area) { Verdict(a, &test.snap) })
		if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
	}
}

func TestSumWithoutData(t *testing.T) {
	got := draw(60, 1, func(a grid.Area) { Sum(a, &engine.Snapshot{}, engine.Download, unit.BitsSI) })
	if got[0] != " SUM ▼ –" {
		t.Errorf("got %q: no data is not zero", got[0])
	}
}

func TestMeanThatHasJustBegun(t *testing.T) {
	for mean, want := range map[float64]string{0: "mean –", 9e8: "mean 900 Mbit/s"} {
		s := &engine.Snapshot{Sums: []engine.Sum{{Dir: engine.Upload, Rate: 9e8, Mean: mean}}}
		if got := draw(80, 1, func(a grid.Area) { Sum(a, s, engine.Upload, unit.BitsSI) })[0]; !strings.Contains(got, want) {
			t.Errorf("%q, want %q in it", got, want)
		}
	}
}
