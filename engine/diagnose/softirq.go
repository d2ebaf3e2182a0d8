package diagnose

import (
	"fmt"
	"strconv"
	"strings"

	"linerate/engine"
	"linerate/probes"
)

const (
	// handling is the softirq share of a core that is full of packets. ksoftirqd counts
	// as system time, so the true share is higher.
	handling = 0.70
	// leftOver is the idle share of such a core, and othersIdle the median idle share of
	// all cores while it is the odd one out.
	leftOver, othersIdle = 0.05, 0.5
	// mostPackets is the core's least part of all NET_RX softirqs, where that is read.
	mostPackets = 0.6
	// fighting is the least softirq share, and working the least user and system share,
	// of a full core that both interrupts and a payload thread need.
	fighting, working = 0.2, 0.3
	// daemonBusy is how busy a core's ksoftirqd is when the core is full of packets.
	daemonBusy = 0.8
)

// softIRQCore (R12): one core of the receiving end is full of handling packets.
func softIRQCore(e *Evidence, dir engine.Direction) ruling {
	if e.Test.SameHost {
		return no("both ends run on this computer: no interface interrupts it")
	}
	side := e.Receiver(dir)
	cores, ok := e.cores(side).Get()
	if !ok {
		if daemon, full := e.fullDaemon(side); full {
			return holds(e.daemonFinding(dir, side, daemon))
		}
		return e.notSeen(side, "cores", e.cores(side).Why())
	}
	hot, middleIdle := e.hottest(side, cores)
	daemon, helping := e.packetDaemon(side, hot.Core)
	rx := e.netRxShare(side, hot.Core)
	switch {
	case helping: // its time counts as system time: the softirq share says nothing
	case hot.SoftIRQ < handling || hot.Idle > leftOver:
		return no(fmt.Sprintf("core %d spends %s in softirq, %s idle", hot.Core, percent(hot.SoftIRQ), percent(hot.Idle)))
	case rx.Known() && rx.Value < mostPackets:
		return no(fmt.Sprintf("core %d takes only %s of the received packets", hot.Core, percent(rx.Value)))
	}
	if middleIdle < othersIdle {
		return no("the other cores are busy too")
	}
	// The list has both this rule and R48 hold then, and this one first; its case of a small
	// router is R48's.
	if e.walksRules(side) && e.isRouter(side) {
		return no("the core works through the firewall's rules")
	}
	where, free := e.where(side), freeBeside(cores, hot.Core)
	does := percent(hot.SoftIRQ) + " in softirq"
	f := engine.Finding{
		Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: e.side(side), Core: hot.Core,
		Evidence: e.from(dir,
			e.share(fmt.Sprintf("core %d softirq", hot.Core), hot.SoftIRQ, side),
			e.share(fmt.Sprintf("core %d busy", hot.Core), hot.Busy(), side),
			e.share("the others idle, median", middleIdle, side)),
		Remedy: e.spreadInterrupts(side, len(cores)),
	}
	if helping {
		does = fmt.Sprintf("%s %s", daemon.Name, percent(daemon.Busy()))
		f.Evidence = append(f.Evidence, e.share("thread "+daemon.Name, daemon.Busy(), side))
	}
	f.Text = sentence(fmt.Sprintf("%score %d is full of packet receive (%s) while %s: spread the interrupts over all cores; more streams will hardly help.",
		where, hot.Core, does, sitIdle(free)))
	f.Short = fmt.Sprintf("%score %d full of softirq (%s)", where, hot.Core, percent(max(hot.SoftIRQ, daemon.Busy())))
	return holds(f)
}

// hottest gives the core with most packet handling, and the median idle share of all others:
// on two cores that of both would never be half idle. A core whose ksoftirqd works goes
// first.
func (e *Evidence) hottest(side engine.Side, cores []probes.CoreLoad) (hot probes.CoreLoad, middleIdle float64) {
	hot = cores[0]
	for _, c := range cores {
		if c.SoftIRQ > hot.SoftIRQ {
			hot = c
		}
	}
	for _, c := range cores {
		if _, helping := e.packetDaemon(side, c.Core); helping {
			hot = c
		}
	}
	idles := make([]float64, 0, len(cores))
	for _, c := range cores {
		if c.Core != hot.Core {
			idles = append(idles, c.Idle)
		}
	}
	middleIdle, _ = middle(idles)
	return hot, middleIdle
}

// packetDaemon gives the ksoftirqd of a core, and whether it fills it: packets come
// faster than interrupts can handle them.
func (e *Evidence) packetDaemon(side engine.Side, core int) (t probes.ThreadLoad, full bool) {
	name := "ksoftirqd/" + strconv.Itoa(core)
	for _, t := range e.end(side).Others.Value {
		if t.Name == name {
			return t, t.Busy() >= daemonBusy
		}
	}
	return t, false
}

// fullDaemon gives the ksoftirqd that is full of packets, whichever core it belongs to.
func (e *Evidence) fullDaemon(side engine.Side) (t probes.ThreadLoad, full bool) {
	for _, d := range e.end(side).Others.Value {
		number, ok := strings.CutPrefix(d.Name, "ksoftirqd/")
		core, err := strconv.Atoi(number)
		if ok && err == nil && core >= 0 && d.Busy() >= daemonBusy {
			d.Core = core
			return d, true
		}
	}
	return t, false
}

// daemonFinding is R12 where nothing is known of the cores but that the kernel's thread for
// packets is busy.
func (e *Evidence) daemonFinding(dir engine.Direction, side engine.Side, daemon probes.ThreadLoad) engine.Finding {
	where := e.where(side)
	return engine.Finding{
		Severity: engine.SeverityLimit, Confidence: engine.Likely, Side: e.side(side), Core: daemon.Core,
		Text: sentence(fmt.Sprintf("%score %d is full of packet receive (%s %s): spread the interrupts over all cores; more streams will hardly help.",
			where, daemon.Core, clip(daemon.Name, 16), percent(daemon.Busy()))),
		Short:    fmt.Sprintf("%score %d full of softirq (%s)", where, daemon.Core, percent(daemon.Busy())),
		Evidence: e.from(dir, e.share("thread "+clip(daemon.Name, 16), daemon.Busy(), side)),
		Remedy:   e.spreadInterrupts(side, 0),
	}
}

// spreadInterrupts lists how packets get onto more cores: more queues where the card
// has them, else steering by the kernel. cores is how many there are, 0 unknown.
func (e *Evidence) spreadInterrupts(side engine.Side, cores int) []engine.Remedy {
	sys := e.system(side)
	if cores == 0 {
		cores = e.end(side).Host.Value.CPU.Cores
	}
	steer := sys.steering(cores)
	if queues, ok := e.queues(side).Get(); ok && queues.most == 1 {
		return []engine.Remedy{steer}
	}
	balance := "irqbalance, or a service that sets /proc/irq/N/smp_affinity_list; not both"
	if sys.family == openWrtLinux {
		balance = "uci set irqbalance.irqbalance.enabled='1'; uci commit irqbalance; service irqbalance restart"
	}
	many := "N"
	if cores > 0 {
		many = strconv.Itoa(cores)
	}
	return []engine.Remedy{
		sys.do("Use one receive queue per core, each interrupting its own.", fmt.Sprintf("ethtool -L %s combined %s", sys.card, many), balance),
		steer,
	}
}

// sharedCore (R13): interrupts and a payload thread need the same core, and it is full.
// On loopback and veth sharing a core is an advantage, so only a real interface counts.
func sharedCore(e *Evidence, dir engine.Direction) ruling {
	if e.Test.SameHost {
		return no("both ends run on this computer: no interface interrupts it")
	}
	var missing string
	for _, side := range []engine.Side{e.Receiver(dir), e.Sender(dir)} {
		card := e.hardware(side)
		if !card.Known() {
			missing = "interface: " + card.Why()
			continue
		}
		if !card.Value {
			continue
		}
		cores, ok := e.cores(side).Get()
		if !ok {
			missing = "cores: " + e.cores(side).Why()
			continue
		}
		r := e.busiest(side, dir, side == e.Sender(dir))
		if !r.Known() {
			missing = "threads: " + r.Why()
			continue
		}
		c, ok := coreByNumber(cores, r.Value.Core)
		if ok && c.Busy() >= full && c.SoftIRQ+c.IRQ >= fighting && c.User+c.System >= working && freeBeside(cores, c.Core) > 0 &&
			e.interrupted(side, c.Core) != ownsNone {
			return holds(e.sharedFinding(dir, side, r.Value, c))
		}
	}
	if missing != "" {
		return unseen(missing)
	}
	return no("no payload thread shares a full core with interrupts")
}

// ownership tells whether a core serves an interrupt of the interface.
type ownership uint8

const (
	ownsUnknown ownership = iota
	ownsNone
	ownsOne
)

func (e *Evidence) interrupted(side engine.Side, core int) ownership {
	queues, ok := e.end(side).Vitals.Queues.Get()
	if !ok || len(queues) == 0 {
		return ownsUnknown
	}
	for _, q := range queues {
		if q.Core == core || q.Core < 0 {
			return ownsOne
		}
	}
	return ownsNone
}

func (e *Evidence) sharedFinding(dir engine.Direction, side engine.Side, t Thread, c probes.CoreLoad) engine.Finding {
	what := "receiving"
	if t.Sends {
		what = "sending"
	}
	where := e.where(side)
	f := engine.Finding{
		Severity: engine.SeverityLimit, Confidence: engine.Likely, Side: side, Core: c.Core,
		Text: fmt.Sprintf("Interrupts (%s) and the %s thread (%s) fight for %score %d (%s busy): pin the thread to another core, or press + for another stream.",
			percent(c.SoftIRQ+c.IRQ), what, percent(t.Busy()), where, c.Core, percent(c.Busy())),
		Short: fmt.Sprintf("%score %d: interrupts and %s", where, c.Core, what),
		Press: "+", Proof: engine.ProofAddStream,
		Evidence: e.from(dir,
			e.share(fmt.Sprintf("core %d softirq and irq", c.Core), c.SoftIRQ+c.IRQ, side),
			e.share(fmt.Sprintf("core %d busy", c.Core), c.Busy(), side),
			e.share("thread "+t.Name, t.Busy(), side)),
		Remedy: []engine.Remedy{{Text: "Keep the thread off the interrupts' core."}},
	}
	if e.interrupted(side, c.Core) == ownsOne {
		f.Confidence = engine.Sure
	}
	f.Proof = engine.ProofPin
	if side == engine.Local && e.Test.Spec.Streams == 1 {
		cores := e.cores(side).Or(nil)
		for _, other := range cores {
			if other.Core != c.Core && other.Idle >= idle {
				f.Remedy[0].Temporary = fmt.Sprintf("-A %d", other.Core)
				break
			}
		}
	}
	return f
}

// crowdedCore (R13b): a payload thread does not get all of a full core while others are
// free. It is what pinning both ends, or a thread and another program, to one core does.
func crowdedCore(e *Evidence, dir engine.Direction) ruling {
	var missing ruling
	for _, side := range []engine.Side{e.Sender(dir), e.Receiver(dir)} {
		cores, ok := e.cores(side).Get()
		r := e.busiest(side, dir, side == e.Sender(dir))
		if !ok || !r.Known() {
			if missing.state != Unseen {
				missing = e.notSeen(side, "cores and threads", orElse(e.cores(side).Why(), r.Why()))
			}
			continue
		}
		t := r.Value
		c, ok := coreByNumber(cores, t.Core)
		if !ok || c.Busy() < full || t.Busy() < takesPart || t.Busy() >= full || freeBeside(cores, c.Core) == 0 {
			continue
		}
		does, where := "receiving", e.where(side)
		if t.Sends {
			does = "sending"
		}
		f := engine.Finding{
			Severity: engine.SeverityLimit, Confidence: engine.Likely, Side: e.side(side), Core: c.Core,
			Text: sentence(fmt.Sprintf("%score %d is full, and the %s thread gets only %s of it while %s: pin it elsewhere, or nowhere.",
				where, c.Core, does, percent(t.Busy()), sitIdle(freeBeside(cores, c.Core)))),
			Short: fmt.Sprintf("%score %d full, shared by %s", where, c.Core, does),
			Proof: engine.ProofPin,
			Evidence: e.from(dir, e.share("thread "+t.Name, t.Busy(), side),
				e.share(fmt.Sprintf("core %d busy", c.Core), c.Busy(), side)),
			Remedy: []engine.Remedy{{Text: "Bind the thread to a free core, or drop the binding."}},
		}
		if e.pairedOn(c.Core) || e.Test.Spec.Affinity == c.Core {
			f.Confidence = engine.Sure
		}
		return holds(f)
	}
	if missing.state == Unseen {
		return missing
	}
	return no("no payload thread shares a full core")
}

// pairedOn reports whether a sending and a receiving thread work on the same core of this
// computer.
func (e *Evidence) pairedOn(core int) bool {
	if !e.maybeOneComputer() {
		return false
	}
	var sends, receives bool
	for _, side := range []engine.Side{engine.Local, engine.Far} {
		for _, t := range e.Ends[side].Threads.Value {
			if t.Core == core && t.Busy() >= takesPart/2 {
				sends, receives = sends || t.Sends, receives || !t.Sends
			}
		}
	}
	return sends && receives
}
