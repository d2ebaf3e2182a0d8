package cpu

import (
	"io/fs"
	"strings"

	"linerate/probes"
	"linerate/probes/internal/kfs"
)

// Hypervisor names what a virtual machine runs on: "kvm", "vmware", "hyper-v", "xen",
// "virtualbox", "parallels", or "hypervisor" when the kernel only knows that there is
// one. Absent when nothing says that this is a virtual machine. root holds proc and sys.
//
// gopsutil is not asked: it takes a host with the kvm module loaded for a virtual
// machine, misses most guests, and keeps its first answer for the whole process.
func Hypervisor(root fs.FS) probes.Reading[string] {
	for _, witness := range []func(fs.FS) string{xen, byClock, byFirmware, byDeviceTree, byFlag} {
		if name := witness(root); name != "" {
			return probes.Got(name)
		}
	}
	return probes.Unknown[string](probes.Absent, "not a virtual machine, as far as the kernel knows")
}

// xen: a domain 0 is a guest of Xen too, but sees the real hardware.
func xen(root fs.FS) string {
	if s, _ := kfs.Text(root, "sys/hypervisor/type"); s != "xen" {
		return ""
	}
	if s, _ := kfs.Text(root, "proc/xen/capabilities"); strings.Contains(s, "control_d") {
		return ""
	}
	return "xen"
}

// byClock: guests are offered the hypervisor's own clock, even where there is no
// firmware to ask (Firecracker).
func byClock(root fs.FS) string {
	clocks, _ := kfs.Text(root, "sys/devices/system/clocksource/clocksource0/available_clocksource")
	switch {
	case strings.Contains(clocks, "kvm-clock"):
		return "kvm"
	case strings.Contains(clocks, "hyperv_clocksource"):
		return "hyper-v"
	}
	return ""
}

// byFirmware goes by the names in the DMI table. Cloud vendors' names are not in the
// list: their bare-metal machines carry them too.
func byFirmware(root fs.FS) string {
	vendor, _ := kfs.Text(root, "sys/class/dmi/id/sys_vendor")
	product, _ := kfs.Text(root, "sys/class/dmi/id/product_name")
	names := vendor + " " + product
	for _, m := range []struct{ mark, name string }{
		{"VMware", "vmware"}, {"VirtualBox", "virtualbox"}, {"Parallels", "parallels"},
		{"Microsoft Corporation Virtual Machine", "hyper-v"}, {"QEMU", "kvm"}, {"KVM", "kvm"},
		{"OpenStack", "kvm"},
	} {
		if strings.Contains(names, m.mark) {
			return m.name
		}
	}
	return ""
}

// byDeviceTree is for ARM and RISC-V guests, which have neither a flag nor often DMI.
func byDeviceTree(root fs.FS) string {
	node, _ := kfs.Text(root, "proc/device-tree/hypervisor/compatible")
	switch {
	case strings.Contains(node, "kvm"):
		return "kvm"
	case strings.Contains(node, "xen"):
		return "xen"
	}
	if board, _ := kfs.Text(root, "proc/device-tree/compatible"); strings.Contains(board, "linux,dummy-virt") {
		return "kvm"
	}
	return ""
}

// byFlag: CPUID tells every x86 guest that there is a hypervisor, but not, through
// /proc, which one.
func byFlag(root fs.FS) string {
	info, _ := kfs.Text(root, "proc/cpuinfo")
	for line := range strings.Lines(info) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "flags" {
			for flag := range strings.FieldsSeq(value) {
				if flag == "hypervisor" {
					return "hypervisor"
				}
			}
			return ""
		}
	}
	return ""
}
