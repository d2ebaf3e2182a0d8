package rtnl

import (
	"fmt"
	"net/netip"

	"linerate/probes"
)

// Link is one interface as RTM_GETLINK describes it.
type Link struct {
	Index    int
	Name     string
	Master   int    // index of the bridge or bond this one is a port of; 0 none
	Kind     string // IFLA_INFO_KIND: "veth", "bridge", "vlan" …; "" for a device without one
	Tap      bool   // Kind is "tun" and the device carries Ethernet frames
	Loopback bool
	Up       bool // administratively up and with carrier, as far as the device knows
	MTU      int  // bytes
	Counters probes.Reading[probes.NICCounters]
}

// Route is the kernel's answer to "how would you send to this address?".
type Route struct {
	Source  netip.Addr
	Gateway netip.Addr // invalid when the destination is on the link
	Link    string     // name of the interface
}

// errUntold is what a device without an ethtool answer gives. Readings call it absent.
var errUntold = probes.Missing{Status: probes.Absent, Reason: "the device does not tell"}

// noInterface is for a name that nobody has.
func noInterface(name string) error {
	return probes.Missing{Status: probes.Absent, Reason: fmt.Sprintf("there is no interface %q", name)}
}
