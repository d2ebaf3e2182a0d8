package rtnl

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/netip"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"linerate/probes"
)

var saved = &Saved{
	Links: map[string]SavedLink{
		"lo": {Loopback: true, Up: true, MTU: 65536, Features: map[string]bool{"tso": true, "gso": true, "gro": true, "lro": false}},
		"tap0": {
			Kind: "tun", Tap: true, MTU: 1500, Driver: "tun", Counters: probes.NICCounters{RxBytes: 7, RxMissed: 1},
			Index: 3, Master: 4, More: probes.Counters{"rx_crc_errors": 2}, Flaps: 5, Driven: probes.Counters{"rx_missed": 9},
			Qdiscs: []probes.Qdisc{{Kind: "tbf", Parent: "root", RateBps: 200e6}},
		},
	},
	Routes: []SavedRoute{
		{Dest: netip.MustParsePrefix("10.0.0.0/24"), Source: netip.MustParseAddr("10.0.0.2"), Link: "tap0"},
		{Dest: netip.MustParsePrefix("0.0.0.0/0"), Source: netip.MustParseAddr("10.0.0.2"), Gateway: netip.MustParseAddr("10.0.0.1"), Link: "tap0"},
	},
}

var addrs = cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})

func TestSavedThroughItsFile(t *testing.T) {
	text, err := json.Marshal(saved)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadSaved(fstest.MapFS{SavedFile: {Data: text}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(saved, got, addrs); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSavedAnswers(t *testing.T) {
	tap, err := saved.Link(t.Context(), "tap0")
	want := Link{Index: 3, Master: 4, Name: "tap0", Kind: "tun", Tap: true, MTU: 1500, Counters: probes.Got(probes.NICCounters{RxBytes: 7, RxMissed: 1})}
	if diff := cmp.Diff(want, tap); diff != "" || err != nil {
		t.Errorf("tap0: %v (-want +got):\n%s", err, diff)
	}
	if _, err := saved.Link(t.Context(), "eth9"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an interface that is not there: %v", err)
	}
	if _, err := saved.Driver("lo"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("driver of lo: %v", err)
	}
	if off := saved.Offloads("lo"); !off.TSO.Value || off.LRO != probes.Got(false) {
		t.Errorf("offloads of lo: %+v", off)
	}
	for dest, want := range map[string]Route{
		"10.0.0.7":        {Source: netip.MustParseAddr("10.0.0.2"), Link: "tap0"},
		"::ffff:10.0.0.7": {Source: netip.MustParseAddr("10.0.0.2"), Link: "tap0"},
		"9.9.9.9":         {Source: netip.MustParseAddr("10.0.0.2"), Gateway: netip.MustParseAddr("10.0.0.1"), Link: "tap0"},
	} {
		got, err := saved.Route(t.Context(), netip.MustParseAddr(dest))
		if err != nil || got != want {
			t.Errorf("route to %s: %+v, %v, want %+v", dest, got, err, want)
		}
	}
	if r, err := saved.Route(t.Context(), netip.MustParseAddr("2001:db8::1")); err == nil {
		t.Errorf("route without an entry: %+v", r)
	}
}

func TestSavedTraffic(t *testing.T) {
	got, err := saved.Traffic(t.Context(), "tap0")
	want := Traffic{
		Index: 3, Kind: "tun", Carrier: probes.Got(uint64(5)), Qdiscs: probes.Got(saved.Links["tap0"].Qdiscs),
		Counters: probes.Counters{
			"rx_bytes": 7, "tx_bytes": 0, "rx_packets": 0, "tx_packets": 0, "rx_errors": 0, "tx_errors": 0,
			"rx_dropped": 0, "tx_dropped": 0, "rx_missed_errors": 1, "rx_crc_errors": 2,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if c, err := saved.Statistics("tap0"); err != nil || c["rx_missed"] != 9 {
		t.Errorf("statistics %v, %v", c, err)
	}
	for _, name := range []string{"lo", "eth9"} {
		if c, err := saved.Statistics(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("statistics of %s: %v, %v, want them absent", name, c, err)
		}
	}
	if all, err := saved.All(t.Context()); err != nil || len(all) != 2 || all[0].Name != "lo" || all[1].Master != 4 {
		t.Errorf("all: %+v, %v", all, err)
	}
}

func FuzzReadSaved(f *testing.F) {
	text, err := json.Marshal(saved)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"routes":[{"dest":"","source":"","gateway":"x"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ReadSaved(fstest.MapFS{SavedFile: {Data: text}})
		if err != nil {
			return
		}
		for name := range s.Links {
			if _, err := s.Link(t.Context(), name); err != nil {
				t.Fatalf("a link that is there: %v", err)
			}
			s.Offloads(name)
			s.Driver(name)
		}
		s.Route(t.Context(), netip.MustParseAddr("10.0.0.1"))
		s.Route(t.Context(), netip.IPv6Loopback())
	})
}
