package hosttest

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"

	"linerate/probes"
	"linerate/probes/internal/rtnl"
)

const ethernetHeader = 14 // bytes per packet beyond the MTU

// writeNIC lays the interface out as sysfs does: the folder below its PCI function, and
// links to and from it.
func (h *Host) writeNIC() {
	n := h.machine.NIC
	pci := n.folder() + "/"
	h.write(pci+"vendor", "0x8086\n")
	h.link(pci+"driver", up(n.folder())+"bus/pci/drivers/"+n.Driver)
	h.write("sys/bus/pci/drivers/"+n.Driver+"/bind", "")

	h.interfaceFolder(pci+"net/"+n.Name, nicIndex, 1, n.MTU, n.Queues)
	h.link(pci+"net/"+n.Name+"/device", "../../../"+n.PCI)
	h.write(pci+"net/"+n.Name+"/operstate", "up\n")
	h.write(pci+"net/"+n.Name+"/speed", fmt.Sprintf("%.0f\n", n.SpeedBps/1e6))
	duplex := "full"
	if n.Half {
		duplex = "half"
	}
	h.write(pci+"net/"+n.Name+"/duplex", duplex+"\n")
	h.link("sys/class/net/"+n.Name, "../../"+strings.TrimPrefix(pci, "sys/")+"net/"+n.Name)
	h.writeSlot()
	h.writeStack()

	lo := "sys/devices/virtual/net/lo"
	h.interfaceFolder(lo, 1, 772, 65536, 1)
	h.write(lo+"/operstate", "unknown\n")
	h.link("sys/class/net/lo", "../../devices/virtual/net/lo")
	h.writeLinks()
}

func (h *Host) interfaceFolder(folder string, index, arpType, mtu, queues int) {
	h.write(folder+"/ifindex", itoa(index)+"\n")
	h.write(folder+"/type", itoa(arpType)+"\n")
	h.write(folder+"/mtu", itoa(mtu)+"\n")
	h.write(folder+"/carrier", "1\n")
	for q := range queues {
		h.write(fmt.Sprintf("%s/queues/rx-%d/rps_cpus", folder, q), "0\n")
		h.write(fmt.Sprintf("%s/queues/tx-%d/xps_cpus", folder, q), "0\n")
	}
}

// writeLinks writes netlink.json: offloads, counters and routes.
func (h *Host) writeLinks() {
	h.t.Helper()
	n := h.machine.NIC
	frame := uint64(n.MTU + ethernetHeader)
	saved := rtnl.Saved{
		Links: map[string]rtnl.SavedLink{
			"lo": {
				Loopback: true, Up: true, MTU: 65536,
				Features: map[string]bool{"tso": true, "gso": true, "gro": true, "lro": false},
			},
			n.Name: {
				Up: true, MTU: n.MTU, Driver: n.Driver,
				Features: map[string]bool{"tso": true, "gso": true, "gro": true, "lro": n.LRO},
				Counters: probes.NICCounters{
					RxBytes: h.rx, TxBytes: h.tx,
					RxPackets: (h.rx + frame - 1) / frame, TxPackets: (h.tx + frame - 1) / frame,
				},
				More: h.vitals.Link.Value, Driven: h.vitals.Driver.Value,
				Qdiscs: h.vitals.Qdiscs.Value, Flaps: h.vitals.Carrier.Value,
			},
		},
		Routes: []rtnl.SavedRoute{
			{Dest: netip.MustParsePrefix("127.0.0.0/8"), Source: netip.MustParseAddr("127.0.0.1"), Link: "lo"},
			{Dest: netip.MustParsePrefix("::1/128"), Source: netip.IPv6Loopback(), Link: "lo"},
			{Dest: netip.PrefixFrom(n.Source, 32), Source: n.Source, Link: "lo"},
			{Dest: netip.PrefixFrom(n.Source, 24).Masked(), Source: n.Source, Link: n.device()},
			{Dest: netip.MustParsePrefix("0.0.0.0/0"), Source: n.Source, Gateway: n.Gateway, Link: n.device()},
		},
	}
	if n.Source6.IsValid() {
		saved.Routes = append(saved.Routes, rtnl.SavedRoute{
			Dest: netip.MustParsePrefix("::/0"), Source: n.Source6, Gateway: netip.MustParseAddr("fe80::1"), Link: n.device(),
		})
	}
	h.stackLinks(saved.Links)
	text, err := json.MarshalIndent(saved, "", "  ")
	if err != nil {
		h.t.Fatal(err)
	}
	h.write(rtnl.SavedFile, string(text))
}
