//go:build linux

package nic

import (
	"net"
	"os"
	"testing"

	"github.com/vishvananda/netlink"

	"linerate/probes"
	"linerate/probes/internal/rtnl"
)

// A VXLAN over a bridge with one veth port, as the kernel itself shows them.
func TestNetnsChain(t *testing.T) {
	root := namespace(t)
	r := &Reader{root: os.DirFS(root), kernel: rtnl.Kernel{}}
	add(t, &netlink.Veth{LinkAttrs: attrs("lrv0"), PeerName: "lrv1"})
	bridge := &netlink.Bridge{LinkAttrs: attrs("lrbr")}
	add(t, bridge)
	if err := netlink.LinkSetMaster(must(t, "lrv1"), bridge); err != nil {
		t.Fatal(err)
	}
	addr, err := netlink.ParseAddr("198.51.100.1/24")
	if err == nil {
		err = netlink.AddrAdd(bridge, addr)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"lrv0", "lrv1", "lrbr"} {
		if err := netlink.LinkSetUp(must(t, name)); err != nil {
			t.Fatal(err)
		}
	}
	over := attrs("lrx")
	over.MTU = 1350
	if err := netlink.LinkAdd(&netlink.Vxlan{LinkAttrs: over, VxlanId: 7, Group: net.IPv4(198, 51, 100, 9), Port: 4789}); err != nil {
		t.Skipf("this kernel makes no vxlan: %v", err)
	}
	a, err := r.Adapter(t.Context(), "lrx")
	const want = "lrx vxlan 50/1350, lrbr bridge 0/1400 (bridge without a port that is hardware and up)"
	if got := chainText(a.Chain); got != want || err != nil {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
	if a.Device != "lrbr" || a.PCIe.Reason != "lrbr is not hardware" || a.RPS != probes.Got(false) {
		t.Errorf("device %q, PCIe %+v, RPS %+v", a.Device, a.PCIe, a.RPS)
	}
}
