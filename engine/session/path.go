package session

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"linerate/engine"
	"linerate/probes"
)

const (
	// loadedEvery is how often the round trip is probed under load. Hosts answer about
	// one datagram to a closed port a second.
	loadedEvery = 3 * time.Second
	// loadedKept probes give the median that is shown.
	loadedKept = 5
)

// path is what probing the way to the server has shown.
type path struct {
	busy    bool           // a probe is on its way
	mtu     probes.PathMTU // of the way out
	mtuDone bool
	told    probes.PathMTU // what the far end has found of the way back; zero while it has not told
	back    probes.PathMTU // what that says of this end
	idle    probes.Reading[time.Duration]
	hops    probes.Reading[int]
	why     string          // why the last probe under load has no answer
	loaded  []time.Duration // the last answers under load, oldest first
	step    int             // under whose load they came
	next    time.Time       // of the next probe under load
}

// probed is the answer of one probe: rtt or mtu.
type probed struct {
	dest netip.AddrPort
	rtt  *probes.PathRTT
	mtu  *probes.PathMTU
}

// newPath begins with what the handshake has told, before payload flowed.
func newPath(info engine.TestInfo) path {
	const later = "not probed yet"
	p := path{
		idle: probes.Unknown[time.Duration](probes.Absent, "the handshake was not timed"),
		mtu:  probes.NoPathMTU(probes.NotRead, later),
		back: probes.NoPathMTU(probes.Absent, "only a linerate server can tell the way back"),
		hops: probes.Unknown[int](probes.NotRead, later),
	}
	switch {
	case local(info.Control):
		p.back = probes.NoPathMTU(probes.Absent, "both ends run on this computer")
	case info.Linerate:
		p.back = probes.NoPathMTU(probes.NotRead, farWhy(true))
	}
	if info.IdleRTT > 0 {
		p.idle = probes.Got(info.IdleRTT)
	}
	return p
}

// probePath sends the next probe that is due while payload flows: once the path MTU,
// then the round trip now and then. One probe at a time; a path to this very computer
// is none.
func (c *conductor) probePath(now time.Time) {
	p := &c.path
	if c.cfg.Path == nil || p.busy || c.stage != flowing || c.peer.Loopback || !c.peer.Addr.IsValid() {
		return
	}
	dest, src := c.peer.Addr, c.cfg.Path
	switch {
	case !p.mtuDone:
		c.probeMTU()
	case !now.Before(p.next):
		p.busy, p.next = true, now.Add(loadedEvery)
		c.wg.Go(func() {
			rtt := src.RTT(c.ctx, dest, 1)
			c.tellProbed(probed{dest: dest, rtt: &rtt})
		})
	}
}

// probeMTU looks for the largest packet that passes; no other probe may be on its way.
func (c *conductor) probeMTU() {
	dest, src := c.peer.Addr, c.cfg.Path
	c.path.busy = true
	c.wg.Go(func() {
		mtu := src.MTU(c.ctx, dest)
		c.tellProbed(probed{dest: dest, mtu: &mtu})
	})
}

func (c *conductor) tellProbed(p probed) {
	select {
	case c.probed <- p:
	case <-c.ctx.Done():
	}
}

func (c *conductor) onProbed(got probed) {
	if got.dest != c.peer.Addr {
		return // of a server before, whose path is forgotten
	}
	p := &c.path
	p.busy = false
	switch {
	case got.mtu != nil:
		p.mtu, p.mtuDone = *got.mtu, true
		c.swept()
	case c.stage == flowing: // else the answer is not one under load
		p.hops = got.rtt.Hops
		d, ok := got.rtt.Idle.Get()
		if !ok {
			p.why = got.rtt.Idle.Why()
			return
		}
		if step := c.step.seg.Index; step != p.step { // another load
			p.loaded, p.step = nil, step
		}
		p.loaded = append(p.loaded, d)
		if n := len(p.loaded); n > loadedKept {
			p.loaded = slices.Delete(p.loaded, 0, n-loadedKept)
		}
	}
}

// hear takes what the far end has found of the way back, and reports whether it is news.
// here is this computer's address.
func (p *path) hear(f *engine.FarEnd, here netip.Addr) bool {
	far := f.PathMTU
	if far == p.told || far == (probes.PathMTU{}) { // what an earlier test brought stays
		return false
	}
	p.told, p.back = far, far
	limited := far.TooBig.Known() || far.Reported.Known()
	switch {
	case !far.Out.Known():
		p.back = probes.NoPathMTU(far.Out.Status, "far end: "+far.Out.Why())
	case f.Probed.IsValid() && f.Probed != here.Unmap().WithZone("") && !limited:
		// A limit before it is one of the path, but what comes behind it was not probed.
		p.back = probes.NoPathMTU(probes.Absent, fmt.Sprintf("the far end's probes end at %s, before this computer", f.Probed))
	}
	return true
}

// sizes are the largest packets that pass each way.
func (p *path) sizes() probes.PathMTU { return p.mtu.WithBack(p.back) }

// trip is the round trip without load and under it.
func (p *path) trip() probes.PathRTT {
	t := probes.PathRTT{Idle: p.idle, Hops: p.hops}
	switch {
	case len(p.loaded) > 0:
		t.Loaded = probes.Got(slices.Sorted(slices.Values(p.loaded))[len(p.loaded)/2])
	case p.why != "":
		t.Loaded = probes.Unknown[time.Duration](probes.Absent, p.why)
	}
	return t
}

// elsewhere is an address of the same family as a that is no host of anybody's
// (RFC 5737, RFC 3849): the route to it is the default route.
func elsewhere(a netip.Addr) netip.Addr {
	if a.Unmap().Is4() {
		return elsewhere4
	}
	return elsewhere6
}

var elsewhere4, elsewhere6 = netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")

// isGateway reports whether a is the gateway of the default route.
func isGateway(a netip.Addr, other probes.Reading[probes.Route]) probes.Reading[bool] {
	r, ok := other.Get()
	if !ok {
		return probes.Unknown[bool](other.Status, other.Why())
	}
	return probes.Got(r.Gateway.IsValid() && r.Gateway.Unmap() == a.Unmap())
}
