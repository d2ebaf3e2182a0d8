package disk

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"linerate/probes"
	"linerate/probes/internal/kfs"
)

// What of a bus's raw rate a good disk reaches. The figures that they give are those of
// diagnosis.md R47: 3.5 GB/s on PCIe 3 x4, 550 MB/s on SATA 6 Gbit/s, 420 MB/s on USB at 5
// Gbit/s.
const (
	pcieShare = .89
	sataShare = .8 * .917 // 8b/10b coding, frames
	usbShare  = .672      // 8b/10b coding, frames; half of USB 2
	usbShare2 = .8        // 128b/132b coding from 10 Gbit/s on

	// spinning is the outer edge of the fastest hard disks, 280 MB/s.
	spinning = 280e6 * 8
)

var (
	pciAddress = regexp.MustCompile(`^[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)
	ataPort    = regexp.MustCompile(`^ata([0-9]+)$`)
	usbBus     = regexp.MustCompile(`^usb[0-9]+$`)
	usbDevice  = regexp.MustCompile(`^[0-9]+-[0-9.]+$`)
)

// classify describes a whole disk by where it is in the tree of devices.
func (r *Reader) classify(folder string) probes.Disk {
	d := probes.Disk{Name: path.Base(folder)}
	class, err := r.class(folder)
	d.Class = probes.Read(class, err)
	if err != nil {
		d.LimitBps = probes.Unread[float64](err)
		return d
	}
	d.LimitBps = probes.Read(r.limit(folder, class))
	return d
}

func (r *Reader) class(folder string) (string, error) {
	name := path.Base(folder)
	model, _ := kfs.Text(r.root, folder+"/device/model")
	vendor, _ := kfs.Text(r.root, folder+"/device/vendor")
	switch {
	case strings.HasPrefix(name, "zram"), strings.HasPrefix(name, "ram"), strings.HasPrefix(name, "pmem"):
		return "memory", nil
	case strings.HasPrefix(name, "nbd"), strings.HasPrefix(name, "rbd"), strings.HasPrefix(name, "drbd"):
		return "", absent("%s: the disk is on another computer", name)
	case strings.Contains(model, "Elastic Block Store"):
		return "", absent("%s: a volume of the cloud, behind its network", name)
	case virtual(folder, vendor, model):
		return "", absent("%s is a virtual disk: the hypervisor does not tell what is behind it", name)
	case strings.HasPrefix(name, "nvme"):
		return "nvme", nil
	case strings.HasPrefix(name, "mmcblk"):
		return "mmc", nil
	case component(folder, usbBus) != "":
		return "usb", nil
	}
	turns, err := kfs.Int(r.root, folder+"/queue/rotational")
	if err != nil {
		return "", err
	}
	if turns != 0 {
		return "hdd", nil
	}
	return "ssd", nil
}

// virtual goes by the bus that hypervisors offer, and by the names that their emulated
// disks give.
func virtual(folder, vendor, model string) bool {
	for part := range strings.SplitSeq(folder, "/") {
		if strings.HasPrefix(part, "virtio") || strings.HasPrefix(part, "vbd-") || strings.HasPrefix(part, "VMBUS") {
			return true
		}
	}
	for _, maker := range []string{"VMware", "QEMU", "VBOX", "Msft", "XENSRC", "Google", "BHYVE", "nvme_card"} {
		if strings.HasPrefix(vendor, maker) || strings.HasPrefix(model, maker) {
			return true
		}
	}
	return false
}

// component is the folder of the innermost part of a path that a pattern matches, "" when
// none does.
func component(folder string, pattern *regexp.Regexp) string {
	for p := folder; p != "." && p != "/"; p = path.Dir(p) {
		if pattern.MatchString(path.Base(p)) {
			return p
		}
	}
	return ""
}

// limit is what the disk's bus allows, bits/s, and for what turns no more than that.
func (r *Reader) limit(folder, class string) (float64, error) {
	switch class {
	case "memory":
		return 0, absent("memory is on no bus")
	case "nvme":
		return r.pcieLimit(folder)
	case "usb":
		return r.usbLimit(folder)
	case "mmc":
		return 0, absent("the kernel tells the speed of memory cards to root only")
	}
	bus, err := r.sataLimit(folder)
	if class == "hdd" {
		if err != nil {
			return spinning, nil
		}
		return min(bus, spinning), nil
	}
	return bus, err
}

// pcieLimit is the narrowest link between the disk and the processor. At rest a link may
// run slower than it can.
func (r *Reader) pcieLimit(folder string) (float64, error) {
	narrowest := 0.0
	for p := folder; p != "." && p != "/"; p = path.Dir(p) {
		if !pciAddress.MatchString(path.Base(p)) {
			continue
		}
		speed, err := kfs.Text(r.root, p+"/current_link_speed")
		if err != nil {
			continue
		}
		width, err := kfs.Text(r.root, p+"/current_link_width")
		if err != nil {
			continue
		}
		if bps, ok := pcieRate(speed, width); ok && (narrowest == 0 || bps < narrowest) {
			narrowest = bps
		}
	}
	if narrowest == 0 {
		return 0, absent("the disk's PCIe link is not visible from here")
	}
	return narrowest * pcieShare, nil
}

// pcieRate is what a link carries in one direction after coding: "8.0 GT/s PCIe", "4".
func pcieRate(speed, width string) (bps float64, ok bool) {
	number, _, _ := strings.Cut(speed, " ")
	gt, err := strconv.ParseFloat(number, 64)
	lanes, errWidth := strconv.ParseUint(width, 10, 8)
	if err != nil || errWidth != nil || !(gt > 0 && gt < 1000) || lanes == 0 {
		return 0, false
	}
	coding := 128.0 / 130
	if gt <= 5 {
		coding = .8
	}
	return gt * 1e9 * float64(lanes) * coding, true
}

func (r *Reader) sataLimit(folder string) (float64, error) {
	port := component(folder, ataPort)
	if port == "" {
		return 0, absent("the disk's bus tells no speed")
	}
	number := ataPort.FindStringSubmatch(path.Base(port))[1]
	text, err := kfs.Text(r.root, "sys/class/ata_link/link"+number+"/sata_spd")
	if err != nil {
		return 0, err
	}
	return parseSATA(text)
}

// parseSATA reads "6.0 Gbps"; a port without a disk says "<unknown>".
func parseSATA(text string) (float64, error) {
	number, _ := strings.CutSuffix(text, " Gbps")
	gbit, err := strconv.ParseFloat(number, 64)
	if err != nil || !(gbit > 0 && gbit < 1000) {
		return 0, fmt.Errorf("SATA speed %q is not known", text)
	}
	return gbit * 1e9 * sataShare, nil
}

func (r *Reader) usbLimit(folder string) (float64, error) {
	device := component(folder, usbDevice)
	if device == "" {
		return 0, absent("the USB device is not visible from here")
	}
	text, err := kfs.Text(r.root, device+"/speed")
	if err != nil {
		return 0, err
	}
	mbit, err := strconv.ParseFloat(text, 64)
	if err != nil || !(mbit > 0 && mbit < 1e6) {
		return 0, fmt.Errorf("USB speed %q is not known", text)
	}
	if mbit >= 10_000 {
		return mbit * 1e6 * usbShare2, nil
	}
	return mbit * 1e6 * usbShare, nil
}
