package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
)

const (
	// numaFrom is the line speed, bits/s, below which a remote node hardly matters.
	numaFrom = 25e9
	// copiedReceiving, copiedSending and copiedHere are how many bytes of memory traffic
	// a byte of payload costs, and memoryFull the part of the peak that programs reach.
	copiedReceiving, copiedSending, copiedHere = 4.0, 3.0, 6.0
	memoryFull                                 = 0.6
	// copyingCores is the mean load of cores that wait for memory.
	copyingCores = 0.5
	// guestIdle is the busiest core's load up to which a guest is not the limit, kicking
	// how many notifications a second keep its host busy, guestLoss the loss below which
	// the path is not.
	guestIdle, kicking, guestLoss = 0.7, 50e3, 0.0001
	// cryptoCore is how busy a tunnel's worker must be.
	cryptoCore = 0.9
)

// remoteNode (R49): the threads run on one processor, the card sits at another.
func remoteNode(e *Evidence, dir engine.Direction) ruling {
	return e.eachComputer(func(side engine.Side) ruling {
		a := &e.end(side).Adapter
		node, ok := a.NUMA.Get()
		switch {
		case a.NUMA.Status == probes.Absent && e.side(side) == engine.Local:
			return no("there is one node")
		case !ok:
			return e.notSeen(side, "NUMA node", a.NUMA.Why())
		case node < 0:
			return no("the card belongs to no node")
		}
		nic := e.end(side).NIC.Value
		speed, ok := nic.SpeedBps.Get()
		if roof, whose := e.roof(); !ok && roof.Known() && whose == side { // of the wire below a bond or a VLAN
			speed, ok = roof.Value.LinkBps, true
		}
		near, known := a.LocalCores.Get()
		switch {
		case !ok:
			return e.notSeen(side, "line speed", nic.SpeedBps.Why())
		case speed < numaFrom:
			return no(fmt.Sprintf("at %s a remote node hardly matters", unit.Rate(speed)))
		case !known || len(near) == 0:
			return e.notSeen(side, "cores near the card", a.LocalCores.Why())
		}
		r := e.busiest(side, dir, side == e.Sender(dir))
		t, ok := r.Get()
		served := e.servedFar(side, near)
		what, core := "thread runs", t.Core
		switch {
		case !ok && served < 0:
			return e.notSeen(side, "threads", r.Why())
		case ok && !slices.Contains(near, t.Core):
		case served < 0:
			return no(fmt.Sprintf("the thread runs on core %d, near the card", t.Core))
		default:
			what, core = "interrupts arrive", served
		}
		sys := e.system(side)
		return holds(engine.Finding{
			Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: e.side(side), Core: core,
			Text: sentence(fmt.Sprintf("%s is on node %d, the %s on core %d of another: every byte crosses between the processors.",
				e.card(side), node, what, core)),
			Short:    fmt.Sprintf("%score %d is far from the card (node %d)", e.where(side), core, node),
			Proof:    engine.ProofPin,
			Evidence: e.from(dir, e.fact("NUMA node of the card", float64(node), "", side), e.vital("core", float64(core), "", side)),
			Remedy: []engine.Remedy{sys.do("Run the test on the card's node, and its interrupts too.",
				fmt.Sprintf("numactl -N netdev:%s -m netdev:%s linerate …", sys.nic, sys.nic), "CPUAffinity= and NUMAPolicy= in the unit")},
		})
	})
}

// servedFar gives the core that serves most interrupts of a card, if it is not near it; -1
// else.
func (e *Evidence) servedFar(side engine.Side, near []int) int {
	var most probes.QueueIRQ
	for _, q := range e.end(side).Vitals.Queues.Value {
		if q.Count > most.Count {
			most = q
		}
	}
	if most.Count == 0 || most.Core < 0 || slices.Contains(near, most.Core) {
		return -1
	}
	return most.Core
}

// memoryBound (R50): the RAM, not the cores, is full.
func memoryBound(e *Evidence, dir engine.Direction) ruling {
	answer := no("the memory has room")
	for _, side := range []engine.Side{e.Sender(dir), e.Receiver(dir)} {
		switch v := e.memoryFills(dir, side); {
		case v.state == Holds:
			return v
		case v.state == Unseen && answer.state == RuledOut:
			answer = v
		}
	}
	return answer
}

func (e *Evidence) memoryFills(dir engine.Direction, side engine.Side) ruling {
	peak, ok := e.end(side).Memory.Get()
	if !ok || peak <= 0 {
		return e.notSeen(side, "memory bandwidth", e.end(side).Memory.Why())
	}
	g, ok := e.flow(dir).Rate.Get()
	if !ok {
		return unseen("rate: " + e.flow(dir).Rate.Why())
	}
	copies := copiedReceiving
	switch {
	case e.Test.SameHost:
		copies = copiedHere
	case side == e.Sender(dir):
		copies = copiedSending
	}
	cores, ok := e.cores(side).Get()
	s := spreadOf(cores)
	t, tried := e.moreStreams(dir)
	switch {
	case g*copies < memoryFull*peak:
		return no(fmt.Sprintf("%s of the memory's bandwidth are used", percent(g*copies/max(peak, 1))))
	case !ok:
		return e.notSeen(side, "cores", e.cores(side).Why())
	case s.top.Busy() >= full:
		return no(fmt.Sprintf("core %d is full: CPU first", s.top.Core))
	case s.mean < copyingCores:
		return no(fmt.Sprintf("the cores are only %s busy", percent(s.mean)))
	case tried && t.gain >= helped:
		return no(t.String())
	}
	f := engine.Finding{
		Severity: engine.SeverityLimit, Confidence: engine.Likely, Side: e.side(side), Core: -1,
		Text: sentence(fmt.Sprintf("%smemory bandwidth is likely the limit, not cores: %s cost about %s of %s.",
			e.where(side), unit.Rate(g), unit.Rate(g*copies), unit.Rate(peak))),
		Short:    e.where(side) + "memory bandwidth is full",
		Proof:    engine.ProofAddStream,
		Evidence: e.from(dir, e.fact("memory bandwidth", peak, "bit/s", side), e.share("cores busy, mean", s.mean, side)),
		Remedy:   []engine.Remedy{e.system(side).say("Send without copying (-Z), receive without (--skip-rx-copy), fill all memory channels, shorten the card's rings.")},
	}
	if !tried {
		f.Confidence = engine.Unsure
	}
	return holds(f)
}

// outsideGuest (R51): the limit is in the host of this virtual machine.
func outsideGuest(e *Evidence, dir engine.Direction) ruling {
	return e.eachComputer(func(side engine.Side) ruling {
		nic, ok := e.end(side).NIC.Get()
		if !ok {
			return e.notSeen(side, "interface", e.end(side).NIC.Why())
		}
		if !nic.Driver.Known() {
			return e.notSeen(side, "driver", nic.Driver.Why())
		}
		if !e.paravirtual(side) {
			return no(nic.Driver.Value + " is no virtual card")
		}
		cores, ok := e.cores(side).Get()
		if !ok {
			return e.notSeen(side, "cores", e.cores(side).Why())
		}
		top := spreadOf(cores).top
		if top.Busy() >= guestIdle {
			return no(fmt.Sprintf("%score %d is %s busy", e.where(side), top.Core, percent(top.Busy())))
		}
		kicks, drops := e.kicks(side)
		kicked := e.perSecond(side, kicks)
		switch {
		case !kicks.Known() && !drops.Known():
			return e.notSeen(side, "notifications of the card", kicks.Why())
		case !(kicked.Value > kicking) && drops.Value <= 0:
			return no("the card's host keeps up")
		}
		if l, ok := e.loss(dir).Get(); ok && l.p > guestLoss {
			return no(fmt.Sprintf("%s of the segments are sent again", permille(l.p)))
		}
		if flat, known := e.flow(dir).steady(plateauSpread); known && !flat {
			return no("the rate is not steady")
		}
		f := engine.Finding{
			Severity: engine.SeverityLimit, Confidence: engine.Likely, Side: e.side(side), Core: -1,
			Text: fmt.Sprintf("The limit is likely outside this virtual machine: its cores are at most %s busy, its card (%s) %s.",
				percent(top.Busy()), clip(nic.Driver.Value, 16), strained(kicked.Value, drops.Value)),
			Short: "limit outside the virtual machine",
			Press: "+", Proof: engine.ProofAddStream,
			Evidence: e.from(dir, e.share(fmt.Sprintf("core %d busy", top.Core), top.Busy(), side)),
			Remedy:   []engine.Remedy{e.system(side).say("On the host: more queues, vhost-net, SR-IOV, a larger MTU.")},
		}
		if kicked.Known() {
			f.Evidence = append(f.Evidence, e.vital("notifications", kicked.Value, "1/s", side))
		}
		if drops.Known() {
			f.Evidence = append(f.Evidence, e.vital("dropped by the card", drops.Value, "", side))
		}
		if e.where(side) != "" {
			f.Text = strings.Replace(f.Text, "this virtual machine", "the far virtual machine", 1)
		}
		return holds(f)
	})
}

// strained says what shows that a paravirtual card's host does not keep up.
func strained(kicks, drops float64) string {
	if kicks > kicking {
		return fmt.Sprintf("notifies the host %s times a second", unit.Count(kicks))
	}
	return fmt.Sprintf("had to drop %s", plural(drops, "packet", "packets"))
}

// kicks counts a paravirtual card's notifications of its host, and what it dropped.
func (e *Evidence) kicks(side engine.Side) (kicks, drops probes.Reading[float64]) {
	set := e.end(side).Vitals.Driver
	kicks = probes.Unknown[float64](set.Status, orElse(set.Why(), "this driver does not count them"))
	drops = kicks
	for name, n := range set.Value {
		switch {
		case strings.HasSuffix(name, "kicks"):
			kicks = probes.Got(kicks.Value + float64(n))
		case strings.HasPrefix(name, "rx") && strings.HasSuffix(name, "drops"):
			drops = probes.Got(drops.Value + float64(n))
		}
	}
	return kicks, drops
}

// slirpNet is the network that user-mode stacks give their guests.
var slirpNet = netip.MustParsePrefix("10.0.2.0/24")

// passtMTU is what pasta and slirp4netns give to their interface where they are asked for
// the most.
const passtMTU = 65520

// userStack (R52): packets pass a network stack that is an ordinary program.
func userStack(e *Evidence, dir engine.Direction) ruling {
	nic, ok := e.end(engine.Local).NIC.Get()
	if !ok {
		return unseen("interface: " + e.end(engine.Local).NIC.Why())
	}
	mtu, known := nic.MTU.Get()
	kind := nic.Kind.Value
	slirpMTU := known && (mtu == passtMTU || mtu == 1500)
	inside := slirpNet.Contains(e.Path.Source.Unmap())
	virtual, _ := e.end(engine.Local).Host.Value.Virtual.Get()
	named := nic.Name == "tap0" && (kind == "" || kind == "tap" || kind == "tun")
	lower := strings.ToLower(nic.Name + " " + nic.Driver.Value)
	switch {
	case strings.Contains(lower, "slirp") || strings.Contains(lower, "pasta"):
	case named && (slirpMTU || !known):
	case (kind == "tun" || kind == "tap" || inside) && known && mtu == passtMTU:
	case inside && slirpMTU && (kind == "tun" || kind == "tap" || virtual != ""): // else it may be anyone's network
	case !e.Path.Source.IsValid() && !nic.Kind.Known() && !named:
		return unseen("interface: " + nic.Kind.Why())
	default:
		return no(e.device(engine.Local) + " is no user program's network")
	}
	f := engine.Finding{
		Severity: engine.SeverityLimit, Confidence: engine.Likely, Side: engine.Local, Core: -1,
		Text:     fmt.Sprintf("The network behind %s is a user program (slirp, pasta): it carries about 1 to 8 Gbit/s, and TCP's figures describe only the way to it.", e.device(engine.Local)),
		Short:    "the network is a user program",
		Evidence: e.from(dir),
		Remedy: []engine.Remedy{
			{Text: "Give the container the host's network.", Temporary: "--network=host"},
			{Text: "Or use pasta with an MTU of 65520, or lxc-user-nic.", Temporary: "--network=pasta:-m,65520"},
		},
	}
	if known {
		f.Evidence = append(f.Evidence, e.fact("MTU", float64(mtu), "B", engine.Local))
	} else {
		f.Evidence = append(f.Evidence, engine.Evidence{Name: "interface " + clip(nic.Name, 16), Value: 1, Unit: engine.True, Side: engine.Local, Age: e.end(engine.Local).FactsAge})
	}
	return holds(f)
}

// carriers are the kernel threads and programs that wrap or encrypt packets; the kernel
// cuts names after 15 bytes.
var carriers = []string{"kworker", "wg-crypt", "wireguard-go", "boringtun", "amneziawg", "openvpn", "tailscaled", "zerotier",
	"nebula", "charon", "slirp4netns", "pasta", "passt", "pppd", "xl2tpd", "sshd", "ssh", "stunnel", "tinc"}

func carriesTunnels(thread string) bool {
	return slices.ContainsFunc(carriers, func(c string) bool { return strings.HasPrefix(thread, c) })
}

// tunnelCore (R53): encryption or copying of a tunnel fills one core.
func tunnelCore(e *Evidence, dir engine.Direction) ruling {
	return e.eachComputer(func(side engine.Side) ruling {
		kind := e.kind(side)
		k, ok := kind.Get()
		switch {
		case !ok:
			return e.notSeen(side, "interface", kind.Why())
		case !slices.Contains(tunnels, k):
			return no("the interface is no tunnel")
		}
		others := e.end(side).Others
		if !others.Known() {
			return e.notSeen(side, "threads of the computer", others.Why())
		}
		var worker probes.ThreadLoad
		for _, t := range others.Value {
			if carriesTunnels(t.Name) && t.Busy() > worker.Busy() {
				worker = t
			}
		}
		if worker.Busy() < cryptoCore {
			return no(fmt.Sprintf("the busiest worker uses %s of a core", percent(worker.Busy())))
		}
		name := clip(worker.Name, 16)
		return holds(engine.Finding{
			Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: e.side(side), Core: worker.Core,
			Text: fmt.Sprintf("The tunnel %s%s (%s) fills one core: %s uses %s of it.", e.where(side),
				safeName(e.end(side).NIC.Value.Name), k, name, percent(worker.Busy())),
			Short:    fmt.Sprintf("%stunnel fills one core (%s)", e.where(side), clip(name, 10)),
			Evidence: e.from(dir, e.share("thread "+name, worker.Busy(), side)),
			Remedy: []engine.Remedy{e.system(side).say(
				"More peers or flows, UDP offloads, a larger inner MTU, or several tunnels that share the flows. Test to the tunnel's outer address to compare.")},
		})
	})
}
