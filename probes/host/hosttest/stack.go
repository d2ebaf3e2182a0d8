package hosttest

import (
	"fmt"
	"net/netip"
	"path"
	"strings"

	"linerate/probes"
	"linerate/probes/internal/rtnl"
)

// Slot is where a NIC is plugged in. The zero value leaves everything out, as the
// hypervisors do.
type Slot struct {
	Link    Link     // of the card's own function
	Bridges []Bridge // between the processor and the card, in this order
	L1      bool     // the link may sleep
	Near    string   // cores of the card's memory node: "0-3"
	Node    int      // memory node, of two when it is not 0
}

// Link is one end of a PCIe link.
type Link struct {
	GTps     float64
	Lanes    int
	MaxGTps  float64
	MaxLanes int
}

// Bridge is a PCI function with another one below it.
type Bridge struct {
	PCI string // address
	Link
}

// Device stands on the NIC, or on the device before it.
type Device struct {
	Name  string
	Kind  string // "vlan", "bond", "wireguard", "ppp" (which is PPPoE) …
	MTU   int
	Outer netip.Addr // far end of a tunnel
	Legs  []Leg      // of a bond: its members beside the device below it
}

// Leg is a member of a bond.
type Leg struct {
	Name     string
	SpeedBps float64
}

// folder is the card's PCI function in sysfs.
func (n NIC) folder() string {
	p := "sys/devices/pci0000:00"
	for _, b := range n.Slot.Bridges {
		p += "/" + b.PCI
	}
	return p + "/" + n.PCI
}

// device is the interface of the routes.
func (n NIC) device() string {
	if len(n.Stack) == 0 {
		return n.Name
	}
	return n.Stack[len(n.Stack)-1].Name
}

// up gives the relative way from a folder to the root of sysfs.
func up(folder string) string { return strings.Repeat("../", strings.Count(folder, "/")) }

func (h *Host) writeSlot() {
	s, card := h.machine.NIC.Slot, h.machine.NIC.folder()
	h.writeLink(card, s.Link)
	folder := card
	for i := len(s.Bridges) - 1; i >= 0; i-- {
		folder = path.Dir(folder)
		h.writeLink(folder, s.Bridges[i].Link)
	}
	if s.Near == "" {
		return
	}
	nodes := "0\n"
	if s.Node > 0 {
		nodes = fmt.Sprintf("0-%d\n", s.Node)
	}
	h.write("sys/devices/system/node/online", nodes)
	h.write(card+"/numa_node", itoa(s.Node)+"\n")
	h.write(card+"/local_cpulist", s.Near+"\n")
	l1 := "0\n"
	if s.L1 {
		l1 = "1\n"
	}
	h.write(card+"/link/l1_aspm", l1)
}

func (h *Host) writeLink(folder string, l Link) {
	if l == (Link{}) {
		return
	}
	h.write(folder+"/current_link_speed", fmt.Sprintf("%.1f GT/s PCIe\n", l.GTps))
	h.write(folder+"/current_link_width", itoa(l.Lanes)+"\n")
	h.write(folder+"/max_link_speed", fmt.Sprintf("%.1f GT/s PCIe\n", l.MaxGTps))
	h.write(folder+"/max_link_width", itoa(l.MaxLanes)+"\n")
}

// Indexes of the interfaces; lo has 1.
const (
	nicIndex   = 2
	stackIndex = 10 // and up, for what stands on the NIC
	legIndex   = 20 // and up
)

// writeStack lays out the devices that stand on the NIC, and the further members of bonds.
func (h *Host) writeStack() {
	n := h.machine.NIC
	lower := n.folder() + "/net/" + n.Name
	for i, d := range n.Stack {
		folder := "sys/devices/virtual/net/" + d.Name
		h.interfaceFolder(folder, stackIndex+i, 1, d.MTU, 1)
		h.link("sys/class/net/"+d.Name, "../../devices/virtual/net/"+d.Name)
		switch d.Kind {
		case "wireguard": // sysfs knows nothing of what is below these two
		case "ppp":
			h.write("proc/net/pppoe", "Id       Address              Device\n0000000B 00:11:22:33:44:55    "+path.Base(lower)+"\n")
		default:
			h.linkLower(folder, lower)
		}
		if d.Kind == "bond" {
			speed := n.SpeedBps
			for j, leg := range d.Legs {
				h.linkLower(folder, h.writeLeg(leg, legIndex+j, d.MTU))
				speed += leg.SpeedBps
			}
			h.write(folder+"/speed", fmt.Sprintf("%.0f\n", speed/1e6))
			h.write(folder+"/duplex", "full\n")
		}
		lower = folder
	}
}

// writeLeg lays out a member of a bond, a card that is not on a PCI bus, and gives its
// folder.
func (h *Host) writeLeg(leg Leg, index, mtu int) string {
	device := "sys/devices/platform/" + leg.Name + ".ethernet"
	folder := device + "/net/" + leg.Name
	h.interfaceFolder(folder, index, 1, mtu, 1)
	h.link(folder+"/device", "../../../"+path.Base(device))
	h.write(folder+"/speed", fmt.Sprintf("%.0f\n", leg.SpeedBps/1e6))
	h.write(folder+"/duplex", "full\n")
	h.link("sys/class/net/"+leg.Name, "../../"+strings.TrimPrefix(folder, "sys/"))
	return folder
}

func (h *Host) linkLower(folder, lower string) {
	h.link(folder+"/lower_"+path.Base(lower), up(folder)+strings.TrimPrefix(lower, "sys/"))
}

// TransferLeg adds to the byte counters of a bond's member that is not the NIC.
func (h *Host) TransferLeg(name string, rxBytes, txBytes uint64) {
	h.t.Helper()
	if h.legs == nil {
		h.legs = map[string]probes.NICCounters{}
	}
	c := h.legs[name]
	c.RxBytes += rxBytes
	c.TxBytes += txBytes
	h.legs[name] = c
	h.writeLinks()
}

// stackDrivers are the names by which virtual devices answer to ETHTOOL_GDRVINFO.
var stackDrivers = map[string]string{"vlan": "802.1Q VLAN Support", "bond": "bonding", "wireguard": "wireguard", "vxlan": "vxlan"}

// stackLinks adds the devices that stand on the NIC to those of netlink.json. What
// passed through the NIC passed through them.
func (h *Host) stackLinks(links map[string]rtnl.SavedLink) {
	n := h.machine.NIC
	nic := links[n.Name]
	nic.Index, nic.Ethtool, nic.WiFi = nicIndex, ethtool(n.Card), nil
	if n.Card.WiFi.Known() {
		wifi := n.Card.WiFi.Value
		nic.WiFi = &wifi
	}
	below := n.Name
	for i, d := range n.Stack {
		links[d.Name] = rtnl.SavedLink{
			Kind: d.Kind, Up: true, MTU: d.MTU, Index: stackIndex + i, Driver: stackDrivers[d.Kind],
			Features: nic.Features, Counters: nic.Counters,
			SavedCard: rtnl.SavedCard{Below: &rtnl.Below{Device: below, Outer: d.Outer}},
		}
		if d.Kind == "bond" {
			nic.Master = stackIndex + i
			for j, leg := range d.Legs {
				links[leg.Name] = rtnl.SavedLink{Up: true, MTU: d.MTU, Index: legIndex + j, Master: nic.Master, Counters: h.legs[leg.Name]}
			}
		}
		below = d.Name
	}
	nic.Fixed = n.Card.Fixed
	links[n.Name] = nic
}

// ethtool picks what ethtool tells out of an adapter.
func ethtool(a probes.Adapter) *rtnl.Card {
	return &rtnl.Card{
		Supported: a.Supported, Offered: a.Offered, Advertised: a.Advertised, Autoneg: a.Autoneg,
		Rings: a.Rings, Channels: a.Channels, Pause: a.Pause, EEE: a.EEE, Optics: a.Optics,
	}
}
