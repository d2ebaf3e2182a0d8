package iperf

import (
	"context"
	"net/netip"
	"time"

	"linerate/engine"
	"linerate/probes"
)

const (
	// sweepWithin is what a search for the largest packet may take: without trouble it is
	// one round trip, and a limit that nobody names takes a second or two.
	sweepWithin = 3 * time.Second
	// sweepsAtOnce bounds how many paths are probed at the same time, for all tests
	// together: each may hold some 60 sockets.
	sweepsAtOnce = 4
)

// sweeper looks for the largest packets that reach the server's clients.
type sweeper struct {
	path  engine.PathSource // nil: nothing is probed
	host  engine.HostSource // for routes; nil: addresses alone tell what is this computer
	turns chan struct{}     // holds one for each path under way
}

func newSweeper(path engine.PathSource, host engine.HostSource) *sweeper {
	return &sweeper{path: path, host: host, turns: make(chan struct{}, sweepsAtOnce)}
}

// look probes the path to a client, from whose control connection both addresses are. Its
// port is one where nobody listens for UDP, as a TCP connection has it. ok is false when
// there is no path to probe, or ctx has ended.
func (s *sweeper) look(ctx context.Context, here netip.Addr, client netip.AddrPort) (mtu probes.PathMTU, ok bool) {
	if s.path == nil || !client.IsValid() || client.Addr().IsLoopback() || client.Addr() == here {
		return mtu, false
	}
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
	case <-ctx.Done():
		return mtu, false
	}
	limited, cancel := context.WithTimeout(ctx, sweepWithin)
	defer cancel()
	if s.isHere(limited, client.Addr()) {
		return mtu, false
	}
	mtu = s.path.MTU(limited, client)
	return mtu, ctx.Err() == nil
}

// isHere reports whether an address is this computer's own.
func (s *sweeper) isHere(ctx context.Context, a netip.Addr) bool {
	if s.host == nil {
		return false
	}
	route, ok := s.host.Route(ctx, a).Get()
	return ok && (route.Dest == route.Source || route.NIC.Value.Kind.Value == "loopback")
}
