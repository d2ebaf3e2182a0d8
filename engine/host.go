package engine

import (
	"context"
	"net/netip"

	"linerate/probes"
)

// HostSource reads this computer. probes/host implements it; tests give fixtures.
// Methods are cheap enough for their cadence and never wait for the network.
type HostSource interface {
	// Host reads the facts that do not change during a test; a probe that fails leaves
	// its own field unknown and no other.
	Host(ctx context.Context) probes.Host
	// Route reads how packets reach dest and the interface they leave by.
	Route(ctx context.Context, dest netip.Addr) probes.Reading[probes.Route]
	// Load reads core and thread times and gives the load since the call before; the
	// first call gives the load as unknown ("first reading"). Not safe for concurrent use.
	Load() probes.Load
}

// PathSource probes the path to a host with a few datagrams to a port of it where nobody
// listens for UDP. probes/pathrtt and probes/pathmtu do it; tests give fixtures. Both
// methods wait for answers, a few seconds at most, and may be called from any goroutine.
type PathSource interface {
	// RTT gives the median of n round trips in PathRTT.Idle, and the routers passed.
	RTT(ctx context.Context, dest netip.AddrPort, n int) probes.PathRTT
	// MTU gives the largest packet that passes to dest.
	MTU(ctx context.Context, dest netip.AddrPort) probes.PathMTU
}

// EvidenceSource reads what rules want to know of this computer beyond a HostSource. What
// cannot be read is unknown with its reason, so no method has an error. probes/host
// implements it. It is apart so that a server can do without.
type EvidenceSource interface {
	// Adapter describes the card behind the interface called nic, and the devices between
	// the two: the static tier, for the start of a test and every 30 s. Tens of
	// milliseconds where a driver asks its card over a slow bus.
	Adapter(ctx context.Context, nic string) probes.Reading[probes.Adapter]
	// Vitals reads the counters of this computer and of the interface nic, in less than a
	// millisecond; those that are slow to read about once a second, in between the earlier
	// reading is given again. For every tick of half a second or more; the differences
	// between two of them (probes.Vitals.Since) are the evidence.
	Vitals(ctx context.Context, nic string) probes.Vitals
	// Settings reads the kernel settings that matter, by name; at the start and every half
	// minute.
	Settings(ctx context.Context) probes.Settings
	// Firewall reads the packet filter of this computer; at the start and every half minute.
	Firewall(ctx context.Context) probes.Firewall
	// Disk describes the disk behind the path of a file that a test reads or writes, which
	// need not exist yet.
	Disk(ctx context.Context, path string) probes.Disk
	// Memory gives the peak bandwidth of this computer's RAM, bits/s; at the start.
	Memory(ctx context.Context) probes.Reading[float64]
	// Listener finds the program that accepts TCP connections to an address of this
	// computer; with an unspecified address any on the port. It looks into every process:
	// once for a server that turns out to be here.
	Listener(ctx context.Context, at netip.AddrPort) probes.Reading[probes.Program]
}

// InterfaceSource lists the network interfaces of this computer. probes/host implements it;
// it is apart because a test knows its interface from the route.
type InterfaceSource interface {
	// Interfaces describes every interface but loopback, in the system's order.
	Interfaces(ctx context.Context) probes.Reading[[]probes.NIC]
}
