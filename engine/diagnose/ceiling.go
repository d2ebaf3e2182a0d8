package diagnose

import (
	"fmt"
	"slices"

	"linerate/probes"
)

// frameOverhead is what Ethernet adds to every packet on the wire: preamble and
// delimiter 8, header 14, check sequence 4, gap 12 bytes.
const frameOverhead = 38

// Framing is how payload is wrapped on the way over one link.
type Framing struct {
	MTU        int  `json:"mtu"`        // of the link, bytes
	Family     int  `json:"family"`     // 4 or 6: the IP header next to TCP
	Timestamps bool `json:"timestamps"` // TCP timestamps, 12 bytes in every segment; the default everywhere
	VLANs      int  `json:"vlans"`      // tags, 4 bytes each, outside the MTU
	Encap      int  `json:"encap"`      // bytes of tunnel headers inside the MTU: PPPoE 8, VXLAN 50, WireGuard 60 over IPv4 and 80 over IPv6
	UDP        bool `json:"udp"`
}

// Efficiency is the share of the link's bits that is left for payload, 0 to 1; 0 where
// the headers leave no room.
func (f Framing) Efficiency() float64 {
	headers := f.Encap + 20
	if f.Family == 6 {
		headers += 20
	}
	switch {
	case f.UDP:
		headers += 8
	case f.Timestamps:
		headers += 32
	default:
		headers += 20
	}
	if f.MTU <= headers {
		return 0
	}
	return float64(f.MTU-headers) / float64(f.MTU+frameOverhead+4*f.VLANs)
}

// Ceiling is the most payload a link can carry in one direction.
type Ceiling struct {
	LinkBps   float64 `json:"link_bps"` // line speed, bits/s
	Bps       float64 `json:"bps"`      // goodput it allows, bits/s
	Framing   Framing `json:"framing"`
	Simulated bool    `json:"simulated"` // by pacing on this computer
}

// NewCeiling computes the goodput that a link of linkBps allows with this framing.
func NewCeiling(linkBps float64, f Framing) Ceiling {
	return Ceiling{LinkBps: linkBps, Bps: linkBps * f.Efficiency(), Framing: f}
}

// SimulatedCeiling is that of a simulated link: Ethernet with MTU 1500 and IPv4.
func SimulatedCeiling(linkBps float64) Ceiling {
	c := NewCeiling(linkBps, Framing{MTU: 1500, Family: 4, Timestamps: true})
	c.Simulated = true
	return c
}

// with gives the same link with another MTU.
func (c Ceiling) with(mtu int) Ceiling {
	f := c.Framing
	f.MTU = mtu
	return NewCeiling(c.LinkBps, f)
}

// wired are the kinds of interface whose speed is that of the wire they send on. All
// others claim a figure that means nothing (veth and tun say 10 Gbit/s) or that is not
// reached (a radio's bit rate).
var wired = []string{"physical", "vlan", "bond", "bridge", "macvlan"}

// RouteCeiling computes what the interface of a route leaves for TCP payload.
func RouteCeiling(route probes.Reading[probes.Route], timestamps bool) probes.Reading[Ceiling] {
	r, ok := route.Get()
	if !ok {
		return probes.Unknown[Ceiling](route.Status, "route: "+route.Why())
	}
	nic, ok := r.NIC.Get()
	if !ok {
		return probes.Unknown[Ceiling](r.NIC.Status, "interface: "+r.NIC.Why())
	}
	kind, known := nic.Kind.Get()
	if known && !slices.Contains(wired, kind) {
		return probes.Unknown[Ceiling](probes.Absent, fmt.Sprintf("%s is %s: it has no line speed", nic.Name, kind))
	}
	speed, ok := nic.SpeedBps.Get()
	if !ok || speed <= 0 {
		return probes.Unknown[Ceiling](nic.SpeedBps.Status, fmt.Sprintf("speed of %s: %s", nic.Name, nic.SpeedBps.Why()))
	}
	mtu, ok := nic.MTU.Get()
	if !ok {
		return probes.Unknown[Ceiling](nic.MTU.Status, fmt.Sprintf("MTU of %s: %s", nic.Name, nic.MTU.Why()))
	}
	f := Framing{MTU: mtu, Family: 4, Timestamps: timestamps}
	if r.Dest.Is6() && !r.Dest.Is4In6() {
		f.Family = 6
	}
	if kind == "vlan" {
		f.VLANs = 1
	}
	return probes.Got(NewCeiling(speed, f))
}
