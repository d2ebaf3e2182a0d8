package nic

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
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

// tree builds a file system from lines of "path content" and "path -> target".
func tree(t *testing.T, text string) fstest.MapFS {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skipf("cards are read on Linux only, this is %s", runtime.GOOS)
	}
	root := fstest.MapFS{}
	for line := range strings.Lines(text) {
		file, content, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		if target, isLink := strings.CutPrefix(content, "-> "); isLink {
			root[file] = &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink}
			continue
		}
		root[file] = &fstest.MapFile{Data: []byte(content + "\n")}
	}
	return root
}

// card gives the lines of sysfs that make name an interface of the device at folder.
func card(name, folder string) string {
	return fmt.Sprintf("%[2]s/net/%[1]s/device -> ../../../%[3]s\n%[2]s/net/%[1]s/queues/rx-0/rps_cpus 00000000\n%[2]s/net/%[1]s/mtu 1500\nsys/class/net/%[1]s -> ../../%[4]s/net/%[1]s\n",
		name, folder, path.Base(folder), strings.TrimPrefix(folder, "sys/"))
}

// function gives the lines of one PCI function: its link now and at most.
func function(folder, now, lanes, most, mostLanes string) string {
	return fmt.Sprintf("%[1]s/current_link_speed %[2]s\n%[1]s/current_link_width %[3]s\n%[1]s/max_link_speed %[4]s\n%[1]s/max_link_width %[5]s\n", folder, now, lanes, most, mostLanes)
}

const (
	pci     = "sys/devices/pci0000:00/"
	behind  = pci + "0000:00:1c.0/0000:01:00.0/0000:02:01.0/0000:03:00.0"
	pi      = "sys/devices/platform/scb/fd500000.pcie/pci0000:00/0000:00:00.0/0000:01:00.0"
	mlx     = "sys/devices/pci0000:40/0000:40:01.1/0000:41:00.0"
	vf      = "sys/devices/pci0000:40/0000:40:01.1/0000:41:00.2"
	realtek = pci + "0000:00:1d.0/0000:04:00.0"
	usb2    = pci + "0000:00:14.0/usb1/1-4/1-4.1/1-4.1:2.0"
	guest   = pci + "0000:00:02.0/0000:05:00.0"
	virtio  = pci + "0000:00:03.0/virtio2"
	onBoard = "sys/devices/platform/scb/fd580000.ethernet"
)

func TestSlots(t *testing.T) {
	root := tree(t,
		// Intel X520 in a board whose chipset switch hangs on one lane of the second generation;
		// Linux 6.1.
		function(pci+"0000:00:1c.0", "5.0 GT/s PCIe", "1", "8.0 GT/s PCIe", "4")+
			function(pci+"0000:00:1c.0/0000:01:00.0", "5.0 GT/s PCIe", "1", "5.0 GT/s PCIe", "4")+
			function(pci+"0000:00:1c.0/0000:01:00.0/0000:02:01.0", "5.0 GT/s PCIe", "8", "5.0 GT/s PCIe", "8")+
			function(behind, "5.0 GT/s PCIe", "8", "5.0 GT/s PCIe", "8")+
			behind+"/numa_node -1\n"+behind+"/local_cpulist 0-3\n"+card("x520", behind)+
			// Four ports on a Raspberry Pi Compute Module 4; Linux 6.6.
			function(path.Dir(pi), "5.0 GT/s PCIe", "1", "5.0 GT/s PCIe", "1")+
			function(pi, "5.0 GT/s PCIe", "1", "5.0 GT/s PCIe", "4")+
			pi+"/link/l1_aspm 0\n"+card("cm4", pi)+
			// ConnectX-5 on the second node of a server, and a virtual function of it; Linux 6.8.
			function(path.Dir(mlx), "8.0 GT/s PCIe", "16", "16.0 GT/s PCIe", "16")+
			function(mlx, "8.0 GT/s PCIe", "16", "8.0 GT/s PCIe", "16")+
			mlx+"/numa_node 1\n"+mlx+"/local_cpulist 16-31,48-63\n"+mlx+"/link/l1_aspm 0\n"+card("mlx5", mlx)+
			function(vf, "Unknown", "0", "Unknown", "0")+vf+"/physfn -> ../0000:41:00.0\n"+vf+"/numa_node 1\n"+vf+"/local_cpulist 16-31,48-63\n"+card("vf0", vf)+
			"sys/devices/system/node/online 0-1\n"+
			// RTL8168 with power saving; Linux 5.4 names no generation.
			function(path.Dir(realtek), "2.5 GT/s", "1", "8 GT/s", "1")+
			function(realtek, "2.5 GT/s", "1", "2.5 GT/s", "1")+realtek+"/link/l1_aspm 1\n"+card("r8169", realtek)+
			// A gigabit adapter in a USB 2 port, behind a hub.
			usb2+"/../speed 480\n"+card("usb0", usb2)+
			// A real card in a QEMU guest, below a bridge that claims one slow lane.
			path.Dir(guest)+"/vendor 0x1b36\n"+function(path.Dir(guest), "2.5 GT/s PCIe", "1", "16.0 GT/s PCIe", "32")+
			function(guest, "8.0 GT/s PCIe", "8", "8.0 GT/s PCIe", "8")+card("guest", guest)+
			function(path.Dir(virtio), "2.5 GT/s PCIe", "1", "2.5 GT/s PCIe", "1")+card("virtio", virtio)+
			card("end0", onBoard))
	// A USB device's speed is a level above its interface.
	root[path.Dir(usb2)+"/speed"] = root[usb2+"/../speed"]
	delete(root, usb2+"/../speed")
	links := map[string]rtnl.SavedLink{"virtio": {Driver: "virtio_net"}}
	for _, name := range []string{"x520", "cm4", "mlx5", "vf0", "r8169", "usb0", "guest", "end0"} {
		links[name] = rtnl.SavedLink{Up: true, MTU: 1500}
	}
	for name := range links {
		addIndex(root, links, name)
	}
	r := &Reader{root: root, kernel: &rtnl.Saved{Links: links}}

	const gone, present = probes.Absent, probes.OK
	tests := []struct {
		name            string
		want            probes.PCIe // Usable in Gbit/s, one decimal
		aspm, usb, node probes.Status
		why             string // there is no PCIe link
		l1              bool
		cores           int
	}{
		{"x520", probes.PCIe{GTps: 5, Lanes: 1, MaxGTps: 5, MaxLane: 8, At: "0000:01:00.0", Usable: 3.4}, gone, gone, gone, "", false, 4},
		{"cm4", probes.PCIe{GTps: 5, Lanes: 1, MaxGTps: 5, MaxLane: 4, At: "0000:01:00.0", Usable: 3.4}, present, gone, gone, "", false, 0},
		{"mlx5", probes.PCIe{GTps: 8, Lanes: 16, MaxGTps: 8, MaxLane: 16, At: "0000:41:00.0", Usable: 105.9}, present, gone, present, "", false, 32},
		{"vf0", probes.PCIe{GTps: 8, Lanes: 16, MaxGTps: 8, MaxLane: 16, At: "0000:41:00.2", Usable: 105.9}, gone, gone, present, "", false, 32},
		{"r8169", probes.PCIe{GTps: 2.5, Lanes: 1, MaxGTps: 2.5, MaxLane: 1, At: "0000:04:00.0", Usable: 1.7}, present, gone, gone, "", true, 0},
		{"guest", probes.PCIe{GTps: 8, Lanes: 8, MaxGTps: 8, MaxLane: 8, At: "0000:05:00.0", Usable: 52.9}, gone, gone, gone, "", false, 0},
		{"usb0", probes.PCIe{}, gone, present, gone, "a USB adapter", false, 0},
		{"virtio", probes.PCIe{}, gone, gone, gone, "virtio_net: the hypervisor makes", false, 0},
		{"end0", probes.PCIe{}, gone, gone, gone, "end0 is not on a PCI bus", false, 0},
	}
	for _, tt := range tests {
		a, err := r.Adapter(t.Context(), tt.name)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		got := a.PCIe.Value
		got.Usable = math.Round(got.Usable/1e8) / 10
		if diff := cmp.Diff(tt.want, got); diff != "" || !strings.Contains(a.PCIe.Why(), tt.why) || a.PCIe.Known() != (tt.why == "") {
			t.Errorf("%s: %q, want %q (-want +got):\n%s", tt.name, a.PCIe.Why(), tt.why, diff)
		}
		if a.ASPM.Status != tt.aspm || a.ASPM.Value != tt.l1 {
			t.Errorf("%s: ASPM %+v, want %v, %v", tt.name, a.ASPM, tt.aspm, tt.l1)
		}
		if a.USB.Status != tt.usb || a.USB.Known() && a.USB.Value != 480e6 {
			t.Errorf("%s: USB %+v, want %v", tt.name, a.USB, tt.usb)
		}
		if a.NUMA.Status != tt.node || a.NUMA.Known() && a.NUMA.Value != 1 {
			t.Errorf("%s: memory node %+v, want %v", tt.name, a.NUMA, tt.node)
		}
		if len(a.LocalCores.Value) != tt.cores || a.LocalCores.Known() != (tt.cores > 0) {
			t.Errorf("%s: local cores %+v, want %d", tt.name, a.LocalCores, tt.cores)
		}
		if a.Device != tt.name || a.RPS != probes.Got(false) {
			t.Errorf("%s: device %q, RPS %+v", tt.name, a.Device, a.RPS)
		}
	}
}

// addIndex gives an interface the same index in sysfs and in netlink.
func addIndex(root fstest.MapFS, links map[string]rtnl.SavedLink, name string) {
	l := links[name]
	l.Index = 1000 + len(root)
	links[name] = l
	folder := path.Join(netFolder, name)
	if f, ok := root[folder]; ok {
		folder = path.Join(netFolder, string(f.Data))
	}
	root[path.Join(folder, "ifindex")] = &fstest.MapFile{Data: fmt.Appendln(nil, l.Index)}
}

func TestOneMemoryNode(t *testing.T) {
	root := tree(t, mlx+"/numa_node 0\nsys/devices/system/node/online 0\n"+card("mlx5", mlx))
	links := map[string]rtnl.SavedLink{"mlx5": {}}
	addIndex(root, links, "mlx5")
	root[mlx+"/net/mlx5/queues/rx-0/rps_cpus"].Data = []byte("00000000,00000f00\n")
	r := &Reader{root: root, kernel: &rtnl.Saved{Links: links}}
	a, err := r.Adapter(t.Context(), "mlx5")
	if err != nil || a.NUMA.Status != probes.Absent || a.NUMA.Reason != "this computer has one memory node" {
		t.Errorf("%v: %+v", err, a.NUMA)
	}
	if a.RPS != probes.Got(true) {
		t.Errorf("RPS %+v, want it on", a.RPS)
	}
	if a.PCIe.Status != probes.Absent || a.PCIe.Reason != "no PCIe link is visible" {
		t.Errorf("PCIe %+v", a.PCIe)
	}
}

// stacks has devices on devices in the forms that Linux 6.8 gives them.
func stacks(t *testing.T) *Reader {
	x := pci + "0000:00:01.0/0000:01:00."
	root := tree(t, card("eth0", x+"0")+card("eth1", x+"1")+card("wlan0", pci+"0000:00:1d.0/0000:04:00.0")+`
		sys/devices/virtual/net/bond0/bonding/active_slave eth1
		sys/class/net/bond0 -> ../../devices/virtual/net/bond0
		sys/devices/virtual/net/bond1/bonding/active_slave
		sys/class/net/bond1 -> ../../devices/virtual/net/bond1
		`+pci+`0000:00:1d.0/0000:04:00.0/net/wlan0/uevent DEVTYPE=wlan
		proc/net/pppoe Id Address Device
		`)
	root["proc/net/pppoe"].Data = []byte("Id       Address              Device\n00000007 00:11:22:33:44:55    eth0.7  \n")
	below := func(kind string, mtu int, b rtnl.Below) rtnl.SavedLink {
		return rtnl.SavedLink{Kind: kind, Up: true, MTU: mtu, SavedCard: rtnl.SavedCard{Below: &b}}
	}
	v4, v6 := netip.MustParseAddr("198.51.100.9"), netip.MustParseAddr("2001:db8::9")
	port := func(index, master int, isUp bool) rtnl.SavedLink {
		return rtnl.SavedLink{Index: index, Master: master, Up: isUp, MTU: 1500, Driver: "ixgbe"}
	}
	links := map[string]rtnl.SavedLink{
		"eth0": port(2, 0, true), "eth1": port(3, 0, true), "wlan0": port(4, 0, true),
		"eth0.7":  below("vlan", 1500, rtnl.Below{Device: "eth0"}),
		"bond0":   {Kind: "bond", Index: 10, Up: true, MTU: 9000},
		"bond0.5": below("vlan", 9000, rtnl.Below{Device: "bond0"}),
		"bond1":   {Kind: "bond", Index: 11, Up: true, MTU: 1500},
		"port2":   port(5, 11, false), "port3": port(6, 11, true),
		"bond2": {Kind: "bond", Index: 12, Up: true, MTU: 1500},
		"wg4":   below("wireguard", 1420, rtnl.Below{Device: "eth0.7", Outer: v4}),
		"wg6":   below("wireguard", 1420, rtnl.Below{Device: "eth0", Outer: v6}),
		"wgx":   below("wireguard", 1420, rtnl.Below{Note: "its far end is shown to administrators only"}),
		"vx":    below("vxlan", 1450, rtnl.Below{Device: "bond0.5", Outer: v4}),
		"gre1":  below("gre", 1472, rtnl.Below{Device: "eth0", Outer: v4, Options: 4}),
		"tap6":  below("ip6gretap", 1430, rtnl.Below{Device: "eth0", Outer: v6, Options: 8}),
		"sit0":  below("sit", 1480, rtnl.Below{Device: "eth0", Outer: v4}),
		"ppp0":  {Kind: "ppp", Up: true, MTU: 1492},
		"br0":   {Kind: "bridge", Index: 20, Up: true, MTU: 1500},
		"p1":    port(21, 20, true), "p2": port(22, 20, false), "vm1": {Kind: "tun", Tap: true, Index: 23, Master: 20, Up: true}, "c1": {Kind: "veth", Index: 24, Master: 20, Up: true},
		"br1": {Kind: "bridge", Index: 30, Up: true, MTU: 1500},
		"q1":  port(31, 30, true), "q2": port(32, 30, true),
		"br2":    {Kind: "bridge", Index: 40, Up: true, MTU: 1500},
		"veth0":  {Kind: "veth", Up: true, MTU: 1500},
		"tun0":   {Kind: "tun", Up: true, MTU: 1500},
		"mv0":    below("macvlan", 1500, rtnl.Below{Note: "what is below it is in another network namespace"}),
		"odd0":   {Kind: "nlmon", Up: true, MTU: 3776},
		"round":  below("vlan", 1500, rtnl.Below{Device: "circle"}),
		"circle": below("vlan", 1500, rtnl.Below{Device: "round"}),
		"lost":   below("vlan", 1500, rtnl.Below{Device: "nowhere"}),
	}
	for _, name := range []string{"p1", "p2", "q1", "q2", "port2", "port3"} {
		for file, f := range tree(t, card(name, "sys/devices/platform/"+name+".ethernet")) {
			root[file] = f
		}
	}
	for name, l := range links {
		folder := path.Join(netFolder, name)
		if f, ok := root[folder]; ok {
			folder = path.Join(netFolder, string(f.Data))
		}
		if l.Index == 0 {
			l.Index = 1000 + len(root)
			links[name] = l
		}
		root[path.Join(folder, "ifindex")] = &fstest.MapFile{Data: fmt.Appendln(nil, l.Index)}
	}
	return &Reader{root: root, kernel: &rtnl.Saved{Links: links}}
}

func TestChains(t *testing.T) {
	r := stacks(t)
	tests := []struct{ name, want string }{
		{"eth0", "eth0 physical 0/1500"},
		{"wlan0", "wlan0 wifi 0/1500"},
		{"eth0.7", "eth0.7 vlan 4/1500, eth0 physical 0/1500"},
		{"bond0.5", "bond0.5 vlan 4/9000, bond0 bond 0/9000, eth1 physical 0/1500"},
		{"bond1", "bond1 bond 0/1500, port3 physical 0/1500"},
		{"bond2", "bond2 bond 0/1500 (no member of it is visible here)"},
		{"wg4", "wg4 wireguard 60/1420, eth0.7 vlan 4/1500, eth0 physical 0/1500"},
		{"wg6", "wg6 wireguard 80/1420, eth0 physical 0/1500"},
		{"wgx", "wgx wireguard 60/1420 (its far end is shown to administrators only; IPv4 outside is assumed)"},
		{"vx", "vx vxlan 50/1450, bond0.5 vlan 4/9000, bond0 bond 0/9000, eth1 physical 0/1500"},
		{"gre1", "gre1 gre 28/1472, eth0 physical 0/1500"},
		{"tap6", "tap6 ip6gretap 66/1430, eth0 physical 0/1500"},
		{"sit0", "sit0 sit 20/1480, eth0 physical 0/1500"},
		{"ppp0", "ppp0 pppoe 8/1492, eth0.7 vlan 4/1500, eth0 physical 0/1500"},
		{"br0", "br0 bridge 0/1500, p1 physical 0/1500"},
		{"br1", "br1 bridge 0/1500 (bridge with 2 ports out of this computer)"},
		{"br2", "br2 bridge 0/1500 (bridge without a port that is hardware and up)"},
		{"veth0", "veth0 veth 0/1500 (its other end may be in another network namespace; what is beyond is not visible from here)"},
		{"tun0", "tun0 tun 0/1500 (a program carries its packets on; what it adds is not known)"},
		{"mv0", "mv0 macvlan 0/1500 (what is below it is in another network namespace)"},
		{"odd0", "odd0 nlmon 0/3776 (what is below it is not known)"},
		{"round", "round vlan 4/1500, circle vlan 4/1500 (the devices below go round in a circle)"},
		{"lost", `lost vlan 4/1500 (there is no interface "nowhere")`},
	}
	for _, tt := range tests {
		a, err := r.Adapter(t.Context(), tt.name)
		if got := chainText(a.Chain); got != tt.want || err != nil {
			t.Errorf("%s: %v\n got %s\nwant %s", tt.name, err, got, tt.want)
		}
		if len(a.Chain) > 0 && a.Device != a.Chain[len(a.Chain)-1].Name {
			t.Errorf("%s: device %q is not the last of the chain", tt.name, a.Device)
		}
	}
}

func chainText(chain []probes.Layer) string {
	var parts []string
	for _, l := range chain {
		part := fmt.Sprintf("%s %s %d/%d", l.Name, l.Kind, l.Overhead, l.MTU)
		if l.Note != "" {
			part += " (" + l.Note + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

func TestTwoPPPoESessions(t *testing.T) {
	r := stacks(t)
	r.root.(fstest.MapFS)["proc/net/pppoe"].Data = []byte("Id       Address              Device\n00000007 00:11:22:33:44:55    eth0.7\n00000008 00:11:22:33:44:55    eth1\n")
	a, err := r.Adapter(t.Context(), "ppp0")
	if got, want := chainText(a.Chain), "ppp0 pppoe 8/1492 (one of 2 PPPoE sessions)"; got != want || err != nil {
		t.Errorf("%v, got %s, want %s", err, got, want)
	}
	delete(r.root.(fstest.MapFS), "proc/net/pppoe")
	a, err = r.Adapter(t.Context(), "ppp0")
	if got, want := chainText(a.Chain), "ppp0 ppp 0/1492 (what carries it is not known: no PPPoE)"; got != want || err != nil {
		t.Errorf("%v, got %s, want %s", err, got, want)
	}
}

// What ethtool says is that of the device at the bottom; what is fixed, of the one on top.
func TestAdapterOfAStack(t *testing.T) {
	r := stacks(t)
	links := r.kernel.(*rtnl.Saved).Links
	eth1 := links["eth1"]
	eth1.Counters, eth1.Master = probes.NICCounters{RxBytes: 900, TxBytes: 10}, 10
	eth1.Ethtool = &rtnl.Card{
		Supported: probes.Got([]float64{1e9, 10e9}), Offered: probes.Got([]float64{10e9}), Autoneg: probes.Got(true),
		Rings: probes.Got(probes.Rings{Rx: 512, RxMax: 4096, Tx: 512, TxMax: 4096}),
	}
	eth1.Fixed = []string{"gso"}
	links["eth1"] = eth1
	top := links["bond0.5"]
	top.Fixed = []string{"lro"}
	links["bond0.5"] = top
	a, err := r.Adapter(t.Context(), "bond0.5")
	if err != nil {
		t.Fatal(err)
	}
	if a.Device != "eth1" || a.Rings.Value.RxMax != 4096 || len(a.Supported.Value) != 2 || len(a.Offered.Value) != 1 || !a.Autoneg.Value {
		t.Errorf("hardware of %s: %+v", a.Device, a)
	}
	if a.EEE.Status != probes.Absent || a.EEE.Reason != "the device does not tell" {
		t.Errorf("EEE %+v", a.EEE)
	}
	if diff := cmp.Diff([]string{"lro"}, a.Fixed); diff != "" {
		t.Errorf("fixed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(probes.Got([]probes.Member{{Name: "eth1", RxBytes: 900, TxBytes: 10}}), a.Members); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
	if a.WiFi.Status != probes.Absent || a.WiFi.Reason != "eth1 is not Wi-Fi" {
		t.Errorf("Wi-Fi %+v", a.WiFi)
	}
}

func TestAdapterOfWiFi(t *testing.T) {
	r := stacks(t)
	a, err := r.Adapter(t.Context(), "wlan0")
	if err != nil || a.WiFi.Status != probes.Absent || !strings.Contains(a.WiFi.Reason, "radio of wlan0: the device does not tell") {
		t.Errorf("%v, without an answer: %+v", err, a.WiFi)
	}
	links := r.kernel.(*rtnl.Saved).Links
	l := links["wlan0"]
	l.WiFi = &probes.WiFi{TxBps: 433.3e6, RxBps: 390e6, SignalDBm: -61, PowerSave: probes.Got(true), Retries: probes.Got(.07)}
	links["wlan0"] = l
	a, err = r.Adapter(t.Context(), "wlan0")
	if diff := cmp.Diff(probes.Got(*l.WiFi), a.WiFi); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestAdapterThatIsNotThere(t *testing.T) {
	r := stacks(t)
	if a, err := r.Adapter(t.Context(), "nope"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %+v, %v", a, err)
	}
	if _, err := NewAt(t.TempDir()).Adapter(t.Context(), "eth0"); err == nil || !strings.Contains(err.Error(), rtnl.SavedFile) {
		t.Errorf("without netlink.json: %v", err)
	}
}

// A container whose /sys is that of another network namespace still has what netlink and
// ethtool tell.
func TestAdapterWithoutSysfs(t *testing.T) {
	r := stacks(t)
	r.root = fstest.MapFS{}
	links := r.kernel.(*rtnl.Saved).Links
	l := links["eth0"]
	l.Ethtool = &rtnl.Card{Rings: probes.Got(probes.Rings{Rx: 256, RxMax: 256})}
	links["eth0"] = l
	a, err := r.Adapter(t.Context(), "eth0.7")
	if err != nil || a.Device != "eth0" || !a.Rings.Known() {
		t.Errorf("%v: device %q, rings %+v", err, a.Device, a.Rings)
	}
	for what, why := range map[string]string{"PCIe": a.PCIe.Why(), "NUMA": a.NUMA.Why(), "RPS": a.RPS.Why(), "ASPM": a.ASPM.Why()} {
		if why != "/sys is not there" {
			t.Errorf("%s: %q", what, why)
		}
	}
}

func FuzzPCIe(f *testing.F) {
	f.Add("8.0 GT/s PCIe", "16")
	f.Add("2.5 GT/s", "255")
	f.Add("Unknown", "0")
	f.Add("1e999 GT/s", "-1")
	f.Fuzz(func(t *testing.T, speed, width string) {
		root := fstest.MapFS{
			"sys/devices/0000:01:00.0/current_link_speed": {Data: []byte(speed)},
			"sys/devices/0000:01:00.0/current_link_width": {Data: []byte(width)},
		}
		p, err := pcieWay(root, "sys/devices/0000:01:00.0")
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("%q, %q: %v", speed, width, err)
			}
			return
		}
		if !(p.Usable > 0) || math.IsInf(p.Usable, 0) || p.Lanes < 1 || p.Lanes > 254 || p.At != "0000:01:00.0" {
			t.Fatalf("%q, %q: %+v", speed, width, p)
		}
	})
}

func FuzzPPPoE(f *testing.F) {
	f.Add("Id       Address              Device\n00000007 00:11:22:33:44:55    eth0.7\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range pppoeDevices(text) {
			if d == "" || strings.ContainsAny(d, " \t\n") {
				t.Fatalf("%q gave the device %q", text, d)
			}
		}
	})
}

// Each device of a chain says how fast it is, or why that is not known: a tunnel's own figure
// means nothing, and what counts is below it.
func TestChainSpeeds(t *testing.T) {
	r := stacks(t)
	root := r.root.(fstest.MapFS)
	x := pci + "0000:00:01.0/0000:01:00."
	for file, text := range map[string]string{
		x + "0/net/eth0/speed": "1000\n", x + "1/net/eth1/speed": "-1\n",
		"sys/devices/virtual/net/bond0/speed": "20000\n",
	} {
		root[file] = &fstest.MapFile{Data: []byte(text)}
	}
	root[netFolder+"/eth0.7/lower_eth0"] = &fstest.MapFile{Data: []byte("../eth0"), Mode: fs.ModeSymlink}
	for name, want := range map[string][]probes.Reading[float64]{
		"wg6":    {probes.Unknown[float64](probes.Absent, "wireguard is virtual and has no line speed"), probes.Got(1e9)},
		"ppp0":   {probes.Unknown[float64](probes.Absent, "ppp is virtual and has no line speed"), probes.Got(1e9), probes.Got(1e9)},
		"eth1":   {probes.Unknown[float64](probes.Absent, "the driver tells no line speed")},
		"wlan0":  {probes.Unknown[float64](probes.Absent, "Wi-Fi changes its rate with the signal")},
		"round":  {probes.Unknown[float64](probes.Absent, "vlan is virtual and has no line speed"), probes.Unknown[float64](probes.Absent, "vlan is virtual and has no line speed")},
		"eth0.7": {probes.Got(1e9), probes.Got(1e9)},
	} {
		a, err := r.Adapter(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		var got []probes.Reading[float64]
		for _, l := range a.Chain {
			got = append(got, l.SpeedBps)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
