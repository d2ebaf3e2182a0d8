package session

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"linerate/engine"
	"linerate/engine/diagnose"
	"linerate/engine/iperf"
	"linerate/probes"
)

const (
	// examineWithin bounds a whole examination.
	examineWithin = 4800 * time.Millisecond
	// lookUpWithin bounds the look-up of a name in it, and lastReading is what the second
	// reading of the counters may take when little time is left.
	lookUpWithin = 2500 * time.Millisecond
	lastReading  = 500 * time.Millisecond
	// watchFor is over what time counters are compared. Drivers refresh theirs once in 2 s.
	watchFor = 2 * time.Second
	// idleTrips round trips give the median without load; the host answers only so many
	// datagrams, and the search for the MTU needs some too.
	idleTrips  = 3
	tripWithin = 1500 * time.Millisecond
)

// Subject is what Examine looks at, and through what. Host and Evidence are required.
type Subject struct {
	// Spec names a host and its port; without a host all interfaces that matter are looked
	// at instead of the way to it.
	Spec       engine.Spec
	Host       engine.HostSource
	Evidence   engine.EvidenceSource
	Interfaces engine.InterfaceSource // nil: only the interface of the default route
	Path       engine.PathSource      // nil: the path is not probed
	Watch      time.Duration          // over what time counters are compared; 0: 2 s
	ExpectBps  float64                // line speed that the operator says there is, bits/s; 0: none was named
}

// Examine gathers what can be known of this computer, and of the path to a host, without a
// test: one piece of evidence for the host, or one for each interface. Nothing is sent but
// a few small datagrams to the host. It takes some two seconds, and at most five.
//
// The error is that the host has no address or that no route leads to it (an *iperf.Error),
// or that of ctx.
func Examine(ctx context.Context, s Subject) ([]diagnose.Evidence, error) {
	x := examiner{Subject: s}
	ctx, cancel := context.WithTimeout(ctx, examineWithin)
	defer cancel()
	if s.Spec.Host != "" {
		if err := x.find(ctx); err != nil {
			return nil, err
		}
	}
	all := x.examine(ctx)
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, ctx.Err()
	}
	return all, nil
}

// examiner gathers one examination.
type examiner struct {
	Subject
	dest  netip.AddrPort // of the host; invalid without one
	route probes.Reading[probes.Route]

	host     probes.Host
	settings probes.Settings
	firewall probes.Firewall
	memory   probes.Reading[float64]
	factsAt  time.Time
	load     probes.Load
	loadAt   time.Time
	gateway  probes.Reading[bool]
	listener probes.Reading[string]
	rtt      probes.PathRTT
	mtu      probes.PathMTU
	outlets  []outlet
}

// outlet is an interface under examination.
type outlet struct {
	nic      probes.Reading[probes.NIC]
	adapter  probes.Adapter
	before   probes.Vitals
	happened probes.Vitals
	at       time.Time // of the second reading
}

func (o *outlet) name() string { return o.nic.Value.Name }

// find looks up the host and the way to it: the first of its addresses that has a route.
func (x *examiner) find(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookUpWithin)
	defer cancel()
	addrs, err := iperf.Resolve(ctx, x.Spec)
	if err != nil {
		return err
	}
	for _, a := range addrs {
		x.dest, x.route = a, x.Host.Route(ctx, a.Addr())
		if x.route.Known() {
			return nil
		}
	}
	return &iperf.Error{
		State: "looking for the route",
		Text:  fmt.Sprintf("no route leads to %s: %s", x.Spec.Host, x.route.Why()),
		Hint:  "check the address and this computer's routes; `linerate doctor` alone looks at this computer",
	}
}

// local reports whether the host is this computer.
func (x *examiner) local() bool {
	return x.dest.IsValid() && (x.dest.Addr().IsLoopback() || staysHere(x.route))
}

func (x *examiner) examine(ctx context.Context) []diagnose.Evidence {
	var facts sync.WaitGroup
	facts.Go(func() { x.host, x.factsAt = x.Host.Host(ctx), time.Now() })
	facts.Go(func() { x.settings = x.Evidence.Settings(ctx) })
	facts.Go(func() { x.firewall = x.Evidence.Firewall(ctx) })
	facts.Go(func() { x.memory = x.Evidence.Memory(ctx) })
	facts.Go(func() { x.listener = listenerOf(ctx, x.Evidence, x.dest, x.route) })
	facts.Go(func() { x.probe(ctx) })
	x.choose(ctx)
	x.watch(ctx)
	facts.Wait()
	all := make([]diagnose.Evidence, len(x.outlets))
	for i := range x.outlets {
		all[i] = x.evidence(&x.outlets[i])
	}
	return all
}

// probe sends a few datagrams to the host.
func (x *examiner) probe(ctx context.Context) {
	if !x.dest.IsValid() {
		return
	}
	x.gateway = isGateway(x.dest.Addr(), x.Host.Route(ctx, elsewhere(x.dest.Addr())))
	why := ""
	switch {
	case x.local():
		why = "the host is this computer"
	case x.Path == nil:
		why = "the path was not probed"
	default:
		short, cancel := context.WithTimeout(ctx, tripWithin)
		x.rtt = x.Path.RTT(short, x.dest, idleTrips)
		cancel()
		x.mtu = x.Path.MTU(ctx, x.dest)
		return
	}
	x.mtu = probes.NoPathMTU(probes.Absent, why)
	trip := probes.Unknown[time.Duration](probes.Absent, why)
	x.rtt = probes.PathRTT{Idle: trip, Loaded: trip, Hops: probes.Unknown[int](probes.Absent, why)}
}

// watch reads counters and loads twice.
func (x *examiner) watch(ctx context.Context) {
	x.Host.Load() // the first reading of two
	for i := range x.outlets {
		x.outlets[i].before = x.settled(ctx, x.outlets[i].name())
	}
	span := x.Watch
	if span == 0 {
		span = watchFor
	}
	if end, ok := ctx.Deadline(); ok {
		span = min(span, max(0, time.Until(end)-lastReading))
	}
	pause(ctx, span)
	for i := range x.outlets {
		o := &x.outlets[i]
		o.happened, o.at = x.settled(ctx, o.name()).Since(o.before), time.Now()
		if i > 0 {
			o.happened = ofComputer(o.happened, x.outlets[0].happened)
		}
	}
	x.load, x.loadAt = x.Host.Load(), time.Now()
}

// settled reads counters until the slow ones are among them, half a second at most.
func (x *examiner) settled(ctx context.Context, nic string) (v probes.Vitals) {
	for range 10 {
		v = x.Evidence.Vitals(ctx, nic)
		if v.Conntrack.Status != probes.NotRead || ctx.Err() != nil {
			break
		}
		pause(ctx, 50*time.Millisecond)
	}
	return v
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// ofComputer takes from shared what speaks of the whole computer, so that two interfaces
// do not tell it differently.
func ofComputer(v, shared probes.Vitals) probes.Vitals {
	v.TCP, v.SocketPages, v.Softnet, v.NetRx = shared.TCP, shared.SocketPages, shared.Softnet, shared.NetRx
	v.Pressure, v.Quota, v.Thermal, v.Conntrack = shared.Pressure, shared.Quota, shared.Thermal, shared.Conntrack
	v.CoreHz, v.Disks, v.Dirty = shared.CoreHz, shared.Disks, shared.Dirty
	return v
}

// evidence is what the rules may look at for one interface.
func (x *examiner) evidence(o *outlet) diagnose.Evidence {
	spec := x.Spec.Defaults()
	spec.Direction = engine.Both // each end is looked at as sender and as receiver
	spec.Affinity, spec.SrvAffinity = -1, -1
	e := diagnose.Evidence{
		Test: diagnose.Test{Role: engine.Client, Spec: spec, Step: 1, SameHost: x.local(), Idle: true, ExpectBps: x.ExpectBps},
		Path: diagnose.Path{
			Ceiling: x.ceiling(o), MTU: x.mtu, RTT: x.rtt,
			Dest: x.dest.Addr(), Source: x.route.Value.Source, Gateway: x.gateway,
			Listener: x.listener,
		},
	}
	near := diagnose.NewEnd(x.load, engine.Client, time.Since(x.loadAt))
	near.Host, near.NIC, near.Adapter = probes.Got(x.host), o.nic, o.adapter
	near.Settings, near.Firewall, near.Memory = x.settings, x.firewall, x.memory
	near.Vitals, near.VitalsAge, near.FactsAge = o.happened, time.Since(o.at), time.Since(x.factsAt)
	near.Disk = probes.Unknown[probes.Disk](probes.Absent, "no file is read or written")
	far := diagnose.UnknownEnd("nothing is known of the far computer without a test")
	if x.local() {
		far.Host, far.NIC = near.Host, near.NIC
	}
	e.Ends = [2]diagnose.End{engine.Local: near, engine.Far: far}
	return e
}

// ceiling is what the line speed of an interface leaves for TCP.
func (x *examiner) ceiling(o *outlet) probes.Reading[diagnose.Ceiling] {
	route := x.route
	if !x.dest.IsValid() {
		route = probes.Got(probes.Route{NIC: o.nic})
	}
	stamps, ok := x.settings["net.ipv4.tcp_timestamps"].Get()
	return diagnose.ChainCeiling(route, o.adapter.Chain, diagnose.Payload{Timestamps: !ok || stamps.Value != "0"})
}
