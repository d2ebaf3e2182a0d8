package diagnose

import (
	"fmt"

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
)

// softIRQCore (R12): one core of the receiving end is full of handling packets.
func softIRQCore(e *Evidence, dir engine.Direction) ruling {
	if e.Test.SameHost {
		return no("both ends run on this computer: no interface interrupts it")
	}
	side := e.Receiver(dir)
	cores, ok := e.cores(side).Get()
	if !ok {
		return unseen("cores: " + e.cores(side).Why())
	}
	place := 0
	idles := make([]float64, len(cores))
	for i, c := range cores {
		idles[i] = c.Idle
		if c.SoftIRQ > cores[place].SoftIRQ {
			place = i
		}
	}
	hot := cores[place]
	middleIdle, _ := middle(idles)
	rx := e.netRxShare(side, hot.Core)
	switch {
	case hot.SoftIRQ < handling || hot.Idle > leftOver:
		return no(fmt.Sprintf("core %d spends %s in softirq, %s idle", hot.Core, percent(hot.SoftIRQ), percent(hot.Idle)))
	case middleIdle < othersIdle:
		return no("the other cores are busy too")
	case rx.Known() && rx.Value < mostPackets:
		return no(fmt.Sprintf("core %d takes only %s of the received packets", hot.Core, percent(rx.Value)))
	}
	where, free := e.where(side), freeBeside(cores, hot.Core)
	return holds(engine.Finding{
		Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: side, Core: hot.Core,
		Text: sentence(fmt.Sprintf("%score %d is full of packet receive (%s in softirq) while %s: spread the interrupts over all cores; more streams will hardly help.",
			where, hot.Core, percent(hot.SoftIRQ), sitIdle(free))),
		Short: fmt.Sprintf("%score %d full of softirq (%s)", where, hot.Core, percent(hot.SoftIRQ)),
		Evidence: e.from(dir,
			e.share(fmt.Sprintf("core %d softirq", hot.Core), hot.SoftIRQ, side),
			e.share(fmt.Sprintf("core %d busy", hot.Core), hot.Busy(), side),
			e.share("median core idle", middleIdle, side)),
		Remedy: e.spreadInterrupts(side, len(cores)),
	})
}

// spreadInterrupts lists how packets get onto more cores: more queues where the card
// has them, else steering by the kernel.
func (e *Evidence) spreadInterrupts(side engine.Side, cores int) []engine.Remedy {
	nic := e.Ends[side].NIC.Value.Name
	if nic == "" {
		nic = "IF"
	}
	steer := engine.Remedy{
		Text: "Let the kernel hand received packets to all cores (RPS).",
		Temporary: fmt.Sprintf("echo %s > /sys/class/net/%s/queues/rx-0/rps_cpus; sysctl -w net.core.rps_sock_flow_entries=32768; echo 32768 > /sys/class/net/%s/queues/rx-0/rps_flow_cnt",
			cpuMask(cores), nic, nic),
	}
	if queues, ok := e.Ends[side].NIC.Value.RxQueues.Get(); ok && queues == 1 {
		return []engine.Remedy{steer}
	}
	return []engine.Remedy{
		{
			Text:       "Use one receive queue per core, each interrupting its own.",
			Temporary:  fmt.Sprintf("ethtool -L %s combined %d", nic, cores),
			Persistent: "irqbalance, or a service that sets /proc/irq/N/smp_affinity_list; not both",
		},
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
		kind, ok := e.Ends[side].NIC.Value.Kind.Get()
		if !ok {
			missing = "interface: " + e.Ends[side].NIC.Why()
			continue
		}
		if kind != "physical" {
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
		if ok && c.Busy() >= full && c.SoftIRQ+c.IRQ >= fighting && c.User+c.System >= working && freeBeside(cores, c.Core) > 0 {
			return holds(e.sharedFinding(dir, side, r.Value, c))
		}
	}
	if missing != "" {
		return unseen(missing)
	}
	return no("no payload thread shares a full core with interrupts")
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
