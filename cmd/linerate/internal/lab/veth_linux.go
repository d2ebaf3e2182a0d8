package lab

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/vishvananda/netlink"
)

// Cable is a veth pair.
type Cable struct {
	MTU int // of both ends; 0: 1500
	// Plain switches segmentation and receive offloads off at both ends, so that packets
	// cross one by one and no larger than the MTU, as they do on a wire.
	Plain bool
}

// Join joins a and b until the test ends, and gives the names of the devices.
func Join(t testing.TB, a, b *Host, c Cable) (devA, devB string) {
	t.Helper()
	return join(t, a, b, c, 1)
}

func join(t testing.TB, a, b *Host, c Cable, net byte) (devA, devB string) {
	t.Helper()
	if c.MTU == 0 {
		c.MTU = 1500
	}
	devA, devB = a.nextDev(), b.nextDev()
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU = devA, c.MTU
	err := a.nl.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: devB, PeerMTU: uint32(c.MTU), PeerNamespace: netlink.NsFd(b.FD())})
	if err != nil {
		t.Fatalf("veth between %s and %s: %v", a.Name, b.Name, err)
	}
	for i, end := range []struct {
		h   *Host
		dev string
	}{{a, devA}, {b, devB}} {
		if c.Plain {
			if err := end.h.plain(end.dev); err != nil {
				t.Fatal(err)
			}
		}
		if err := end.h.join(end.dev, netip.AddrFrom4([4]byte{10, 78, net, byte(i + 1)})); err != nil {
			t.Fatal(err)
		}
	}
	return devA, devB
}

// Through joins a and b by way of m, which forwards between the two cables.
func Through(t testing.TB, a, m, b *Host, am, mb Cable) {
	t.Helper()
	join(t, a, m, am, 1)
	join(t, m, b, mb, 2)
	m.Sysctl(t, "net.ipv4.ip_forward", "1")
	for _, end := range []struct {
		h       *Host
		gateway netip.Addr
	}{{a, netip.AddrFrom4([4]byte{10, 78, 1, 2})}, {b, netip.AddrFrom4([4]byte{10, 78, 2, 1})}} {
		if err := end.h.nl.RouteAdd(&netlink.Route{Gw: end.gateway.AsSlice()}); err != nil {
			t.Fatalf("route in %s: %v", end.h.Name, err)
		}
	}
}

func (h *Host) nextDev() string {
	dev := fmt.Sprintf("eth%d", h.links)
	h.links++
	return dev
}

// SetMTU changes the MTU of one end of a cable: what the other end sends and is larger
// vanishes, as at a switch.
func (h *Host) SetMTU(t testing.TB, dev string, mtu int) {
	t.Helper()
	link, err := h.nl.LinkByName(dev)
	if err == nil {
		err = h.nl.LinkSetMTU(link, mtu)
	}
	if err != nil {
		t.Fatalf("MTU of %s in %s: %v", dev, h.Name, err)
	}
}
