package nic

import (
	"io/fs"
	"path"
	"strconv"
	"strings"

	"linerate/probes"
	"linerate/probes/internal/kfs"
)

// emulated are the drivers of cards that a hypervisor presents. The link they show is
// what somebody typed into a device model.
var emulated = map[string]bool{
	"virtio_net": true, "vmxnet3": true, "hv_netvsc": true, "ena": true, "gve": true, "xen_netfront": true, "netvsc": true,
}

// madeUp are vendors of bridges that exist in virtual machines only: QEMU and VMware. A
// real card handed to the machine sits behind one.
var madeUp = map[string]bool{"0x1b36": true, "0x15ad": true}

// pcieLink is one end of a link between two PCI functions.
type pcieLink struct {
	gtps  float64 // per lane
	lanes int
}

// overhead is what packet headers leave of a link's bytes with 128-byte payloads, the size
// that every system can do.
const overhead = 0.84

// usable is what a link carries in each direction, in bits/s: 8 of 10 bits in the first
// two generations, 128 of 130 since, less the headers.
func (l pcieLink) usable() float64 {
	coding := 128.0 / 130
	if l.gtps <= 5 {
		coding = 0.8
	}
	return l.gtps * 1e9 * float64(l.lanes) * coding * overhead
}

// pcieWay finds the narrowest link between a card and the processor. Both ends of a link
// are functions that tell its speed and width, so the smallest figure on the way up is
// it; of two that are the same, the one nearer to the card is named.
//
// The speed may be lower than under load: cards and roots slow an idle link down.
func pcieWay(root fs.FS, card string) (probes.PCIe, error) {
	var found probes.PCIe
	for p := card; p != "." && p != "/"; p = path.Dir(p) {
		if !pciAddress.MatchString(path.Base(p)) {
			continue
		}
		if vendor, _ := kfs.Text(root, path.Join(p, "vendor")); madeUp[vendor] {
			continue
		}
		l, ok := readLink(root, tells(root, p), "current")
		if !ok {
			continue
		}
		if found.Lanes == 0 || l.usable() < found.Usable {
			found.GTps, found.Lanes, found.At, found.Usable = l.gtps, l.lanes, path.Base(p), l.usable()
		}
	}
	if found.Lanes == 0 {
		return found, absent("no PCIe link is visible")
	}
	own, _ := readLink(root, tells(root, card), "max")
	found.MaxGTps, found.MaxLane = own.gtps, own.lanes
	return found, nil
}

// tells gives the function that speaks for one: a virtual function (SR-IOV) has no link of
// its own, its card has.
func tells(root fs.FS, function string) string {
	if card, err := kfs.Resolve(root, path.Join(function, "physfn")); err == nil {
		return card
	}
	return function
}

// readLink reads one end of a link, "current" or "max". A port with nothing in it and a
// function within the chipset tell "Unknown" or no lanes.
func readLink(root fs.FS, function, which string) (pcieLink, bool) {
	speed, err := kfs.Text(root, path.Join(function, which+"_link_speed"))
	if err != nil {
		return pcieLink{}, false
	}
	lanes, err := kfs.Int(root, path.Join(function, which+"_link_width"))
	gtps := parseGTps(speed)
	const unknownLanes = 255 // as the kernel prints PCIE_LNK_WIDTH_UNKNOWN
	if err != nil || gtps == 0 || lanes <= 0 || lanes >= unknownLanes {
		return pcieLink{}, false
	}
	return pcieLink{gtps, int(lanes)}, true
}

// parseGTps reads "8.0 GT/s PCIe", and "8 GT/s" of kernels before 5.7; 0 for anything
// else, as "Unknown".
func parseGTps(text string) float64 {
	number, unit, _ := strings.Cut(text, " ")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !strings.HasPrefix(unit, "GT/s") || !(v >= 1 && v <= 1024) {
		return 0
	}
	return v
}
