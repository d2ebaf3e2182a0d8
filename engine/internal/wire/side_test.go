package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHello(t *testing.T) {
	want := Hello{
		Version: SideVersion, Agent: "linerate 0.1", Received: 12, Sent: 34,
		Host: json.RawMessage(`{"os":"linux"}`), Settings: json.RawMessage(`{"a":{}}`),
	}
	text, err := want.JSON()
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseHello(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want − got +\n%s", diff)
	}
}

// TestHelloTooLong leaves out the facts that are missed least.
func TestHelloTooLong(t *testing.T) {
	long := json.RawMessage(`{"x":"` + strings.Repeat("x", 30<<10) + `"}`)
	text, err := Hello{Version: 1, Host: long, Route: long, Adapter: long, Settings: long}.JSON()
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseHello(text)
	if err != nil || len(text) > MaxFrame || got.Host == nil || got.Route == nil || got.Adapter != nil || got.Settings != nil {
		t.Errorf("%d bytes, host %d, route %d, adapter %d, settings %d, %v", len(text), len(got.Host), len(got.Route), len(got.Adapter), len(got.Settings), err)
	}
}

func TestParseHello(t *testing.T) {
	tests := []struct{ name, in, err string }{
		{"least", `{"v":1,"rx":0,"tx":0}`, ""},
		{"a later version with more", `{"v":2,"rx":1,"tx":1,"more":[1]}`, ""},
		{"null facts", `{"v":1,"rx":1,"tx":1,"host":null}`, ""},
		{"no version", `{"rx":1,"tx":1}`, "version 0"},
		{"sent before it was asked for", `{"v":1,"rx":2,"tx":1}`, "clocks of 2 and 1"},
		{"negative clock", `{"v":1,"rx":-2,"tx":1}`, "clocks"},
		{"clock beyond the range", `{"v":1,"rx":1,"tx":9007199254740993}`, "clocks"},
		{"fraction", `{"v":1,"rx":1.5,"tx":2}`, "parsing"},
		{"facts as text", `{"v":1,"rx":1,"tx":1,"host":"x"}`, "no objects"},
		{"agent as number", `{"v":1,"rx":1,"tx":1,"agent":3}`, "parsing"},
		{"list", `[]`, "parsing"},
		{"nothing", ``, "parsing"},
		{"two", `{"v":1,"rx":0,"tx":0}{}`, "parsing"},
	}
	for _, test := range tests {
		_, err := ParseHello([]byte(test.in))
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: want error %q, got %v", test.name, test.err, err)
		}
	}
	h, err := ParseHello([]byte(`{"v":1,"rx":0,"tx":0,"agent":"\u001b[31mline` + "\u202e" + `rate"}`))
	if err != nil || h.Agent != "[31mlinerate" {
		t.Errorf("agent with escapes: %q, %v", h.Agent, err)
	}
}

// fullSample has n streams and cores.
func fullSample(n int) Sample {
	s := Sample{Seq: 7, Clock: 1000, Wall: 2000, Window: 500_000, LoadAge: 3, Process: []int{100, 1200}, Congestion: "cubic",
		Others: []Other{{"ffmpeg", []int{812, 2900, 40, 1}}, {"ksoftirqd/0", []int{15, 0, 930, 0}}},
		Vitals: json.RawMessage(`{"tcp":{"value":{"Tcp.RetransSegs":5},"status":"ok"}}`), VitalsAge: 9}
	for i := range n {
		s.Cores = append(s.Cores, []int{i, 10, 20, 0, 30})
		s.Streams = append(s.Streams, Stream{
			ID: 1 + i + min(i, 1), Bytes: 1 << 40, Age: 50_000, Thread: []int{4711, 100, 800, 3}, Base: 37,
			Brief: []uint64{12, 140_000, 3000}, Info: []uint64{280, 1, 0, 0, 0, 0, 7, 7, 7, 0, 204000, 40000, 1448}, Mem: []uint64{0, 131072, 0, 87040},
		})
	}
	return s
}

func TestSample(t *testing.T) {
	want := fullSample(3)
	want.CoresWhy, want.ThreadsWhy, want.ProcessWhy, want.OthersWhy = "a", "b", "c", "d"
	want.Path, want.PathTo = json.RawMessage(`{"out":{"value":4074,"status":"ok"}}`), "192.0.2.1"
	fit, err := want.Fit(MaxFrame, 0)
	if err != nil || !fit.Vitals || fit.Streams != 3 {
		t.Fatalf("%+v, %v", fit, err)
	}
	got, err := ParseSample(fit.Text)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Streams {
		want.Streams[i].Brief = nil // Info says it
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want − got +\n%s", diff)
	}
}

// TestNoOthers: that no other program does anything is not the same as not telling.
func TestNoOthers(t *testing.T) {
	for _, want := range [][]Other{nil, {}} {
		fit, err := Sample{Seq: 1, Others: want}.Fit(MaxFrame, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseSample(fit.Text)
		if err != nil || len(got.Others) != 0 || (got.Others == nil) != (want == nil) {
			t.Errorf("%v became %v, %v in %s", want, got.Others, err, fit.Text)
		}
	}
}

// TestFit: fields go first, then streams; what is left always is a sample.
func TestFit(t *testing.T) {
	s := fullSample(8)
	s.Path, s.PathTo = json.RawMessage(`{"out":{"value":4074,"status":"ok"}}`), "192.0.2.1" // stays
	size := func(change func(*Sample)) int {
		c := s
		c.Streams = append([]Stream(nil), s.Streams...)
		for i := range c.Streams {
			c.Streams[i].Brief = nil
		}
		if change != nil {
			change(&c)
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return len(text)
	}
	briefs := func(n int) int {
		return size(func(c *Sample) {
			c.Others, c.Vitals, c.VitalsAge, c.Streams = nil, nil, 0, nil
			for _, st := range s.Streams[:n] {
				c.Streams = append(c.Streams, st.brief())
			}
		})
	}
	whole := size(nil)
	noOthers := size(func(c *Sample) { c.Others = nil })
	noVitals := size(func(c *Sample) { c.Others, c.Vitals, c.VitalsAge = nil, nil, 0 })
	tests := []struct {
		name    string
		limit   int
		size    int
		vitals  bool
		full    bool
		streams int
	}{
		{"whole", whole, whole, true, true, 8},
		{"a byte too little for others", whole - 1, noOthers, true, true, 8},
		{"just without others", noOthers, noOthers, true, true, 8},
		{"a byte too little for vitals", noOthers - 1, noVitals, false, true, 8},
		{"just without vitals", noVitals, noVitals, false, true, 8},
		{"brief streams", noVitals - 1, briefs(8), false, false, 8},
		{"just brief streams", briefs(8), briefs(8), false, false, 8},
		{"one stream too many", briefs(8) - 1, briefs(7), false, false, 7},
		{"two streams", briefs(2), briefs(2), false, false, 2},
		{"one stream", briefs(1), briefs(1), false, false, 1},
		{"too little for anything", 10, briefs(1), false, false, 1},
		{"nothing", 0, briefs(1), false, false, 1},
	}
	for _, test := range tests {
		fit, err := s.Fit(test.limit, 0)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		got, err := ParseSample(fit.Text)
		if err != nil {
			t.Fatalf("%s: %v in %s", test.name, err, fit.Text)
		}
		if len(fit.Text) != test.size || fit.Vitals != test.vitals || fit.Streams != test.streams || len(got.Streams) != test.streams {
			t.Errorf("%s: %d bytes, vitals %v, %d streams; want %d, %v, %d", test.name, len(fit.Text), fit.Vitals, fit.Streams, test.size, test.vitals, test.streams)
		}
		if full := len(got.Streams[0].Info) > 0; full != test.full || full == (len(got.Streams[0].Brief) > 0) {
			t.Errorf("%s: stream %+v", test.name, got.Streams[0])
		}
		if len(got.Cores) != 8 || got.Path == nil || got.PathTo == "" {
			t.Errorf("%s: %d cores, path %s to %q", test.name, len(got.Cores), got.Path, got.PathTo)
		}
		if others := len(got.Others) > 0; others != (test.size == whole) {
			t.Errorf("%s: others %v", test.name, got.Others)
		}
	}
}

// TestFitGoesRound: with room for two, each stream comes in its turn.
func TestFitGoesRound(t *testing.T) {
	s := fullSample(5)
	s.Vitals, s.Others = nil, nil
	small, err := Sample{Seq: 1, Cores: s.Cores, Process: s.Process, Streams: []Stream{s.Streams[3].brief(), s.Streams[4].brief()}}.Fit(MaxFrame, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for first, n := 0, 0; n < 3; n++ {
		fit, err := s.Fit(len(small.Text)+60, first)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParseSample(fit.Text)
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range back.Streams {
			got = append(got, fmt.Sprint(st.ID))
		}
		first += fit.Streams
	}
	if want := "1 3 4 5 6 1"; strings.Join(got, " ") != want {
		t.Errorf("want streams %s, got %v", want, got)
	}
}

// TestFitIsAFrame: the greatest test on the greatest computer still fits.
func TestFitIsAFrame(t *testing.T) {
	s := fullSample(MaxStreams)
	s.Cores = nil
	for i := range MaxCores {
		s.Cores = append(s.Cores, []int{i, 100, 200, 100, 200, 100, 100})
	}
	fit, err := s.Fit(1<<30, 0)
	if err != nil || len(fit.Text) > MaxFrame || fit.Streams < 200 {
		t.Errorf("%d bytes with %d streams, %v", len(fit.Text), fit.Streams, err)
	}
	if frame := AppendFrame(nil, FrameSample, fit.Text); len(frame) != 5+len(fit.Text) || !bytes.HasPrefix(frame, []byte{0x41, 0, 0}) {
		t.Errorf("the frame begins with % x", frame[:5])
	}
}

func TestParseSample(t *testing.T) {
	manyCores := make([]string, MaxCores+1)
	for i := range manyCores {
		manyCores[i] = fmt.Sprintf("[%d]", i)
	}
	manyOthers := strings.TrimSuffix(strings.Repeat(`{"n":"x","t":[1,2,3,4]},`, MaxOthers+1), ",")
	other := func(thread string) string { return `{"n":1,"m":0,"w":0,"o":[{"n":"x","t":` + thread + `}]}` }
	manyStreams := make([]string, MaxStreams+1)
	for i := range manyStreams {
		manyStreams[i] = fmt.Sprintf(`{"i":%d,"b":0}`, i+1)
	}
	tests := []struct{ name, in, err string }{
		{"least", `{"n":1,"m":0,"w":0}`, ""},
		{"a later version with more", `{"n":1,"m":0,"w":0,"new":{}}`, ""},
		{"no number", `{"m":0,"w":0}`, "no number"},
		{"negative number", `{"n":-1,"m":0,"w":0}`, "parsing"},
		{"clock not finite", `{"n":1,"m":1e999,"w":0}`, "parsing"},
		{"NaN", `{"n":1,"m":NaN,"w":0}`, "parsing"},
		{"negative clock", `{"n":1,"m":-5,"w":0}`, "clocks"},
		{"negative window", `{"n":1,"m":0,"w":0,"d":-1}`, "another time"},
		{"load of last year", `{"n":1,"m":0,"w":0,"la":31536000000000}`, "another time"},
		{"too many cores", `{"n":1,"m":0,"w":0,"c":[` + strings.Join(manyCores, ",") + `]}`, "1025 cores"},
		{"core twice", `{"n":1,"m":0,"w":0,"c":[[0],[0]]}`, "a core of [0]"},
		{"core without number", `{"n":1,"m":0,"w":0,"c":[[]]}`, "a core of []"},
		{"core below zero", `{"n":1,"m":0,"w":0,"c":[[-1]]}`, "a core of [-1]"},
		{"negative share", `{"n":1,"m":0,"w":0,"c":[[0,-1]]}`, "a core of"},
		{"more than all of a core", `{"n":1,"m":0,"w":0,"c":[[0,600,600]]}`, "a core of"},
		{"long core", `{"n":1,"m":0,"w":0,"c":[[0,1,1,1,1,1,1,1]]}`, "a core of"},
		{"process of one number", `{"n":1,"m":0,"w":0,"p":[1]}`, "process load"},
		{"negative process", `{"n":1,"m":0,"w":0,"p":[-1,5]}`, "process load"},
		{"too many streams", `{"n":1,"m":0,"w":0,"s":[` + strings.Join(manyStreams, ",") + `]}`, "257 streams"},
		{"stream twice", `{"n":1,"m":0,"w":0,"s":[{"i":1,"b":0},{"i":1,"b":0}]}`, "stream 1 twice"},
		{"stream 0", `{"n":1,"m":0,"w":0,"s":[{"i":0,"b":0}]}`, "a stream 0"},
		{"negative bytes", `{"n":1,"m":0,"w":0,"s":[{"i":1,"b":-1}]}`, "parsing"},
		{"bytes beyond", `{"n":1,"m":0,"w":0,"s":[{"i":1,"b":18446744073709551615}]}`, "does not fit"},
		{"future socket", `{"n":1,"m":0,"w":0,"s":[{"i":1,"b":0,"a":-1}]}`, "a socket read"},
		{"short thread", `{"n":1,"m":0,"w":0,"s":[{"i":1,"b":0,"t":[1,2]}]}`, "a thread of"},
		{"busy thread", `{"n":1,"m":0,"w":0,"s":[{"i":1,"b":0,"t":[1,900,900,0]}]}`, "a thread of"},
		{"thread of an unknown core", `{"n":1,"m":0,"w":0,"s":[{"i":1,"b":0,"t":[1,2,3,-1]}]}`, ""},
		{"half a brief", `{"n":1,"m":0,"w":0,"s":[{"i":1,"b":0,"q":[1,2]}]}`, "2 numbers"},
		{"RTT of a million years", `{"n":1,"m":0,"w":0,"s":[{"i":1,"b":0,"q":[1,2,18446744073709551615]}]}`, "does not fit"},
		{"long info", `{"n":1,"m":0,"w":0,"s":[{"i":1,"b":0,"f":[` + strings.Repeat("1,", 64) + `1]}]}`, "too many numbers"},
		{"vitals as a list", `{"n":1,"m":0,"w":0,"v":[]}`, "no object"},
		{"path as a number", `{"n":1,"m":0,"w":0,"x":4074}`, "a path that is no object"},
		{"path null", `{"n":1,"m":0,"w":0,"x":null}`, ""},
		{"others null", `{"n":1,"m":0,"w":0,"o":null}`, ""},
		{"too many others", `{"n":1,"m":0,"w":0,"o":[` + manyOthers + `]}`, "17 other programs"},
		{"another program on three cores", other(`[1,2000,1000,-1]`), ""},
		{"another program of no number", other(`[]`), "another program of []"},
		{"another program of three numbers", other(`[1,2,3]`), "another program of"},
		{"a long one", other(`[1,2,3,4,5]`), "another program of"},
		{"a negative process", other(`[-1,2,3,4]`), "another program of"},
		{"a process beyond all", other(`[2147483648,2,3,4]`), "another program of"},
		{"a negative load", other(`[1,-2,3,4]`), "another program of"},
		{"more than all cores", other(`[1,2,1024001,4]`), "another program of"},
		{"on core −2", other(`[1,2,3,-2]`), "another program of"},
		{"on core 65536", other(`[1,2,3,65536]`), "another program of"},
		{"a fraction", other(`[1,2.5,3,4]`), "parsing"},
		{"a list for a program", `{"n":1,"m":0,"w":0,"o":[["x",1,2,3,4]]}`, "parsing"},
		{"text", `"n"`, "parsing"},
	}
	for _, test := range tests {
		_, err := ParseSample([]byte(test.in))
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: want error %q, got %v", test.name, test.err, err)
		}
	}
	s, err := ParseSample([]byte(`{"n":1,"m":0,"w":0,"cy":"\u001b[2Jno","oy":"\u001bx","cc":"\u0007cubic","xt":"fe80::1%\u001be","s":[{"i":1,"b":0,"y":"a\nb"}],` +
		`"o":[{"n":"\u001b[31mff\u202empeg` + strings.Repeat("x", 100) + `","t":[1,2,3,4]}]}`))
	if err != nil || s.CoresWhy != "[2Jno" || s.OthersWhy != "x" || s.Congestion != "cubic" || s.PathTo != "fe80::1%e" || s.Streams[0].Why != "ab" ||
		!strings.HasPrefix(s.Others[0].Name, "[31mffmpegx") || len(s.Others[0].Name) != maxThread {
		t.Errorf("text with escapes: %+v, %v", s, err)
	}
}

func TestRefusal(t *testing.T) {
	if got := string(Refusal{Refused: `no "more"`}.JSON()); got != `{"refused":"no \"more\""}` {
		t.Errorf("got %s", got)
	}
}
