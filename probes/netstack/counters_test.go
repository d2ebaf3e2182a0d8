package netstack

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/probes"
)

func TestParseTables(t *testing.T) {
	tests := []struct {
		name, text string
		want       probes.Counters
		err        bool
	}{
		{"kinds", "Ip: Forwarding DefaultTTL\nIp: 1 64\nTcp: RtoMin MaxConn\nTcp: 200 -1\nUdpLite: NoPorts\nUdpLite: 3\n",
			probes.Counters{"Ip.Forwarding": 1, "Ip.DefaultTTL": 64, "Tcp.RtoMin": 200}, false},
		{"largest", "IpExt: InOctets OutOctets\nIpExt: 18446744073709551615 18446744073709551616\n",
			probes.Counters{"IpExt.InOctets": 1<<64 - 1}, false},
		{"fewer values than names", "Udp: InDatagrams NoPorts\nUdp: 4\n", probes.Counters{"Udp.InDatagrams": 4}, false},
		{"no line of values", "Udp: InDatagrams\n", probes.Counters{}, true},
		{"two tables mixed", "Udp: InDatagrams\nTcp: 4\n", probes.Counters{}, true},
		{"no table", "hello\nworld\n", probes.Counters{}, true},
		{"empty", "", probes.Counters{}, false},
	}
	for _, tt := range tests {
		got := probes.Counters{}
		// Twice: the second time the names are known.
		n := new(names)
		for range 2 {
			err := parseTables([]byte(tt.text), n, got)
			if diff := cmp.Diff(tt.want, got); diff != "" || (err != nil) != tt.err {
				t.Errorf("%s: error %v (-want +got):\n%s", tt.name, err, diff)
			}
		}
	}
}

// A kernel module that adds a column between two readings moves the others.
func TestNewColumns(t *testing.T) {
	n := new(names)
	for _, tt := range []struct {
		text string
		want probes.Counters
	}{
		{"TcpExt: A C\nTcpExt: 1 3\n", probes.Counters{"TcpExt.A": 1, "TcpExt.C": 3}},
		{"TcpExt: A B C\nTcpExt: 1 2 3\n", probes.Counters{"TcpExt.A": 1, "TcpExt.B": 2, "TcpExt.C": 3}},
	} {
		got := probes.Counters{}
		if err := parseTables([]byte(tt.text), n, got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

func TestParseList(t *testing.T) {
	got := probes.Counters{}
	err := parseList([]byte("Ip6InReceives                   \t472\nIcmp6InPktTooBigs\t3\nUdpLite6InErrors   \t9\n"), new(names), got)
	if diff := cmp.Diff(probes.Counters{"Ip6InReceives": 472, "Icmp6InPktTooBigs": 3}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, bad := range []string{"Ip6InReceives\n", "Ip6InReceives x\n", "\n"} {
		if err := parseList([]byte(bad), new(names), got); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func FuzzParseTables(f *testing.F) {
	text, err := os.ReadFile(filepath.Join(vm, "proc/net/snmp"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add("Tcp: A A\nTcp: 1 2\nTcp: B\nTcp: 3")
	f.Fuzz(func(t *testing.T, text string) {
		got := probes.Counters{}
		if err := parseTables([]byte(text), new(names), got); err != nil {
			return
		}
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(got)) {
			group, column, ok := strings.Cut(name, ".")
			if !ok || !slices.Contains(groups, group) {
				t.Fatalf("%q gave the counter %q", text, name)
			}
			fmt.Fprintf(&b, "%s: %s\n%s: %d\n", group, column, group, got[name])
		}
		again := probes.Counters{}
		if err := parseTables([]byte(b.String()), new(names), again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, again); diff != "" {
			t.Fatalf("written and read again (-want +got):\n%s", diff)
		}
	})
}

func FuzzParseList(f *testing.F) {
	f.Add("Ip6InReceives                   \t472\nIcmp6InPktTooBigs\t3\n")
	f.Fuzz(func(t *testing.T, text string) {
		got := probes.Counters{}
		if parseList([]byte(text), new(names), got) == nil && len(got) > strings.Count(text, "\n")+1 {
			t.Fatalf("%q gave %d counters", text, len(got))
		}
	})
}

// After the first reading, a reading allocates the map it gives and no more.
func TestCountersAllocateTheMapOnly(t *testing.T) {
	linux(t)
	r := New()
	defer r.Close()
	if c := r.Counters(); !c.Known() {
		t.Skipf("no counters: %s", c.Why())
	}
	if n := testing.AllocsPerRun(20, func() { r.Counters() }); n > 20 {
		t.Errorf("%.0f allocations per reading, want the map's few", n)
	}
}

func BenchmarkCounters(b *testing.B) {
	r := New()
	defer r.Close()
	b.ReportAllocs()
	for b.Loop() {
		if c := r.Counters(); !c.Known() {
			b.Skip(c.Why())
		}
	}
}

// BenchmarkMedium is everything but the interrupts.
func BenchmarkMedium(b *testing.B) {
	r := New()
	defer r.Close()
	b.ReportAllocs()
	for b.Loop() {
		if c := r.Counters(); !c.Known() {
			b.Skip(c.Why())
		}
		r.Softnet()
		r.NetRx()
		r.SocketPages()
	}
}
