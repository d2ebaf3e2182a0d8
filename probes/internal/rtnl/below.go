package rtnl

import (
	"encoding/binary"
	"net/netip"
	"slices"
)

// Below is what a device that is not hardware sends its packets to, as far as the kernel
// tells through netlink. Members of bonds and ports of bridges are in sysfs instead.
type Below struct {
	// Device is the next one on the way to the wire; "" when it is not known, or when there
	// is none in this network namespace.
	Device string `json:"device"`
	// Outer is the far end of a tunnel; invalid when it has no fixed one.
	Outer netip.Addr `json:"outer"`
	// Options are bytes of header beyond the least that a tunnel of this kind has.
	Options int `json:"options,omitempty"`
	// Note says why Device is not known.
	Note string `json:"note,omitempty"`
}

const (
	noteElsewhere = "what is below it is in another network namespace"
	noteNoPeer    = "it has no fixed far end"
)

// Flags of a GRE header, linux/if_tunnel.h, and what each adds.
const (
	greChecksum, greKey, greSequence = 0x8000, 0x2000, 0x1000
	greOption                        = 4
)

// greOptions is what the flags and an encapsulation in UDP (FOU, GUE) add.
func greOptions(flags, encap uint16) int {
	n := encapOptions(encap)
	for _, bit := range []uint16{greChecksum, greKey, greSequence} {
		if flags&bit != 0 {
			n += greOption
		}
	}
	return n
}

// encapOptions gives the size of the UDP header of FOU, and of GUE's with its own.
func encapOptions(kind uint16) int {
	const fou, gue = 1, 2 // TUNNEL_ENCAP_FOU, TUNNEL_ENCAP_GUE
	switch kind {
	case fou:
		return 8
	case gue:
		return 8 + 4
	}
	return 0
}

// Attributes of WireGuard's netlink family, linux/wireguard.h.
const (
	wgDevicePrivateKey = 3
	wgDeviceMark       = 7
	wgDevicePeers      = 8
	wgPeerEndpoint     = 4
)

// wgPeers is what matters here of a WireGuard device.
type wgPeers struct {
	mark      uint32 // of the outer packets, for routing; 0 none
	endpoints []netip.Addr
}

// parseWireGuard adds what one message of the answer to WG_CMD_GET_DEVICE says. The
// kernel tells whoever may ask the private key too; it is wiped at once.
func parseWireGuard(msg []byte, p *wgPeers) {
	if len(msg) < genericHeader {
		return
	}
	for kind, value := range attributes(msg[genericHeader:]) {
		switch {
		case kind == wgDevicePrivateKey:
			clear(value)
		case kind == wgDeviceMark && len(value) >= 4:
			p.mark = binary.NativeEndian.Uint32(value)
		case kind == wgDevicePeers:
			for _, peer := range attributes(value) {
				for kind, v := range attributes(peer) {
					if addr, ok := sockaddr(v); ok && kind == wgPeerEndpoint && !slices.Contains(p.endpoints, addr) {
						p.endpoints = append(p.endpoints, addr)
					}
				}
			}
		}
	}
}

// sockaddr reads the address of a struct sockaddr_in or sockaddr_in6 of Linux.
func sockaddr(b []byte) (netip.Addr, bool) {
	const inet, inet6 = 2, 10 // AF_INET, AF_INET6
	if len(b) < 2 {
		return netip.Addr{}, false
	}
	switch family := binary.NativeEndian.Uint16(b); {
	case family == inet && len(b) >= 8:
		return netip.AddrFrom4([4]byte(b[4:8])), true
	case family == inet6 && len(b) >= 24:
		return netip.AddrFrom16([16]byte(b[8:24])).Unmap(), true
	}
	return netip.Addr{}, false
}
