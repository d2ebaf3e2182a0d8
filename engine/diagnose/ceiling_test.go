package diagnose

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"

	"linerate/probes"
)

func TestEfficiency(t *testing.T) {
	tests := []struct {
		name string
		f    Framing
		want float64 // per cent, as the table of ceilings has it
	}{
		{"1500 IPv4", Framing{MTU: 1500, Family: 4, Timestamps: true}, 94.15},
		{"1500 IPv4 without timestamps", Framing{MTU: 1500, Family: 4}, 94.93},
		{"1500 IPv6", Framing{MTU: 1500, Family: 6, Timestamps: true}, 92.85},
		{"1500 IPv4 VLAN", Framing{MTU: 1500, Family: 4, Timestamps: true, VLANs: 1}, 93.90},
		{"PPPoE", Framing{MTU: 1500, Family: 4, Timestamps: true, Encap: 8}, 93.63},
		{"VXLAN", Framing{MTU: 1500, Family: 4, Timestamps: true, Encap: 50}, 90.90},
		{"WireGuard, inner 1440", Framing{MTU: 1500, Family: 4, Timestamps: true, Encap: 60}, 90.25},
		{"WireGuard 1420 over IPv4", Framing{MTU: 1480, Family: 4, Timestamps: true, Encap: 60}, 90.12},
		{"WireGuard 1420 over IPv6", Framing{MTU: 1500, Family: 4, Timestamps: true, Encap: 80}, 88.95},
		{"4074 IPv4", Framing{MTU: 4074, Family: 4, Timestamps: true}, 97.81},
		{"9000 IPv4", Framing{MTU: 9000, Family: 4, Timestamps: true}, 99.00},
		{"9000 IPv6", Framing{MTU: 9000, Family: 6, Timestamps: true}, 98.78},
		{"UDP 1472", Framing{MTU: 1500, Family: 4, UDP: true}, 95.71},
		{"UDP 8972", Framing{MTU: 9000, Family: 4, UDP: true}, 99.27},
		{"no room", Framing{MTU: 40, Family: 4}, 0},
	}
	for _, tt := range tests {
		if got := tt.f.Efficiency() * 100; math.Abs(got-tt.want) > 0.006 {
			t.Errorf("%s: got %.3f %%, want %.2f %%", tt.name, got, tt.want)
		}
	}
}

func TestRouteCeiling(t *testing.T) {
	v4, v6 := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	nic := func(kind string, speed probes.Reading[float64], mtu int) probes.Reading[probes.NIC] {
		return probes.Got(probes.NIC{Name: "eth0", Kind: probes.Got(kind), SpeedBps: speed, MTU: probes.Got(mtu)})
	}
	tenG := probes.Got(10e9)
	noKind := nic("", tenG, 1500)
	noKind.Value.Kind = probes.Unknown[string](probes.Unsupported, "not on this system")
	noMTU := nic("physical", tenG, 1500)
	noMTU.Value.MTU = probes.Unknown[int](probes.Failed, "reading mtu")
	tests := []struct {
		name  string
		route probes.Reading[probes.Route]
		want  float64 // 0: unknown
		why   string
	}{
		{"plain", probes.Got(probes.Route{Dest: v4, NIC: nic("physical", tenG, 1500)}), 9.415e9, ""},
		{"jumbo IPv6", probes.Got(probes.Route{Dest: v6, NIC: nic("physical", tenG, 9000)}), 9.878e9, ""},
		{"IPv4 in IPv6", probes.Got(probes.Route{Dest: netip.AddrFrom16(v4.As16()), NIC: nic("physical", tenG, 1500)}), 9.415e9, ""},
		{"VLAN", probes.Got(probes.Route{Dest: v4, NIC: nic("vlan", probes.Got(1e9), 1500)}), 939.0e6, ""},
		{"kind unknown", probes.Got(probes.Route{Dest: v4, NIC: noKind}), 9.415e9, ""},
		{"loopback", probes.Got(probes.Route{Dest: v4, NIC: nic("loopback", tenG, 65536)}), 0, "no line speed"},
		{"veth that claims 10G", probes.Got(probes.Route{Dest: v4, NIC: nic("veth", tenG, 1500)}), 0, "no line speed"},
		{"virtio", probes.Got(probes.Route{Dest: v4, NIC: nic("physical", probes.Unknown[float64](probes.Absent, "virtio has none"), 1500)}), 0, "virtio has none"},
		{"no MTU", probes.Got(probes.Route{Dest: v4, NIC: noMTU}), 0, "reading mtu"},
		{"no route", probes.Unread[probes.Route](errors.New("no route to host")), 0, "no route to host"},
	}
	for _, tt := range tests {
		got := RouteCeiling(tt.route, true)
		switch {
		case tt.want == 0 && (got.Known() || !strings.Contains(got.Why(), tt.why)):
			t.Errorf("%s: got %+v, want unknown with %q", tt.name, got, tt.why)
		case tt.want > 0 && math.Abs(got.Value.Bps/tt.want-1) > 0.0005:
			t.Errorf("%s: got %.4g (%s), want %.4g", tt.name, got.Value.Bps, got.Why(), tt.want)
		}
	}
}

func ExampleNewCeiling() {
	c := NewCeiling(2.5e9, Framing{MTU: 1500, Family: 4, Timestamps: true})
	fmt.Printf("%.0f Mbit/s\n", c.Bps/1e6)
	// Output: 2354 Mbit/s
}
