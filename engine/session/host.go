package session

import (
	"context"
	"net/netip"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// lookWithin bounds one reading of the host's facts.
const lookWithin = 5 * time.Second

// facts are what look has read.
type facts struct {
	host    probes.Host
	route   probes.Reading[probes.Route] // to the server; not read before there is an address
	statics statics
	sshLink bool

	server   netip.AddrPort         // of whom the rest speaks
	gateway  probes.Reading[bool]   // it is this computer's default gateway
	listener probes.Reading[string] // the program behind it, where it is on this computer
}

// sight is what is known of this computer.
type sight struct {
	facts
	looking bool // a goroutine reads facts
	again   bool // read them once more: something has changed meanwhile
	load    probes.Load
	threads map[int]probes.ThreadLoad // of load, by TID
	self    probes.Reading[float64]
	drops   probes.Reading[engine.Drops] // in the running step, or the last
}

// look reads the host's facts and the route to the server in the background.
func (c *conductor) look() {
	if c.sight.looking {
		c.sight.again = true
		return
	}
	c.sight.looking, c.sight.again = true, false
	server, ssh, src, evidence := c.peer.Addr, c.cfg.SSHClient, c.cfg.Host, c.cfg.Evidence
	before := c.sight.facts
	c.wg.Go(func() {
		ctx, cancel := context.WithTimeout(c.ctx, lookWithin)
		defer cancel()
		f := facts{host: src.Host(ctx), server: server}
		if dest := server.Addr(); dest.IsValid() {
			f.route = src.Route(ctx, dest)
			f.sshLink = ssh.IsValid() && sameLink(f.route, src.Route(ctx, ssh))
			f.gateway = isGateway(dest, src.Route(ctx, elsewhere(dest)))
		}
		f.statics = readStatics(ctx, evidence, f.route.Value.NIC.Value.Name)
		if f.listener = before.listener; before.server != server || !f.listener.Known() {
			f.listener = listenerOf(ctx, evidence, server, f.route)
		}
		select {
		case c.facts <- f:
		case <-c.ctx.Done():
		}
	})
}

func sameLink(a, b probes.Reading[probes.Route]) bool {
	return a.Known() && b.Known() && a.Value.NIC.Known() && b.Value.NIC.Known() &&
		a.Value.NIC.Value.Name == b.Value.NIC.Value.Name
}

// staysHere reports whether packets on a route do not leave this computer.
func staysHere(route probes.Reading[probes.Route]) bool {
	r, ok := route.Get()
	return ok && (r.Dest == r.Source || r.NIC.Value.Kind.Value == "loopback")
}

// listenerOf names the program on this computer that a server's address belongs to.
func listenerOf(ctx context.Context, src engine.EvidenceSource, server netip.AddrPort, route probes.Reading[probes.Route]) probes.Reading[string] {
	switch {
	case !server.IsValid():
		return probes.Unknown[string](probes.NotRead, "no host is known")
	case !server.Addr().IsLoopback() && !staysHere(route):
		return probes.Unknown[string](probes.Absent, "the host is another computer")
	case src == nil:
		return probes.Unknown[string](probes.NotRead, "not looked up")
	}
	program := src.Listener(ctx, server)
	if !program.Known() {
		return probes.Unknown[string](program.Status, program.Why())
	}
	return probes.Got(program.Value.Name)
}

func (c *conductor) onFacts(f facts) {
	c.sight.looking, c.changed = false, true
	c.sight.facts = f
	if c.peer.Addr.IsValid() {
		c.peer.Loopback = c.peer.Loopback || staysHere(f.route)
	}
	c.measureRoof()
	if c.sight.again {
		c.look()
	}
}

// met notes whom a test has connected to.
func (c *conductor) met(info engine.TestInfo) {
	if c.peer.Addr == info.Control.Remote && c.peer.Agent == info.PeerAgent && c.peer.Linerate == info.Linerate {
		return
	}
	c.peer = engine.Peer{
		Host:     c.spec.Host,
		Addr:     info.Control.Remote,
		Agent:    info.PeerAgent,
		Linerate: info.Linerate,
		HostInfo: probes.Unknown[probes.Host](probes.Absent, farWhy(info.Linerate)),
		Route:    probes.Unknown[probes.Route](probes.Absent, farWhy(info.Linerate)),
		Load:     probes.Unknown[probes.Load](probes.Absent, farWhy(info.Linerate)),
		Drops:    probes.Unknown[engine.Drops](probes.Absent, farWhy(info.Linerate)),
		Loopback: local(info.Control),
	}
	c.path = newPath(info)
}

// farWhy is why nothing is known of the far host.
func farWhy(linerate bool) string {
	if linerate {
		return "the far end has not told yet"
	}
	return "far cores unknown (stock iperf3)"
}

// local reports whether both ends of a connection are on one computer.
func local(conn engine.Conn) bool {
	remote := conn.Remote.Addr().Unmap()
	return remote.IsLoopback() || remote == conn.Local.Addr().Unmap()
}

// load reads how busy cores and threads are.
func (c *conductor) load(now time.Time) {
	l := c.cfg.Host.Load()
	c.sight.load = l
	clear(c.sight.threads)
	own := 0.0
	for _, t := range l.Threads.Value {
		c.sight.threads[t.TID] = t
		own += t.Busy()
	}
	switch {
	case !l.Process.Known():
		c.sight.self = probes.Unknown[float64](l.Process.Status, l.Process.Why())
	case !l.Threads.Known():
		c.sight.self = probes.Unknown[float64](l.Threads.Status, l.Threads.Why())
	default:
		c.sight.self = probes.Got(max(0, l.Process.Value.Busy()-own))
	}
	if l.Cores.Known() {
		c.history.addCores(c.since(now), l.Cores.Value)
	}
	if c.stage == flowing && !c.step.paidOut(now) {
		c.step.recent.AddLoad(l)
		c.judge(now)
	}
}

// thread is the load of the thread that moves a stream's bytes.
func (s *sight) thread(tid int) probes.Reading[probes.ThreadLoad] {
	if tid == 0 {
		return probes.Unknown[probes.ThreadLoad](probes.Unsupported, "threads have no number here")
	}
	if t, ok := s.threads[tid]; ok {
		return probes.Got(t)
	}
	if !s.load.Threads.Known() {
		return probes.Unknown[probes.ThreadLoad](s.load.Threads.Status, s.load.Threads.Why())
	}
	return probes.Unknown[probes.ThreadLoad](probes.NotRead, "not read yet")
}
