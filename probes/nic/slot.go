package nic

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	"linerate/probes"
	"linerate/probes/internal/kfs"
	"linerate/probes/internal/rtnl"
)

// slot is where a card is plugged in: its way to the processor, whether that may sleep,
// and which memory and cores are near.
type slot struct {
	pcie  probes.Reading[probes.PCIe]
	usb   probes.Reading[float64]
	aspm  probes.Reading[bool]
	node  probes.Reading[int]
	cores probes.Reading[[]int]
}

func noSlot(reason error) slot {
	return slot{
		probes.Unread[probes.PCIe](reason), probes.Unread[float64](reason), probes.Unread[bool](reason),
		probes.Unread[int](reason), probes.Unread[[]int](reason),
	}
}

func absent(format string, args ...any) probes.Missing {
	return probes.Missing{Status: probes.Absent, Reason: fmt.Sprintf(format, args...)}
}

func (r *Reader) slot(card rtnl.Link, s sysfs) slot {
	if s.err != nil {
		return noSlot(s.err)
	}
	if !s.exists("device") {
		return noSlot(absent("%s is not hardware", card.Name))
	}
	device, err := s.device()
	if err != nil {
		return noSlot(err)
	}
	function, ok := pciFunction(device)
	found := noSlot(absent("%s is not on a PCI bus", card.Name))
	if ok {
		found.pcie = probes.Read(pcieWay(r.root, function))
		found.aspm = probes.Read(l1(r.root, function))
		found.node = probes.Read(node(r.root, function))
		found.cores = probes.Read(near(r.root, function))
	}
	if port, ok := usbPort(device); ok {
		// The PCI function is the USB controller, which other devices share.
		usb := absent("a USB adapter: its port counts")
		found.pcie, found.aspm = probes.Unread[probes.PCIe](usb), probes.Unread[bool](usb)
		found.usb = probes.Read(usbSpeed(r.root, port))
	} else {
		found.usb = probes.Unread[float64](absent("%s is not a USB adapter", card.Name))
	}
	if driver := r.driver(card, s).Value; emulated[driver] {
		found.pcie = probes.Unread[probes.PCIe](absent("%s: the hypervisor makes its PCIe link up", driver))
	}
	return found
}

// usbDevice is a device of a USB bus in sysfs: bus, "-", and the ports down to it.
var usbDevice = regexp.MustCompile(`^[0-9]+-[0-9]+(\.[0-9]+)*$`)

// usbPort finds the USB device that a network device is an interface of.
func usbPort(device string) (string, bool) {
	for p := device; p != "." && p != "/"; p = path.Dir(p) {
		if usbDevice.MatchString(path.Base(p)) {
			return p, true
		}
	}
	return "", false
}

// usbSpeed reads a device's signalling rate, Mbit/s: 1.5, 12, 480, 5000, 10000, 20000.
func usbSpeed(root fs.FS, device string) (float64, error) {
	text, err := kfs.Text(root, path.Join(device, "speed"))
	if err != nil {
		return 0, err
	}
	mbit, err := strconv.ParseFloat(text, 64)
	if err != nil || !(mbit > 0 && mbit < 1e6) {
		return 0, fmt.Errorf("speed %q of a USB device", text)
	}
	return mbit * 1e6, nil
}

// l1 tells whether the PCIe link of a function may sleep in L1 (kernels from 5.5 on).
func l1(root fs.FS, function string) (bool, error) {
	n, err := kfs.Int(root, path.Join(function, "link/l1_aspm"))
	if err != nil && !kfs.Exists(root, path.Join(function, "link/l1_aspm")) {
		return false, absent("its PCIe link has no L1, or power saving is left to the firmware")
	}
	return n == 1, err
}

// node gives the memory node of a function.
func node(root fs.FS, function string) (int, error) {
	n, err := kfs.Int(root, path.Join(function, "numa_node"))
	if err != nil {
		return 0, err
	}
	online, err := kfs.Text(root, "sys/devices/system/node/online")
	nodes, listErr := kfs.List(online)
	switch {
	case n < 0:
		return 0, absent("the firmware names no memory node for it")
	case err == nil && listErr == nil && len(nodes) == 1:
		return 0, absent("this computer has one memory node")
	}
	return int(n), nil
}

// near lists the cores of the function's memory node.
func near(root fs.FS, function string) ([]int, error) {
	text, err := kfs.Text(root, path.Join(function, "local_cpulist"))
	if err != nil {
		return nil, err
	}
	return kfs.List(text)
}

// rps tells whether any receive queue hands packets to other cores.
func (s sysfs) rps() (bool, error) {
	if s.err != nil {
		return false, s.err
	}
	rx, _, err := s.queues()
	if err != nil || rx == 0 {
		return false, absent("%s has no receive queues", path.Base(s.folder))
	}
	for q := range rx {
		mask, err := s.text(fmt.Sprintf("queues/rx-%d/rps_cpus", q))
		if err != nil {
			return false, err
		}
		if strings.Trim(mask, "0,") != "" {
			return true, nil
		}
	}
	return false, nil
}
