package session_test

import (
	"context"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"linerate/engine"
	"linerate/engine/session"
	"linerate/engine/session/sessiontest"
	"linerate/probes"
)

// network is a host whose routes are given; its process uses 0.55 of a core, 0.5 of it
// in a thread that moves bytes.
type network struct {
	sessiontest.Plain
	links map[string]probes.NIC // by destination

	mu    sync.Mutex
	looks int
}

func (n *network) Route(_ context.Context, dest netip.Addr) probes.Reading[probes.Route] {
	n.mu.Lock()
	n.looks++
	n.mu.Unlock()
	nic, ok := n.links[dest.String()]
	if !ok {
		return probes.Unknown[probes.Route](probes.Absent, "no route")
	}
	return probes.Got(probes.Route{Dest: dest, Source: netip.MustParseAddr("192.168.10.2"), NIC: probes.Got(nic)})
}

func (n *network) Load() probes.Load {
	l := n.Plain.Load()
	l.Window = 500 * time.Millisecond
	l.Threads = probes.Got([]probes.ThreadLoad{{TID: 4720, Name: "lr-tx-1", System: 0.5, Core: 1}})
	l.Process = probes.Got(probes.ThreadLoad{User: 0.05, System: 0.5})
	return l
}

func (n *network) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.looks
}

func ethernet(name string) probes.NIC {
	return probes.NIC{Name: name, Kind: probes.Got("physical"), SpeedBps: probes.Got(10e9), MTU: probes.Got(1500)}
}

func TestSSHOverTheTestedLink(t *testing.T) {
	for _, tt := range []struct {
		name, ssh string
		want      bool
	}{
		{"no SSH", "", false},
		{"the same interface", "10.9.9.9", true},
		{"another interface", "172.16.0.1", false},
		{"no route to the client", "203.0.113.1", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := &network{links: map[string]probes.NIC{
					"192.168.10.1": ethernet("eth0"), "10.9.9.9": ethernet("eth0"), "172.16.0.1": ethernet("eth1"),
				}}
				run := begin(t, &sessiontest.Server{}, endless(1), func(c *session.Config) {
					c.Host = host
					if tt.ssh != "" {
						c.SSHClient = netip.MustParseAddr(tt.ssh)
					}
				})
				run.Sleep(time.Second)
				if s := run.Snapshot(); s.SSHLink != tt.want || s.Peer.Loopback {
					t.Errorf("SSHLink %v, loopback %v, want %v and false", s.SSHLink, s.Peer.Loopback, tt.want)
				}
				run.Quit()
			})
		})
	}
}

func TestHostFacts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &network{Plain: sessiontest.Plain{Name: "here"}, links: map[string]probes.NIC{"192.168.10.1": ethernet("eth0")}}
		run := begin(t, &sessiontest.Server{}, endless(1), func(c *session.Config) { c.Host = host })
		run.Sleep(2 * time.Second)
		s := run.Snapshot()
		if s.Host.Name.Value != "here" || s.Route.Value.NIC.Value.Name != "eth0" || !near(s.Sums[0].Ceiling.Value, 9.415e9, 0.001) {
			t.Errorf("host %+v, route %+v, ceiling %+v", s.Host.Name, s.Route, s.Sums[0].Ceiling)
		}
		if !near(s.SelfCPU.Value, 0.05, 0.001) {
			t.Errorf("own CPU %+v, want the process without its data threads: 0.05", s.SelfCPU)
		}
		if th := s.Streams[0].Thread; th.Value.Name != "lr-tx-1" || th.Value.Core != 1 {
			t.Errorf("thread of stream 1: %+v", th)
		}
		if s.Peer.HostInfo.Known() || s.Peer.Load.Known() || s.Peer.Load.Why() != "far cores unknown (stock iperf3)" {
			t.Errorf("peer %+v", s.Peer)
		}
		before := host.count()
		run.Do(engine.AddStreams{Delta: 1})
		run.Sleep(2 * time.Second)
		if host.count() == before {
			t.Error("a new step does not read the route again: the MTU may have changed")
		}
		run.Quit()
	})
}

func TestLoopback(t *testing.T) {
	lo := probes.NIC{Name: "lo", Kind: probes.Got("loopback"), MTU: probes.Got(65536)}
	for _, addr := range []string{"127.0.0.1:5201", "[::1]:5201", "192.0.2.77:5201"} {
		t.Run(addr, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := &network{links: map[string]probes.NIC{"127.0.0.1": lo, "::1": lo, "192.0.2.77": lo}}
				server := &sessiontest.Server{Addr: netip.MustParseAddrPort(addr)}
				run := begin(t, server, endless(1), func(c *session.Config) { c.Host = host })
				run.Sleep(time.Second)
				s := run.Snapshot()
				if !s.Peer.Loopback || s.Sums[0].Ceiling.Known() {
					t.Errorf("loopback %v, ceiling %+v, want true and unknown", s.Peer.Loopback, s.Sums[0].Ceiling)
				}
				run.Quit()
			})
		})
	}
}
