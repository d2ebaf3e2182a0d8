package engine

import (
	"net/netip"
	"time"

	"linerate/probes"
)

// Examination is what can be said of this computer, and of the path to a host, without a
// test: what `linerate doctor` shows.
type Examination struct {
	Target string     // the host as asked, name or address; "" where none was
	Port   int        // of it, 0 without a target
	Dest   netip.Addr // the address that was looked at; invalid when not known
	Source netip.Addr // the local one used for it
	Taken  time.Time
	// Program is what took saved evidence: "linerate 0.3"; "" of what was looked at just now.
	Program string
	// Traffic says that the readings are those of a running test: the findings are its
	// verdicts.
	Traffic bool

	Machine  probes.Reading[probes.Host]
	Cores    probes.Reading[[]probes.CoreLoad] // mean over Window
	Window   time.Duration
	Links    []Link
	Settings probes.Settings
	Firewall probes.Firewall
	Memory   probes.Reading[float64] // peak bandwidth of the RAM, bits/s
	Vitals   probes.Vitals           // of the computer as a whole

	// Known with a target only.
	Gateway  probes.Reading[bool]   // the target is this computer's default gateway
	Listener probes.Reading[string] // the program behind the port, where the target is this computer
	MTU      probes.PathMTU
	RTT      probes.PathRTT

	Findings []Finding // gravest first, or, of a running test, the verdicts first
}

// Link is one way out of this computer.
type Link struct {
	NIC     probes.Reading[probes.NIC]
	Adapter probes.Adapter
	Qdiscs  probes.Reading[[]probes.Qdisc]
	Ceiling probes.Reading[float64] // TCP payload that the line speed leaves, bits/s
}
