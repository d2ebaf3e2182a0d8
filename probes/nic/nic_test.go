package nic

import (
	"context"
	"io/fs"
	"net/netip"
	"path"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"linerate/probes"
	"linerate/probes/internal/rtnl"
)

// shelf is a small data centre in one tree: every kind of interface, in the formats
// of Linux 6.8. Each name's files follow it.
var shelf = map[string]string{
	// A port of 25 Gbit/s, as hardware.
	"eth0/ifindex": "2", "eth0/speed": "25000", "eth0/duplex": "full", "eth0/device/vendor": "0x15b3",
	"eth0/queues/rx-0/rps_cpus": "0", "eth0/queues/rx-1/rps_cpus": "0", "eth0/queues/tx-0/xps_cpus": "0",
	// One without a link: reading the speed gave EINVAL, so there is no content.
	"eth1/ifindex": "3", "eth1/speed": "", "eth1/duplex": "", "eth1/device/vendor": "0x8086",
	"eth2/ifindex": "4", "eth2/speed": "10000", "eth2/duplex": "half", "eth2/device/vendor": "0x8086",
	"virtio0/ifindex": "5", "virtio0/speed": "-1", "virtio0/duplex": "unknown", "virtio0/device/vendor": "0x1af4",
	"virtio1/ifindex": "6", "virtio1/speed": "40000", "virtio1/duplex": "full", "virtio1/device/vendor": "0x1af4",
	"vmx0/ifindex": "7", "vmx0/speed": "10000", "vmx0/duplex": "full", "vmx0/device/vendor": "0x15ad",
	"old0/ifindex": "8", "old0/speed": "65535", "old0/duplex": "unknown", "old0/device/vendor": "0x10ec",
	"wlan0/ifindex": "9", "wlan0/uevent": "DEVTYPE=wlan\nINTERFACE=wlan0", "wlan0/device/vendor": "0x14c3",
	"lan1/ifindex": "10", "lan1/speed": "1000", "lan1/duplex": "full", "lan1/device/vendor": "x",
	"lan2/ifindex": "11", "lan2/speed": "-1", "lan2/duplex": "unknown", "lan2/device/vendor": "x",
	// Virtual ones; veth and tun claim 10 Gbit/s.
	"veth0/ifindex": "20", "veth0/speed": "10000", "veth0/duplex": "full",
	"tun0/ifindex": "21", "tun0/speed": "10000", "tun0/tun_flags": "0x1001",
	"oldtun/ifindex": "22", "oldtun/speed": "10", "oldtun/tun_flags": "0x1001",
	"wg0/ifindex": "23", "wg0/uevent": "DEVTYPE=wireguard",
	"ppp0/ifindex": "24", "ppp0/uevent": "DEVTYPE=ppp",
	"odd0/ifindex": "25",
	// Stacks.
	"eth0.7/ifindex": "30", "eth0.7/lower_eth0/x": "",
	"mac0/ifindex": "31", "mac0/lower_virtio0/x": "",
	"bond0/ifindex": "32", "bond0/speed": "35000", "bond0/duplex": "full", "bond0/lower_eth0/x": "", "bond0/lower_eth2/x": "", "bond0/lower_eth1/x": "",
	"bond1/ifindex": "33", "bond1/speed": "10000", "bond1/duplex": "full", "bond1/lower_virtio0/x": "",
	"bond2/ifindex": "34", "bond2/speed": "-1",
	"bond0.9/ifindex": "35", "bond0.9/lower_bond0/x": "",
	"br0/ifindex": "36", "br0/speed": "10000", "br0/lower_eth0.7/x": "", "br0/lower_veth0/x": "", "br0/lower_tap0/x": "",
	"br1/ifindex": "37", "br1/speed": "25000", "br1/lower_eth0/x": "", "br1/lower_eth2/x": "",
	"br2/ifindex": "38", "br2/speed": "10000", "br2/lower_veth0/x": "",
	"br3/ifindex": "39", "br3/speed": "-1",
	"br-lan/ifindex": "40", "br-lan/lower_lan1/x": "", "br-lan/lower_lan2/x": "",
	"br-ap/ifindex": "41", "br-ap/lower_lan1/x": "", "br-ap/lower_wlan0/x": "",
	"loop0/ifindex": "42", "loop0/lower_loop1/x": "", "loop1/ifindex": "43", "loop1/lower_loop0/x": "",
	"tap0/ifindex": "44", "tap0/tun_flags": "0x1002", "tap0/speed": "10000",
	"macns/ifindex": "45",
}

func up(driver, kind string) rtnl.SavedLink {
	return rtnl.SavedLink{Up: true, MTU: 1500, Driver: driver, Kind: kind, Features: map[string]bool{"tso": true, "gso": true, "gro": true, "lro": false}}
}

func shelfReader(t *testing.T) *Reader {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skipf("sysfs is read on Linux only, this is %s", runtime.GOOS)
	}
	root := fstest.MapFS{}
	for file, content := range shelf {
		root[path.Join(netFolder, file)] = &fstest.MapFile{Data: []byte(content + "\n")}
	}
	root[path.Join(netFolder, "wlan0/device/driver")] = &fstest.MapFile{Data: []byte("../../../bus/usb/drivers/mt76x2u"), Mode: fs.ModeSymlink}
	down := up("igb", "")
	down.Up = false
	downPort := up("mt7530", "dsa")
	downPort.Up = false
	tap := up("tun", "tun")
	tap.Tap = true
	silent := rtnl.SavedLink{Up: true, MTU: 1420, Kind: "wireguard"}
	return &Reader{root: root, kernel: &rtnl.Saved{Links: map[string]rtnl.SavedLink{
		"lo":   {Loopback: true, Up: true, MTU: 65536},
		"eth0": up("mlx5_core", ""), "eth1": down, "eth2": up("ixgbe", ""),
		"virtio0": up("virtio_net", ""), "virtio1": up("virtio_net", ""), "vmx0": up("vmxnet3", ""), "old0": up("r8169", ""),
		"wlan0": {Up: true, MTU: 1500}, "lan1": up("mt7530", "dsa"), "lan2": downPort,
		"veth0": up("veth", "veth"), "tun0": up("tun", "tun"), "oldtun": up("tun", ""), "tap0": tap, "wg0": silent,
		"ppp0": {Up: true, MTU: 1492}, "odd0": {Up: true, MTU: 1500},
		"eth0.7": up("802.1Q VLAN Support", "vlan"), "mac0": up("macvlan", "macvlan"), "macns": up("macvlan", "macvlan"),
		"bond0": up("bonding", "bond"), "bond1": up("bonding", "bond"), "bond2": up("bonding", "bond"), "bond0.9": up("802.1Q VLAN Support", "vlan"),
		"br0": up("bridge", "bridge"), "br1": up("bridge", "bridge"), "br2": up("bridge", "bridge"), "br3": up("bridge", "bridge"),
		"br-lan": up("bridge", "bridge"), "br-ap": up("bridge", "bridge"),
		"loop0": up("", "vlan"), "loop1": up("", "vlan"),
		"gone": up("e1000e", ""),
	}}}
}

func TestKindDriverSpeed(t *testing.T) {
	r := shelfReader(t)
	tests := []struct {
		name, kind, driver string
		speed              float64 // 0: unknown
		duplex             string
		why                string // part of the reason for an unknown speed
	}{
		{"lo", "loopback", "", 0, "", "loopback has no line speed"},
		{"eth0", "physical", "mlx5_core", 25e9, "full", ""},
		{"eth1", "physical", "igb", 0, "", "the link is down"},
		{"eth2", "physical", "ixgbe", 10e9, "half", ""},
		{"virtio0", "physical", "virtio_net", 0, "", "virtio: the hypervisor tells no line speed"},
		{"virtio1", "physical", "virtio_net", 40e9, "full", ""},
		{"vmx0", "physical", "vmxnet3", 0, "", "vmxnet3"},
		{"old0", "physical", "r8169", 0, "", "the driver tells no line speed"},
		{"wlan0", "wifi", "mt76x2u", 0, "", "Wi-Fi changes its rate"},
		{"lan1", "dsa", "mt7530", 1e9, "full", ""},
		{"veth0", "veth", "veth", 0, "", "veth is virtual"},
		{"tun0", "tun", "tun", 0, "", "tun is virtual"},
		{"oldtun", "tun", "tun", 0, "", "tun is virtual"},
		{"tap0", "tap", "tun", 0, "", "tap is virtual"},
		{"wg0", "wireguard", "", 0, "", "wireguard is virtual"},
		{"ppp0", "ppp", "", 0, "", "ppp is virtual"},
		{"odd0", "", "", 0, "", "not hardware"},
		{"eth0.7", "vlan", "802.1Q VLAN Support", 25e9, "full", ""},
		{"mac0", "macvlan", "macvlan", 0, "", "virtio0 below it: virtio"},
		{"macns", "macvlan", "macvlan", 0, "", "macvlan is virtual"},
		{"bond0", "bond", "bonding", 35e9, "full", ""},
		{"bond1", "bond", "bonding", 0, "", "virtio0 below it: virtio"},
		{"bond2", "bond", "bonding", 0, "", "no member"},
		{"bond0.9", "vlan", "802.1Q VLAN Support", 35e9, "full", ""},
		{"br0", "bridge", "bridge", 25e9, "full", ""},
		{"br1", "bridge", "bridge", 0, "", "bridge with 2 ports"},
		{"br2", "bridge", "bridge", 0, "", "bridge without a port that is hardware"},
		{"br3", "bridge", "bridge", 0, "", "bridge without a port"},
		{"br-lan", "bridge", "bridge", 1e9, "full", ""},
		{"br-ap", "bridge", "bridge", 0, "", "bridge with 2 ports"},
		{"loop0", "vlan", "", 0, "", "more than 8 below one another"},
	}
	for _, tt := range tests {
		n := r.Read(t.Context(), tt.name)
		if n.Kind.Value != tt.kind || n.Kind.Known() != (tt.kind != "") {
			t.Errorf("%s: kind %+v, want %q", tt.name, n.Kind, tt.kind)
		}
		if n.Driver.Value != tt.driver || n.Driver.Known() != (tt.driver != "") {
			t.Errorf("%s: driver %+v, want %q", tt.name, n.Driver, tt.driver)
		}
		if n.SpeedBps.Value != tt.speed || n.SpeedBps.Known() != (tt.speed != 0) || !strings.Contains(n.SpeedBps.Why(), tt.why) {
			t.Errorf("%s: speed %+v, want %g, %q", tt.name, n.SpeedBps, tt.speed, tt.why)
		}
		if n.Duplex.Value != tt.duplex || n.Duplex.Known() != (tt.duplex != "") {
			t.Errorf("%s: duplex %+v, want %q", tt.name, n.Duplex, tt.duplex)
		}
		if !n.MTU.Known() || !n.Up.Known() || !n.Counters.Known() {
			t.Errorf("%s: MTU %v, up %v, counters %v", tt.name, n.MTU.Why(), n.Up.Why(), n.Counters.Why())
		}
	}
}

func TestQueuesAndOffloads(t *testing.T) {
	r := shelfReader(t)
	eth := r.Read(t.Context(), "eth0")
	if eth.RxQueues.Value != 2 || eth.TxQueues.Value != 1 || !eth.RxQueues.Known() {
		t.Errorf("queues %+v, %+v, want 2 and 1 from sysfs", eth.RxQueues, eth.TxQueues)
	}
	on, off := probes.Got(true), probes.Got(false)
	if diff := cmp.Diff(probes.Offloads{TSO: on, GSO: on, GRO: on, LRO: off}, eth.Offloads); diff != "" {
		t.Errorf("offloads (-want +got):\n%s", diff)
	}
	wg := r.Read(t.Context(), "wg0")
	for _, x := range []probes.Reading[bool]{wg.Offloads.TSO, wg.Offloads.GSO, wg.Offloads.GRO, wg.Offloads.LRO} {
		if x.Status != probes.Absent || !strings.Contains(x.Reason, "of wg0: the device does not tell") {
			t.Errorf("offload without an answer: %+v", x)
		}
	}
	if wg.RxQueues.Known() {
		t.Errorf("queues of an interface without any: %+v", wg.RxQueues)
	}
}

// A name that is gone, a container without /sys, and one that sees the /sys of another
// network namespace.
func TestWithoutSysfs(t *testing.T) {
	r := shelfReader(t)
	n := r.Read(t.Context(), "nope")
	if n.Kind.Status != probes.Absent || n.Kind.Reason != `there is no interface "nope"` || n.SpeedBps.Known() || n.Counters.Known() {
		t.Errorf("an interface that is not there: %+v", n)
	}

	bare := &Reader{root: fstest.MapFS{}, kernel: r.kernel}
	for _, tt := range []struct{ name, kind, speed string }{
		{"eth0", "/sys is not there", "line speed: /sys is not there"},
		{"veth0", "", "line speed: /sys is not there"},
		{"lo", "", "loopback has no line speed"},
	} {
		n := bare.Read(t.Context(), tt.name)
		if n.Kind.Why() != tt.kind || n.SpeedBps.Why() != tt.speed || n.SpeedBps.Status != probes.Absent {
			t.Errorf("%s without /sys: kind %q, speed %q, want %q, %q", tt.name, n.Kind.Why(), n.SpeedBps.Why(), tt.kind, tt.speed)
		}
		if !n.MTU.Known() || !n.Counters.Known() {
			t.Errorf("%s without /sys: netlink knows MTU and counters, got %+v", tt.name, n)
		}
	}

	other := &Reader{root: r.root, kernel: foreign{r.kernel}}
	n = other.Read(t.Context(), "eth0")
	if n.Kind.Known() || n.SpeedBps.Known() || n.RxQueues.Known() || !strings.Contains(n.SpeedBps.Why(), "another network namespace") {
		t.Errorf("with the /sys of another namespace: %+v", n)
	}
}

// foreign gives every interface an index that no sysfs folder has.
type foreign struct{ kernel }

func (f foreign) Link(ctx context.Context, name string) (rtnl.Link, error) {
	l, err := f.kernel.Link(ctx, name)
	l.Index = 7777
	return l, err
}

func TestFixtureWithoutNetlinkFile(t *testing.T) {
	r := NewAt(t.TempDir())
	n := r.Read(t.Context(), "eth0")
	if n.MTU.Status != probes.Absent || !strings.Contains(n.MTU.Why(), rtnl.SavedFile) || n.Offloads.TSO.Known() {
		t.Errorf("got %+v, want the missing file as the reason", n.MTU)
	}
	if _, err := r.Route(t.Context(), netip.MustParseAddr("10.0.0.1")); err == nil {
		t.Error("a route without netlink.json")
	}
	if _, err := r.Route(t.Context(), netip.Addr{}); err == nil {
		t.Error("a route to an invalid address")
	}
}

func FuzzSpeedFile(f *testing.F) {
	for _, s := range []string{"10000", "-1", "4294967295", "65535", "0", "9e3", "99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		root := fstest.MapFS{"sys/class/net/x/speed": {Data: []byte(text)}}
		bps, err := speedFile(sysfs{root: root, folder: "sys/class/net/x"})
		if err == nil && (bps < 1e6 || bps > 3e15) {
			t.Fatalf("speed %q gave %g bit/s", text, bps)
		}
	})
}
