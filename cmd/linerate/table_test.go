package main

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/engine"
)

func TestTable(t *testing.T) {
	begin := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	test := engine.ServerTest{
		ID: 3,
		Info: engine.TestInfo{
			Spec:      engine.Spec{Direction: engine.Both, Streams: 2},
			Control:   engine.Conn{Remote: netip.MustParseAddrPort("192.0.2.9:40282")},
			PeerAgent: "iperf 3.18",
			Conns:     []engine.Conn{{Dir: engine.Upload}, {Dir: engine.Upload}, {Dir: engine.Download}, {Dir: engine.Download}},
		},
		Elapsed: 10 * time.Second,
		Counters: []engine.Counters{
			{Conn: engine.Conn{Dir: engine.Upload}, Bytes: 6e9}, {Conn: engine.Conn{Dir: engine.Upload}, Bytes: 4e9},
			{Conn: engine.Conn{Dir: engine.Download}, Bytes: 1e9}, {Conn: engine.Conn{Dir: engine.Download}, Bytes: 0},
		},
	}
	before := count(test, begin)
	for i := range test.Counters {
		test.Counters[i].Bytes += 125e6 // 1 Gbit more each
	}
	rows := count(test, begin.Add(time.Second)).rows(test, before)
	want := []string{
		"    3  192.0.2.9:40282  upload          2     00:10   2.00 Gbit/s   8.20 Gbit/s    10.2 GB  iperf 3.18",
		"    3  192.0.2.9:40282  download        2     00:10   2.00 Gbit/s   1.00 Gbit/s    1.25 GB  iperf 3.18",
	}
	got := layTable(rows, 10)
	if len(got) != 3 || !strings.Contains(got[0], "client") {
		t.Fatalf("table: got %d lines, want a header and 2:\n%s", len(got), strings.Join(got, "\n"))
	}
	if diff := cmp.Diff(want, got[1:]); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}

	first := count(test, begin).rows(test, moved{})
	if line := layTable(first, 10)[1]; !strings.Contains(line, " – ") {
		t.Errorf("a test seen for the first time has no rate yet: got %q", line)
	}
	if got := layTable(nil, 10); got != nil {
		t.Errorf("no tests: got %q, want no table", got)
	}
}

// More tests than lines are summed up, not cut.
func TestTableFolds(t *testing.T) {
	var rows []row
	for i := range 10 {
		rows = append(rows, row{test: i + 1, client: "192.0.2.9:1", now: 1e9})
	}
	got := layTable(rows, 4)
	if len(got) != 5 {
		t.Fatalf("got %d lines, want a header and 4:\n%s", len(got), strings.Join(got, "\n"))
	}
	if want := "       7 more, together 7.00 Gbit/s"; got[4] != want {
		t.Errorf("last line: got %q, want %q", got[4], want)
	}
}

// Writing to a backlog never waits, and what it had to leave out is told.
func TestBacklog(t *testing.T) {
	b := newBacklog()
	line := strings.Repeat("x", 1<<20-1) + "\n"
	for range 20 {
		b.Write([]byte(line))
	}
	b.close()
	var got strings.Builder
	b.copyTo(&got)
	if n := strings.Count(got.String(), line); n != maxBacklog>>20 {
		t.Errorf("got %d MiB, want %d", n, maxBacklog>>20)
	}
	if want := "lines are missing here\n"; !strings.HasSuffix(got.String(), want) {
		t.Errorf("nothing says that lines are missing: ends with %q", got.String()[got.Len()-100:])
	}
}
