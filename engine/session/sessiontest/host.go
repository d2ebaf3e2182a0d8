package sessiontest

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"linerate/engine"
	"linerate/probes"
	"linerate/probes/host"
	"linerate/probes/host/hosttest"
)

// Host is a computer out of a fixture tree, read by the real probes. Between two readings
// of its load it lets as much time pass in the tree as has passed in the test.
type Host struct {
	*host.Source
	tree   *hosttest.Host
	server *Server
	busy   func(*Test) (cores []probes.CoreLoad, threads []probes.ThreadLoad)
	last   time.Time
}

// NewHost builds a tree for the machine. busy says what cores and threads do while a
// test of the server runs; nil stands for no test.
func NewHost(t testing.TB, m hosttest.Machine, server *Server, busy func(*Test) ([]probes.CoreLoad, []probes.ThreadLoad)) *Host {
	tree := hosttest.New(t, m)
	return &Host{Source: host.NewAt(tree.Root()), tree: tree, server: server, busy: busy, last: time.Now()}
}

// Load advances the tree and reads it.
func (h *Host) Load() probes.Load {
	now := time.Now()
	if dt := now.Sub(h.last); dt > 0 {
		cores, threads := h.busy(h.server.Current())
		h.tree.Advance(dt, cores, threads)
	}
	h.last = now
	return h.Source.Load()
}

// Plain is a computer of which nothing can be read but its name; an engine.HostSource.
type Plain struct{ Name string }

// Host gives the name.
func (p Plain) Host(context.Context) probes.Host {
	return probes.Host{Name: probes.Got(p.Name), OS: "test", Arch: "test"}
}

// Route is unknown.
func (p Plain) Route(context.Context, netip.Addr) probes.Reading[probes.Route] {
	return probes.Unknown[probes.Route](probes.Unsupported, "no routes here")
}

// Load is unknown.
func (p Plain) Load() probes.Load {
	return probes.Load{
		At:      time.Now(),
		Cores:   probes.Unknown[[]probes.CoreLoad](probes.Unsupported, "no cores here"),
		Threads: probes.Unknown[[]probes.ThreadLoad](probes.Unsupported, "no threads here"),
		Process: probes.Unknown[probes.ThreadLoad](probes.Unsupported, "no process here"),
	}
}

var _ engine.HostSource = Plain{}
