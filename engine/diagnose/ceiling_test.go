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

func TestCeilingOfTheInterfaceAlone(t *testing.T) {
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
		got := ChainCeiling(tt.route, nil, Payload{Timestamps: true})
		switch {
		case tt.want == 0 && (got.Known() || !strings.Contains(got.Why(), tt.why)):
			t.Errorf("%s: got %+v, want unknown with %q", tt.name, got, tt.why)
		case tt.want > 0 && math.Abs(got.Value.Bps/tt.want-1) > 0.0005:
			t.Errorf("%s: got %.4g (%s), want %.4g", tt.name, got.Value.Bps, got.Why(), tt.want)
		}
	}
}

// The real chain of devices gives the figures of the table of ceilings, bits/s.
func TestChainCeiling(t *testing.T) {
	v4, v6 := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	stamped := Payload{Timestamps: true}
	wire := func(mtu int) probes.Layer {
		return probes.Layer{Name: "eth0", Kind: "physical", MTU: mtu}
	}
	vlan := func(mtu int) probes.Layer {
		return probes.Layer{Name: "eth0.7", Kind: "vlan", Overhead: 4, MTU: mtu}
	}
	tunnel := func(kind string, overhead, mtu int) probes.Layer {
		return probes.Layer{Name: kind + "0", Kind: kind, Overhead: overhead, MTU: mtu}
	}
	tests := []struct {
		name  string
		dest  netip.Addr
		chain []probes.Layer
		p     Payload
		want  [4]float64 // at 1, 2.5, 10 and 100 Gbit/s, in Mbit/s; 0: not in the table
	}{
		{"1500 IPv4", v4, []probes.Layer{wire(1500)}, stamped, [4]float64{941.5, 2354, 9415, 94100}},
		{"1500 IPv4 without timestamps", v4, []probes.Layer{wire(1500)}, Payload{}, [4]float64{949.3, 2373, 9493, 94900}},
		{"1500 IPv6", v6, []probes.Layer{wire(1500)}, stamped, [4]float64{928.5, 2321, 9285, 92800}},
		{"VLAN", v4, []probes.Layer{vlan(1500), wire(1500)}, stamped, [4]float64{939.0, 2348, 9390, 93900}},
		{"PPPoE", v4, []probes.Layer{tunnel("pppoe", 8, 1492), wire(1500)}, stamped, [4]float64{936.3, 2341, 9363}},
		{"VXLAN", v4, []probes.Layer{tunnel("vxlan", 50, 1450), wire(1500)}, stamped, [4]float64{909.0, 2272, 9090}},
		{"WireGuard 1440 over IPv4", v4, []probes.Layer{tunnel("wireguard", 60, 1440), wire(1500)}, stamped, [4]float64{902.5, 2256, 9025}},
		{"WireGuard 1420 over IPv4", v4, []probes.Layer{tunnel("wireguard", 60, 1420), wire(1500)}, stamped, [4]float64{901.2, 2253, 9012}},
		{"WireGuard 1420 over IPv6", v4, []probes.Layer{tunnel("wireguard", 80, 1420), wire(1500)}, stamped, [4]float64{889.5, 2224, 8895}},
		{"4074", v4, []probes.Layer{wire(4074)}, stamped, [4]float64{978.1, 2445, 9781, 97800}},
		{"9000 IPv4", v4, []probes.Layer{wire(9000)}, stamped, [4]float64{990, 2475, 9900, 99000}},
		{"9000 IPv6", v6, []probes.Layer{wire(9000)}, stamped, [4]float64{988, 2470, 9878, 98800}},
		{"UDP 1472", v4, []probes.Layer{wire(1500)}, Payload{UDP: true}, [4]float64{957, 2393, 9571}},
		{"UDP 8972", v4, []probes.Layer{wire(9000)}, Payload{UDP: true}, [4]float64{993, 2482, 9927}},
		// Not in the table, but of the same formula.
		{"PPPoE over a VLAN", v4, []probes.Layer{tunnel("pppoe", 8, 1492), vlan(1500), wire(1500)}, stamped, [4]float64{933.9}},
		{"a VLAN of 9000 over a bond and a card of 1500", v4, []probes.Layer{vlan(9000), tunnel("bond", 0, 9000), wire(1500)}, stamped, [4]float64{939.0}},
		{"a tunnel larger than the wire allows", v4, []probes.Layer{tunnel("gre", 24, 1500), wire(1500)}, stamped, [4]float64{925.9}},
	}
	for _, tt := range tests {
		for i, speed := range []float64{1e9, 2.5e9, 10e9, 100e9} {
			if tt.want[i] == 0 {
				continue
			}
			top := tt.chain[0]
			nic := probes.NIC{Name: top.Name, Kind: probes.Got(top.Kind), MTU: probes.Got(top.MTU), SpeedBps: probes.Got(speed)}
			chain := append([]probes.Layer(nil), tt.chain...)
			if len(chain) > 1 && top.Kind != "vlan" {
				nic.SpeedBps = probes.Unknown[float64](probes.Absent, "virtual")
				chain[len(chain)-1].SpeedBps = probes.Got(speed)
			}
			got := ChainCeiling(probes.Got(probes.Route{Dest: tt.dest, NIC: probes.Got(nic)}), chain, tt.p)
			if !got.Known() || math.Abs(got.Value.Bps/1e6/tt.want[i]-1) > 0.0006 {
				t.Errorf("%s at %g Gbit/s: got %.1f Mbit/s (%s), want %.1f", tt.name, speed/1e9, got.Value.Bps/1e6, got.Why(), tt.want[i])
			}
		}
	}
}

func TestChainCeilingUnknown(t *testing.T) {
	nic := func(kind string) probes.Reading[probes.Route] {
		return probes.Got(probes.Route{Dest: netip.MustParseAddr("192.0.2.1"), NIC: probes.Got(probes.NIC{
			Name: kind + "0", Kind: probes.Got(kind), MTU: probes.Got(1420), SpeedBps: probes.Unknown[float64](probes.Absent, kind+" is virtual")})})
	}
	tests := []struct {
		name  string
		route probes.Reading[probes.Route]
		chain []probes.Layer
		want  string
	}{
		{"a tunnel whose card tells no speed", nic("wireguard"), []probes.Layer{{Name: "wireguard0", Kind: "wireguard", Overhead: 60, MTU: 1420}, {Name: "eth0", Kind: "physical", MTU: 1500}}, "speed of eth0: wireguard is virtual"},
		{"a tunnel over a card that says why", nic("wireguard"), []probes.Layer{{Name: "wireguard0", Kind: "wireguard", Overhead: 60, MTU: 1420}, {Name: "eth0", Kind: "physical", MTU: 1500, SpeedBps: probes.Unknown[float64](probes.Absent, "virtio: the hypervisor tells no line speed")}}, "speed of eth0: virtio: the hypervisor"},
		{"a tunnel over Wi-Fi", nic("wireguard"), []probes.Layer{{Name: "wireguard0", Kind: "wireguard", MTU: 1420}, {Name: "wlan0", Kind: "wifi", MTU: 1500, SpeedBps: probes.Got(866e6)}}, "wlan0 is wifi: it has no line speed"},
		{"a program's tunnel", nic("tun"), []probes.Layer{{Name: "tun0", Kind: "tun", MTU: 1500}}, "tun0 is tun"},
	}
	for _, tt := range tests {
		if got := ChainCeiling(tt.route, tt.chain, Payload{}); got.Known() || !strings.Contains(got.Why(), tt.want) {
			t.Errorf("%s: got %+v, want unknown with %q", tt.name, got, tt.want)
		}
	}
}

func ExampleNewCeiling() {
	c := NewCeiling(2.5e9, Framing{MTU: 1500, Family: 4, Timestamps: true})
	fmt.Printf("%.0f Mbit/s\n", c.Bps/1e6)
	// Output: 2354 Mbit/s
}
