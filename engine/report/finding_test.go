package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"linerate/engine"

	"github.com/google/go-cmp/cmp"
)

// found is what the rules said of a test both ways: a core for one direction, the link for
// the other, and the clock for both.
func found() []engine.Finding {
	return []engine.Finding{
		{
			Code: "R11", Title: "one receiving thread fills a core", Text: "The receiving thread fills core 2.",
			Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: engine.Local, Dir: engine.Download,
			Evidence: []engine.Evidence{{Name: "core 2 busy", Value: 0.99, Unit: "share", Side: engine.Local, Age: 250 * time.Millisecond}},
			Remedy:   []engine.Remedy{{Text: "Add a stream.", Temporary: "-P 2"}},
			Proof:    engine.ProofAddStream,
		},
		{Code: "R09", Title: "line rate", Text: "Line rate: 9.41 of 9.415 Gbit/s.", Confidence: engine.Sure, Side: engine.Path, Dir: engine.Upload,
			Evidence: []engine.Evidence{{Name: "odd", Value: math.NaN()}}},
		{Code: "R18", Title: "slow clock", Text: "Core 3 runs at 1.4 GHz.", Severity: engine.SeverityWarning, Confidence: engine.Likely, Side: engine.Far, Dir: engine.Both},
	}
}

func TestFindingsInJSON(t *testing.T) {
	s := scene{intervals: 1, spec: engine.Spec{Streams: 1, Direction: engine.Both}}
	result := s.result()
	result.Findings = found()
	var out bytes.Buffer
	j := NewJSON(&out, JSONOptions{})
	j.Begin(result.Info)
	j.End(result)
	var doc struct {
		Linerate map[string]json.RawMessage
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	want := `[{"code":"R11","title":"one receiving thread fills a core","text":"The receiving thread fills core 2.",` +
		`"severity":"limit","confidence":"sure","side":"local","direction":"download",` +
		`"evidence":[{"name":"core 2 busy","value":0.99,"unit":"share","side":"local","age":0.25}],` +
		`"remedy":[{"text":"Add a stream.","temporary":"-P 2","persistent":""}],"proof":"+"},` +
		`{"code":"R09","title":"line rate","text":"Line rate: 9.41 of 9.415 Gbit/s.","severity":"ok","confidence":"sure","side":"path","direction":"upload",` +
		`"evidence":[{"name":"odd","value":null,"unit":"","side":"local","age":0}],"remedy":[],"proof":""},` +
		`{"code":"R18","title":"slow clock","text":"Core 3 runs at 1.4 GHz.","severity":"warning","confidence":"likely","side":"far","direction":"both ways",` +
		`"evidence":[],"remedy":[],"proof":""}]`
	var got bytes.Buffer
	if err := json.Compact(&got, doc.Linerate["findings"]); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if string(doc.Linerate["format"]) != "1" {
		t.Errorf("format %s, want 1", doc.Linerate["format"])
	}
}

// iperf3's document stays what it is where there is nothing to add.
func TestNoFindingsNoKey(t *testing.T) {
	s := scene{intervals: 1, spec: engine.Spec{Streams: 1}}
	var out bytes.Buffer
	j := NewJSON(&out, JSONOptions{})
	result := s.result()
	j.Begin(result.Info)
	j.End(result)
	if strings.Contains(out.String(), "linerate") {
		t.Errorf("a key of ours in\n%s", &out)
	}
}

func TestFindingsInTheStream(t *testing.T) {
	s := scene{intervals: 1, spec: engine.Spec{Streams: 1}}
	result := s.result()
	result.Findings = found()[:1]
	var out bytes.Buffer
	j := NewJSONStream(&out, false, JSONOptions{})
	j.Begin(result.Info)
	j.End(result)
	var names []string
	for line := range strings.Lines(out.String()) {
		var e struct {
			Event string
			Data  json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		names = append(names, e.Event)
		if e.Event == "linerate_findings" && !strings.HasPrefix(string(e.Data), `[{"code":"R11"`) {
			t.Errorf("findings: %s", e.Data)
		}
	}
	if diff := cmp.Diff([]string{"start", "linerate_findings", "end"}, names); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestVerdictsAfterTheResults(t *testing.T) {
	tests := []struct {
		name     string
		findings []engine.Finding
		opt      TextOptions
		err      error
		want     string // what follows "iperf Done."; of a failed test, the final table
	}{
		{"both ways", found(), TextOptions{Verdict: true}, nil, "\n" +
			"download: limit: The receiving thread fills core 2.\n" +
			"upload: ok: Line rate: 9.41 of 9.415 Gbit/s.\n" +
			"both ways: also warning (likely): Core 3 runs at 1.4 GHz.\n"},
		{"one for both", found()[2:], TextOptions{Verdict: true}, nil, "\nboth ways: warning (likely): Core 3 runs at 1.4 GHz.\n"},
		{"behind the title", found()[1:2], TextOptions{Verdict: true, Title: "lab"}, nil, "lab:  \nlab:  upload: ok: Line rate: 9.41 of 9.415 Gbit/s.\n"},
		{"harmless", []engine.Finding{{Text: "a\x1b[31mb"}}, TextOptions{Verdict: true}, nil, "\nupload: a\\x1b[31mb\n"},
		{"a key of the dashboard", []engine.Finding{{Severity: engine.SeverityLimit, Confidence: engine.Sure,
			Text: "One core is full of the sending thread while 3 sit idle: press + for another stream."}}, TextOptions{Verdict: true}, nil, "\n" +
			"upload: limit: One core is full of the sending thread while 3 sit idle: add a\n" +
			"               stream (-P).\n"},
		{"long", []engine.Finding{{Severity: engine.SeverityWarning, Confidence: engine.Sure, Dir: engine.Download,
			Text: "The far receive window limits: 326 kB / 41.1 ms = 63.5 Mbit/s. Raise tcp_rmem at the far end."}}, TextOptions{Verdict: true}, nil, "\n" +
			"download: warning: The far receive window limits: 326 kB / 41.1 ms =\n" +
			"                   63.5 Mbit/s. Raise tcp_rmem at the far end.\n"},
		{"iperf3 has none", found(), TextOptions{}, nil, ""},
		{"nobody asked", nil, TextOptions{Verdict: true}, nil, ""},
		{"a test that failed", found(), TextOptions{Verdict: true}, errors.New("gone"), "\n" +
			"download: limit: The receiving thread fills core 2.\n" +
			"both ways: warning (likely): Core 3 runs at 1.4 GHz.\n"},
		{"failed before there was an answer", found()[1:2], TextOptions{Verdict: true}, errors.New("gone"), ""},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		text := NewText(&out, tt.opt)
		result := engine.Result{Info: engine.TestInfo{Spec: engine.Spec{Streams: 1}}, Findings: tt.findings, Err: tt.err}
		text.Begin(result.Info)
		out.Reset()
		text.End(result)
		got := out.String()
		if _, rest, done := strings.Cut(got, "iperf Done.\n"); done {
			got = rest
		} else if tt.err == nil {
			t.Errorf("%s: no end in %q", tt.name, got)
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
