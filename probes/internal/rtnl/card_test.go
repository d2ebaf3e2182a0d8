package rtnl

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"linerate/probes"
)

// linkAnswer builds the answer to ETHTOOL_GLINKSETTINGS with the given bits set in each of
// the three masks.
func linkAnswer(words int, autoneg byte, masks [3][]int) []byte {
	b := make([]byte, linkSettingsHeader+3*4*words)
	b[autonegAt], b[maskWordsAt] = autoneg, byte(words)
	for i, bits := range masks {
		for _, bit := range bits {
			at := b[linkSettingsHeader+4*(i*words+bit/32):]
			binary.NativeEndian.PutUint32(at, binary.NativeEndian.Uint32(at)|1<<(bit%32))
		}
	}
	return b
}

func TestLinkSettings(t *testing.T) {
	const g = 1e9
	none := func(why string) probes.Reading[[]float64] {
		return probes.Unknown[[]float64](probes.Absent, why)
	}
	const noPeer = "the driver does not tell what the other end offers"
	tests := []struct {
		name   string
		answer []byte
		want   Card
	}{
		// Bits: 0-5 10/100/1000 half and full, 6 autoneg, 7 TP, 13 pause, 47 2500baseT.
		{"r8125 to a gigabit switch", linkAnswer(4, 1, [3][]int{{0, 1, 2, 3, 4, 5, 6, 7, 13, 47}, {3, 5, 6, 47}, {0, 1, 2, 3, 5, 6, 13}}), Card{
			Supported: probes.Got([]float64{10e6, 100e6, g, 2.5 * g}), Offered: probes.Got([]float64{100e6, g, 2.5 * g}),
			Advertised: probes.Got([]float64{10e6, 100e6, g}), Autoneg: probes.Got(true),
		}},
		{"X520 with a direct attach cable", linkAnswer(3, 0, [3][]int{{10, 12}, {10, 12}, nil}), Card{
			Supported: probes.Got([]float64{10 * g}), Offered: probes.Got([]float64{10 * g}), Advertised: none(noPeer), Autoneg: probes.Got(false),
		}},
		{"ConnectX-6 with modes in the third word", linkAnswer(3, 1, [3][]int{{5, 31, 36, 57, 75, 64}, {64}, {64, 39}}), Card{
			Supported: probes.Got([]float64{g, 25 * g, 100 * g, 200 * g}), Offered: probes.Got([]float64{200 * g}),
			Advertised: probes.Got([]float64{100 * g, 200 * g}), Autoneg: probes.Got(true),
		}},
		{"virtio", linkAnswer(4, 0, [3][]int{}), Card{
			Supported: none("the driver lists no link modes"), Offered: none("the driver offers no link modes"), Advertised: none(noPeer),
			Autoneg: probes.Unknown[bool](probes.Absent, "the driver lists no link modes"),
		}},
	}
	for _, tt := range tests {
		var got Card
		parseLinkSettings(tt.answer, &got)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	for _, b := range [][]byte{nil, make([]byte, linkSettingsHeader), linkAnswer(3, 1, [3][]int{})[:60], linkAnswer(0, 1, [3][]int{})} {
		var got Card
		parseLinkSettings(b, &got)
		if got.Supported.Status != probes.Failed || got.Autoneg.Status != probes.Failed {
			t.Errorf("%d bytes gave %+v", len(b), got)
		}
	}
}

func TestNoModeCountsTwice(t *testing.T) {
	seen := map[int]bool{}
	for i, m := range modes {
		if m.first > m.last || m.mbit <= 0 || i > 0 && m.first <= modes[i-1].last {
			t.Errorf("row %d: %+v overlaps or runs backwards", i, m)
		}
		for bit := m.first; bit <= m.last; bit++ {
			seen[bit] = true
		}
	}
	// Connectors, autonegotiation, pause and error correction are no speeds.
	for _, bit := range []int{6, 7, 8, 9, 10, 11, 13, 14, 16, 49, 50, 51, 74} {
		if seen[bit] {
			t.Errorf("bit %d is no mode", bit)
		}
	}
}

// sfp is the memory of an optical SFP+ with its powers in 0.1 µW.
func sfp(flags byte, received, low uint16) []byte {
	m := make([]byte, sfpPages)
	m[92] = flags
	binary.BigEndian.PutUint16(m[256+104:], received)
	binary.BigEndian.PutUint16(m[256+38:], low)
	return m
}

func TestOptics(t *testing.T) {
	qsfp := make([]byte, qsfpPages)
	for lane, p := range []uint16{7943, 5012, 0, 6310} {
		binary.BigEndian.PutUint16(qsfp[34+2*lane:], p)
	}
	binary.BigEndian.PutUint16(qsfp[512+54:], 398)
	dark := slices.Clone(qsfp)
	clear(dark[34:42])
	tests := []struct {
		name   string
		kind   uint32
		memory []byte
		want   probes.Optics
		why    string
	}{
		// -5.0 dBm received, warning below -11.9 dBm.
		{"SFP+", moduleSFF8472, sfp(0x68, 3162, 646), probes.Optics{RxDBm: -5, LowDBm: -11.9}, ""},
		{"SFP+ in the dark", moduleSFF8472, sfp(0x68, 0, 646), probes.Optics{RxDBm: -40, LowDBm: -11.9}, ""},
		{"SFP without diagnostics", moduleSFF8472, sfp(0, 3162, 646), probes.Optics{}, "does not tell its light"},
		{"SFP that wants its vendor's polynomial", moduleSFF8472, sfp(0x58, 3162, 646), probes.Optics{}, "does not tell its light"},
		{"copper", moduleSFF8472, sfp(0x68, 0, 0), probes.Optics{}, "copper"},
		{"QSFP28, the weakest lit lane", moduleSFF8636, qsfp, probes.Optics{RxDBm: -3, LowDBm: -14}, ""},
		{"QSFP+", moduleSFF8436, qsfp, probes.Optics{RxDBm: -3, LowDBm: -14}, ""},
		{"QSFP28 in the dark", moduleSFF8636, dark, probes.Optics{RxDBm: -40, LowDBm: -14}, ""},
		{"QSFP28 without limits", moduleSFF8636, qsfp[:256], probes.Optics{}, "does not tell its light"},
		{"unknown kind", 9, qsfp, probes.Optics{}, "does not tell its light"},
	}
	for _, tt := range tests {
		got, err := parseOptics(tt.kind, tt.memory)
		if tt.why != "" {
			if probes.Unread[int](err).Status != probes.Absent || !strings.Contains(err.Error(), tt.why) {
				t.Errorf("%s: %+v, %v, want %q", tt.name, got, err, tt.why)
			}
			continue
		}
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateApprox(0, .05)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
		}
	}
}

func TestFixed(t *testing.T) {
	list := make([]string, 40)
	list[3], list[16], list[14], list[35] = "tx-generic-segmentation", "tx-tcp-segmentation", "rx-lro", "rx-gro"
	var names []byte
	for _, n := range list {
		names = append(names, append([]byte(n), make([]byte, statNameSize-len(n))...)...)
	}
	blocks := make([]byte, 32)
	set := func(block, word, bit int) {
		at := blocks[16*block+4*word:]
		binary.NativeEndian.PutUint32(at, binary.NativeEndian.Uint32(at)|1<<bit)
	}
	set(0, 0, 16) // tso can be changed
	set(0, 0, 14) // lro could,
	set(0, 3, 14) // but never may
	set(1, 0, 35-32)
	set(1, 1, 35-32) // gro is on
	set(1, 2, 35-32)
	if diff := cmp.Diff([]string{"gso", "lro"}, parseFixed(names, blocks)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	set(0, 1, 16) // tso is asked for, in vain
	if diff := cmp.Diff([]string{"tso", "gso", "lro"}, parseFixed(names, blocks)); diff != "" {
		t.Errorf("asked for in vain (-want +got):\n%s", diff)
	}
	if got := parseFixed(names, blocks[:16]); slices.Contains(got, "gro") {
		t.Errorf("without the second block: %q, which says something of gro", got)
	}
	if got := parseFixed(nil, nil); got != nil {
		t.Errorf("of nothing: %q", got)
	}
}

func TestSavedCard(t *testing.T) {
	s := &Saved{Links: map[string]SavedLink{
		"eth0": {SavedCard: SavedCard{
			Ethtool: &Card{Rings: probes.Got(probes.Rings{Rx: 512, RxMax: 4096}), Optics: probes.Unknown[probes.Optics](probes.Denied, "needs CAP_NET_ADMIN")},
			Fixed:   []string{"lro"}, Below: &Below{Device: "x"}, WiFi: &probes.WiFi{TxBps: 1e6},
		}},
		"bare": {},
	}}
	c := s.Card("eth0")
	if c.Rings.Value.RxMax != 4096 || c.EEE.Status != probes.Absent || c.Optics.Status != probes.Denied {
		t.Errorf("eth0: %+v", c)
	}
	fixed, err := s.Fixed("eth0")
	below, belowErr := s.Below(t.Context(), "eth0")
	wifi, wifiErr := s.WiFi(t.Context(), "eth0")
	if len(fixed) != 1 || below.Device != "x" || wifi.TxBps != 1e6 || err != nil || belowErr != nil || wifiErr != nil {
		t.Errorf("eth0: %q %v, %+v %v, %+v %v", fixed, err, below, belowErr, wifi, wifiErr)
	}
	if c := s.Card("bare"); c.Rings.Status != probes.Absent || c.Supported.Reason != errUntold.Reason {
		t.Errorf("bare: %+v", c)
	}
	if b, err := s.Below(t.Context(), "bare"); err != nil || b != (Below{}) {
		t.Errorf("below bare: %+v, %v", b, err)
	}
	if _, err := s.WiFi(t.Context(), "bare"); probes.Unread[int](err).Status != probes.Absent {
		t.Errorf("radio of bare: %v", err)
	}
	if c := s.Card("gone"); c.Rings.Reason != `there is no interface "gone"` {
		t.Errorf("gone: %+v", c.Rings)
	}
	for what, err := range map[string]error{"fixed": errOf(s.Fixed("gone")), "below": errOf(s.Below(t.Context(), "gone")), "wifi": errOf(s.WiFi(t.Context(), "gone"))} {
		if probes.Unread[int](err).Status != probes.Absent {
			t.Errorf("%s of an interface that is gone: %v", what, err)
		}
	}
}

func errOf[T any](_ T, err error) error { return err }

func FuzzLinkSettings(f *testing.F) {
	f.Add(linkAnswer(4, 1, [3][]int{{0, 5, 47}, {5}, {3}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var c Card
		parseLinkSettings(b, &c)
		for _, list := range [][]float64{c.Supported.Value, c.Offered.Value, c.Advertised.Value} {
			if !slices.IsSorted(list) {
				t.Fatalf("speeds %v", list)
			}
		}
		if c.Supported.Status == probes.NotRead || c.Autoneg.Status == probes.NotRead {
			t.Fatalf("left open: %+v", c)
		}
	})
}

func FuzzOptics(f *testing.F) {
	f.Add(uint32(moduleSFF8472), sfp(0x68, 3162, 646))
	f.Fuzz(func(t *testing.T, kind uint32, memory []byte) {
		o, err := parseOptics(kind, memory)
		if err == nil && (math.IsNaN(o.RxDBm) || o.RxDBm < -40 || o.RxDBm > 8.2 || o.LowDBm < -40) {
			t.Fatalf("light %+v", o)
		}
	})
}
