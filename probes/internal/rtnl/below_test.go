package rtnl

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"linerate/probes"
)

// nest builds an attribute of several.
func nest(kind uint16, parts ...[]byte) []byte { return attr(kind|nested, bytes.Join(parts, nil)) }

func u16(n uint16) []byte { return binary.NativeEndian.AppendUint16(nil, n) }

// endpoint is a struct sockaddr_in or sockaddr_in6.
func endpoint(ap string) []byte {
	a := netip.MustParseAddrPort(ap)
	if a.Addr().Is4() {
		b := binary.BigEndian.AppendUint16(u16(2), a.Port())
		return append(append(b, a.Addr().AsSlice()...), make([]byte, 8)...)
	}
	b := binary.BigEndian.AppendUint16(u16(10), a.Port())
	b = append(b, 0, 0, 0, 0)
	return append(append(b, a.Addr().AsSlice()...), 0, 0, 0, 0)
}

func peers(list ...string) []byte {
	var all [][]byte
	for _, p := range list {
		peer := attr(1, make([]byte, 32))
		if p != "" {
			peer = append(peer, attr(wgPeerEndpoint, endpoint(p))...)
		}
		all = append(all, attr(0|nested, peer))
	}
	return nest(wgDevicePeers, all...)
}

func TestWireGuardPeers(t *testing.T) {
	header := []byte{0, 1, 0, 0}
	key := bytes.Repeat([]byte{0xaa}, 32)
	tests := []struct {
		name string
		msgs [][]byte
		want wgPeers
	}{
		{"one peer, marked", [][]byte{bytes.Join([][]byte{header, attr(wgDeviceMark, u32(51820)), peers("198.51.100.7:51820")}, nil)},
			wgPeers{mark: 51820, endpoints: []netip.Addr{netip.MustParseAddr("198.51.100.7")}}},
		{"two messages, one address twice, one never heard of", [][]byte{
			append(header, peers("[2001:db8::7]:1", "")...), append(header, peers("[2001:db8::7]:2", "198.51.100.8:3")...)},
			wgPeers{endpoints: []netip.Addr{netip.MustParseAddr("2001:db8::7"), netip.MustParseAddr("198.51.100.8")}}},
		{"none", [][]byte{header, nil}, wgPeers{}},
	}
	for _, tt := range tests {
		var got wgPeers
		for _, m := range tt.msgs {
			parseWireGuard(m, &got)
		}
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(wgPeers{}), cmpopts.EquateComparable(netip.Addr{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	msg := bytes.Join([][]byte{header, attr(wgDevicePrivateKey, key)}, nil)
	parseWireGuard(msg, new(wgPeers))
	if bytes.Contains(msg, key[:4]) {
		t.Error("the private key is still there")
	}
}

func TestTunnelOptions(t *testing.T) {
	for _, tt := range []struct {
		flags, encap uint16
		want         int
	}{{0, 0, 0}, {greKey, 0, 4}, {greKey | greSequence | greChecksum, 0, 12}, {greKey, 1, 12}, {0, 2, 12}} {
		if got := greOptions(tt.flags, tt.encap); got != tt.want {
			t.Errorf("flags %#x, encapsulation %d: %d, want %d", tt.flags, tt.encap, got, tt.want)
		}
	}
}

// station is one message of a station dump.
func station(info ...[]byte) []byte {
	return bytes.Join([][]byte{{19, 1, 0, 0}, attr(wlanIfindex, u32(3)), nest(wlanStation, info...)}, nil)
}

func TestStation(t *testing.T) {
	rate := func(kind uint16, narrow uint16, wide uint32) []byte {
		parts := [][]byte{attr(rateNarrow, u16(narrow))}
		if wide != 0 {
			parts = append(parts, attr(rateWide, u32(wide)))
		}
		return nest(kind, parts...)
	}
	whole := station(rate(stationTxRate, 0, 8667), rate(stationRxRate, 3900, 0), attr(stationSignal, []byte{0x100 - 55}),
		attr(stationSignalAvg, []byte{0x100 - 61}), attr(stationTxPackets, u32(2000)), attr(stationTxRetries, u32(500)))
	tests := []struct {
		name string
		msgs [][]byte
		want probes.WiFi
		why  string
	}{
		{"client of an access point", [][]byte{whole}, probes.WiFi{TxBps: 866.7e6, RxBps: 390e6, SignalDBm: -61, Retries: probes.Got(.25)}, ""},
		{"without an average, without counts", [][]byte{station(rate(stationTxRate, 540, 0), attr(stationSignal, []byte{0x100 - 71}))},
			probes.WiFi{TxBps: 54e6, SignalDBm: -71, Retries: probes.Unknown[float64](probes.Absent, "the driver does not count retries")}, ""},
		{"without a rate", [][]byte{station(attr(stationSignal, []byte{200}))}, probes.WiFi{}, "the driver tells no bit rate"},
		{"alone", nil, probes.WiFi{}, "not connected to an access point"},
		{"access point", [][]byte{whole, whole}, probes.WiFi{}, "2 stations on this radio, each with a rate of its own"},
		{"no station in it", [][]byte{{19, 1, 0, 0}}, probes.WiFi{}, errShort.Error()},
		{"cut off", [][]byte{{19}}, probes.WiFi{}, errShort.Error()},
	}
	for _, tt := range tests {
		got, err := oneStation(tt.msgs)
		if tt.why != "" {
			if err == nil || err.Error() != tt.why {
				t.Errorf("%s: %+v, %v, want %q", tt.name, got, err, tt.why)
			}
			continue
		}
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateApprox(1e-9, 0)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
		}
	}
}

func TestPowerSave(t *testing.T) {
	for state, want := range map[uint32]bool{0: false, 1: true} {
		msg := append([]byte{62, 1, 0, 0}, attr(wlanPowerState, u32(state))...)
		if got, err := parsePowerSave([][]byte{{1}, msg}); got != want || err != nil {
			t.Errorf("state %d: %v, %v, want %v", state, got, err, want)
		}
	}
	if _, err := parsePowerSave(nil); err == nil {
		t.Error("no answer is an answer")
	}
}

func FuzzGenericMessages(f *testing.F) {
	f.Add(station(nest(stationTxRate, attr(rateNarrow, u16(540))), attr(stationSignal, []byte{200})))
	f.Add(append([]byte{0, 1, 0, 0}, peers("198.51.100.7:51820", "[2001:db8::7]:1")...))
	f.Fuzz(func(t *testing.T, msg []byte) {
		if w, err := oneStation([][]byte{msg}); err == nil && (w.TxBps <= 0 || w.RxBps < 0 || w.SignalDBm < -128 || w.SignalDBm > 127) {
			t.Fatalf("radio %+v", w)
		}
		_, _ = parsePowerSave([][]byte{msg})
		var p wgPeers
		parseWireGuard(msg, &p)
		for _, a := range p.endpoints {
			if !a.IsValid() || a.Is4In6() {
				t.Fatalf("endpoint %v", a)
			}
		}
	})
}
