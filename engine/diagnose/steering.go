package diagnose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/engine"
	"linerate/probes"
)

// queueCore is how busy the core of a receive queue that carries most packets must be.
const queueCore = 0.9

// collision (R14): the hash puts most of several streams on one receive queue.
func collision(e *Evidence, dir engine.Direction) ruling {
	n := e.Test.Spec.Streams
	if n < 2 {
		return no("one stream needs one queue")
	}
	side := e.Receiver(dir)
	shares, ok := e.queueShares(side).Get()
	switch {
	case !ok:
		return e.notSeen(side, "receive queues", e.queueShares(side).Why())
	case len(shares) < 2:
		return no("the card has one receive queue")
	}
	hot := slices.MaxFunc(shares, func(a, b queueShare) int { return compare(a.share, b.share) })
	if hot.share <= mostPackets {
		return no(fmt.Sprintf("%s takes %s of the packets", hot.name, percent(hot.share)))
	}
	cores, ok := e.cores(side).Get()
	if !ok {
		return e.notSeen(side, "cores", e.cores(side).Why())
	}
	c, ok := coreByNumber(cores, hot.core)
	if !ok { // whose core is not known: the one with most packet handling
		c = slices.MaxFunc(cores, func(a, b probes.CoreLoad) int { return compare(a.SoftIRQ, b.SoftIRQ) })
	}
	if c.Busy() < queueCore {
		return no(fmt.Sprintf("%s takes %s of the packets, but its core %d has time left", hot.name, percent(hot.share), c.Core))
	}
	sys := e.system(side)
	return holds(engine.Finding{
		Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: e.side(side), Core: c.Core,
		Text: fmt.Sprintf("%s of the packets of %d streams arrive on one %squeue%s, whose core %d is %s busy; %s.",
			percent(hot.share), n, e.where(side), prefixed(" (", clip(hot.name, 20), ")"), c.Core, percent(c.Busy()), apart(n, len(shares))),
		Short: fmt.Sprintf("streams collide on %s", clip(hot.name, 20)),
		Press: "+", Proof: engine.ProofAddStream,
		Evidence: e.from(dir, e.vital("share of "+hot.name, hot.share, "share", side),
			e.share(fmt.Sprintf("core %d busy", c.Core), c.Busy(), side)),
		Remedy: []engine.Remedy{
			sys.say("Connect again: other source ports hash to other queues."),
			sys.ethtool("Let the hash look at ports too.", "-N", "rx-flow-hash tcp4 sdfn", "", ""),
			sys.ethtool("Spread the hash evenly.", "-X", fmt.Sprintf("equal %d", len(shares)), "", ""),
		},
	})
}

// queueShare is one receive queue's part of the packets.
type queueShare struct {
	name  string
	core  int // that serves it; -1 unknown
	share float64
}

// queueShares tells how the packets are spread over the receive queues of one end: by the
// driver's counters, or by the interrupts.
func (e *Evidence) queueShares(side engine.Side) probes.Reading[[]queueShare] {
	v := &e.end(side).Vitals
	var list []queueShare
	for name, n := range v.Driver.Value {
		if number, ok := rxQueue(name); ok {
			list = append(list, queueShare{"queue " + strconv.Itoa(number), e.servedBy(side, number), float64(n)})
		}
	}
	if len(list) < 2 {
		list = list[:0]
		for _, q := range v.Queues.Value {
			if low := strings.ToLower(q.Name); strings.Contains(low, "output") || strings.Contains(low, "-tx-") || strings.Contains(low, "config") {
				continue
			}
			list = append(list, queueShare{q.Name, q.Core, float64(q.Count)})
		}
	}
	total := 0.0
	for _, q := range list {
		total += q.share
	}
	if total <= 0 {
		return probes.Unknown[[]queueShare](v.Queues.Status, v.Queues.Why())
	}
	for i := range list {
		list[i].share /= total
	}
	slices.SortFunc(list, func(a, b queueShare) int { return strings.Compare(a.name, b.name) })
	return probes.Got(list)
}

// rxQueue gives the number of the receive queue whose packets a driver counts under the
// name: "rx_queue_3_packets", "rx3_packets", "rx-3.packets", "queue_3_rx_cnt".
func rxQueue(name string) (number int, ok bool) {
	begin := strings.IndexAny(name, "0123456789")
	if begin < 0 {
		return 0, false
	}
	rest := strings.TrimLeft(name[begin:], "0123456789")
	switch name[:begin] + "N" + rest {
	case "rx_queue_N_packets", "rxN_packets", "rx_N_packets", "rx-N.packets", "queue_N_rx_cnt":
		number, err := strconv.Atoi(name[begin : len(name)-len(rest)])
		return number, err == nil
	}
	return 0, false
}

// servedBy gives the core that serves the queue of that number, -1 when no interrupt's
// name ends with it.
func (e *Evidence) servedBy(side engine.Side, number int) int {
	suffix := "-" + strconv.Itoa(number)
	for _, q := range e.end(side).Vitals.Queues.Value {
		if strings.HasSuffix(q.Name, suffix) {
			return q.Core
		}
	}
	return -1
}

// apart says how usual it is that n streams meet different ones of q queues.
func apart(n, q int) string {
	if n > q {
		return fmt.Sprintf("there are only %d queues for %d streams", q, n)
	}
	return fmt.Sprintf("with %d streams over %d queues all meet different ones in %s of the tries", n, q, percent(allApart(n, q)))
}

// allApart is the probability that n streams hash to n different ones of q queues:
// q!/((q−n)!·qⁿ).
func allApart(n, q int) float64 {
	p := 1.0
	for i := range n {
		p *= max(0, float64(q-i)/float64(q))
		if p == 0 {
			break
		}
	}
	return p
}

// clip shortens a name for the smallest screen.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// paravirtual are the drivers of cards that a hypervisor plays to its guest.
var paravirtual = []string{"virtio_net", "virtio", "vmxnet3", "hv_netvsc"}

// singleQueue (R15): the card has one receive queue, so one core takes all packets.
func singleQueue(e *Evidence, dir engine.Direction) ruling {
	side := e.Receiver(dir)
	queues, ok := e.queues(side).Get()
	switch {
	case !ok:
		return e.notSeen(side, "queues", e.queues(side).Why())
	case queues.now != 1:
		return no(fmt.Sprintf("the card has %d queues", queues.now))
	}
	if card := e.hardware(side); card.Known() && !card.Value {
		return no("the interface is no card: it has no queues of its own")
	}
	guest := e.paravirtual(side)
	sys := e.system(side)
	f := engine.Finding{
		Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: e.side(side), Core: -1,
		Short:    e.where(side) + "card has one queue",
		Evidence: e.from(dir, e.fact("receive queues", 1, "", side)),
		Remedy:   []engine.Remedy{sys.steering(len(e.cores(side).Value))},
	}
	switch {
	case queues.most > 1:
		f.Remedy = append([]engine.Remedy{sys.ethtool(fmt.Sprintf("Switch on more of its %d queues, no more than there are cores.", queues.most),
			"-L", fmt.Sprintf("combined %d", queues.most), "", "")}, f.Remedy...)
	case guest:
		f.Remedy = append([]engine.Remedy{sys.do(
			"Give the guest more queues on its host, no more than it has cores, then switch them on here; test it for minutes, since some set-ups stall.",
			fmt.Sprintf("ethtool -L %s combined 4", sys.card),
			"on the host: libvirt <driver name='vhost' queues='4'/>, Proxmox: qm set ID --net0 …,queues=4")}, f.Remedy...)
	}
	hot := softIRQCore(e, dir)
	switch outside := outsideGuest(e, dir); {
	case e.Test.Idle:
		f.Confidence = engine.Likely
		f.Text = fmt.Sprintf("The %scard has one receive queue: one core takes all packets.", e.where(side))
	case hot.state == Holds:
		f.Core = hot.finding.Core
		f.Text = fmt.Sprintf("The %scard has one receive queue, and its core %d is full of packet receive: one core is the limit.", e.where(side), f.Core)
		f.Evidence = append(f.Evidence, hot.finding.Evidence...)
		if !guest { // then the core is what to speak of, and steering what to do
			f.Confidence = engine.Likely
		}
	case outside.state == Holds && guest:
		f.Confidence = engine.Likely
		f.Text = fmt.Sprintf("The %scard has one queue, and something outside this guest is the limit: one core of its host may be full.", e.where(side))
	case hot.state == Unseen:
		return hot
	default:
		return no("one queue, but its core is not full")
	}
	return holds(f)
}

// queues are how many receive queues a card has, and how many it can have.
type queues struct{ now, most int }

// queues counts the receive queues of one end's card, by its channels or by what the kernel
// shows of them.
func (e *Evidence) queues(side engine.Side) probes.Reading[queues] {
	nic := e.end(side).NIC
	if c, ok := e.end(side).Adapter.Channels.Get(); ok && c.Max > 0 {
		q := queues{now: c.Now, most: max(c.Now, c.Max)}
		if shown, ok := nic.Value.RxQueues.Get(); c.Now <= 0 && ok {
			q.now = shown
		}
		if q.most == 1 {
			q.now = 1
		}
		return probes.Got(q)
	}
	if !nic.Known() {
		return probes.Unknown[queues](nic.Status, nic.Why())
	}
	n, ok := nic.Value.RxQueues.Get()
	if !ok {
		return probes.Unknown[queues](nic.Value.RxQueues.Status, nic.Value.RxQueues.Why())
	}
	return probes.Got(queues{n, n})
}

// paravirtual reports whether a hypervisor plays the card of one end.
func (e *Evidence) paravirtual(side engine.Side) bool {
	nic := e.end(side).NIC.Value
	return nic.Driver.Known() && slices.Contains(paravirtual, nic.Driver.Value)
}
