package hosttest

import (
	"net/netip"

	"linerate/probes"
)

// Machine is what a fixture pretends to be.
type Machine struct {
	Name     string
	Kernel   string // release
	Platform string // PRETTY_NAME of os-release
	Model    string // "model name" of cpuinfo
	Cores    int
	Hz       float64 // current frequency of every core; 0: no cpufreq folder, as in a virtual machine
	MaxHz    float64
	Governor string
	Scaling  string // driver of cpufreq
	NIC      NIC    // the interface of the default route

	// Memory are the modules that the firmware tells of; none: there is no SMBIOS.
	Memory []Module
	// Listeners are programs that accept TCP connections on 127.0.0.1, by port.
	Listeners map[int]string

	Quota    float64           // CPU limit of the process's control group, cores; 0 none
	Settings map[string]string // kernel settings that are not as usual, by dotted name
	Firewall Filter
}

// Filter is the packet filter of a fixture, an nf_tables; the zero value filters nothing.
type Filter struct {
	Table  string // its name, which may tell its manager: "firewalld"
	Rules  int
	Denied bool // the process may not list rules
}

// NIC is the one real interface of a fixture; lo is always there too.
type NIC struct {
	Name     string
	PCI      string // address of the function, "0000:01:00.0"
	Driver   string
	SpeedBps float64
	MTU      int
	Queues   int // receive and transmit queues, each
	LRO      bool
	Half     bool           // the link is half duplex
	Source   netip.Addr     // local address used for everything but loopback
	Gateway  netip.Addr     // of the default route
	Source6  netip.Addr     // likewise for IPv6; invalid: there is no route but loopback's
	Qdiscs   []probes.Qdisc // nil: mq with fq_codel

	Slot  Slot           // where it is plugged in
	Card  probes.Adapter // what ethtool and nl80211 tell of it: Supported … EEE, Fixed, WiFi, Optics
	Stack []Device       // what stands on it, upwards; the last one is the routes' interface
}

// N100 is the mini-PC of reference-results case 2: four cores, two ports of 10 Gbit/s
// (the second without a link, so only one is here), Linux 6.1.
func N100() Machine {
	return Machine{
		Name:     "minipc",
		Kernel:   "6.1.0-18-amd64",
		Platform: "Debian GNU/Linux 12 (bookworm)",
		Model:    "Intel(R) N100",
		Cores:    4,
		Hz:       2.9e9,
		MaxHz:    3.4e9,
		Governor: "powersave",
		Scaling:  "intel_pstate",
		NIC: NIC{
			Name:     "enp1s0",
			PCI:      "0000:01:00.0",
			Driver:   "ixgbe",
			SpeedBps: 10e9,
			MTU:      1500,
			Queues:   4,
			Source:   netip.MustParseAddr("192.168.10.2"),
			Gateway:  netip.MustParseAddr("192.168.10.1"),
		},
	}
}

// Workstation has 16 cores and a port of 25 Gbit/s with jumbo frames.
func Workstation() Machine {
	return Machine{
		Name:     "workstation",
		Kernel:   "6.8.0-45-generic",
		Platform: "Ubuntu 24.04.1 LTS",
		Model:    "AMD Ryzen 9 7950X 16-Core Processor",
		Cores:    16, // SMT off
		Hz:       5.1e9,
		MaxHz:    5.881e9,
		Governor: "performance",
		Scaling:  "amd-pstate-epp",
		NIC: NIC{
			Name:     "enp65s0np0",
			PCI:      "0000:41:00.0",
			Driver:   "mlx5_core",
			SpeedBps: 25e9,
			MTU:      9000,
			Queues:   16,
			LRO:      true,
			Source:   netip.MustParseAddr("10.0.0.1"),
			Gateway:  netip.MustParseAddr("10.0.0.254"),
		},
	}
}
