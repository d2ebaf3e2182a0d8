//go:build linux

package rtnl

import (
	"context"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/probes"
)

// The table of speeds agrees with the constants of linux/ethtool.h.
func TestModesAreTheKernels(t *testing.T) {
	for bit, want := range map[int]float64{
		unix.ETHTOOL_LINK_MODE_10baseT_Half_BIT: 10e6, unix.ETHTOOL_LINK_MODE_100baseT_Full_BIT: 100e6, unix.ETHTOOL_LINK_MODE_1000baseT_Full_BIT: 1e9,
		unix.ETHTOOL_LINK_MODE_10000baseT_Full_BIT: 10e9, unix.ETHTOOL_LINK_MODE_2500baseX_Full_BIT: 2.5e9, unix.ETHTOOL_LINK_MODE_1000baseKX_Full_BIT: 1e9,
		unix.ETHTOOL_LINK_MODE_10000baseKR_Full_BIT: 10e9, unix.ETHTOOL_LINK_MODE_20000baseKR2_Full_BIT: 20e9, unix.ETHTOOL_LINK_MODE_40000baseKR4_Full_BIT: 40e9,
		unix.ETHTOOL_LINK_MODE_40000baseLR4_Full_BIT: 40e9, unix.ETHTOOL_LINK_MODE_56000baseLR4_Full_BIT: 56e9, unix.ETHTOOL_LINK_MODE_25000baseCR_Full_BIT: 25e9,
		unix.ETHTOOL_LINK_MODE_25000baseSR_Full_BIT: 25e9, unix.ETHTOOL_LINK_MODE_50000baseKR2_Full_BIT: 50e9, unix.ETHTOOL_LINK_MODE_100000baseLR4_ER4_Full_BIT: 100e9,
		unix.ETHTOOL_LINK_MODE_50000baseSR2_Full_BIT: 50e9, unix.ETHTOOL_LINK_MODE_1000baseX_Full_BIT: 1e9, unix.ETHTOOL_LINK_MODE_10000baseER_Full_BIT: 10e9,
		unix.ETHTOOL_LINK_MODE_2500baseT_Full_BIT: 2.5e9, unix.ETHTOOL_LINK_MODE_5000baseT_Full_BIT: 5e9, unix.ETHTOOL_LINK_MODE_50000baseDR_Full_BIT: 50e9,
		unix.ETHTOOL_LINK_MODE_100000baseDR2_Full_BIT: 100e9, unix.ETHTOOL_LINK_MODE_200000baseKR4_Full_BIT: 200e9, unix.ETHTOOL_LINK_MODE_200000baseCR4_Full_BIT: 200e9,
		unix.ETHTOOL_LINK_MODE_100baseT1_Full_BIT: 100e6, unix.ETHTOOL_LINK_MODE_400000baseCR8_Full_BIT: 400e9, unix.ETHTOOL_LINK_MODE_100000baseDR_Full_BIT: 100e9,
		unix.ETHTOOL_LINK_MODE_200000baseCR2_Full_BIT: 200e9, unix.ETHTOOL_LINK_MODE_400000baseCR4_Full_BIT: 400e9, unix.ETHTOOL_LINK_MODE_100baseFX_Full_BIT: 100e6,
	} {
		got := linkAnswer(4, 1, [3][]int{{bit}})
		var c Card
		parseLinkSettings(got, &c)
		if !slices.Equal(c.Supported.Value, []float64{want}) {
			t.Errorf("bit %d: %v, want %g", bit, c.Supported.Value, want)
		}
	}
}

// Every interface of this machine answers each question or tells why not.
func TestLiveCards(t *testing.T) {
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, ifi := range all {
		c := Kernel{}.Card(ifi.Name)
		for what, r := range map[string]struct {
			status probes.Status
			why    string
		}{
			"supported": {c.Supported.Status, c.Supported.Why()}, "offered": {c.Offered.Status, c.Offered.Why()},
			"advertised": {c.Advertised.Status, c.Advertised.Why()}, "autoneg": {c.Autoneg.Status, c.Autoneg.Why()},
			"rings": {c.Rings.Status, c.Rings.Why()}, "channels": {c.Channels.Status, c.Channels.Why()},
			"pause": {c.Pause.Status, c.Pause.Why()}, "EEE": {c.EEE.Status, c.EEE.Why()}, "optics": {c.Optics.Status, c.Optics.Why()},
		} {
			if r.status == probes.NotRead || r.status == probes.Failed || (r.status == probes.OK) != (r.why == "") {
				t.Errorf("%s of %s: %v, %q", what, ifi.Name, r.status, r.why)
			}
		}
		if r := c.Rings.Value; c.Rings.Known() && (r.Rx > r.RxMax || r.Tx > r.TxMax) {
			t.Errorf("%s: rings %+v", ifi.Name, r)
		}
		if ch := c.Channels.Value; c.Channels.Known() && (ch.Now < 1 || ch.Now > ch.Max) {
			t.Errorf("%s: channels %+v", ifi.Name, ch)
		}
	}
	// Loopback has large receive offload off for good, and the other three not.
	fixed, err := Kernel{}.Fixed("lo")
	if diff := cmp.Diff([]string{"lro"}, fixed); diff != "" || err != nil {
		t.Errorf("fixed on lo: %v (-want +got):\n%s", err, diff)
	}
	if f, err := (Kernel{}).Fixed("lr-none"); err == nil {
		t.Errorf("fixed on nothing: %q", f)
	}
}

func TestFamilyThatIsNotThere(t *testing.T) {
	_, err := dialGeneric(t.Context(), "linerate-none")
	if r := probes.Unread[int](err); r.Status != probes.Absent || r.Reason != "this kernel has no linerate-none" {
		t.Errorf("%+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dialGeneric(ctx, "nlctrl"); err == nil {
		t.Error("asked with a cancelled context")
	}
	g, err := dialGeneric(t.Context(), "nlctrl")
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if g.family != 16 { // GENL_ID_CTRL
		t.Errorf("the controller is family %d, want 16", g.family)
	}
	if _, err := (Kernel{}).WiFi(t.Context(), "lr-none"); probes.Unread[int](err).Status != probes.Absent {
		t.Errorf("radio of nothing: %v", err)
	}
}

// What the netlink library makes of each kind of device.
func TestDescribeBelow(t *testing.T) {
	attrs := func(parent, ns int) netlink.LinkAttrs {
		a := netlink.NewLinkAttrs()
		a.Name, a.ParentIndex, a.NetNsID = "x", parent, ns
		return a
	}
	names := map[int]string{2: "eth0"}
	parent := func(i int) string { return names[i] }
	v4, v6 := net.ParseIP("198.51.100.9"), net.ParseIP("2001:db8::9")
	a4, a6 := netip.MustParseAddr("198.51.100.9"), netip.MustParseAddr("2001:db8::9")
	me4, me6 := net.ParseIP("198.51.100.1"), net.ParseIP("2001:db8::1")
	tests := []struct {
		name string
		link netlink.Link
		want Below
		to   netip.Addr
	}{
		{"vlan", &netlink.Vlan{LinkAttrs: attrs(2, -1)}, Below{Device: "eth0"}, netip.Addr{}},
		{"vlan of another namespace", &netlink.Vlan{LinkAttrs: attrs(2, 0)}, Below{Note: noteElsewhere}, netip.Addr{}},
		{"macvlan whose parent is gone", &netlink.Macvlan{LinkAttrs: attrs(9, -1)}, Below{Note: noteElsewhere}, netip.Addr{}},
		{"macsec", &netlink.GenericLink{LinkAttrs: attrs(2, -1), LinkType: "macsec"}, Below{Device: "eth0"}, netip.Addr{}},
		{"something else", &netlink.GenericLink{LinkAttrs: attrs(2, -1), LinkType: "nlmon"}, Below{}, netip.Addr{}},
		{"vxlan on a device", &netlink.Vxlan{LinkAttrs: attrs(0, -1), VtepDevIndex: 2, Group: net.ParseIP("239.1.1.1").To4()}, Below{Device: "eth0", Outer: netip.MustParseAddr("239.1.1.1")}, netip.Addr{}},
		{"vxlan to a host", &netlink.Vxlan{LinkAttrs: attrs(0, -1), Group: v4.To4()}, Below{Outer: a4}, a4},
		{"vxlan to many", &netlink.Vxlan{LinkAttrs: attrs(0, -1), SrcAddr: me6}, Below{Outer: netip.MustParseAddr("2001:db8::1"), Note: noteNoPeer}, netip.Addr{}},
		{"geneve", &netlink.Geneve{LinkAttrs: attrs(0, -1), Remote: v6}, Below{Outer: a6}, a6},
		{"gre with a key", &netlink.Gretun{LinkAttrs: attrs(0, -1), Local: me4.To4(), Remote: v4.To4(), OFlags: greKey}, Below{Outer: a4, Options: 4}, a4},
		{"ip6gre", &netlink.Gretun{LinkAttrs: attrs(0, -1), Local: me6, Remote: v6}, Below{Outer: a6, Options: 8}, a6},
		{"gretap to anybody", &netlink.Gretap{LinkAttrs: attrs(0, -1), Local: me4.To4(), Remote: net.IPv4zero.To4()}, Below{Outer: netip.MustParseAddr("198.51.100.1"), Note: noteNoPeer}, netip.Addr{}},
		{"ipip in UDP", &netlink.Iptun{LinkAttrs: attrs(0, -1), Remote: v4.To4(), EncapType: 1}, Below{Outer: a4, Options: 8}, a4},
		{"sit", &netlink.Sittun{LinkAttrs: attrs(0, -1), Remote: v4.To4()}, Below{Outer: a4}, a4},
		{"ip6tnl", &netlink.Ip6tnl{LinkAttrs: attrs(0, -1), Remote: v6}, Below{Outer: a6, Options: 8}, a6},
		{"ip6tnl, encaplimit none", &netlink.Ip6tnl{LinkAttrs: attrs(0, -1), Remote: v6, Flags: 1}, Below{Outer: a6}, a6},
		{"veth", &netlink.Veth{LinkAttrs: attrs(2, -1)}, Below{}, netip.Addr{}},
	}
	for _, tt := range tests {
		got, to := describeBelow(tt.link, parent)
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if (to != nil) != tt.to.IsValid() || to != nil && to.to != tt.to {
			t.Errorf("%s: route to %+v, want %v", tt.name, to, tt.to)
		}
	}
}

// A real VXLAN, found down to its device by the routing table.
func TestNetnsBelow(t *testing.T) {
	runtime.LockOSThread() // and never unlocked: the thread ends with the test
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		if os.Getenv("LINERATE_GATE") == "1" {
			t.Fatalf("no network namespace: %v", err)
		}
		t.Skipf("no network namespace (needs root): %v", err)
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "lrv0"
	add := func(l netlink.Link) {
		t.Helper()
		if err := netlink.LinkAdd(l); err != nil {
			t.Fatalf("adding %s: %v", l.Attrs().Name, err)
		}
	}
	add(&netlink.Veth{LinkAttrs: attrs, PeerName: "lrv1"})
	attrs.Name = "lrx"
	if err := netlink.LinkAdd(&netlink.Vxlan{LinkAttrs: attrs, VxlanId: 7, Group: net.IPv4(198, 51, 100, 9), Port: 4789}); err != nil {
		t.Skipf("this kernel makes no vxlan: %v", err)
	}
	got, err := Kernel{}.Below(t.Context(), "lrx")
	if err != nil || got.Device != "" || got.Note != "no route to its far end, 198.51.100.9" || got.Outer != netip.MustParseAddr("198.51.100.9") {
		t.Errorf("without a route: %+v, %v", got, err)
	}
	v, err := netlink.LinkByName("lrv0")
	if err != nil {
		t.Fatal(err)
	}
	addr, err := netlink.ParseAddr("198.51.100.1/24")
	if err != nil {
		t.Fatal(err)
	}
	if err := netlink.AddrAdd(v, addr); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"lrv0", "lrv1"} {
		l, err := netlink.LinkByName(name)
		if err == nil {
			err = netlink.LinkSetUp(l)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err = Kernel{}.Below(t.Context(), "lrx")
	if err != nil || got.Device != "lrv0" || got.Note != "" {
		t.Errorf("with a route: %+v, %v", got, err)
	}
	attrs.Name = "lry"
	add(&netlink.Vxlan{LinkAttrs: attrs, VxlanId: 8, VtepDevIndex: v.Attrs().Index, Group: net.IPv4(239, 1, 1, 1), Port: 4790})
	if got, err := (Kernel{}).Below(t.Context(), "lry"); err != nil || got.Device != "lrv0" {
		t.Errorf("vxlan on a device: %+v, %v", got, err)
	}
	if got, err := (Kernel{}).Below(t.Context(), "lrv0"); err != nil || got != (Below{}) {
		t.Errorf("below a veth: %+v, %v", got, err)
	}
	if _, err := (Kernel{}).Below(t.Context(), "lr-none"); err == nil || !strings.Contains(err.Error(), "lr-none") {
		t.Errorf("below nothing: %v", err)
	}
}
