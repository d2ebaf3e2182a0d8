package report

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"linerate/engine"
	"linerate/engine/report/reporttest"
	"linerate/probes"

	"github.com/google/go-cmp/cmp"
)

const uname = "Linux vm 6.18.44-fc-v857 #1 SMP PREEMPT_DYNAMIC @0 x86_64"

// Each row is one pair of captured outputs. The server's is compared where server is set.
var captures = []struct {
	name           string
	client, server scene
	opt            TextOptions
	skipServer     bool
}{
	{name: "upload", client: scene{intervals: 2}},
	{name: "reverse", client: scene{intervals: 2, spec: engine.Spec{Direction: engine.Download}}},
	{name: "bidir", client: scene{intervals: 2, spec: engine.Spec{Direction: engine.Both}}},
	{name: "parallel", client: scene{intervals: 2, spec: engine.Spec{Streams: 3}}},
	{name: "parallel-reverse", client: scene{intervals: 2, spec: engine.Spec{Streams: 3, Direction: engine.Download}}},
	{name: "parallel-bidir", client: scene{intervals: 2, spec: engine.Spec{Streams: 2, Direction: engine.Both}}},
	{name: "many", client: scene{intervals: 1, spec: engine.Spec{Streams: 8}}},
	{name: "omit", client: scene{omitted: 1, intervals: 2, spec: engine.Spec{Omit: time.Second}}},
	{name: "omit-parallel", client: scene{omitted: 1, intervals: 2, spec: engine.Spec{Streams: 2}}},
	{name: "omit-reverse", client: scene{omitted: 1, intervals: 2, spec: engine.Spec{Direction: engine.Download}}},
	{name: "omit-bidir", client: scene{omitted: 1, intervals: 1, spec: engine.Spec{Streams: 2, Direction: engine.Both}}},
	{name: "bytes", client: scene{intervals: 4, spec: engine.Spec{Bytes: 20 << 20}}},
	{name: "blocks", client: scene{intervals: 3, spec: engine.Spec{Blocks: 100}}},
	{name: "half-second", client: scene{intervals: 2, step: time.Second / 2}, server: scene{intervals: 1}},
	{name: "no-interval", client: scene{intervals: 1, spec: engine.Spec{Interval: -1}}},
	{name: "format-k", client: scene{intervals: 1}, opt: TextOptions{Format: 'k'}},
	{name: "format-m", client: scene{intervals: 1}, opt: TextOptions{Format: 'm'}},
	{name: "format-g", client: scene{intervals: 1}, opt: TextOptions{Format: 'g'}},
	{name: "format-K", client: scene{intervals: 1}, opt: TextOptions{Format: 'K'}},
	{name: "format-M", client: scene{intervals: 1}, opt: TextOptions{Format: 'M'}},
	{name: "title", client: scene{intervals: 1, spec: engine.Spec{Streams: 2}}, opt: TextOptions{Title: "night"}},
	{name: "title-reverse", client: scene{intervals: 2, spec: engine.Spec{Direction: engine.Download}}, opt: TextOptions{Title: "night"}},
	{name: "port", client: scene{intervals: 1}},
	{name: "ipv6", client: scene{intervals: 1, host: "::1"}, skipServer: true},
	{name: "several", client: scene{intervals: 1, host: "localhost"}, skipServer: true},
	{name: "verbose", client: scene{intervals: 2, spec: engine.Spec{Bitrate: 5e7, Duration: 2 * time.Second}}, opt: TextOptions{Verbose: true}},
	{name: "verbose-reverse", client: scene{intervals: 2, spec: engine.Spec{Bitrate: 5e7, Duration: 2 * time.Second, Direction: engine.Download}}, opt: TextOptions{Verbose: true}},
	{name: "verbose-bidir", client: scene{intervals: 1, spec: engine.Spec{Bitrate: 5e7, Duration: time.Second, Direction: engine.Both, Streams: 2}}, opt: TextOptions{Verbose: true}},
	{name: "verbose-omit", client: scene{omitted: 1, intervals: 1, spec: engine.Spec{Bitrate: 5e7, Duration: time.Second, Omit: time.Second}}, opt: TextOptions{Verbose: true}},
	{name: "verbose-bytes", client: scene{intervals: 4, spec: engine.Spec{Bitrate: 5e7, Bytes: 20 << 20}}, opt: TextOptions{Verbose: true}},
	{name: "verbose-mss", client: scene{intervals: 1, spec: engine.Spec{Bitrate: 5e7, Duration: time.Second, MSS: 1400}}, opt: TextOptions{Verbose: true}},
	{name: "verbose-tos", client: scene{intervals: 1, spec: engine.Spec{Bitrate: 5e7, Duration: time.Second, TOS: 32}}, opt: TextOptions{Verbose: true}},
	{name: "verbose-interval0", client: scene{intervals: 1, spec: engine.Spec{Bitrate: 5e7, Duration: time.Second, Interval: -1}}, opt: TextOptions{Verbose: true}},
}

func TestTextAsIperf3Prints(t *testing.T) {
	for _, c := range captures {
		t.Run(c.name, func(t *testing.T) {
			c.opt.Version, c.opt.System, c.opt.OneOff = "linerate 0.1.0", uname, true
			var got strings.Builder
			c.client.play(NewText(&got, c.opt))
			compare(t, c.name+".client", got.String())
			if c.skipServer {
				return
			}
			got.Reset()
			server := c.server
			if server.intervals == 0 {
				server = c.client
			}
			server.role = engine.Server
			text := NewServerText(&got, 46202, c.opt)
			text.Listening()
			server.play(text.Sink(server.info()))
			compare(t, c.name+".server", got.String())
			if err := text.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	if diff := cmp.Diff(reporttest.Mask(captured(t, name)), reporttest.Mask(got)); diff != "" {
		t.Errorf("%s differs from iperf3 3.18 (-iperf3 +linerate):\n%s", name, diff)
	}
}

func TestTextServerOutput(t *testing.T) {
	const mark = "Server output:\n"
	for _, name := range []string{"server-output", "verbose-title"} {
		want := captured(t, name+".client")
		_, output, _ := strings.Cut(want, mark)
		output = output[:strings.Index(output, "\n\n")+1]
		s := scene{intervals: 1, output: output}
		opt := TextOptions{}
		if name == "verbose-title" {
			s.spec = engine.Spec{Bitrate: 5e7, Duration: time.Second}
			opt = TextOptions{Verbose: true, Title: "night", Version: "linerate 0.1.0", System: uname}
		}
		var got strings.Builder
		s.play(NewText(&got, opt))
		compare(t, name+".client", got.String())
	}

	want := captured(t, "server-output-json.client")
	_, output, _ := strings.Cut(want, "Server JSON output:\n")
	output = output[:strings.Index(output, "\n\n")]
	var got strings.Builder
	scene{intervals: 1, output: output, json: true}.play(NewText(&got, TextOptions{}))
	compare(t, "server-output-json.client", got.String())
}

func TestTextTranscript(t *testing.T) {
	want := captured(t, "server-output-parallel.client")
	_, want, _ = strings.Cut(want, "Server output:\n")
	want = want[:strings.LastIndex(want, "\n\niperf Done")]
	s := scene{role: engine.Server, intervals: 2, spec: engine.Spec{Streams: 2, Direction: engine.Download, ServerOutput: true}}
	var printed strings.Builder
	text := NewServerText(&printed, 5201, TextOptions{})
	text.Listening()
	listening := printed.String()
	sink := text.Sink(s.info())
	sink.Begin(s.info())
	for _, iv := range s.reports() {
		sink.Interval(iv)
	}
	sofar := s.result()
	for i := range sofar.Streams {
		sofar.Streams[i].Received = probes.Unknown[engine.End](probes.Absent, "the client has not told yet")
	}
	got, json := sink.(engine.Transcript).Transcript(sofar)
	if json {
		t.Error("transcript of a text is called JSON")
	}
	if diff := cmp.Diff(reporttest.Mask(want), reporttest.Mask(got)); diff != "" {
		t.Errorf("transcript differs from iperf3's (-iperf3 +linerate):\n%s", diff)
	}
	sink.End(s.result())
	if own := strings.TrimPrefix(printed.String(), listening); !strings.HasPrefix(own, got) {
		t.Errorf("the server prints\n%s\nand tells its client\n%s", own, got)
	}

	s.spec.ServerOutput = false
	sink.Begin(s.info())
	if got, _ := sink.(engine.Transcript).Transcript(sofar); got != "" {
		t.Errorf("transcript nobody asked for: %q, want none", got)
	}
}

func TestTextTimestamps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got strings.Builder
		s := scene{intervals: 1}
		text := NewText(&got, TextOptions{Timestamps: "%H:%M:%S_", Title: "night"})
		text.Begin(s.info())
		time.Sleep(time.Second)
		text.Interval(s.reports()[0])
		text.End(s.result())

		// The two lines of the start came a second before the others, in the capture too.
		begun, ended := time.Now().Add(-time.Second).Format("15:04:05_"), time.Now().Format("15:04:05_")
		want := regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d_`).ReplaceAllString(captured(t, "timestamps-format.client"), ended)
		want = strings.Replace(want, ended+"night:  Conn", begun+"night:  Conn", 1)
		want = strings.Replace(want, ended+"night:  [  5] local", begun+"night:  [  5] local", 1)
		if diff := cmp.Diff(reporttest.Mask(want), reporttest.Mask(got.String())); diff != "" {
			t.Errorf("timestamps differ from iperf3 3.18 (-iperf3 +linerate):\n%s", diff)
		}
	})
}

// iperf3 prints "0.00 Bytes … receiver" for a half it never heard of; linerate says so.
func TestTextOfATestCutShort(t *testing.T) {
	var got strings.Builder
	s := scene{intervals: 1, cut: errCut, spec: engine.Spec{Streams: 2, Direction: engine.Both}}
	s.play(NewText(&got, TextOptions{}))
	_, table, ok := strings.Cut(got.String(), separator+"\n")
	if !ok {
		t.Fatalf("no final table in\n%s", got.String())
	}
	want := `[ ID][Role] Interval           Transfer     Bitrate         Retr
[  5][TX-C]   0.00-1.00   sec  6.00 MBytes  50.3 Mbits/sec    0            sender
[  5] (receiver statistics not available)
[  7][TX-C]   0.00-1.00   sec  6.00 MBytes  50.3 Mbits/sec    0            sender
[  7] (receiver statistics not available)
[SUM][TX-C]   0.00-1.00   sec  12.0 MBytes   101 Mbits/sec    0             sender
[SUM] (receiver statistics not available)
[  9] (sender statistics not available)
[  9][RX-C]   0.00-1.00   sec  6.00 MBytes  50.3 Mbits/sec                  receiver
[ 11] (sender statistics not available)
[ 11][RX-C]   0.00-1.00   sec  6.00 MBytes  50.3 Mbits/sec                  receiver
[SUM] (sender statistics not available)
[SUM][RX-C]   0.00-1.00   sec  12.0 MBytes   101 Mbits/sec                  receiver
`
	if diff := cmp.Diff(want, table); diff != "" {
		t.Errorf("final table (-want +got):\n%s", diff)
	}
}

func TestTextOfAFailedConnection(t *testing.T) {
	var got strings.Builder
	text := NewText(&got, TextOptions{})
	text.End(engine.Result{Err: errors.New("connection refused")})
	if got.String() != "" {
		t.Errorf("text of a test that never began is %q, want none", got.String())
	}
	text = NewText(&got, TextOptions{Verbose: true, Version: "v", System: "s"})
	text.Greet()
	text.End(engine.Result{Err: errors.New("connection refused")})
	if want := "v\ns\n"; got.String() != want {
		t.Errorf("verbose text of a test that never began is %q, want %q", got.String(), want)
	}
}

// Without TCP_INFO iperf3 leaves the columns away; a reading that merely failed keeps
// them, with a dash.
func TestTextWithoutRetransmits(t *testing.T) {
	s := scene{intervals: 1}
	for _, test := range []struct {
		retr probes.Reading[uint64]
		want []string
	}{
		{probes.Unknown[uint64](probes.Unsupported, "no TCP_INFO"), []string{
			"[ ID] Interval           Transfer     Bitrate",
			"[  5]   0.00-1.00   sec  6.00 MBytes  50.3 Mbits/sec                  ",
		}},
		{probes.Unknown[uint64](probes.Failed, "bad descriptor"), []string{
			"[ ID] Interval           Transfer     Bitrate         Retr  Cwnd",
			"[  5]   0.00-1.00   sec  6.00 MBytes  50.3 Mbits/sec    –   –                 ",
		}},
	} {
		var got strings.Builder
		text := NewText(&got, TextOptions{})
		text.Begin(s.info())
		got.Reset()
		iv := s.reports()[0]
		iv.Streams[0].Retransmits = test.retr
		iv.Streams[0].TCP = probes.Unknown[engine.TCPInfo](test.retr.Status, test.retr.Reason)
		text.Interval(iv)
		if diff := cmp.Diff(strings.Join(test.want, "\n")+"\n", got.String()); diff != "" {
			t.Errorf("%v (-want +got):\n%s", test.retr.Status, diff)
		}
	}
}

func TestTextIsHarmless(t *testing.T) {
	s := scene{intervals: 1, output: "a\x1b]0;owned\abc\r\n\u202eevil\n", host: "h\x1b[2J"}
	var got strings.Builder
	s.play(NewText(&got, TextOptions{Title: "\x9b31m", Verbose: true, Version: "v", System: "x\a"}))
	for i, r := range got.String() {
		if !harmless(r) && r != '\n' {
			t.Fatalf("%q at byte %d reaches the terminal: %q", r, i, got.String()[max(0, i-20):i])
		}
	}
	for _, want := range []string{`h\x1b[2J`, `a\x1b]0;owned\abc`, `\u202eevil`, `x\a`, `\x9b31m:  `} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("text lacks %q", want)
		}
	}
}

// failing accepts so many writes, then fails.
type failing struct{ left int }

func (f *failing) Write(b []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

var errFull = errors.New("no space left on device")

func TestSinksKeepTheirFirstError(t *testing.T) {
	type sink interface {
		engine.Sink
		Err() error
	}
	for name, sink := range map[string]sink{
		"text":   NewText(&failing{1}, TextOptions{}),
		"json":   NewJSON(&failing{0}, JSONOptions{}),
		"stream": NewJSONStream(&failing{2}, true, JSONOptions{}),
	} {
		scene{intervals: 3}.play(sink)
		if err := sink.Err(); !errors.Is(err, errFull) {
			t.Errorf("%s: Err() = %v, want %v", name, err, errFull)
		}
	}
	text := NewServerText(&failing{1}, 5201, TextOptions{})
	text.Listening()
	scene{role: engine.Server, intervals: 1}.play(text.Sink(engine.TestInfo{}))
	if err := text.Err(); !errors.Is(err, errFull) {
		t.Errorf("server: Err() = %v, want %v", err, errFull)
	}
}
