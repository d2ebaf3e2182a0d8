package nic

import (
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"linerate/probes"
	"linerate/probes/internal/rtnl"
)

func TestTraffic(t *testing.T) {
	eth := rtnl.SavedLink{
		Up: true, MTU: 9000, Driver: "ixgbe", Counters: probes.NICCounters{RxBytes: 900, RxMissed: 3}, Flaps: 2,
		More: probes.Counters{"rx_crc_errors": 5}, Driven: probes.Counters{"rx_no_dma_resources": 8},
		Qdiscs: []probes.Qdisc{{Kind: "mq", Parent: "root"}, {Kind: "fq", Parent: ":1", RateBps: 1e9, Dropped: 4}},
	}
	r := &Reader{root: fstest.MapFS{}, kernel: &rtnl.Saved{Links: map[string]rtnl.SavedLink{"eth0": eth, "lo": {Loopback: true}}}}
	got := r.Traffic(t.Context(), []string{"eth0"})
	for name, want := range map[string]uint64{"rx_bytes": 900, "rx_missed_errors": 3, "rx_crc_errors": 5} {
		if n, ok := got.Link.Value[name]; !ok || n != want {
			t.Errorf("%s = %d, %v, want %d", name, n, ok, want)
		}
	}
	if got.Carrier != probes.Got(uint64(2)) || got.Members.Status != probes.Absent || got.Members.Reason != "not a bond" {
		t.Errorf("carrier %+v, members %+v", got.Carrier, got.Members)
	}
	owned := slices.Clone(eth.Qdiscs)
	for i := range owned {
		owned[i].Device = "eth0"
	}
	if diff := cmp.Diff(probes.Got(owned), got.Qdiscs); diff != "" {
		t.Errorf("qdiscs (-want +got):\n%s", diff)
	}
	if s := r.Statistics("eth0"); s.Value["rx_no_dma_resources"] != 8 {
		t.Errorf("driver: %+v", s)
	}
	if s := r.Statistics("lo"); s.Status != probes.Absent || !strings.Contains(s.Reason, "lo: the device does not tell") {
		t.Errorf("driver of lo: %+v", s)
	}

	gone := r.Traffic(t.Context(), []string{"eth9"})
	for what, status := range map[string]probes.Status{
		"link": gone.Link.Status, "carrier": gone.Carrier.Status, "qdiscs": gone.Qdiscs.Status, "members": gone.Members.Status,
	} {
		if status != probes.Absent {
			t.Errorf("%s of an interface that is gone: %v", what, status)
		}
	}
	broken := NewAt(t.TempDir())
	if l := broken.Traffic(t.Context(), []string{"eth0"}).Link; l.Known() || !strings.Contains(l.Why(), rtnl.SavedFile) {
		t.Errorf("without netlink.json: %+v", l)
	}
}

// A VLAN on a bond of two: the queues of all, the counters of the bond, which has those of
// both legs.
func TestTrafficOfAStack(t *testing.T) {
	link := func(kind string, index, master int, missed uint64, qdisc string) rtnl.SavedLink {
		return rtnl.SavedLink{
			Kind: kind, Up: true, Index: index, Master: master, Flaps: uint64(index),
			Counters: probes.NICCounters{RxMissed: missed, RxBytes: missed}, Qdiscs: []probes.Qdisc{{Kind: qdisc, Parent: "root"}},
		}
	}
	vlan := link("vlan", 9, 0, 0, "htb")
	vlan.Below = &rtnl.Below{Device: "bond0"}
	links := map[string]rtnl.SavedLink{
		"bond0.7": vlan, "bond0": link("bond", 5, 0, 30, "noqueue"),
		"eth0": link("", 2, 5, 10, "mq"), "eth1": link("", 3, 5, 20, "mq"),
	}
	r := &Reader{root: fstest.MapFS{}, kernel: &rtnl.Saved{Links: links}}
	way := r.Way(t.Context(), "bond0.7")
	if diff := cmp.Diff([]string{"bond0.7", "bond0", "eth0"}, way); diff != "" {
		t.Fatalf("way (-want +got):\n%s", diff)
	}
	got := r.Traffic(t.Context(), way)
	if got.Link.Value["rx_missed_errors"] != 30 || got.Carrier != probes.Got(uint64(5)) {
		t.Errorf("%d missed, carrier %+v, want those of the bond", got.Link.Value["rx_missed_errors"], got.Carrier)
	}
	queues := probes.Got([]probes.Qdisc{
		{Device: "bond0.7", Kind: "htb", Parent: "root"}, {Device: "bond0", Kind: "noqueue", Parent: "root"}, {Device: "eth0", Kind: "mq", Parent: "root"},
	})
	if diff := cmp.Diff(queues, got.Qdiscs); diff != "" {
		t.Errorf("qdiscs (-want +got):\n%s", diff)
	}
	legs := probes.Got([]probes.Member{{Name: "eth0", RxBytes: 10}, {Name: "eth1", RxBytes: 20}})
	if diff := cmp.Diff(legs, got.Members); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}

	vlan.Below = &rtnl.Below{Device: "eth0"}
	links["eth0.7"] = vlan
	plain := r.Traffic(t.Context(), r.Way(t.Context(), "eth0.7"))
	if plain.Link.Value["rx_missed_errors"] != 10 || len(plain.Qdiscs.Value) != 2 || plain.Members.Reason != "not a bond" {
		t.Errorf("a VLAN on a card: %+v", plain)
	}
	if way := r.Way(t.Context(), "eth9"); len(way) != 1 || way[0] != "eth9" {
		t.Errorf("way from an interface that is gone: %v", way)
	}
	if lost := r.Traffic(t.Context(), []string{"eth0.7", "eth9"}); lost.Link.Status != probes.Absent || lost.Qdiscs.Status != probes.Absent {
		t.Errorf("a device on the way is gone: %+v", lost)
	}
}

func TestMembersOfABond(t *testing.T) {
	r := shelfReader(t)
	links := maps.Clone(r.kernel.(*rtnl.Saved).Links)
	leg := func(index, master int, rx, tx uint64) rtnl.SavedLink {
		return rtnl.SavedLink{Index: index, Master: master, Counters: probes.NICCounters{RxBytes: rx, TxBytes: tx}}
	}
	// The indexes are those of the shelf's sysfs.
	links["bond0"] = rtnl.SavedLink{Kind: "bond", Index: 32}
	links["eth0"], links["eth1"], links["eth2"] = leg(2, 32, 100, 200), leg(3, 32, 0, 0), leg(4, 32, 900, 10)
	links["virtio0"] = leg(5, 33, 7, 7)
	r.kernel = &rtnl.Saved{Links: links}
	want := probes.Got([]probes.Member{
		{Name: "eth0", SpeedBps: 25e9, RxBytes: 100, TxBytes: 200},
		{Name: "eth1"}, // down
		{Name: "eth2", SpeedBps: 10e9, RxBytes: 900, TxBytes: 10},
	})
	if diff := cmp.Diff(want, r.Traffic(t.Context(), []string{"bond0"}).Members); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	links["bond9"] = rtnl.SavedLink{Kind: "team", Index: 99}
	if m := r.Traffic(t.Context(), []string{"bond9"}).Members; !m.Known() || len(m.Value) != 0 {
		t.Errorf("a team without ports: %+v", m)
	}
}

func TestInterrupts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skipf("sysfs is read on Linux only, this is %s", runtime.GOOS)
	}
	file := func(content string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(content)} }
	link := func(target string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink}
	}
	const pci = "sys/devices/pci0000:00/"
	root := fstest.MapFS{
		// A port behind a bridge, which has an interrupt of its own.
		pci + "0000:00:01.0/msi_irqs/24":                          file("msix\n"),
		pci + "0000:00:01.0/0000:01:00.0/msi_irqs/130":            file("msix\n"),
		pci + "0000:00:01.0/0000:01:00.0/msi_irqs/97":             file("msix\n"),
		pci + "0000:00:01.0/0000:01:00.0/irq":                     file("97\n"),
		pci + "0000:00:01.0/0000:01:00.0/net/enp1s0/ifindex":      file("2\n"),
		pci + "0000:00:01.0/0000:01:00.0/net/enp1s0/device":       link("../../../0000:01:00.0"),
		"sys/class/net/enp1s0":                                    link("../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/net/enp1s0"),
		pci + "0000:00:03.0/msi_irqs/38":                          file("msix\n"),
		pci + "0000:00:03.0/virtio2/net/eth0/ifindex":             file("3\n"),
		pci + "0000:00:03.0/virtio2/net/eth0/device":              link("../../../virtio2"),
		"sys/class/net/eth0":                                      link("../../devices/pci0000:00/0000:00:03.0/virtio2/net/eth0"),
		pci + "0000:00:14.0/irq":                                  file("16\n"),
		pci + "0000:00:14.0/usb2/2-1/2-1:1.0/net/usb0/device":     link("../../../2-1:1.0"),
		pci + "0000:00:14.0/usb2/2-1/2-1:1.0/net/usb0/ifindex":    file("4\n"),
		"sys/class/net/usb0":                                      link("../../devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/net/usb0"),
		"sys/devices/platform/fd580000.ethernet/net/end0/ifindex": file("5\n"),
		"sys/devices/platform/fd580000.ethernet/net/end0/device":  link("../../../fd580000.ethernet"),
		"sys/class/net/end0":                                      link("../../devices/platform/fd580000.ethernet/net/end0"),
		"sys/devices/virtual/net/odd0/ifindex":                    file("6\n"),
		"sys/class/net/odd0":                                      link("../../devices/virtual/net/odd0"),
	}
	r := &Reader{root: root, kernel: &rtnl.Saved{Links: map[string]rtnl.SavedLink{
		"enp1s0": {Index: 2}, "eth0": {Index: 3}, "usb0": {Index: 4}, "end0": {Index: 5}, "odd0": {Index: 6},
		"lo": {Loopback: true}, "veth0": {Kind: "veth"}, "elsewhere": {Index: 77},
	}}}
	tests := []struct {
		name string
		want Interrupts
	}{
		{"enp1s0", Interrupts{IRQs: []int{97, 130}, Names: []string{"enp1s0", "0000:01:00.0"}}},
		{"eth0", Interrupts{IRQs: []int{38}, Names: []string{"eth0", "virtio2"}}},
		{"usb0", Interrupts{IRQs: []int{16}, Names: []string{"usb0", "2-1:1.0"}}},
		{"end0", Interrupts{Names: []string{"end0", "fd580000.ethernet"}}},
		{"elsewhere", Interrupts{Names: []string{"elsewhere"}}},
	}
	for _, tt := range tests {
		got, err := r.Interrupts(t.Context(), tt.name)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
		}
	}
	for _, name := range []string{"lo", "veth0", "odd0", "nope"} {
		got, err := r.Interrupts(t.Context(), name)
		if probes.Unread[int](err).Status != probes.Absent {
			t.Errorf("%s: %+v, %v, want them absent", name, got, err)
		}
	}
}
