package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
)

const (
	// smallSkb is the mean size of what passes the stack, in MTUs, up to which nothing
	// joins packets. tinySkb is the size from which most of it cannot be this test's.
	smallSkb, tinySkb = 1.2, 0.3
	// hotCore is the load from which the packet rate can be what costs speed, and hotPackets
	// the share of one core that softirqs take then: 51 % were seen.
	hotCore, hotPackets = 0.7, 0.4
	// manySegments is the rate, 1/s, from which single segments cost a sender's core.
	manySegments = 100e3
	// collapsedSending is how many times slower than receiving a card sends whose TSO
	// does harm.
	collapsedSending = 10
)

// offloadsOff (R25): segmentation or receive offload is switched off, so every packet
// costs a trip through the stack.
func offloadsOff(e *Evidence, dir engine.Direction) ruling {
	var missing ruling
	for _, side := range []engine.Side{e.Sender(dir), e.Receiver(dir)} {
		v := e.packetByPacket(dir, side)
		switch {
		case v.state == Holds:
			return v
		case v.state == Unseen && missing.state != Unseen:
			missing = v
		}
	}
	if missing.state == Unseen {
		return missing
	}
	return no("the offloads are on, or cost nothing")
}

func (e *Evidence) packetByPacket(dir engine.Direction, side engine.Side) ruling {
	nic, ok := e.end(side).NIC.Get()
	if !ok {
		return e.notSeen(side, "offloads", e.end(side).NIC.Why())
	}
	off, unknown := e.switchedOff(dir, side, nic)
	switch {
	case len(off) == 0 && unknown != "":
		return e.notSeen(side, "offloads", unknown)
	case len(off) == 0:
		return e.collapsesCut(dir, side, nic)
	}
	sys := e.system(side)
	f := engine.Finding{
		Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: e.side(side), Core: -1,
		Short: fmt.Sprintf("%soffload off: %s", e.where(side), strings.Join(off, ", ")),
	}
	for _, name := range off {
		f.Evidence = append(f.Evidence, e.fact(name+" off", 1, engine.True, side))
	}
	onPurpose := sys.keepsOffloadsOff() || e.queueManager(side)
	if onPurpose {
		f.Severity = engine.SeverityLimit
		f.Remedy = []engine.Remedy{sys.say("Firewalls and routers that manage queues keep offloads off on purpose: measure through it, not at it.")}
	} else {
		f.Remedy = []engine.Remedy{sys.offloads(off)}
		if nic.Driver.Value == "vmxnet3" {
			f.Remedy = append(f.Remedy, sys.say("On vmxnet3 tso has also been seen to hurt: try both."))
		}
	}
	names := strings.ToUpper(strings.Join(off, ", "))
	if e.Test.Idle {
		if card := e.hardware(side); card.Known() && !card.Value {
			return no(e.device(side) + " is virtual: what it hands on need not be cut")
		}
		f.Confidence = engine.Likely
		f.Text = fmt.Sprintf("%s of %s %s off: every packet will cost a trip through the stack.", names, e.device(side), isOrAre(names))
		return holds(f)
	}
	return e.packetsCost(dir, side, names, nic, f)
}

// collapsesCut is the other way round: TSO is on, and sending has collapsed. It has been seen
// on vmxnet3, where a program that switched TSO off had made a gateway's upload work again.
func (e *Evidence) collapsesCut(dir engine.Direction, side engine.Side, nic probes.NIC) ruling {
	g, ok := e.flow(dir).Rate.Get()
	back, known := e.other(dir).Get()
	top := spreadOf(e.cores(side).Value).top
	if side != e.Sender(dir) || nic.Driver.Value != "vmxnet3" || !nic.Offloads.TSO.Value ||
		!ok || !known || back < collapsedSending*g || top.Busy() >= restingCores {
		return no("the offloads are on")
	}
	sys := e.system(side)
	f := engine.Finding{
		Severity: engine.SeverityLimit, Confidence: engine.Unsure, Side: e.side(side), Core: -1,
		Text: fmt.Sprintf("Sending over %s (vmxnet3) collapses with TSO on: %s out, %s in. Try it with TSO off.",
			e.device(side), unit.Rate(g), unit.Rate(back)),
		Short: "sending collapses with TSO on",
		Proof: engine.ProofReverse,
		Evidence: e.from(dir, e.fact("tso on", 1, engine.True, side),
			engine.Evidence{Name: "goodput the other way", Value: back, Unit: "bit/s", Side: engine.Local}),
		Remedy: []engine.Remedy{sys.say("On vmxnet3 TSO has been seen to hurt: try both.")},
	}
	if !sys.keepsOffloadsOff() {
		f.Remedy = []engine.Remedy{sys.ethtool("Switch TSO off for a try; if that helps nothing, on again.", "-K", "tso off", "TCPSegmentationOffload=no", "ethtool.feature-tso off")}
	}
	// A slow uplink looks the same; on one network there is none.
	if d, ok := e.delay(dir).Get(); ok && d.least < sameLAN {
		f.Severity, f.Confidence = engine.SeverityWarning, engine.Likely
	}
	return holds(f)
}

// isOrAre is the verb to a list of names.
func isOrAre(names string) string {
	if strings.Contains(names, ", ") {
		return "are"
	}
	return "is"
}

// switchedOff lists the offloads that matter in a direction and could be on: tso and gso
// where it sends, gro where it receives.
func (e *Evidence) switchedOff(dir engine.Direction, side engine.Side, nic probes.NIC) (off []string, unknown string) {
	type offload struct {
		name string
		on   probes.Reading[bool]
	}
	list := []offload{{"gro", nic.Offloads.GRO}}
	if side == e.Sender(dir) {
		list = []offload{{"tso", nic.Offloads.TSO}, {"gso", nic.Offloads.GSO}}
		if e.Test.SameHost {
			list = append(list, offload{"gro", nic.Offloads.GRO})
		}
	}
	for _, o := range list {
		on, ok := o.on.Get()
		switch {
		case !ok:
			unknown = o.on.Why()
		case !on && !slices.Contains(e.end(side).Adapter.Fixed, o.name):
			off = append(off, o.name)
		}
	}
	return off, unknown
}

// queueManager reports a router that manages queues: it needs packets one by one.
func (e *Evidence) queueManager(side engine.Side) bool {
	if !e.isRouter(side) {
		return false
	}
	return slices.ContainsFunc(e.end(side).Vitals.Qdiscs.Value, func(q probes.Qdisc) bool {
		return q.Kind == "cake" || q.RateBps > 0 && (q.Kind == "htb" || q.Kind == "hfsc" || q.Kind == "fq_codel")
	})
}

// packetsCost checks that packets go through the stack one by one and that this heats a
// core.
func (e *Evidence) packetsCost(dir engine.Direction, side engine.Side, names string, nic probes.NIC, f engine.Finding) ruling {
	g, ok := e.flow(dir).Rate.Get()
	if !ok {
		return unseen("rate: " + e.flow(dir).Rate.Why())
	}
	rate := e.throughStack(side)
	// A sender's own segments do not count as processed: only what comes back does.
	segments := e.segmentRate(dir)
	if side == e.Sender(dir) && strings.Contains(names, "GSO") && segments >= manySegments && segments > rate.Value {
		rate = probes.Got(segments)
	}
	mtu, known := nic.MTU.Get()
	switch {
	case !rate.Known():
		return e.notSeen(side, "softnet", rate.Why())
	case rate.Value <= 0:
		return e.notSeen(side, "packet sizes", "no packet was counted")
	case !known: // packets this small are single ones with any MTU
		mtu, f.Confidence = ordinaryMTU, engine.Likely
	}
	size := g / 8 / rate.Value / float64(mtu)
	if size > smallSkb || size < tinySkb {
		return no(fmt.Sprintf("the stack handles %s at a time, MTU %d", unit.Bytes(uint64(g/8/rate.Value)), mtu))
	}
	cores, ok := e.cores(side).Get()
	top := spreadOf(cores).top
	switch {
	case !ok:
		f.Confidence = engine.Likely
	case top.Busy() < hotCore && spreadOf(cores).packets < hotPackets:
		return no(fmt.Sprintf("the busiest %score is only %s busy", e.where(side), percent(top.Busy())))
	case e.handles(dir, side, cores) < takesPart:
		return no(fmt.Sprintf("the packets cost only %s of a %score", percent(e.handles(dir, side, cores)), e.where(side)))
	default:
		f.Evidence = append(f.Evidence, e.share(fmt.Sprintf("core %d busy", top.Core), top.Busy(), side))
	}
	f.Text = fmt.Sprintf("%s of %s %s off: %s packets a second go through the stack one by one.", names, e.device(side), isOrAre(names), unit.Count(rate.Value))
	f.Evidence = append(e.from(dir, e.vital("packets through the stack", rate.Value, "1/s", side)), f.Evidence...)
	return holds(f)
}

// throughStack is how many packets, joined ones counted once, the stack of one end handles
// in a second.
func (e *Evidence) throughStack(side engine.Side) probes.Reading[float64] {
	rows, ok := e.end(side).Vitals.Softnet.Get()
	if !ok {
		return probes.Unknown[float64](e.end(side).Vitals.Softnet.Status, e.end(side).Vitals.Softnet.Why())
	}
	processed := 0.0
	for _, r := range rows {
		processed += float64(r.Processed)
	}
	return e.perSecond(side, probes.Got(processed))
}

// handles is how much of a core a direction's payload threads and the handling of packets
// take at one end; at most, since other packets count too. Where the threads are not known
// they are taken for busy.
func (e *Evidence) handles(dir engine.Direction, side engine.Side, cores []probes.CoreLoad) float64 {
	if !e.busiest(side, dir, side == e.Sender(dir)).Known() {
		return 1
	}
	busy := e.threadsOf(side, dir)
	for _, c := range cores {
		daemon, _ := e.packetDaemon(side, c.Core)
		busy += c.SoftIRQ + c.IRQ + daemon.Busy()
	}
	return busy
}

// offloads switches offloads on.
func (s system) offloads(names []string) engine.Remedy {
	args, links, nm, plan := "", []string(nil), []string(nil), []string(nil)
	for _, n := range names {
		args += n + " on "
		nm = append(nm, "ethtool.feature-"+n+" on")
		switch n {
		case "tso":
			links = append(links, "TCPSegmentationOffload=yes")
			plan = append(plan, fmt.Sprintf("netplan set ethernets.%s.tcp-segmentation-offload=true", s.nic))
		case "gso":
			links = append(links, "GenericSegmentationOffload=yes")
			plan = append(plan, fmt.Sprintf("netplan set ethernets.%s.generic-segmentation-offload=true", s.nic))
		case "gro":
			links = append(links, "GenericReceiveOffload=yes")
			plan = append(plan, fmt.Sprintf("netplan set ethernets.%s.generic-receive-offload=true", s.nic))
		}
	}
	r := s.ethtool("Switch the offloads on.", "-K", strings.TrimSpace(args), strings.Join(links, ", "), strings.Join(nm, " "))
	if s.family == netplanLinux {
		r.Persistent = strings.Join(plan, "; ") + "; netplan apply"
	}
	return r
}

// mergingForwarder (R26): large receive offload joins packets that are to be forwarded,
// and they cannot be cut again.
func mergingForwarder(e *Evidence, dir engine.Direction) ruling {
	return e.eachComputer(func(side engine.Side) ruling {
		nic, ok := e.end(side).NIC.Get()
		if !ok {
			return e.notSeen(side, "interface", e.end(side).NIC.Why())
		}
		lro, ok := nic.Offloads.LRO.Get()
		switch {
		case !ok:
			return e.notSeen(side, "LRO", nic.Offloads.LRO.Why())
		case !lro:
			return no("LRO is off")
		}
		forward, known := e.forwards(side, nic)
		switch {
		case !known:
			return e.notSeen(side, "forwarding", "neither ip_forward nor the chain of devices was read")
		case forward == "":
			return no("LRO is on, but nothing is forwarded here")
		}
		sys := e.system(side)
		return holds(engine.Finding{
			Severity: engine.SeverityWarning, Confidence: engine.Likely, Side: e.side(side), Core: -1,
			Text: fmt.Sprintf("LRO of %s breaks TCP that is forwarded (%s): GRO does the same without harm.",
				e.device(side), forward),
			Short:    e.where(side) + "LRO breaks forwarded TCP",
			Evidence: e.from(dir, e.fact("LRO on", 1, engine.True, side)),
			Remedy: []engine.Remedy{sys.ethtool("Use GRO instead of LRO.", "-K", "lro off gro on",
				"LargeReceiveOffload=no, GenericReceiveOffload=yes", "ethtool.feature-lro off ethtool.feature-gro on")},
		})
	})
}

// forwards says how an end forwards what its interface receives, "" when it does not.
func (e *Evidence) forwards(side engine.Side, nic probes.NIC) (how string, known bool) {
	end := &e.Ends[e.side(side)]
	if s, ok := end.Settings["net.ipv4.ip_forward"].Get(); ok {
		known = true
		if strings.TrimSpace(s.Value) == "1" {
			return "ip_forward is on", true
		}
	}
	if router, ok := end.Firewall.Router.Get(); ok {
		known = true
		if router {
			return "it routes for others", true
		}
	}
	for _, l := range end.Adapter.Chain {
		known = true
		if l.Kind == "bridge" || l.Kind == "macvlan" || l.Kind == "macvtap" {
			return fmt.Sprintf("%s is a %s", l.Name, l.Kind), true
		}
	}
	if nic.Kind.Value == "bridge" || nic.Kind.Value == "macvlan" {
		return "it is a port of a " + nic.Kind.Value, true
	}
	return "", known
}

// isRouter reports whether an end forwards for others.
func (e *Evidence) isRouter(side engine.Side) bool {
	router, _ := e.end(side).Firewall.Router.Get()
	return router || e.system(side).family == openWrtLinux
}
