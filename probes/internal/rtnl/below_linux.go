//go:build linux

package rtnl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
)

// Below finds what a stacked device or a tunnel sends its packets to. The far end of a
// tunnel is looked up in the routing table. Only WireGuard's takes a privilege,
// CAP_NET_ADMIN.
func (Kernel) Below(ctx context.Context, name string) (Below, error) {
	h, err := open(ctx)
	if err != nil {
		return Below{}, err
	}
	defer h.Close()
	l, err := h.LinkByName(name)
	if err != nil {
		return Below{}, fmt.Errorf("interface %s: %w", name, err)
	}
	parent := func(index int) string {
		if index == 0 {
			return ""
		}
		p, err := h.LinkByIndex(index)
		if err != nil {
			return ""
		}
		return p.Attrs().Name
	}
	b, route := describeBelow(l, parent)
	if l.Type() == "wireguard" {
		b, route = wireGuard(ctx, l.Attrs())
	}
	if route != nil {
		b.Device, b.Note = outerRoute(h, name, route)
	}
	return b, nil
}

// hop is a question to the routing table.
type hop struct {
	to   netip.Addr
	mark uint32
}

// describeBelow gives what the link's own attributes say, and the route to look up when
// they name a far end but no device. parent gives the name of a device by index.
func describeBelow(l netlink.Link, parent func(index int) string) (Below, *hop) {
	switch t := l.(type) {
	case *netlink.Vlan, *netlink.Macvlan, *netlink.Macvtap, *netlink.IPVlan, *netlink.IPVtap:
		return stacked(l, parent), nil
	case *netlink.GenericLink:
		if t.LinkType == "macsec" {
			return stacked(l, parent), nil
		}
	case *netlink.Vxlan:
		if device := parent(t.VtepDevIndex); device != "" {
			return Below{Device: device, Outer: address(t.Group, t.SrcAddr)}, nil
		}
		return tunnel(address(t.Group, nil), address(t.SrcAddr, nil), 0)
	case *netlink.Geneve:
		return tunnel(address(t.Remote, nil), netip.Addr{}, 0)
	case *netlink.Gretun:
		return tunnel(address(t.Remote, nil), address(t.Local, nil), greOptions(t.OFlags, t.EncapType)+encapLimit(l.Type(), 0))
	case *netlink.Gretap:
		return tunnel(address(t.Remote, nil), address(t.Local, nil), greOptions(t.OFlags, t.EncapType)+encapLimit(l.Type(), 0))
	case *netlink.Iptun:
		return tunnel(address(t.Remote, nil), address(t.Local, nil), encapOptions(t.EncapType))
	case *netlink.Sittun:
		return tunnel(address(t.Remote, nil), address(t.Local, nil), encapOptions(t.EncapType))
	case *netlink.Ip6tnl:
		return tunnel(address(t.Remote, nil), address(t.Local, nil), encapOptions(t.EncapType)+encapLimit("ip6tnl", t.Flags))
	}
	return Below{}, nil
}

// stacked is for devices that add to what another one sends.
func stacked(l netlink.Link, parent func(int) string) Below {
	a := l.Attrs()
	// An index of another namespace means nothing here.
	if a.NetNsID >= 0 || a.ParentIndex == 0 || parent(a.ParentIndex) == "" {
		return Below{Note: noteElsewhere}
	}
	return Below{Device: parent(a.ParentIndex)}
}

func tunnel(remote, local netip.Addr, options int) (Below, *hop) {
	if !remote.IsValid() || remote.IsUnspecified() {
		return Below{Outer: local, Options: options, Note: noteNoPeer}, nil
	}
	return Below{Outer: remote, Options: options}, &hop{to: remote}
}

// address gives the first that is one.
func address(ip, or net.IP) netip.Addr {
	if a, ok := netip.AddrFromSlice(ip); ok {
		return a.Unmap()
	}
	a, _ := netip.AddrFromSlice(or)
	return a.Unmap()
}

// encapLimit is the destination option that IPv6 tunnels carry unless told not to
// (encaplimit none, flag IP6_TNL_F_IGN_ENCAP_LIMIT).
func encapLimit(kind string, flags uint32) int {
	const ignore, option = 1, 8
	switch {
	case flags&ignore != 0:
		return 0
	case kind == "ip6tnl", kind == "ip6gre", kind == "ip6gretap":
		return option
	}
	return 0
}

func wireGuard(ctx context.Context, a *netlink.LinkAttrs) (Below, *hop) {
	peers, err := wgDevice(ctx, a.Index)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return Below{Note: "its far end is shown to administrators only"}, nil
	case err != nil:
		return Below{Note: "its far end: " + err.Error()}, nil
	case len(peers.endpoints) == 0:
		return Below{Note: "none of its peers has been heard of"}, nil
	case len(peers.endpoints) > 1:
		return Below{Outer: common(peers.endpoints), Note: fmt.Sprintf("it has %d peers", len(peers.endpoints))}, nil
	}
	return Below{Outer: peers.endpoints[0]}, &hop{to: peers.endpoints[0], mark: peers.mark}
}

// common gives the first of several addresses if all are of one family.
func common(addrs []netip.Addr) netip.Addr {
	for _, a := range addrs {
		if a.Is4() != addrs[0].Is4() {
			return netip.Addr{}
		}
	}
	return addrs[0]
}

// outerRoute finds the device that carries the packets of tunnel name, or says why not.
func outerRoute(h *netlink.Handle, name string, to *hop) (device, note string) {
	routes, err := h.RouteGetWithOptions(to.to.AsSlice(), &netlink.RouteGetOptions{Mark: to.mark})
	if err != nil || len(routes) == 0 {
		return "", fmt.Sprintf("no route to its far end, %s", to.to)
	}
	l, err := h.LinkByIndex(routes[0].LinkIndex)
	if err != nil {
		return "", fmt.Sprintf("interface %d, which leads to its far end, is gone", routes[0].LinkIndex)
	}
	if l.Attrs().Name == name {
		return "", "the route to its far end leads into itself"
	}
	return l.Attrs().Name, ""
}

// wgDevice dumps one WireGuard device.
func wgDevice(ctx context.Context, index int) (wgPeers, error) {
	g, err := dialGeneric(ctx, "wireguard")
	if err != nil {
		return wgPeers{}, err
	}
	defer g.Close()
	const getDevice, ifindex = 0, 1 // WG_CMD_GET_DEVICE, WGDEVICE_A_IFINDEX
	messages, err := g.dump(getDevice, ifindex, index)
	var p wgPeers
	for _, m := range messages {
		parseWireGuard(m, &p)
	}
	return p, err
}
