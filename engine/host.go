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

// EvidenceSource reads what rules want to know of this computer beyond a HostSource.
// probes/host implements it. It is apart so that a server can do without.
type EvidenceSource interface {
	// Adapter describes the card behind the interface called nic, and the devices between
	// the two: the static tier, for the start of a test and every 30 s. Tens of
	// milliseconds where a driver asks its card over a slow bus.
	Adapter(ctx context.Context, nic string) probes.Reading[probes.Adapter]
}
