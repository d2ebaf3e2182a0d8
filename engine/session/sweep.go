package session

import (
	"fmt"

	"linerate/engine"
	"linerate/probes"
)

// sweep looks for the largest packet that passes, once more: the proof of a finding about
// packet sizes. The test goes on meanwhile. The way back is the far end's to sweep, which
// it does once in a test.
func (c *conductor) sweep() {
	p := &c.proof
	switch {
	case c.peer.Loopback:
		c.endProof(engine.Undecided, "both ends are this computer: there is no path to sweep")
	case p.Dir == engine.Download && c.peer.Linerate:
		c.endProof(sizeShowed(p.Dir, c.path.sizes(), c.step.far.Route.Value.NIC.Value.MTU))
	case c.cfg.Path == nil || !c.peer.Addr.IsValid():
		c.endProof(engine.Undecided, "the path is not probed in this session")
	case !c.path.busy: // else after the probe that is on its way
		p.Phase, p.Trying = engine.ProofTrying, "a sweep of packet sizes"
		c.probeMTU()
	}
}

// swept is told that a sweep is over.
func (c *conductor) swept() {
	p := &c.proof
	if p.Phase != engine.ProofTrying || p.Action != engine.ProofMTU {
		return
	}
	c.endProof(sizeShowed(p.Dir, c.path.sizes(), c.sight.route.Value.NIC.Value.MTU))
}

// sizeShowed words what a sweep showed of packets of up to the MTU of the sender's
// interface, whole IP packets in bytes.
func sizeShowed(dir engine.Direction, mtu probes.PathMTU, own probes.Reading[int]) (engine.ProofAnswer, string) {
	size, hole, limit, by := mtu.Out, mtu.BlackHole, mtu.Reported, ""
	if dir == engine.Download {
		size, hole, limit, by = mtu.In, mtu.InBlackHole, mtu.InReported, ", as the far end has found"
	}
	passes, ok := size.Get()
	switch {
	case !ok && dir == engine.Download:
		return engine.Undecided, fmt.Sprintf("the way back could not be swept: %s", size.Why())
	case !ok:
		return engine.Undecided, fmt.Sprintf("no size was found: %s", size.Why())
	case own.Known() && passes >= own.Value:
		return engine.Doubtful, fmt.Sprintf("packets of %d bytes, the whole MTU, pass in %s%s: the verdict is doubtful", passes, dir, by)
	}
	reported, told := limit.Get()
	switch {
	case told && reported <= passes:
		return engine.Proven, fmt.Sprintf("packets of up to %d bytes pass in %s%s, and a router says so: the path is narrower, proven", passes, dir, by)
	case hole:
		return engine.Proven, fmt.Sprintf("packets above %d bytes vanish in %s without a word%s: proven", passes, dir, by)
	}
	return engine.Proven, fmt.Sprintf("packets of up to %d bytes pass in %s, no larger ones%s: proven", passes, dir, by)
}
