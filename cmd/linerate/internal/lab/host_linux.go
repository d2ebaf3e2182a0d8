package lab

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"linerate/probes/nstest"
)

// Need skips the test when this machine cannot build a lab, and fails it in the gate.
func Need(t testing.TB, programs ...string) {
	t.Helper()
	if _, err := os.Stat("/dev/net/tun"); err != nil {
		if os.Getenv("LINERATE_GATE") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	nstest.Need(t, programs...)
}

// Host is a network namespace of the test's own, with its loopback up. It stands for a
// computer: CPUs and Group hold for every program that is started on it afterwards.
type Host struct {
	*nstest.Host
	Name    string
	Addr    netip.Addr // set by the link that joins it to another host first
	CPUs    []int      // the cores its programs may use; nil: all
	Group   *Group     // the control group they run in; nil: that of the test
	nl      *netlink.Handle
	links   int // veth devices so far
	filters int // tables so far
}

// NewHost makes a host; it goes when the test ends.
func NewHost(t testing.TB, name string) *Host {
	t.Helper()
	h := &Host{Host: nstest.New(t), Name: name}
	var err error
	if h.nl, err = netlink.NewHandleAt(netns.NsHandle(h.FD())); err != nil {
		t.Fatalf("netlink in %s: %v", name, err)
	}
	t.Cleanup(h.nl.Close)
	return h
}

// join gives a device its address in a /30 of the lab and brings it up.
func (h *Host) join(dev string, addr netip.Addr) error {
	link, err := h.nl.LinkByName(dev)
	if err != nil {
		return fmt.Errorf("%s in %s: %w", dev, h.Name, err)
	}
	ip := &netlink.Addr{IPNet: &net.IPNet{IP: addr.AsSlice(), Mask: net.CIDRMask(30, 32)}}
	if err := h.nl.AddrAdd(link, ip); err != nil {
		return fmt.Errorf("address of %s in %s: %w", dev, h.Name, err)
	}
	if !h.Addr.IsValid() {
		h.Addr = addr
	}
	return h.nl.LinkSetUp(link)
}

// Shape puts a token bucket filter of rate bit/s with a queue of limit bytes on a device
// of the host.
func (h *Host) Shape(t testing.TB, dev string, rate float64, limit uint32) {
	t.Helper()
	link, err := h.nl.LinkByName(dev)
	if err != nil {
		t.Fatalf("%s in %s: %v", dev, h.Name, err)
	}
	bytesPerSecond := uint64(rate / 8)
	burst := uint32(max(16<<10, bytesPerSecond/250)) // tbf needs a jiffy's worth at least
	tbf := &netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: link.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		Rate:       bytesPerSecond,
		Limit:      limit,
		Buffer:     netlink.Xmittime(bytesPerSecond, burst),
	}
	if err := h.nl.QdiscReplace(tbf); err != nil {
		t.Fatalf("tbf on %s in %s: %v", dev, h.Name, err)
	}
}

// Filter adds rules to one netfilter hook of the host: "input" or "forward" for packets
// that arrive, "output" for those it sends. A rule is what nft takes:
// "meta length > 4074 drop".
func (h *Host) Filter(t testing.TB, hook string, rules ...string) {
	t.Helper()
	h.filters++
	script := fmt.Sprintf("table inet lab%d {\n\tchain %s {\n\t\ttype filter hook %[2]s priority 0\n\t\t%s\n\t}\n}\n",
		h.filters, hook, strings.Join(rules, "\n\t\t"))
	h.Host.Filter(t, script)
}

// RandomDrop is a rule for Filter that loses a share of all packets of a protocol ("tcp"),
// in thousandths.
func RandomDrop(protocol string, perMille int) string {
	return fmt.Sprintf("meta l4proto %s numgen random mod 1000 < %d drop", protocol, perMille)
}
