package report

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"linerate/engine"
	"linerate/probes"

	"github.com/google/go-cmp/cmp"
)

// session is a state after two steps: one stream that filled a core, then more.
func session(streams int, dir engine.Direction) *engine.Snapshot {
	s := scene{intervals: 10, spec: engine.Spec{Streams: streams, Direction: dir}}
	result := s.result()
	account := probes.Got(engine.End{Bytes: uint64(9.38e9/8*10) / uint64(streams), Seconds: 10})
	for i := range result.Streams {
		result.Streams[i].Sent, result.Streams[i].Received = account, account
		result.Streams[i].Retransmits = probes.Got(uint64(i))
	}
	snap := &engine.Snapshot{
		Phase: engine.Done, Elapsed: 84 * time.Second, Moved: 98_100_000_000,
		Peer: engine.Peer{Host: "nas.lan", Addr: netip.MustParseAddrPort("10.0.0.2:5201"), Agent: "iperf 3.18"},
	}
	first := engine.Segment{
		Index: 1, Change: "start", Spec: engine.Spec{Streams: 1, Direction: dir}, End: 10 * time.Second,
		Title: "one sending thread fills a core",
	}
	second := engine.Segment{
		Index: 2, Change: fmt.Sprintf("streams 1→%d", streams), Spec: result.Info.Spec,
		Start: 10 * time.Second, End: 20 * time.Second, Title: "line rate reached", Results: &result,
	}
	for _, d := range dir.Dirs() {
		first.Sums = append(first.Sums, engine.Sum{Dir: d, Mean: 3.21e9, Retransmits: probes.Got[uint64](0)})
		second.Sums = append(second.Sums, engine.Sum{
			Dir: d, Mean: 9.41e9, Bytes: 1 << 30, Delta: probes.Got(1.93), Ceiling: probes.Got(9.415e9),
			Retransmits: probes.Got[uint64](12),
		})
		snap.Verdicts = append(snap.Verdicts, engine.Verdict{
			Dir: d,
			Main: engine.Finding{
				Severity: engine.SeverityLimit, Confidence: engine.Sure, Title: "line rate",
				Text:   "The link is full: 9.41 Gbit/s of the 9.42 Gbit/s that Ethernet and TCP leave of 10 Gbit/s reach the far end; nothing to be gained here but by a faster link.",
				Remedy: []engine.Remedy{{Text: "Larger frames leave less of the link to headers.", Temporary: "ip link set dev eth0 mtu 9000; ip route flush cache"}},
			},
			Also: []engine.Finding{{Severity: engine.SeverityWarning, Confidence: engine.Likely, Title: "softirq fills core 3"}, {Title: "the far side is unknown"}},
		})
	}
	snap.Segments = []engine.Segment{first, second}
	for i, c := range result.Info.Conns {
		snap.Streams = append(snap.Streams, engine.Stream{
			Conn: c, Bytes: 1 << 27, Retransmits: probes.Got[uint64](1),
			Cwnd: probes.Got[uint64](1178694), RTT: probes.Got(time.Duration(300+i) * time.Microsecond),
		})
	}
	return snap
}

func summarize(t *testing.T, s engine.Summary) string {
	t.Helper()
	var got strings.Builder
	if err := Summary(&got, s, SummaryWidth); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(got.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > SummaryWidth {
			t.Errorf("a line of %d columns, want at most %d: %q", n, SummaryWidth, line)
		}
		if strings.TrimRight(line, " \n")+"\n" != line {
			t.Errorf("a line ends in blanks: %q", line)
		}
	}
	return got.String()
}

func TestSummary(t *testing.T) {
	want := `linerate: nas.lan 10.0.0.2 port 5201 (iperf 3.18) · TCP upload · 3 streams · 01:24 · 98.1 GB moved

  upload    9.38 Gbit/s received: 11.7 GB in 10.0 s by the receiver's count
            9.41 Gbit/s average without the ramp · 100 % of the 9.41 Gbit/s possible · 3 retransmits

  cpu       0.5 % of one core here, 0.2 % there

limit: The link is full: 9.41 Gbit/s of the 9.42 Gbit/s that Ethernet and TCP leave of 10 Gbit/s
       reach the far end; nothing to be gained here but by a faster link.
  - Larger frames leave less of the link to headers.
      now:    ip link set dev eth0 mtu 9000
              ip route flush cache
  also warning (likely): softirq fills core 3
  also the far side is unknown

  step     at  change               average       Δ  retransmits  held back by
     1  00:00  start        up  3.21 Gbit/s       –            0  one sending thread fills a core
     2  00:10  streams 1→3  up  9.41 Gbit/s  +193 %            3  line rate reached

  stream             rate  share  retransmits      cwnd      rtt
  1       up  3.13 Gbit/s   33 %            0  1.12 MiB  0.30 ms
  2       up  3.13 Gbit/s   33 %            1  1.12 MiB  0.30 ms
  3       up  3.13 Gbit/s   33 %            2  1.12 MiB  0.30 ms
`
	if diff := cmp.Diff(want, summarize(t, engine.Summary{Last: session(3, engine.Upload)})); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

// At 80 columns the verdict of each step is worth more than a cut word.
func TestSummaryAt80Columns(t *testing.T) {
	snap := session(1, engine.Upload)
	snap.Verdicts = []engine.Verdict{{Main: engine.Finding{Text: "Not enough evidence yet."}}}
	snap.Segments[1].Change = "best stream count, streams 8→1"
	snap.PathRTT = probes.PathRTT{Idle: probes.Got(20700 * time.Microsecond), Loaded: probes.Got(307 * time.Millisecond), Hops: probes.Got(3)}
	snap.PathMTU = probes.PathMTU{Out: probes.Got(4074), BlackHole: true, In: probes.Got(9000)}
	want := `linerate: nas.lan 10.0.0.2 port 5201 (iperf 3.18) · TCP upload · 1 stream ·
          01:24 · 98.1 GB moved

  upload    9.38 Gbit/s received: 11.7 GB in 10.0 s by the receiver's count
            9.41 Gbit/s average without the ramp ·
            100 % of the 9.41 Gbit/s possible · 0 retransmits

  cpu       0.5 % of one core here, 0.2 % there
  path      round trip 20.7 ms idle · 307 ms under load ·
            the queue adds 286 ms, awful · packets above 4074 bytes vanish on
            the way out · MTU 9000 back · 3 routers

Not enough evidence yet.

  step     at  change                        average       Δ  held back by
     1  00:00  start                 up  3.21 Gbit/s       –  one sending thread
                                                              fills a core
     2  00:10  best stream count, …  up  9.41 Gbit/s  +193 %  line rate reached
`
	var got strings.Builder
	if err := Summary(&got, engine.Summary{Last: snap}, 80); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

func TestSummaryOfBothWaysCutShort(t *testing.T) {
	snap := session(1, engine.Both)
	snap.Verdicts = nil
	snap.Label = "simulated link 10G"
	last := snap.Segment()
	last.Results, last.Err = nil, "the server fell silent"
	last.Sums[1].Retransmits = probes.Unknown[uint64](probes.Absent, "only the sender counts them")
	want := `linerate: nas.lan 10.0.0.2 port 5201 (iperf 3.18) · TCP both ways · 1 stream each way ·
          simulated link 10G · 01:24 · 98.1 GB moved

  upload    – received (the ends have not compared their counts)
            9.41 Gbit/s average without the ramp · 100 % of the 9.41 Gbit/s possible ·
            12 retransmits

  download  – received (the ends have not compared their counts)
            9.41 Gbit/s average without the ramp · 100 % of the 9.41 Gbit/s possible ·
            – retransmits (only the sender counts them)

  step     at  change                 average       Δ  retransmits  held back by
     1  00:00  start        up    3.21 Gbit/s       –            0  one sending thread fills a core
                            down  3.21 Gbit/s       –            0
     2  00:10  streams 1→1  up    9.41 Gbit/s  +193 %           12  failed: the server fell silent
                            down  9.41 Gbit/s  +193 %            –

ended early: connection reset
`
	got := summarize(t, engine.Summary{Last: snap, Err: errors.New("connection reset")})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

// Of many streams the list keeps the ends and says what it leaves out.
func TestSummaryFoldsStreams(t *testing.T) {
	snap := session(64, engine.Download)
	for i := range snap.Segment().Results.Streams {
		snap.Segment().Results.Streams[i].Received.Value.Bytes = uint64(64-i) * 10_000_000
	}
	got := summarize(t, engine.Summary{Last: snap})
	for _, want := range []string{
		"  1          down                512 Mbit/s    3 %",
		"  … 54 more  down  48.0 Mbit/s – 472 Mbit/s\n",
		"  64         down               8.00 Mbit/s    0 %",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("summary lacks %q:\n%s", want, got)
		}
	}
	if n := strings.Count(got, "Mbit/s"); n != 2*foldKeep+2 {
		t.Errorf("summary has %d stream rates, want %d", n, 2*foldKeep+2)
	}
}

func TestSummaryWithoutATest(t *testing.T) {
	for _, s := range []engine.Summary{{Err: errors.New("nobody\x1b[2J answers")}, {Last: &engine.Snapshot{Err: errors.New("nobody\x1b[2J answers")}}} {
		want := "linerate: no test ran\n\nended early: nobody\\x1b[2J answers\n"
		if got := summarize(t, s); got != want {
			t.Errorf("summary is %q, want %q", got, want)
		}
	}
}

// With nothing told by the far end and nothing counted, no column shows a zero.
func TestSummaryOfUnknowns(t *testing.T) {
	snap := session(2, engine.Upload)
	snap.Segments = snap.Segments[1:]
	last := snap.Segment()
	last.Sums = nil
	for i := range last.Results.Streams {
		untold := probes.Unknown[engine.End](probes.Failed, "the server sent no results within 3 s")
		last.Results.Streams[i].Received = untold
		last.Results.Streams[i].Retransmits = probes.Unknown[uint64](probes.Unsupported, "no TCP_INFO here")
		snap.Streams[i].Retransmits = probes.Unknown[uint64](probes.Unsupported, "no TCP_INFO here")
		snap.Streams[i].Cwnd = probes.Unknown[uint64](probes.Unsupported, "no TCP_INFO here")
		snap.Streams[i].RTT = probes.Unknown[time.Duration](probes.Unsupported, "no TCP_INFO here")
	}
	last.Results.RemoteCPU = probes.Unknown[engine.CPUUse](probes.Failed, "the server sent no results within 3 s")
	got := summarize(t, engine.Summary{Last: snap})
	for _, want := range []string{
		"  upload    – received (the server sent no results within 3 s)\n",
		"            – retransmits (nothing was counted)\n",
		"  cpu       0.5 % of one core here, – there (the server sent no results within 3 s)\n",
		"  1       up     –      –            –     –    –\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("summary lacks %q:\n%s", want, got)
		}
	}
}

func TestSummaryGivesTheWritersError(t *testing.T) {
	if err := Summary(&failing{}, engine.Summary{}, SummaryWidth); !errors.Is(err, errFull) {
		t.Errorf("Summary() = %v, want %v", err, errFull)
	}
}

// On a narrow terminal no line of prose or table wraps.
func TestSummaryOfANarrowTerminal(t *testing.T) {
	s := engine.Summary{Last: session(8, engine.Download)}
	for _, width := range []int{20, 80, 300} {
		var got strings.Builder
		if err := Summary(&got, s, width); err != nil {
			t.Fatal(err)
		}
		most := min(max(width, leastWidth), SummaryWidth)
		for line := range strings.Lines(got.String()) {
			line = strings.TrimSuffix(line, "\n")
			if n := utf8.RuneCountInString(line); n > most && !strings.HasPrefix(strings.TrimSpace(line), "ip link") {
				t.Errorf("width %d: a line of %d columns: %q", width, n, line)
			}
		}
	}
}
