//go:build linux

package nic

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/probes"
	"linerate/probes/internal/rtnl"
)

// namespace puts the calling test into network and mount namespaces of its own and
// gives a root whose sys shows the new network. The thread is never given back.
func namespace(t *testing.T) (root string) {
	t.Helper()
	give := func(err error) {
		if os.Getenv("LINERATE_GATE") == "1" {
			t.Fatalf("no network namespace: %v", err)
		}
		t.Skipf("no network namespace (needs root): %v", err)
	}
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWNS); err != nil {
		give(err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		give(err)
	}
	root = t.TempDir()
	sys := filepath.Join(root, "sys")
	if err := os.Mkdir(sys, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("sysfs", sys, "sysfs", unix.MS_RDONLY, ""); err != nil {
		give(err)
	}
	// On this thread; the namespace would keep the folder busy.
	t.Cleanup(func() { unix.Unmount(sys, unix.MNT_DETACH) })
	return root
}

func TestNetnsRealKinds(t *testing.T) {
	root := namespace(t)
	r := &Reader{root: os.DirFS(root), kernel: rtnl.Kernel{}}

	lo := must(t, "lo")
	if err := netlink.LinkSetUp(lo); err != nil {
		t.Fatal(err)
	}
	add(t, &netlink.Veth{LinkAttrs: attrs("lrv0"), PeerName: "lrv1"})
	bridge := &netlink.Bridge{LinkAttrs: attrs("lrbr")}
	add(t, bridge)
	port := must(t, "lrv1")
	if err := netlink.LinkSetMaster(port, bridge); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"lrv0", "lrv1", "lrbr"} {
		if err := netlink.LinkSetUp(must(t, name)); err != nil {
			t.Fatal(err)
		}
	}
	addr, err := netlink.ParseAddr("198.51.100.1/24")
	if err != nil {
		t.Fatal(err)
	}
	if err := netlink.AddrAdd(must(t, "lrv0"), addr); err != nil {
		t.Fatal(err)
	}

	veth := r.Read(t.Context(), "lrv0")
	if veth.Kind.Value != "veth" || veth.Driver.Value != "veth" || veth.MTU.Value != 1400 || !veth.Up.Value {
		t.Errorf("veth: %+v", veth)
	}
	if veth.SpeedBps.Known() || !strings.Contains(veth.SpeedBps.Why(), "veth is virtual") {
		t.Errorf("speed of a veth: %+v", veth.SpeedBps)
	}
	if veth.RxQueues.Value < 1 || veth.TxQueues.Value < 1 {
		t.Errorf("queues of a veth: %+v, %+v", veth.RxQueues, veth.TxQueues)
	}
	br := r.Read(t.Context(), "lrbr")
	if br.Kind.Value != "bridge" || br.SpeedBps.Known() || !strings.Contains(br.SpeedBps.Why(), "without a port that is hardware") {
		t.Errorf("bridge: kind %+v, speed %+v", br.Kind, br.SpeedBps)
	}

	if !veth.Offloads.TSO.Known() || !veth.Offloads.GRO.Known() || !veth.Offloads.GSO.Known() || !veth.Offloads.LRO.Known() {
		t.Errorf("offloads of a veth: %+v", veth.Offloads)
	}

	// The same names through the real /sys belong to another namespace.
	outside := New().Read(t.Context(), "lrv0")
	if outside.SpeedBps.Known() || outside.Kind.Value != "veth" || !outside.MTU.Known() {
		t.Errorf("with the /sys of the first namespace: %+v", outside)
	}

	route, err := r.Route(t.Context(), netip.MustParseAddr("198.51.100.77"))
	if err != nil {
		t.Fatal(err)
	}
	if route.NIC.Value.Name != "lrv0" || route.Source != netip.MustParseAddr("198.51.100.1") || route.Gateway.IsValid() {
		t.Errorf("route on the link: %+v", route)
	}
	if _, err := r.Route(t.Context(), netip.MustParseAddr("203.0.113.1")); !errors.Is(err, unix.ENETUNREACH) {
		t.Errorf("route without a default: %v, want network is unreachable", err)
	}
	gw := &netlink.Route{Gw: net.IPv4(198, 51, 100, 254), LinkIndex: must(t, "lrv0").Attrs().Index}
	if err := netlink.RouteAdd(gw); err != nil {
		t.Fatal(err)
	}
	route, err = r.Route(t.Context(), netip.MustParseAddr("203.0.113.1"))
	if err != nil {
		t.Fatal(err)
	}
	if route.Gateway != netip.MustParseAddr("198.51.100.254") || route.Source != netip.MustParseAddr("198.51.100.1") {
		t.Errorf("route through a gateway: %+v", route)
	}
	if local, err := r.Route(t.Context(), netip.MustParseAddr("198.51.100.1")); err != nil || local.NIC.Value.Kind.Value != "loopback" {
		t.Errorf("route to an own address: %+v, %v, want loopback", local.NIC.Value.Kind, err)
	}

	if err := netlink.LinkSetDown(must(t, "lrv0")); err != nil {
		t.Fatal(err)
	}
	if down := r.Read(t.Context(), "lrv1"); down.Up != probes.Got(false) {
		t.Errorf("a veth whose peer is down: up %+v, want false", down.Up)
	}
	tunnels(t, r)
}

// tunnels adds what not every kernel has; a kernel without a kind skips it.
func tunnels(t *testing.T, r *Reader) {
	for _, tt := range []struct {
		link netlink.Link
		kind string
	}{
		{&netlink.Tuntap{LinkAttrs: attrs("lrtun"), Mode: netlink.TUNTAP_MODE_TUN}, "tun"},
		{&netlink.Tuntap{LinkAttrs: attrs("lrtap"), Mode: netlink.TUNTAP_MODE_TAP}, "tap"},
		{&netlink.Vlan{LinkAttrs: netlink.LinkAttrs{Name: "lrvlan", ParentIndex: must(t, "lrv0").Attrs().Index}, VlanId: 7}, "vlan"},
		{&netlink.Dummy{LinkAttrs: attrs("lrdummy")}, "dummy"},
		{&netlink.Wireguard{LinkAttrs: attrs("lrwg")}, "wireguard"},
		{&netlink.Bond{LinkAttrs: attrs("lrbond")}, "bond"},
	} {
		if err := netlink.LinkAdd(tt.link); err != nil {
			t.Logf("this kernel makes no %s: %v", tt.kind, err)
			continue
		}
		n := r.Read(t.Context(), tt.link.Attrs().Name)
		if n.Kind.Value != tt.kind || n.SpeedBps.Known() || n.SpeedBps.Why() == "" {
			t.Errorf("%s: kind %+v, speed %+v", tt.kind, n.Kind, n.SpeedBps)
		}
	}
}

func attrs(name string) netlink.LinkAttrs {
	a := netlink.NewLinkAttrs()
	a.Name, a.MTU = name, 1400
	return a
}

func add(t *testing.T, l netlink.Link) {
	t.Helper()
	if err := netlink.LinkAdd(l); err != nil {
		t.Fatalf("adding %s: %v", l.Attrs().Name, err)
	}
}

func must(t *testing.T, name string) netlink.Link {
	t.Helper()
	l, err := netlink.LinkByName(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return l
}
