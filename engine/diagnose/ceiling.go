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
var wired = []string{"physical", "dsa", "vlan", "bond", "team", "bridge", "macvlan", "macvtap"}

// Payload is what a test sends, as far as its headers depend on it.
type Payload struct {
	Timestamps bool // of TCP
	UDP        bool
}

// ChainCeiling computes what a route leaves for payload, from the chain of devices that
// its packets pass (probes.Adapter.Chain): each may lower the size of a packet and wrap it
// into more headers. Without a chain nothing is known of what is below the route's
// interface, which is then taken to be all there is.
func ChainCeiling(route probes.Reading[probes.Route], chain []probes.Layer, p Payload) probes.Reading[Ceiling] {
	r, ok := route.Get()
	if !ok {
		return probes.Unknown[Ceiling](route.Status, "route: "+route.Why())
	}
	nic, ok := r.NIC.Get()
	if !ok {
		return probes.Unknown[Ceiling](r.NIC.Status, "interface: "+r.NIC.Why())
	}
	top := probes.Layer{Name: nic.Name, Kind: nic.Kind.Or("physical"), MTU: nic.MTU.Value} // a speed whose kind is not known is believed
	if len(chain) == 0 {
		chain = []probes.Layer{top}
	}
	wire := chain[len(chain)-1]
	if !slices.Contains(wired, wire.Kind) {
		return probes.Unknown[Ceiling](probes.Absent, fmt.Sprintf("%s is %s: it has no line speed", wire.Name, wire.Kind))
	}
	speed := lineSpeed(nic.SpeedBps, chain)
	if bps, ok := speed.Get(); !ok || bps <= 0 {
		return probes.Unknown[Ceiling](speed.Status, fmt.Sprintf("speed of %s: %s", wire.Name, speed.Why()))
	}
	f := wrap(chain)
	if f.MTU <= 0 {
		return probes.Unknown[Ceiling](nic.MTU.Status, fmt.Sprintf("MTU of %s: %s", nic.Name, nic.MTU.Why()))
	}
	f.Family, f.Timestamps, f.UDP = 4, p.Timestamps, p.UDP
	if r.Dest.Is6() && !r.Dest.Is4In6() {
		f.Family = 6
	}
	return probes.Got(NewCeiling(speed.Value, f))
}

// lineSpeed is that of the uppermost device of a chain that stands on a wire: a bond's is
// more than its member's. first is what the route's interface says of itself.
func lineSpeed(first probes.Reading[float64], chain []probes.Layer) probes.Reading[float64] {
	if first.Known() && slices.Contains(wired, chain[0].Kind) {
		return first
	}
	for _, l := range chain {
		if l.SpeedBps.Known() && slices.Contains(wired, l.Kind) {
			return l.SpeedBps
		}
	}
	switch wire := chain[len(chain)-1].SpeedBps; {
	case wire.Status != probes.NotRead:
		return wire
	case first.Known():
		return probes.Unknown[float64](probes.Absent, "no device below "+chain[0].Name+" tells one")
	}
	return first
}

// wrap follows a full packet down a chain of devices. Framing.MTU becomes its size on the
// wire, which is less than the wire's own MTU where a tunnel is set up with room to spare.
func wrap(chain []probes.Layer) Framing {
	var f Framing
	size := chain[0].MTU
	for _, l := range chain {
		if l.MTU > 0 {
			size = min(size, l.MTU)
		}
		if l.Kind == "vlan" { // the tag stands outside the MTU of the device below
			f.VLANs++
			continue
		}
		size += l.Overhead
		f.Encap += l.Overhead
	}
	f.MTU = size
	return f
}
