package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"linerate/engine"
	"linerate/engine/report/reporttest"
	"linerate/probes"

	"github.com/google/go-cmp/cmp"
)

// told is a captured document, as far as it is needed to run the same test again.
type told struct {
	Start struct {
		Connected []struct {
			Socket     int
			LocalHost  string `json:"local_host"`
			LocalPort  uint16 `json:"local_port"`
			RemoteHost string `json:"remote_host"`
			RemotePort uint16 `json:"remote_port"`
		}
		Version      string
		SystemInfo   string `json:"system_info"`
		Timestamp    struct{ Timesecs int64 }
		ConnectingTo *hostPort `json:"connecting_to"`
		Accepted     *struct {
			Host string
			Port uint16
		} `json:"accepted_connection"`
		Cookie    string
		MSS       int `json:"tcp_mss"`
		MSSDef    int `json:"tcp_mss_default"`
		Sndbuf    int `json:"sndbuf_actual"`
		Rcvbuf    int `json:"rcvbuf_actual"`
		TestStart struct {
			Streams                 int `json:"num_streams"`
			Blksize, Omit, Duration int
			Bytes, Blocks           uint64
			Reverse, Bidir, TOS     int
			Target                  float64 `json:"target_bitrate"`
			Interval                float64
		} `json:"test_start"`
	}
	Intervals []struct {
		Streams []struct {
			Socket          int
			Start, End      float64
			Seconds         float64
			Bytes           uint64
			Retransmits     *uint64
			Cwnd            uint32 `json:"snd_cwnd"`
			Wnd             uint32 `json:"snd_wnd"`
			RTT, RTTVar     int64
			PMTU            uint32
			Omitted, Sender bool
		}
	}
	End struct {
		Streams []struct{ Sender, Receiver toldEnd }
		CPU     map[string]float64 `json:"cpu_utilization_percent"`
		Sender  string             `json:"sender_tcp_congestion"`
		Receive string             `json:"receiver_tcp_congestion"`
	}
	Title, Error string
	Extra        string          `json:"extra_data"`
	OutputJSON   json.RawMessage `json:"server_output_json"`
	OutputText   string          `json:"server_output_text"`
}

type toldEnd struct {
	End         float64
	Bytes       uint64
	Retransmits *uint64
	Cwnd        uint64 `json:"max_snd_cwnd"`
	Wnd         uint64 `json:"max_snd_wnd"`
	Max         int64  `json:"max_rtt"`
	Min         int64  `json:"min_rtt"`
	Mean        int64  `json:"mean_rtt"`
}

func length(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds*1e6)) * time.Microsecond
}

func (d *told) info() engine.TestInfo {
	start := d.Start.TestStart
	info := engine.TestInfo{
		Cookie: d.Start.Cookie, Start: time.Unix(d.Start.Timestamp.Timesecs, 0), MSS: d.Start.MSSDef,
		SndBuf: d.Start.Sndbuf, RcvBuf: d.Start.Rcvbuf,
		Spec: engine.Spec{
			Streams: start.Streams, BlockSize: start.Blksize, Bytes: start.Bytes, Blocks: start.Blocks,
			Omit: time.Duration(start.Omit) * time.Second, Duration: time.Duration(start.Duration) * time.Second,
			Bitrate: start.Target, TOS: start.TOS, MSS: d.Start.MSS, Interval: length(start.Interval),
			Direction: engine.Direction(start.Reverse + 2*start.Bidir), Title: d.Title, ExtraData: d.Extra,
		},
	}
	if d.Start.Accepted != nil {
		info.Role = engine.Server
		info.Control.Remote = netip.AddrPortFrom(netip.MustParseAddr(d.Start.Accepted.Host), d.Start.Accepted.Port)
	} else {
		info.Spec.Host, info.Spec.Port = d.Start.ConnectingTo.Host, d.Start.ConnectingTo.Port
	}
	for i, c := range d.Start.Connected {
		dir := info.Spec.Direction
		if dir == engine.Both {
			dir = engine.Direction(i / start.Streams)
		}
		info.Conns = append(info.Conns, engine.Conn{
			Socket: c.Socket, Dir: dir, Sender: sends(info.Role, dir),
			Local:  netip.AddrPortFrom(netip.MustParseAddr(c.LocalHost), c.LocalPort),
			Remote: netip.AddrPortFrom(netip.MustParseAddr(c.RemoteHost), c.RemotePort),
		})
	}
	return info
}

func reading(n *uint64) probes.Reading[uint64] {
	if n == nil {
		return probes.Unknown[uint64](probes.Absent, "not in the capture")
	}
	return probes.Got(*n)
}

func (d *told) intervals(info engine.TestInfo) (ivs []engine.Interval) {
	for _, iv := range d.Intervals {
		out := engine.Interval{Start: length(iv.Streams[0].Start), End: length(iv.Streams[0].End), Omitted: iv.Streams[0].Omitted}
		for i, s := range iv.Streams {
			out.Streams = append(out.Streams, engine.StreamInterval{
				Conn: info.Conns[i], Bytes: s.Bytes, Retransmits: reading(s.Retransmits),
				TCP: probes.Got(engine.TCPInfo{
					Size: engine.InfoRTO, SndCwnd: s.Cwnd, SndMSS: 1, SndWnd: s.Wnd, PMTU: s.PMTU,
					RTT: time.Duration(s.RTT) * time.Microsecond, RTTVar: time.Duration(s.RTTVar) * time.Microsecond,
				}),
			})
		}
		ivs = append(ivs, out)
	}
	return ivs
}

func (d *told) result(info engine.TestInfo) engine.Result {
	cpu := d.End.CPU
	r := engine.Result{
		Info: info, LocalCPU: engine.CPUUse{Total: cpu["host_total"], User: cpu["host_user"], System: cpu["host_system"]},
		RemoteCPU:       probes.Got(engine.CPUUse{Total: cpu["remote_total"], User: cpu["remote_user"], System: cpu["remote_system"]}),
		LocalCongestion: d.End.Sender, RemoteCongestion: d.End.Receive,
		PeerOutput: d.OutputText,
	}
	if d.OutputJSON != nil {
		r.PeerOutput, r.PeerOutputJSON = string(d.OutputJSON), true
	}
	if dir := info.Spec.Direction; dir != engine.Both && !sends(info.Role, dir) {
		r.LocalCongestion, r.RemoteCongestion = d.End.Receive, d.End.Sender
	}
	if d.Error != "" {
		r.Err = errors.New(d.Error)
	}
	for i, s := range d.End.Streams {
		us := func(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
		r.Streams = append(r.Streams, engine.StreamResult{
			Conn: info.Conns[i], Retransmits: reading(s.Sender.Retransmits),
			Sent:     probes.Got(engine.End{Bytes: s.Sender.Bytes, Seconds: s.Sender.End}),
			Received: probes.Got(engine.End{Bytes: s.Receiver.Bytes, Seconds: s.Receiver.End}),
			TCP: engine.TCPExtremes{
				Samples: 1, MaxCwnd: s.Sender.Cwnd, MaxSndWnd: s.Sender.Wnd,
				MaxRTT: us(s.Sender.Max), MinRTT: us(s.Sender.Min), MeanRTT: us(s.Sender.Mean),
			},
		})
	}
	return r
}

// play runs the captured test again, through sink.
func (d *told) play(sink engine.Sink) {
	if len(d.Start.Connected) == 0 {
		sink.End(d.result(engine.TestInfo{}))
		return
	}
	info := d.info()
	sink.Begin(info)
	for _, iv := range d.intervals(info) {
		sink.Interval(iv)
	}
	sink.End(d.result(info))
}

func captures3_18(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "iperf3-3.18", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no captured output matches %s: %v", pattern, err)
	}
	return files
}

// iperf3 works out two figures from roundings of its own, which no one could repeat: the
// length of an interval is a 32-bit float, and a receiver's "seconds" is the sender's time.
var ownRoundings = regexp.MustCompile(`("(?:seconds|bits_per_second)":\t?)[\d.e+-]+`)

// Every other number must come back to the digit.
func normal(doc string) string { return ownRoundings.ReplaceAllString(doc, "${1}n") }

// A server's start holds target_bitrate twice, which most readers of JSON frown upon:
// linerate gives the second.
func withoutDouble(doc string) string {
	return strings.Replace(doc, "\"target_bitrate\":\t50000000,\n\t\t\"sock_bufsize\"", `"sock_bufsize"`, 1)
}

// The streams of one interval end some microseconds apart in iperf3; in linerate they end
// together.
func oneEnd(doc string) string {
	return regexp.MustCompile(`("end":\t\d\.\d\d\d)\d+`).ReplaceAllString(doc, "${1}n")
}

func TestJSONAsIperf3Prints(t *testing.T) {
	for _, file := range captures3_18(t, "json-*") {
		if strings.HasSuffix(file, ".stderr") {
			continue
		}
		name := filepath.Base(file)
		want := captured(t, name)
		if !strings.Contains(want, `"start":`) || strings.HasPrefix(name, "json-verbose.client") {
			continue // a server in text mode; -V adds a line before the document
		}
		t.Run(name, func(t *testing.T) {
			var d told
			if err := json.Unmarshal([]byte(want), &d); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			d.play(NewJSON(&out, JSONOptions{Version: d.Start.Version, System: d.Start.SystemInfo}))
			want, got := normal(withoutDouble(want)), normal(out.String())
			if d.Start.TestStart.Streams > 1 {
				want, got = oneEnd(want), oneEnd(got)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("differs from iperf3 3.18 (-iperf3 +linerate):\n%s", diff)
			}
		})
	}
}

func TestJSONStreamAsIperf3Prints(t *testing.T) {
	for _, file := range captures3_18(t, "stream*") {
		name := filepath.Base(file)
		want := captured(t, name)
		if !strings.HasPrefix(want, `{"event":`) || !strings.Contains(want, `"event":"end"`) {
			continue // a server in text mode, or one that was killed
		}
		t.Run(name, func(t *testing.T) {
			d := toldByEvents(t, want)
			var got strings.Builder
			d.play(NewJSONStream(&got, false, JSONOptions{Version: d.Start.Version, System: d.Start.SystemInfo}))
			if d.Start.Accepted != nil {
				want = strings.Replace(want, `"target_bitrate":50000000,"sock_bufsize"`, `"sock_bufsize"`, 1)
			}
			if diff := cmp.Diff(reporttest.Mask(normal(want)), reporttest.Mask(normal(got.String()))); diff != "" {
				t.Errorf("differs from iperf3 3.18 (-iperf3 +linerate):\n%s", diff)
			}
		})
	}
}

// toldByEvents puts the events of a stream together again.
func toldByEvents(t *testing.T, stream string) *told {
	t.Helper()
	parts := map[string][]string{}
	for line := range strings.Lines(stream) {
		var e struct {
			Event string
			Data  json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		parts[e.Event] = append(parts[e.Event], string(e.Data))
	}
	doc := fmt.Sprintf(`{"intervals":[%s]`, strings.Join(parts["interval"], ","))
	for _, key := range []string{"start", "error", "server_output_json", "server_output_text", "end"} {
		if parts[key] != nil {
			doc += fmt.Sprintf(`,%q:%s`, key, parts[key][0])
		}
	}
	d := new(told)
	if err := json.Unmarshal([]byte(doc+"}"), d); err != nil {
		t.Fatal(err)
	}
	return d
}

// iperf3 before 3.19 has no --json-stream-full-output: here against the two halves.
func TestJSONStreamFull(t *testing.T) {
	s := scene{intervals: 2, spec: engine.Spec{Title: "night"}}
	var events, doc, got strings.Builder
	s.play(NewJSONStream(&events, false, JSONOptions{}))
	s.play(NewJSON(&doc, JSONOptions{}))
	s.play(NewJSONStream(&got, true, JSONOptions{}))
	if diff := cmp.Diff(events.String()+doc.String(), got.String()); diff != "" {
		t.Errorf("full stream is not events and document (-want +got):\n%s", diff)
	}
}

// What the other end never told is zero in iperf3's fields, as there, but said to be so.
func TestJSONOfATestCutShort(t *testing.T) {
	var got strings.Builder
	s := scene{intervals: 1, cut: errCut, spec: engine.Spec{Direction: engine.Both}}
	s.play(NewJSON(&got, JSONOptions{}))
	var doc struct {
		Intervals []any
		Error     string
		End       struct {
			Sent     span `json:"sum_sent"`
			Received span `json:"sum_received"`
		}
		Linerate extra
	}
	if err := json.Unmarshal([]byte(got.String()), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Intervals) != 1 || doc.Error != errCut.Error() {
		t.Errorf("got %d intervals and error %q, want 1 and %q", len(doc.Intervals), doc.Error, errCut)
	}
	if doc.End.Sent.Bytes != mbit50 || doc.End.Received.Bytes != 0 {
		t.Errorf("sent %d, received %d bytes, want %d and 0", doc.End.Sent.Bytes, doc.End.Received.Bytes, mbit50)
	}
	var fields []string
	for _, u := range doc.Linerate.Unknown {
		fields = append(fields, u.Field)
		if u.Reason != "the server ended the test" {
			t.Errorf("%s: reason %q", u.Field, u.Reason)
		}
	}
	want := []string{
		"end.streams[0].receiver", "end.streams[1].sender", "end.sum_received",
		"end.sum_sent_bidir_reverse", "end.cpu_utilization_percent.remote",
	}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("unknown fields (-want +got):\n%s", diff)
	}
}

func TestJSONTranscript(t *testing.T) {
	s := scene{role: engine.Server, intervals: 2, spec: engine.Spec{ServerOutput: true}}
	var doc strings.Builder
	s.play(NewJSON(&doc, JSONOptions{}))
	for name, sink := range map[string]engine.Sink{
		"json":   NewJSON(new(strings.Builder), JSONOptions{}),
		"stream": NewJSONStream(new(strings.Builder), false, JSONOptions{}),
	} {
		sink.Begin(s.info())
		for _, iv := range s.reports() {
			sink.Interval(iv)
		}
		got, isJSON := sink.(engine.Transcript).Transcript(s.result())
		if !isJSON {
			t.Errorf("%s: transcript is not called JSON", name)
		}
		if diff := cmp.Diff(doc.String(), string(layout(nil, []byte(got), true))+"\n"); diff != "" {
			t.Errorf("%s: transcript is not the document (-want +got):\n%s", name, diff)
		}
	}
}

func TestJSONIsHarmless(t *testing.T) {
	s := scene{intervals: 1, output: "\x1b[2J \u0085 \u202e 😀\U000e0041 é \"q\"", spec: engine.Spec{Title: "\x9b"}}
	var got strings.Builder
	s.play(NewJSON(&got, JSONOptions{}))
	for _, r := range got.String() {
		if !harmless(r) && r != '\n' {
			t.Errorf("%q reaches the terminal", r)
		}
	}
	var doc struct {
		Output string `json:"server_output_text"`
	}
	if err := json.Unmarshal([]byte(got.String()), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Output != s.output {
		t.Errorf("server output came back as %q, want %q", doc.Output, s.output)
	}

	s.output, s.json = "{\"a\":\"\x9b31m\u009b\"}", true
	got.Reset()
	s.play(NewJSON(&got, JSONOptions{}))
	if want := "\"a\":\t\"\\ufffd31m\\u009b\""; !strings.Contains(got.String(), want) {
		t.Errorf("server's JSON lacks %s:\n%q", want, got.String())
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1", 50000000: "50000000", -1: "-1", 1.001638: "1.001638",
		1.0016380548477173: "1.0016380548477173", // 17 digits, from json.client
		50249336.8302107:   "50249336.8302107",
		9.94e10:            "99400000000",
		1e20:               "1e+20", 1e-7: "1e-07", math.Inf(1): "null", math.Copysign(0, -1): "0",
	} {
		if got, err := json.Marshal(number(v)); err != nil || string(got) != want {
			t.Errorf("number(%v) = %s, %v, want %s", v, got, err, want)
		}
	}
	if got, _ := json.Marshal(number(math.NaN())); string(got) != "null" {
		t.Errorf("number(NaN) = %s, want null", got)
	}
}

// Whatever JSON a peer sends, laying it out changes no value.
func FuzzLayout(f *testing.F) {
	f.Add(`{"a":[{},[],"\u001b\"\\",{"b":1e5,"c":[1,2]}],"d":""}`)
	f.Add(`"😀 "`)
	f.Add(`[[[{"":{}}]]]`)
	f.Fuzz(func(t *testing.T, doc string) {
		if !json.Valid([]byte(doc)) {
			return
		}
		var want any
		if err := json.Unmarshal([]byte(doc), &want); err != nil {
			return // a number out of range
		}
		for _, indent := range []bool{false, true} {
			out := layout(nil, []byte(doc), indent)
			var got any
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("layout(%q, %v) = %q: %v", doc, indent, out, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("layout(%q, %v) changes values (-want +got):\n%s", doc, indent, diff)
			}
			if again := layout(nil, out, indent); string(again) != string(out) {
				t.Errorf("layout of a layout of %q differs: %q, then %q", doc, out, again)
			}
		}
	})
}

func FuzzClean(f *testing.F) {
	f.Add("plain")
	f.Add("\x1b[31m\x9b\u009b\xff\u202e\t")
	f.Fuzz(func(t *testing.T, s string) {
		got := clean(s)
		for _, r := range got {
			if !harmless(r) {
				t.Errorf("clean(%q) = %q lets %s through", s, got, strconv.QuoteRune(r))
			}
		}
	})
}
