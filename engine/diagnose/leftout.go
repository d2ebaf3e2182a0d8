package diagnose

import (
	"net/netip"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// A document written by hand leaves out what the rest of it tells: the age of a test whose
// rate is known, the time without payload beside seconds of zero, the ceiling of a link
// whose speed and MTU are there. It is worked out here; a session fills all of it in.

// silent reports evidence that tells nothing of any traffic, not even that a test has begun.
func (e *Evidence) silent() bool {
	for i := range e.Flows {
		f := &e.Flows[i]
		if f.Rate.Known() || f.Idle.Known() || f.Sender.Known() || f.Receiver.Known() || len(f.Seconds) > 0 {
			return false
		}
	}
	return e.Test.Age == 0
}

// undated reports evidence of a test that tells a rate but no age: it is taken for old
// enough to be judged, since a running test has an age before it has a rate.
func (e *Evidence) undated() bool {
	return e.Test.Age == 0 && (e.Flows[engine.Upload].Rate.Known() || e.Flows[engine.Download].Rate.Known())
}

// younger reports a test whose age is known to be below d.
func (e *Evidence) younger(d time.Duration) bool { return e.Test.Age < d && !e.undated() }

// still is how long no payload has moved in a direction.
func (e *Evidence) still(dir engine.Direction) probes.Reading[time.Duration] {
	f := e.flow(dir)
	if f.Idle != (probes.Reading[time.Duration]{}) {
		return f.Idle
	}
	zeros := 0
	for i := len(f.Seconds) - 1; i >= 0 && f.Seconds[i] <= 0; i-- {
		zeros++
	}
	g, ok := f.Rate.Get()
	switch {
	case zeros > 0:
		return probes.Got(time.Duration(zeros) * time.Second)
	case ok && g > 0:
		return probes.Got(time.Duration(0))
	case ok && f.Window > 0:
		return probes.Got(f.Window)
	}
	return f.Idle
}

// roof is what the narrowest link whose speed is known leaves for payload, and whose that
// link is: that of this end's route, or the far computer's own.
func (e *Evidence) roof() (probes.Reading[Ceiling], engine.Side) {
	near := e.nearRoof()
	if e.Test.LinkBps > 0 || e.Test.SameHost {
		return near, engine.Local
	}
	if far := e.roofOf(engine.Far); far.Known() && (!near.Known() || far.Value.Bps < near.Value.Bps) {
		return far, engine.Far
	}
	return near, engine.Local
}

// nearRoof is the ceiling of this end's route.
func (e *Evidence) nearRoof() probes.Reading[Ceiling] {
	if e.Path.Ceiling == (probes.Reading[Ceiling]{}) {
		return e.roofOf(engine.Local)
	}
	return e.Path.Ceiling
}

// ceiling is roof without the side.
func (e *Evidence) ceiling() probes.Reading[Ceiling] {
	c, _ := e.roof()
	return c
}

// roofOf works out the ceiling of one end's own link. Packets are no larger than the other
// end's interface allows.
func (e *Evidence) roofOf(side engine.Side) probes.Reading[Ceiling] {
	r := e.end(side).NIC
	chain := e.end(side).Adapter.Chain
	nic, ok := r.Get()
	switch {
	case !ok:
		return probes.Unknown[Ceiling](r.Status, r.Why())
	case !nic.SpeedBps.Known() && len(chain) == 0:
		return probes.Unknown[Ceiling](nic.SpeedBps.Status, nic.SpeedBps.Why())
	}
	if other, ok := e.mtu(engine.Far - side).Get(); ok && nic.MTU.Known() && other < nic.MTU.Value {
		nic.MTU = probes.Got(other)
	}
	route := probes.Route{Dest: e.Path.Dest, NIC: probes.Got(nic)}
	if e.sixth() {
		route.Dest = netip.IPv6Unspecified()
	}
	return ChainCeiling(probes.Got(route), chain, Payload{Timestamps: e.timestamped(), UDP: e.Test.UDP})
}

// sixth reports whether the test runs over IPv6.
func (e *Evidence) sixth() bool {
	six := func(a netip.Addr) bool { return a.Is6() && !a.Is4In6() }
	return e.Path.Ceiling.Value.Framing.Family == 6 || e.Test.Spec.Family == 6 || six(e.Path.Source) || six(e.Path.Dest)
}

// timestamped reports whether segments carry timestamps, as they do unless a socket says
// that they do not.
func (e *Evidence) timestamped() bool {
	for dir := range e.Flows {
		for i := range e.Flows[dir].Sender.Value {
			if w := &e.Flows[dir].Sender.Value[i]; w.Info.Known() && w.Now.Options != 0 {
				return w.Now.Options&stamped != 0
			}
		}
	}
	return true
}
