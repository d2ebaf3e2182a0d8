package streams

import (
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

// snap has a stream for each rate.
func snap(rates ...float64) *engine.Snapshot {
	s := &engine.Snapshot{Sums: []engine.Sum{{Dir: engine.Upload}}}
	for i, r := range rates {
		s.Streams = append(s.Streams, engine.Stream{Conn: engine.Conn{ID: i + 1, Sender: true}, Rate: r,
			RTT: probes.Got(time.Duration(i+1) * time.Millisecond), RetransRate: probes.Got(float64(i % 3))})
		s.Sums[0].Rate += r
	}
	return s
}

func draw(w, h int, s *engine.Snapshot, o Options) []string {
	var g grid.Grid
	g.Reset(w, h, &style.Block)
	var p Pane
	p.Draw(g.All(), s, o)
	return strings.Split(string(g.AppendTo(nil, style.NewPalette(style.Bare, style.Dark))), "\n")
}

func TestOrder(t *testing.T) {
	s := snap(1e9, 3e9, 0.5e9, 1.2e9)
	for by, want := range map[Sort][]int{
		ByID:        {0, 1, 2, 3},
		ByRate:      {1, 3, 0, 2},
		ByRTT:       {3, 2, 1, 0},
		ByRetrans:   {2, 1, 0, 3},
		ByDeviation: {1, 2, 0, 3},
	} {
		var p Pane
		p.survey(s)
		p.order(s, by)
		if diff := cmp.Diff(want, p.rows); diff != "" {
			t.Errorf("%v (-want +got):\n%s", by, diff)
		}
	}
}

func TestOrderStandsForAWhile(t *testing.T) {
	s := snap(1e9, 2e9)
	var p Pane
	p.order(s, ByRate)
	s.Streams[0].Rate = 3e9
	s.Elapsed = sortEvery - 1
	if p.order(s, ByRate); p.rows[0] != 1 {
		t.Error("rows change places within two seconds")
	}
	s.Elapsed = sortEvery
	if p.order(s, ByRate); p.rows[0] != 0 {
		t.Error("the order is never renewed")
	}
	if p.order(s, ByID); p.rows[0] != 0 || p.sortedBy != ByID {
		t.Error("another order has to wait")
	}
}

func TestAutoShowsTheUnusualOnlyWhenNotAllFit(t *testing.T) {
	if got := Auto.resolve(true); got != ByID {
		t.Errorf("all fit: %v", got)
	}
	if got := Auto.resolve(false); got != ByDeviation {
		t.Errorf("not all fit: %v", got)
	}
	if got := ByRTT.resolve(true); got != ByRTT {
		t.Errorf("the operator's choice becomes %v", got)
	}
}

func TestFoldLineStandsForTheRest(t *testing.T) {
	s := snap(1e9, 1e9, 1e9, 1e9, 1e9, 4e9)
	rows := draw(44, 6, s, Options{})
	if !strings.Contains(rows[1], "5  4.00 G") {
		t.Errorf("the unusual stream is not first: %q", rows[1])
	}
	if want := " …3 more: 1.00 G to 1.00 G, median 1.00 G"; rows[4] != want {
		t.Errorf("fold line %q, want %q", rows[4], want)
	}
	if !strings.Contains(rows[5], "9.00 G") {
		t.Errorf("SUM row %q", rows[5])
	}
}

func TestHeatStripHasACellForEachStream(t *testing.T) {
	rates := make([]float64, 60)
	for i := range rates {
		rates[i] = 1e8
	}
	rates[10] = 0
	for w, cells := range map[int]int{80: 60, 44: 30} { // narrower: two streams a cell
		line := draw(w, 12, snap(rates...), Options{})[1]
		strip := strings.Fields(line)[1]
		if n := len([]rune(strip)); n != cells {
			t.Errorf("width %d: %d cells %q, want %d", w, n, strip, cells)
		}
		if strings.Count(strip, "·") != 1 {
			t.Errorf("width %d: the dead stream does not show in %q", w, strip)
		}
	}
}

func TestColumnsGiveWayInOrder(t *testing.T) {
	s := snap(1e9)
	for w, want := range map[int][]string{
		20:  {"id", "bit/s", "retr/s"},
		36:  {"id", "bit/s", "share", "retr/s", "rtt"},
		44:  {"id", "bit/s", "share", "retr/s", "cwnd", "rtt"},
		130: {"id", "bit/s", "share", "vs", "fair", "retr/s", "cwnd", "rtt", "min", "rtt", "limited", "by", "core", "thread", "last", "24", "s"},
	} {
		head := strings.Fields(draw(w, 5, s, Options{Units: unit.BitsSI})[0])
		if diff := cmp.Diff(want, head); diff != "" {
			t.Errorf("width %d (-want +got):\n%s", w, diff)
		}
	}
}

func TestLimitedBy(t *testing.T) {
	info := engine.TCPInfo{Size: engine.InfoBusyTime, BusyTime: 10 * time.Second}
	with := func(change func(*engine.TCPInfo)) engine.Stream {
		i := info
		change(&i)
		return engine.Stream{Conn: engine.Conn{Sender: true}, TCP: probes.Got(i)}
	}
	receiver := with(func(*engine.TCPInfo) {})
	receiver.Sender = false
	for name, test := range map[string]struct {
		st   engine.Stream
		want string
	}{
		"network":        {with(func(*engine.TCPInfo) {}), "cwnd"},
		"far window":     {with(func(i *engine.TCPInfo) { i.RwndLimited = 4 * time.Second }), "rwnd 40 %"},
		"send buffer":    {with(func(i *engine.TCPInfo) { i.SndbufLimited, i.RwndLimited = 5*time.Second, 3*time.Second }), "sndbuf 50 %"},
		"old kernel":     {with(func(i *engine.TCPInfo) { i.Size = engine.InfoBase }), "–"},
		"just begun":     {with(func(i *engine.TCPInfo) { i.BusyTime = time.Millisecond }), "–"},
		"receiving":      {receiver, "–"},
		"no information": {engine.Stream{Conn: engine.Conn{Sender: true}}, "–"},
	} {
		if got := limitedBy(&test.st); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// In a download retransmits, window and round trip are the far end's: the title says how
// old they are, or that nobody tells.
func TestTitleSaysWhoTells(t *testing.T) {
	told := engine.Stream{Conn: engine.Conn{Dir: engine.Download}, Cwnd: probes.Got(uint64(1 << 20)), TCPAge: 300 * time.Millisecond}
	for name, test := range map[string]struct {
		peer   engine.Peer
		stream engine.Stream
		want   string
	}{
		"upload":    {engine.Peer{}, engine.Stream{Conn: engine.Conn{Sender: true}}, "STREAMS 1"},
		"linerate":  {engine.Peer{Linerate: true}, told, "STREAMS 1  far tcp 0.3 s ago"},
		"too early": {engine.Peer{Linerate: true}, engine.Stream{Conn: engine.Conn{Dir: engine.Download}}, "STREAMS 1  far tcp not told yet"},
		"stock":     {engine.Peer{}, engine.Stream{Conn: engine.Conn{Dir: engine.Download}}, "STREAMS 1  far tcp – (stock iperf3)"},
	} {
		s := &engine.Snapshot{Peer: test.peer, Streams: []engine.Stream{test.stream}}
		if got := Title(s, Options{}, 1); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
