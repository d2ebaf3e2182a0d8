package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
)

const (
	// squeezes is how many times a second a core's packet budget must end before its
	// work does, and spareCore the load below which more budget could help.
	squeezes, spareCore = 10.0, 0.9
	// overflowing is the least rate, 1/s, and overflowShare the least share of the
	// packets, that an overflowing ring must lose to matter.
	overflowing, overflowShare = 1.0, 1e-6
	// queueDrops is the least rate of drops, 1/s, of a queueing discipline.
	queueDrops = 1.0
	// shaperRoom is how near to a shaper's rate the goodput must lie: tbf at 200 Mbit/s
	// gave 191.3, HTB gives 93 to 96 %.
	shaperRoom = 0.08
)

// squeezed (R20): the kernel stops taking packets before the ring is empty.
func squeezed(e *Evidence, dir engine.Direction) ruling {
	side := e.Receiver(dir)
	rows, ok := e.end(side).Vitals.Softnet.Get()
	if !ok || len(rows) == 0 {
		return e.notSeen(side, "softnet", e.end(side).Vitals.Softnet.Why())
	}
	worst := slices.MaxFunc(rows, func(a, b probes.Softnet) int { return compare(float64(a.Squeezed), float64(b.Squeezed)) })
	rate := e.perSecond(side, probes.Got(float64(worst.Squeezed)))
	switch {
	case !rate.Known():
		return e.notSeen(side, "softnet", rate.Why())
	case rate.Value < squeezes:
		return no(fmt.Sprintf("core %d runs out of packet budget %s a second", worst.Core, times(rate.Value)))
	}
	missed := e.missed(side)
	cores, seen := e.cores(side).Get()
	c, found := coreByNumber(cores, worst.Core)
	switch {
	case missed.Value > 0:
	case !seen || !found:
		return e.notSeen(side, "cores", e.cores(side).Why())
	case c.Busy() >= spareCore:
		return no(fmt.Sprintf("core %d is %s busy: a larger budget would not help", c.Core, percent(c.Busy())))
	}
	f := engine.Finding{
		Severity: engine.SeverityLimit, Confidence: engine.Likely, Side: e.side(side), Core: worst.Core,
		Text: fmt.Sprintf("The kernel stops taking packets before the ring is empty, %s a second on %score %d.",
			times(rate.Value), e.where(side), worst.Core),
		Short:    fmt.Sprintf("%score %d: packet budget ends early", e.where(side), worst.Core),
		Evidence: e.from(dir, e.vital(fmt.Sprintf("core %d squeezed", worst.Core), rate.Value, "1/s", side)),
		Remedy: []engine.Remedy{e.system(side).sysctl("Let the kernel take more packets at a time.",
			"net.core.netdev_budget=600", "net.core.netdev_budget_usecs=16000")},
	}
	if missed.Value > 0 {
		f.Severity, f.Confidence = engine.SeverityWarning, engine.Sure
		f.Evidence = append(f.Evidence, e.vital("packets missed by the ring", missed.Value, "", side))
	}
	return holds(f)
}

// missed counts packets for which the card had no descriptor, by the link's counter or
// the driver's names.
func (e *Evidence) missed(side engine.Side) probes.Reading[float64] {
	driver := e.end(side).Vitals.Driver
	n := e.link(side, "rx_missed_errors")
	for _, name := range missedNames {
		if alias := counted(driver, name); alias.Known() && (!n.Known() || alias.Value > n.Value) {
			n = alias
		}
	}
	return n
}

// missedNames are what drivers call it: ixgbe, i40e and ice; mlx5; e1000e; vmxnet3; r8169 and
// stmmac.
var missedNames = []string{"rx_missed_errors", "rx_no_dma_resources", "rx_out_of_buffer", "rx_discards_phy", "rx_no_buffer_count",
	"pkts rx OOB", "rx_missed", "mmc_rx_fifo_overflow"}

// ringOverflow (R21): the card's receive ring overflows and could be longer.
func ringOverflow(e *Evidence, dir engine.Direction) ruling {
	side := e.Receiver(dir)
	missed := e.missed(side)
	rate := e.perSecond(side, missed)
	switch {
	case !rate.Known():
		return e.notSeen(side, "missed packets", rate.Why())
	case rate.Value < overflowing:
		return no("the receive ring does not overflow")
	}
	packets := e.link(side, "rx_packets")
	if packets.Known() && missed.Value < overflowShare*packets.Value {
		return no(fmt.Sprintf("the ring misses only %s of the packets", permille(missed.Value/packets.Value)))
	}
	rings, ok := e.end(side).Adapter.Rings.Get()
	switch {
	case !ok:
		return e.notSeen(side, "rings", e.end(side).Adapter.Rings.Why())
	case rings.Rx >= rings.RxMax:
		return no(fmt.Sprintf("the ring overflows, but has all of its %d descriptors", rings.RxMax))
	}
	sys := e.system(side)
	confidence := engine.Sure
	if !packets.Known() {
		confidence = engine.Likely
	}
	return holds(engine.Finding{
		Severity: engine.SeverityWarning, Confidence: confidence, Side: e.side(side), Core: -1,
		Text: fmt.Sprintf("The receive ring of %s, %d descriptors, overflows (%s/s); the card allows %d.",
			e.device(side), rings.Rx, unit.Count(rate.Value), rings.RxMax),
		Short: fmt.Sprintf("%sring of %d overflows", e.where(side), rings.Rx),
		Evidence: e.from(dir, e.vital("packets missed", rate.Value, "1/s", side),
			e.fact("ring", float64(rings.Rx), "", side), e.fact("ring at most", float64(rings.RxMax), "", side)),
		Remedy: []engine.Remedy{sys.ring(rings)},
	})
}

// backlogDrops (R22): the queue between a virtual interface, or RPS, and the stack is full.
func backlogDrops(e *Evidence, dir engine.Direction) ruling {
	side := e.Receiver(dir)
	rows, ok := e.end(side).Vitals.Softnet.Get()
	if !ok || len(rows) == 0 {
		return e.notSeen(side, "softnet", e.end(side).Vitals.Softnet.Why())
	}
	worst := slices.MaxFunc(rows, func(a, b probes.Softnet) int { return compare(float64(a.Dropped), float64(b.Dropped)) })
	if worst.Dropped == 0 {
		return no("no core's backlog is full")
	}
	many := countOrRate(float64(worst.Dropped), e.perSecond(side, probes.Got(float64(worst.Dropped))))
	f := engine.Finding{
		Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: e.side(side), Core: worst.Core,
		Text: fmt.Sprintf("The packet backlog of %score %d is full: %s drops. It serves RPS, veth, tunnels and loopback.",
			e.where(side), worst.Core, many),
		Short:    fmt.Sprintf("%score %d drops: backlog full", e.where(side), worst.Core),
		Evidence: e.from(dir, e.vital(fmt.Sprintf("core %d backlog drops", worst.Core), float64(worst.Dropped), "", side)),
		Remedy:   []engine.Remedy{e.system(side).sysctl("Make the backlog longer, or spread RPS over more cores.", "net.core.netdev_max_backlog=10000")},
	}
	// A longer queue cannot help a core that has no time for what is in it.
	if c, ok := coreByNumber(e.cores(side).Value, worst.Core); ok && c.Busy() >= spareCore {
		f.Severity, f.Confidence = engine.SeverityLimit, engine.Likely
		f.Text = strings.TrimSuffix(f.Text, ".") + fmt.Sprintf(", and the core is %s busy.", percent(c.Busy()))
	}
	return holds(f)
}

// shapers are the disciplines whose rate bounds what leaves the interface.
var shapers = []string{"tbf", "htb", "cake", "fq", "hfsc", "netem"}

// shaper is a rate that the sender's own queueing disciplines hold streams to.
type shaper struct {
	kind, device string
	bps          float64 // for all streams of a direction together
}

// shaper gives the sender's shaper whose rate is nearest to what flows, since of several
// classes a stream is in one; that of the lowest rate where nothing is known to flow. The
// zero value stands for none. fq's rate is per flow.
func (e *Evidence) shaper(dir engine.Direction) probes.Reading[shaper] {
	r := e.end(e.Sender(dir)).Vitals.Qdiscs
	all, ok := r.Get()
	if !ok {
		return probes.Unknown[shaper](r.Status, r.Why())
	}
	g, rated := e.flow(dir).Rate.Get()
	var best shaper
	far := func(bps float64) float64 { // how far it is from what flows
		if !rated || g <= 0 {
			return bps
		}
		return math.Abs(math.Log(bps / g))
	}
	for _, q := range all {
		if q.RateBps <= 0 || !slices.Contains(shapers, q.Kind) {
			continue
		}
		s := shaper{kind: q.Kind, device: e.system(e.Sender(dir)).nic, bps: q.RateBps}
		if q.Device != "" {
			s.device = safeName(q.Device)
		}
		if q.Kind == "fq" {
			s.bps *= float64(max(1, e.Test.Spec.Streams))
		}
		if best.bps == 0 || far(s.bps) < far(best.bps) {
			best = s
		}
	}
	return probes.Got(best)
}

// ownShaper (R24): a shaper on the sender's interface is the limit.
func ownShaper(e *Evidence, dir engine.Direction) ruling {
	side := e.Sender(dir)
	r := e.shaper(dir)
	limit := r.Value
	switch {
	case !r.Known():
		return e.notSeen(side, "queueing disciplines", r.Why())
	case limit.bps <= 0:
		return no("no shaper on the sender's interface")
	}
	sys := e.system(side)
	f := engine.Finding{
		Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: e.side(side), Core: -1,
		Short:    fmt.Sprintf("%s%s shaper of %s", e.where(side), limit.kind, unit.Rate(limit.bps)),
		Proof:    engine.ProofAddStream,
		Evidence: e.from(dir, e.vital("shaper "+limit.kind, limit.bps, "bit/s", side)),
		Remedy: []engine.Remedy{sys.do("Raise the shaper's rate, or remove it if nobody needs it.",
			fmt.Sprintf("tc -s qdisc show dev %s", limit.device), sys.shaperFile())},
	}
	g, ok := e.flow(dir).Rate.Get()
	switch {
	case e.Test.Idle:
		f.Confidence = engine.Likely
		f.Text = fmt.Sprintf("%s shaper of %s sits on %s.", limit.article(), unit.Rate(limit.bps), e.called(side, limit.device))
	case !ok:
		return unseen("rate: " + e.flow(dir).Rate.Why())
	case g < (1-shaperRoom)*limit.bps || g > (1+shaperRoom)*limit.bps:
		return no(fmt.Sprintf("a %s shaper allows %s", limit.kind, ofRate(g, limit.bps)))
	default:
		f.Text = fmt.Sprintf("%s shaper of %s on %s is the limit: %s pass, the rest is its share for headers.",
			limit.article(), unit.Rate(limit.bps), e.called(side, limit.device), unit.Rate(g))
	}
	return holds(f)
}

// article is the kind as it begins a sentence: "A tbf", "An htb".
func (s shaper) article() string {
	if strings.HasPrefix(s.kind, "h") || s.kind == "fq" {
		return "An " + s.kind
	}
	return "A " + s.kind
}

func (s system) shaperFile() string {
	if s.family == openWrtLinux {
		return "uci show sqm; uci set sqm.@queue[0].upload=KBIT; uci commit sqm; service sqm restart"
	}
	if s.family == proxmoxLinux {
		return "where it was set: /etc/network/interfaces, or the rate limit of the guest's network device"
	}
	return "where it was set: tc in a unit or a script, a container's or a router's bandwidth limit"
}

// shaped says so of a direction that its sender shapes itself: the shaper's queue and
// drops are not the path's.
func (e *Evidence) shaped(dir engine.Direction) string {
	if v := ownShaper(e, dir); v.state == Holds {
		return "the sender's own shaper is the limit"
	}
	return ""
}

// wanted are disciplines that drop on purpose, to keep the queue short.
var wanted = []string{"fq_codel", "cake", "codel", "pie", "fq_pie", "red", "sfq"}

// qdiscDrops (R23): the sender's own queue drops what it cannot hold.
func qdiscDrops(e *Evidence, dir engine.Direction) ruling {
	side := e.Sender(dir)
	r := e.end(side).Vitals.Qdiscs
	all, ok := r.Get()
	if !ok {
		return e.notSeen(side, "queueing disciplines", r.Why())
	}
	var worst probes.Qdisc
	for _, q := range all {
		switch {
		case q.Kind == "mq" || slices.Contains(wanted, q.Kind): // mq only adds up its children
		case q.RateBps > 0 && slices.Contains(shapers, q.Kind): // that is how a shaper shapes
		case q.Dropped > worst.Dropped:
			worst = q
		}
	}
	rate := e.perSecond(side, probes.Got(float64(worst.Dropped)))
	switch {
	case !rate.Known():
		return e.notSeen(side, "queueing disciplines", rate.Why())
	case rate.Value < queueDrops:
		return no("the sender's queue drops nothing against its will")
	}
	if e.shaper(dir).Value.bps > 0 {
		return no("the sender's own shaper drops")
	}
	sys := e.system(side)
	if worst.Device != "" {
		sys.nic = safeName(worst.Device)
	}
	f := engine.Finding{
		Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: e.side(side), Core: -1,
		Text: fmt.Sprintf("The queue of %s%s drops %s a second before they leave.",
			e.called(side, sys.nic), prefixed(" (", clip(worst.Kind, 20), ")"), plural(rate.Value, "packet", "packets")),
		Short:    fmt.Sprintf("%squeue drops %s/s", e.where(side), unit.Count(rate.Value)),
		Evidence: e.from(dir, e.vital("queue drops", rate.Value, "1/s", side)),
	}
	f.Remedy = e.longerQueue(side, sys, worst.Kind)
	return holds(f)
}

// longerQueue lists what keeps a sender's own queue from dropping. A longer one helps at 10
// Gbit/s and more; towards a slower link it only delays.
func (e *Evidence) longerQueue(side engine.Side, sys system, kind string) []engine.Remedy {
	switch {
	case sys.family == openWrtLinux:
		return []engine.Remedy{sys.do("Give the interface a queue that is fair and short.",
			"tc qdisc replace dev "+sys.nic+" root fq_codel", "net.core.default_qdisc = fq_codel in "+ownFile)}
	case kind == "fq":
		longer := "tc qdisc replace dev " + sys.nic + " root fq flow_limit 1000"
		return []engine.Remedy{sys.do("Let fq hold more packets of one stream.", longer, sys.atBoot(sys.nic, longer))}
	}
	all := []engine.Remedy{sys.do("Let the kernel pace each stream instead.",
		"tc qdisc replace dev "+sys.nic+" root fq", "net.core.default_qdisc = fq in "+ownFile)}
	if speed, ok := e.end(side).NIC.Value.SpeedBps.Get(); ok && speed >= longQueueFrom {
		longer := "ip link set dev " + sys.nic + " txqueuelen 10000"
		all = append(all, sys.do("Or make the queue longer, if all of the path is as fast.", longer, sys.atBoot(sys.nic, longer)))
	}
	return all
}

// longQueueFrom is the line speed, bits/s, from which a queue of 10000 packets is short.
const longQueueFrom = 10e9
