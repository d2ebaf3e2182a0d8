package diagnose

import (
	"fmt"
	"time"

	"linerate/engine"
	"linerate/probes"
)

const (
	// stuckFor is the time without an acknowledged byte, and unansweredTimeouts the
	// doubled timeouts, from which large packets may be what vanishes.
	stuckFor           = time.Second
	unansweredTimeouts = 2
	// movedAtAll is how much of a step's payload, bytes, still counts as none: what fits
	// into small packets before the first full one.
	movedAtAll = 10 << 20
	// unevenMTU is the share by which a segment must be smaller than the interface allows
	// to be worth a word: 1492 instead of 1500 is an ordinary line.
	unevenMTU = 0.10
	// fullPackets, acknowledged within seconds, are no accident.
	fullPackets = 20
	// timestampOption is what timestamps take of every segment, bytes.
	timestampOption = 12
)

// sweep is what probing one direction of the path has shown.
type sweep struct {
	fits     probes.Reading[int] // largest packet that passes
	hole     bool                // larger ones vanish without a word
	reported probes.Reading[int] // limit that a router named
	rough    bool                // time ran out: somewhat larger ones may pass too
}

// swept is that of a direction, whichever end has swept it: each can only its own way out.
func (e *Evidence) swept(dir engine.Direction) sweep {
	m := &e.Path.MTU
	fits, hole, tooBig, reported := m.Out, m.BlackHole, m.TooBig, m.Reported
	if e.Sender(dir) == engine.Far {
		fits, hole, tooBig, reported = m.In, m.InBlackHole, m.InTooBig, m.InReported
	}
	rough := tooBig.Status == probes.Failed || tooBig.Known() && tooBig.Value > fits.Value+1
	return sweep{fits, hole, reported, rough}
}

// largestPacket is the largest packet that the path is known to carry in a direction. A
// path that loses packets may fool a sweep; what TCP gets through it knows better.
func (e *Evidence) largestPacket(dir engine.Direction) probes.Reading[int] {
	fits := e.swept(dir).fits
	if sent := e.packetSize(dir); fits.Known() && sent.Known() && sent.Value > fits.Value && e.carries(dir) {
		return sent
	}
	return fits
}

// carries reports whether full packets were acknowledged in the window.
func (e *Evidence) carries(dir engine.Direction) bool {
	for i := range e.flow(dir).Sender.Value {
		w := &e.flow(dir).Sender.Value[i]
		if acked, ok := w.acked().Get(); ok && w.Now.SndMSS == w.Before.SndMSS && acked >= fullPackets*float64(w.Now.SndMSS) {
			return true
		}
	}
	return false
}

// mtu is that of one end's interface.
func (e *Evidence) mtu(side engine.Side) probes.Reading[int] {
	nic := e.end(side).NIC
	if !nic.Known() {
		return probes.Unknown[int](nic.Status, nic.Why())
	}
	return nic.Value.MTU
}

// headers is what stands before a segment's payload in a packet, bytes.
func (e *Evidence) headers(w *StreamWindow) int {
	h := 40
	if e.sixth() {
		h = 60
	}
	if w.Now.Options&stamped != 0 {
		h += timestampOption
	}
	return h
}

// stamped is the bit of TCP_INFO's options that says that segments carry timestamps.
const stamped = 1

// blackHole (R43): packets above a size vanish without a word.
func blackHole(e *Evidence, dir engine.Direction) ruling {
	side := e.Sender(dir)
	mtu, fits := e.mtu(side), e.largestPacket(dir)
	size, known := fits.Get()
	way := e.swept(dir)
	// A limit that a router has named is no black hole: TCP heeds it.
	vanish := known && mtu.Known() && size < mtu.Value && (way.hole || !way.reported.Known())
	if e.Test.Idle {
		switch {
		case !known:
			return unseen("path MTU: " + fits.Why())
		case !mtu.Known():
			return e.notSeen(side, "MTU", mtu.Why())
		case vanish && way.hole:
			return holds(e.holeFinding(dir, side, size, mtu.Value))
		}
		return no(fmt.Sprintf("packets of %d bytes pass in %s", size, dir))
	}
	if v := e.foundByProbing(dir, side); v.state == Holds {
		return v
	}
	stuck := e.stuck(dir)
	switch {
	case stuck.state != Holds:
		return stuck
	case known && !vanish:
		return no(fmt.Sprintf("packets of %d bytes pass in %s", size, dir))
	case vanish:
		f := e.holeFinding(dir, side, size, mtu.Value)
		f.Evidence = append(f.Evidence, stuck.finding.Evidence...)
		return holds(f)
	}
	return e.guessHole(dir, side, mtu, stuck)
}

// stuck reports a direction in which full packets are sent again and again and nothing
// is acknowledged.
func (e *Evidence) stuck(dir engine.Direction) ruling {
	f := e.flow(dir)
	still, ok := e.still(dir).Get()
	switch {
	case !ok:
		return unseen("counters: " + f.Idle.Why())
	case still < stuckFor:
		return no("payload moves")
	}
	finding := engine.Finding{Evidence: []engine.Evidence{
		{Name: "without payload", Value: still.Seconds(), Unit: "s", Side: engine.Local, Age: f.Age}}}
	streams, ok := f.Sender.Get()
	if !ok || len(streams) == 0 {
		if e.largestPacket(dir).Known() {
			return holds(finding)
		}
		return e.notSeen(e.Sender(dir), "TCP_INFO", f.Sender.Why())
	}
	waits := false
	for i := range streams {
		w := &streams[i]
		timedOut := w.Now.CAState == caStateLoss || w.Now.Backoff >= unansweredTimeouts || e.timeouts(dir).Value >= unansweredTimeouts
		if w.Info.Known() && timedOut && w.Now.SndCwnd <= 1 {
			waits = true
			finding.Evidence = append(finding.Evidence, e.socket(dir, "congestion window", float64(w.Now.CwndBytes()), "B", e.Sender(dir)))
			break
		}
	}
	if !waits && !e.largestPacket(dir).Known() {
		return no("no sender waits for an answer to its packets")
	}
	return holds(finding)
}

// guessHole judges a stuck direction without a sweep: small packets got through, and the
// other direction works.
func (e *Evidence) guessHole(dir engine.Direction, side engine.Side, mtu probes.Reading[int], stuck ruling) ruling {
	back, known := e.other(dir).Get()
	moved := 0.0
	for _, w := range e.flow(dir).Sender.Value {
		moved += float64(w.Now.BytesAcked)
	}
	switch {
	case !mtu.Known():
		return e.notSeen(side, "MTU", mtu.Why())
	case known && back <= 0:
		return no("the other direction stands still too")
	case e.Test.Spec.Direction == engine.Both && (moved > movedAtAll || e.still(dir).Value < standingStill):
		// A direction that has only collapsed still moves something now and then.
		return unseen("path MTU: large packets may be lost only while both directions run")
	case !known && moved > movedAtAll:
		return unseen("path MTU: " + e.largestPacket(dir).Why())
	}
	f := e.holeFinding(dir, side, 0, mtu.Value)
	f.Confidence = engine.Likely
	f.Evidence = append(f.Evidence, stuck.finding.Evidence...)
	return holds(f)
}

// holeFinding words R43; size 0 means that the sweep is still to be done.
func (e *Evidence) holeFinding(dir engine.Direction, side engine.Side, size, mtu int) engine.Finding {
	sys := e.system(side)
	f := engine.Finding{
		Severity: engine.SeverityFault, Confidence: engine.Sure, Side: engine.Path, Core: -1,
		Proof:    engine.ProofMTU,
		Evidence: e.from(dir, e.fact("MTU of the sender", float64(mtu), "B", side)),
		Remedy: []engine.Remedy{
			sys.sysctl("Let TCP find the size by itself after a black hole.", "net.ipv4.tcp_mtu_probing=1"),
			{Text: "Set the switch or tunnel in between to the same MTU as both hosts."},
		},
	}
	if size <= 0 {
		f.Text = fmt.Sprintf("The path seems to drop large packets in %s (host MTU %d): nothing is acknowledged, small packets pass. A sweep finds the size.", dir, mtu)
		f.Short = "large packets vanish: MTU?"
		return f
	}
	about := ""
	if e.swept(dir).rough {
		about = "about "
	}
	f.Text = fmt.Sprintf("The path drops packets above %s%d bytes in %s (host MTU %d).", about, size, dir, mtu)
	f.Short = fmt.Sprintf("packets above %d bytes vanish", size)
	f.Evidence = append(f.Evidence, engine.Evidence{Name: "largest packet that passes", Value: float64(size), Unit: "B", Side: engine.Path})
	f.Remedy = append([]engine.Remedy{sys.mtu(fmt.Sprintf("Set the MTU to %d on both hosts, or lock it on the route.", size), size)}, f.Remedy...)
	return f
}

// foundByProbing reports a black hole that TCP itself has got around: it has shrunk its
// segments though no one told it to.
func (e *Evidence) foundByProbing(dir engine.Direction, side engine.Side) ruling {
	streams, ok := e.flow(dir).Sender.Get()
	if !ok || len(streams) == 0 || !streams[0].Info.Known() || e.Test.Spec.MSS > 0 {
		return no("segments are not known to have shrunk")
	}
	if still, ok := e.flow(dir).Idle.Get(); ok && still >= stuckFor {
		return no("nothing moves")
	}
	w := &streams[0]
	packet, route := int(w.Now.SndMSS)+e.headers(w), int(w.Now.PMTU)
	if mtu, ok := e.mtu(side).Get(); ok {
		route = max(route, mtu)
	}
	if takes, ok := e.mtu(e.Receiver(dir)).Get(); ok && takes < route && !uneven(packet, takes) {
		return no("the other end's interface takes no larger ones") // and has said so when the connection began
	}
	probed := sum(e.tcp(side, "TcpExt.TCPMTUPSuccess"), e.tcp(side, "TcpExt.TCPMTUPFail"))
	hole := e.swept(dir).hole && e.largestPacket(dir).Known() && e.largestPacket(dir).Value < route
	if w.Now.SndMSS == 0 || float64(packet) >= (1-unevenMTU)*float64(route) || probed.Value <= 0 && !hole {
		return no("segments are not known to have shrunk")
	}
	size := packet
	if hole {
		size = e.largestPacket(dir).Value
	}
	f := e.holeFinding(dir, side, size, route)
	f.Severity = engine.SeverityWarning
	f.Text = fmt.Sprintf("The path drops packets above about %d bytes in %s (host MTU %d); TCP has found it out by probing and sends segments of %d.",
		size, dir, route, w.Now.SndMSS)
	f.Evidence = append(f.Evidence, e.socket(dir, "segment size", float64(w.Now.SndMSS), "B", side))
	return holds(f)
}

// mixedMTU (R44): packets are smaller than the interface allows, or differ between the
// directions; it works, but the large MTU is lost.
func mixedMTU(e *Evidence, dir engine.Direction) ruling {
	if e.Test.Spec.MSS > 0 {
		return no("-M fixes the segments")
	}
	side := e.Sender(dir)
	if k := e.kind(side); e.Test.SameHost || k.Known() && k.Value == "loopback" {
		return no("on the loopback interface TCP does not fill its MTU")
	}
	f := engine.Finding{
		Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: engine.Path, Core: -1,
		Short:  "MTUs differ on this path",
		Proof:  engine.ProofMTU,
		Remedy: []engine.Remedy{{Text: "Give both hosts and everything between them the same MTU; a VLAN tag adds 4 bytes, VXLAN 50, WireGuard 60 or 80."}},
	}
	mine, other := e.packetSize(dir), e.packetSize(engine.Download-dir)
	mtu, known := e.mtu(side).Get()
	pieces := sum(e.tcp(side, "Ip.FragFails"), e.tcp(e.Receiver(dir), "Ip.ReasmFails"))
	narrow := e.narrowWay()
	switch {
	case mine.Known() && other.Known() && uneven(mine.Value, other.Value):
		f.Text = fmt.Sprintf("Packets of %d bytes one way and %d the other: jumbo frames work in one direction only.", max(mine.Value, other.Value), min(mine.Value, other.Value))
		f.Evidence = e.from(dir, e.socket(dir, "packet "+dir.String(), float64(mine.Value), "B", side),
			e.socket(dir, "packet the other way", float64(other.Value), "B", e.Receiver(dir)))
	case narrow.Known() && narrow.Value.text != "":
		f.Text = narrow.Value.text
		f.Evidence = e.from(dir, engine.Evidence{Name: "largest packet out", Value: float64(narrow.Value.out), Unit: "B", Side: engine.Path},
			engine.Evidence{Name: "largest packet back", Value: float64(narrow.Value.back), Unit: "B", Side: engine.Path})
	case mine.Known() && known && mine.Value < mtu && uneven(mine.Value, mtu):
		f.Confidence = engine.Likely
		f.Text = fmt.Sprintf("The %sinterface allows packets of %d bytes, but TCP uses %d: the other end or the path has a smaller MTU.", e.where(side), mtu, mine.Value)
		f.Evidence = e.from(dir, e.fact("MTU", float64(mtu), "B", side), e.socket(dir, "packet "+dir.String(), float64(mine.Value), "B", side))
	case pieces.Value > 0:
		f.Confidence = engine.Likely
		f.Text = fmt.Sprintf("Packets have to be cut up and that fails (%s): MTUs differ on this path.", times(pieces.Value))
		f.Evidence = e.from(dir, e.vital("fragments failed", pieces.Value, "", side))
	case !mine.Known() && !narrow.Known():
		return e.notSeen(side, "segment size", mine.Why())
	case !known && !other.Known():
		return e.notSeen(side, "MTU", e.mtu(side).Why())
	default:
		return no("packets are as large as the interface allows")
	}
	return holds(f)
}

// ways are the largest packets that pass each way, and what is wrong with that; "" nothing.
type ways struct {
	out, back int
	text      string
}

// narrowWay compares the two directions of the path as sweeps have shown them.
func (e *Evidence) narrowWay() probes.Reading[ways] {
	there := engine.Upload
	if e.Sender(there) == engine.Far {
		there = engine.Download
	}
	here := engine.Download - there
	out, back := e.largestPacket(there), e.largestPacket(here)
	switch {
	case !out.Known():
		return probes.Unknown[ways](out.Status, out.Why())
	case !back.Known():
		return probes.Unknown[ways](back.Status, back.Why())
	}
	w := ways{out: out.Value, back: back.Value}
	less, name := e.swept(there), "out"
	if w.back < w.out {
		less, name = e.swept(here), "back"
	}
	if !uneven(w.out, w.back) || less.rough {
		return probes.Got(w)
	}
	w.text = fmt.Sprintf("The path carries packets of %d bytes out and %d back", w.out, w.back)
	if less.hole {
		w.text += fmt.Sprintf("; larger ones vanish on the way %s", name)
	}
	w.text += "."
	return probes.Got(w)
}

// packetSize is the size of a direction's full packets.
func (e *Evidence) packetSize(dir engine.Direction) probes.Reading[int] {
	r := &e.flow(dir).Sender
	streams, ok := r.Get()
	switch {
	case !ok:
		return probes.Unknown[int](r.Status, r.Why())
	case len(streams) == 0 || !streams[0].Info.Known() || streams[0].Now.SndMSS == 0:
		return probes.Unknown[int](probes.Absent, "no TCP_INFO")
	}
	return probes.Got(int(streams[0].Now.SndMSS) + e.headers(&streams[0]))
}

func uneven(a, b int) bool {
	return float64(min(a, b)) < (1-unevenMTU)*float64(max(a, b))
}
