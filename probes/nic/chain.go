package nic

import (
	"context"
	"fmt"
	"strings"

	"linerate/probes"
	"linerate/probes/internal/kfs"
	"linerate/probes/internal/rtnl"
)

// way is the chain of devices from one interface down to the wire, or as far as it can be
// followed. It has one link at least; layers describe the same devices.
type way struct {
	links  []rtnl.Link
	layers []probes.Layer
}

// wayDown follows an interface down. Of a bond it takes one member, which stands for the
// others.
func (r *Reader) wayDown(ctx context.Context, top rtnl.Link) way {
	var w way
	for link := top; ; {
		if w.has(link.Name) || len(w.links) == maxDepth {
			w.note("the devices below go round in a circle")
			return w
		}
		layer, next := r.layer(ctx, link)
		w.links, w.layers = append(w.links, link), append(w.layers, layer)
		if next == "" {
			return w
		}
		below, err := r.ask().Link(ctx, next)
		if err != nil {
			w.note(err.Error())
			return w
		}
		link = below
	}
}

func (w *way) has(name string) bool {
	for _, l := range w.links {
		if l.Name == name {
			return true
		}
	}
	return false
}

// note says at the last device why the chain ends there.
func (w *way) note(text string) {
	last := &w.layers[len(w.layers)-1]
	last.Note = join(last.Note, text)
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// layer describes one device of the chain and names the next; "" at the end.
func (r *Reader) layer(ctx context.Context, link rtnl.Link) (probes.Layer, string) {
	s := r.sysfs(link)
	face := r.face(ctx, link, s, maxDepth)
	layer := probes.Layer{Name: link.Name, Kind: face.Kind.Value, MTU: link.MTU, SpeedBps: face.SpeedBps}
	switch layer.Kind {
	case "physical", "wifi", "dsa", "loopback":
		return layer, ""
	case "veth":
		layer.Note = "its other end may be in another network namespace; what is beyond is not visible from here"
		return layer, ""
	case "tun", "tap":
		layer.Note = "a program carries its packets on; what it adds is not known"
		return layer, ""
	case "ppp":
		return r.ppp(layer)
	case "bond", "team":
		return r.member(ctx, layer, link, s)
	case "bridge":
		return r.port(ctx, layer, link, s)
	}
	return r.wrapped(ctx, layer, s)
}

// wrapped is a VLAN, a tunnel, or something else that the kernel stacks on one device.
func (r *Reader) wrapped(ctx context.Context, layer probes.Layer, s sysfs) (probes.Layer, string) {
	below, err := r.ask().Below(ctx, layer.Name)
	if err != nil {
		layer.Note = err.Error()
	}
	if below.Device == "" {
		if lower := s.lower(); len(lower) == 1 {
			below.Device, below.Note = lower[0], ""
		}
	}
	var known bool
	layer.Overhead, known = encapsulation(layer.Kind, below)
	switch {
	case below.Device == "" && below.Note != "":
		layer.Note = join(layer.Note, below.Note)
	case below.Device == "":
		layer.Note = join(layer.Note, "what is below it is not known")
	case !known:
		layer.Note = join(layer.Note, "what it adds to a packet is not known")
	}
	if wraps[layer.Kind] && !below.Outer.IsValid() {
		layer.Note = join(layer.Note, "IPv4 outside is assumed")
	}
	return layer, below.Device
}

// ppp looks for the PPPoE session below a PPP device. With two sessions nothing tells
// which is whose.
func (r *Reader) ppp(layer probes.Layer) (probes.Layer, string) {
	text, err := kfs.Text(r.root, "proc/net/pppoe")
	devices := pppoeDevices(text)
	switch {
	case err != nil || len(devices) == 0:
		layer.Note = "what carries it is not known: no PPPoE"
		return layer, ""
	case len(devices) > 1:
		layer.Kind, layer.Overhead = "pppoe", pppoeHeader
		layer.Note = fmt.Sprintf("one of %d PPPoE sessions", len(devices))
		return layer, ""
	}
	layer.Kind, layer.Overhead = "pppoe", pppoeHeader
	return layer, devices[0]
}

const pppoeHeader = 6 + 2 // PPPoE, and PPP's protocol number

// pppoeDevices lists the device of each session in /proc/net/pppoe: a headline, then
// identifier, address of the concentrator, and device.
func pppoeDevices(text string) []string {
	var devices []string
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 3 && f[0] != "Id" {
			devices = append(devices, f[2])
		}
	}
	return devices
}

// member chooses the member of a bond that is described: the active one where only one
// is, else the first that is up.
func (r *Reader) member(ctx context.Context, layer probes.Layer, link rtnl.Link, s sysfs) (probes.Layer, string) {
	if active, err := s.text("bonding/active_slave"); err == nil && active != "" {
		return layer, active
	}
	members := r.ports(ctx, link, s)
	for _, m := range members {
		if m.Up {
			return layer, m.Name
		}
	}
	if len(members) == 0 {
		layer.Note = "no member of it is visible here"
		return layer, ""
	}
	return layer, members[0].Name
}

// port chooses the one way out of a bridge; see stacked.
func (r *Reader) port(ctx context.Context, layer probes.Layer, link rtnl.Link, s sysfs) (probes.Layer, string) {
	var out []string
	for _, p := range r.ports(ctx, link, s) {
		switch p.Kind {
		case "veth", "tun", "dummy":
			continue
		}
		if p.Up {
			out = append(out, p.Name)
		}
	}
	switch len(out) {
	case 0:
		layer.Note = "bridge without a port that is hardware and up"
		return layer, ""
	case 1:
		return layer, out[0]
	}
	layer.Note = fmt.Sprintf("bridge with %d ports out of this computer", len(out))
	return layer, ""
}

// ports lists the members of a bond or bridge, which netlink knows by the index of their
// master, and sysfs by name.
func (r *Reader) ports(ctx context.Context, master rtnl.Link, s sysfs) []rtnl.Link {
	var ports []rtnl.Link
	if all, err := r.ask().All(ctx); err == nil && master.Index != 0 {
		for _, l := range all {
			if l.Master == master.Index {
				ports = append(ports, l)
			}
		}
	}
	if len(ports) > 0 {
		return ports
	}
	for _, name := range s.lower() {
		if l, err := r.ask().Link(ctx, name); err == nil {
			ports = append(ports, l)
		}
	}
	return ports
}

// Sizes of headers, in bytes.
const (
	ethernetHeader = 14
	vlanTag        = 4
	ip4Header      = 20
	ip6Header      = 40
	udpHeader      = 8
	vxlanHeader    = 8
	greHeader      = 4
	// A data message's header (type, receiver, counter) and Poly1305's tag.
	wireGuardHeader = 4 + 4 + 8 + 16
	// Sec tag with the sender's identifier, and the integrity check of GCM-AES.
	macsecHeader = 16 + 16
)

// wraps are the kinds that wrap packets into packets of IP.
var wraps = map[string]bool{
	"vxlan": true, "geneve": true, "gre": true, "ip6gre": true, "gretap": true, "ip6gretap": true,
	"ipip": true, "sit": true, "ip6tnl": true, "wireguard": true,
}

// encapsulation gives the bytes that a device of a kind puts around what it is handed,
// within the frame of the device below, and whether that is known. IPv4 is outside unless
// the far end or the kind says otherwise.
func encapsulation(kind string, below rtnl.Below) (int, bool) {
	outer := ip4Header
	if below.Outer.Is6() || strings.HasPrefix(kind, "ip6") {
		outer = ip6Header
	}
	switch kind {
	case "vlan":
		return vlanTag, true
	case "macvlan", "macvtap", "ipvlan", "ipvtap":
		return 0, true
	case "macsec":
		return macsecHeader, true
	case "vxlan", "geneve":
		return ethernetHeader + vxlanHeader + udpHeader + outer + below.Options, true
	case "gre", "ip6gre":
		return greHeader + outer + below.Options, true
	case "gretap", "ip6gretap":
		return ethernetHeader + greHeader + outer + below.Options, true
	case "ipip", "sit", "ip6tnl":
		return outer + below.Options, true
	case "wireguard":
		return wireGuardHeader + udpHeader + outer, true
	}
	return 0, false
}
