package diagnose

import (
	"fmt"
	"time"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
)

const (
	// limited is the share of a socket's busy time from which a full window, or a full
	// send buffer, is a limit. A pure case of a small window showed 0.45, since the
	// congestion window was as tight; 0.05 to 0.15 are normal on a fast LAN.
	limited = 0.25
	// stalledShare is that from which the peer's window says that its program is late.
	stalledShare = 0.5
	// windowFits is how near window ÷ round trip time must come to the goodput.
	windowFits = 0.15
	// emptied and filled are the fills of the receive buffer below which its size, and
	// from which its reader, is what keeps the window small.
	emptied, filled = 0.2, 0.5
	// atMost is the part of the largest size autotuning may give that counts as having it.
	atMost = 0.95
	// fullQueue is the queueing delay, in least round trips, from which the window is
	// larger than what the path holds: then it is no limit.
	fullQueue = 0.5
	// closings is how many closed windows a second show a reader that is late.
	closings = 5.0
	// waitingReader is the share of a core up to which a receiving thread can be said to
	// wait for something else.
	waitingReader = 0.6
)

// windowCap is what the sockets of a direction say about one limit, over all streams.
type windowCap struct {
	share   float64       // of the busy time
	bytes   float64       // of the windows together
	allowed float64       // rate that they give over a round trip, bits/s
	rtt     time.Duration // median
	queued  bool          // a queue stands on the path: the window is not what limits
}

// capBy sums up one kind of window over the streams of a direction.
func (e *Evidence) capBy(dir engine.Direction, share func(*StreamWindow) probes.Reading[float64], bytes func(*StreamWindow) probes.Reading[float64]) probes.Reading[windowCap] {
	r := &e.flow(dir).Sender
	streams, ok := r.Get()
	if !ok {
		return probes.Unknown[windowCap](r.Status, r.Why())
	}
	var c windowCap
	if c.share, ok = median(streams, share); !ok {
		return probes.Unknown[windowCap](probes.Absent, "TCP_INFO: "+whyOf(streams, share))
	}
	d, ok := e.delay(dir).Get()
	if !ok || d.rtt <= 0 {
		return probes.Unknown[windowCap](probes.Absent, "no round trip time")
	}
	n := 0.0
	for i := range streams {
		b, ok := bytes(&streams[i]).Get()
		rtt := streams[i].Now.RTT.Seconds()
		if !ok || rtt <= 0 {
			continue
		}
		n++
		c.bytes += b
		c.allowed += b * 8 / rtt
	}
	if n == 0 {
		return probes.Unknown[windowCap](probes.Absent, "TCP_INFO: "+whyOf(streams, bytes))
	}
	c.rtt = asDuration(d.rtt)
	c.queued = d.least > 0 && d.rtt-d.least > fullQueue*d.least
	return probes.Got(c)
}

// whyOf gives the reason that no stream knows a quantity.
func whyOf(streams []StreamWindow, quantity func(*StreamWindow) probes.Reading[float64]) string {
	for i := range streams {
		if r := quantity(&streams[i]); !r.Known() {
			return r.Why()
		}
	}
	return "no stream"
}

func (w *StreamWindow) sendWindow() probes.Reading[float64] {
	return w.share(engine.InfoSndWnd, float64(w.Now.SndWnd), 1)
}

// sendRoom is the send buffer, bytes.
func (w *StreamWindow) sendRoom() probes.Reading[float64] {
	m, ok := w.Mem.Get()
	if !ok {
		return probes.Unknown[float64](w.Mem.Status, "buffers: "+w.Mem.Why())
	}
	return probes.Got(float64(m.SndBuf))
}

// receiveRoom is the receive buffer, bytes.
func (w *StreamWindow) receiveRoom() probes.Reading[float64] {
	m, ok := w.Mem.Get()
	if !ok {
		return probes.Unknown[float64](w.Mem.Status, "buffers: "+w.Mem.Why())
	}
	return probes.Got(float64(m.RcvBuf))
}

// receiveWindow (R30): the receiver's buffer is too small for the path.
func receiveWindow(e *Evidence, dir engine.Direction) ruling {
	c, v := e.windowLimits(dir)
	if v.state != Holds {
		return v
	}
	if e.Test.Spec.Window > 0 {
		return no("the buffer is fixed by -w")
	}
	side := e.Receiver(dir)
	most := e.settingAt(side, "net.ipv4.tcp_rmem", 2)
	f := engine.Finding{
		Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: e.side(side), Core: -1,
		Short: fmt.Sprintf("%sreceive window: %s", e.where(side), unit.Rate(c.allowed)),
		Press: "+", Proof: engine.ProofAddStream,
		Evidence: e.from(dir, e.socket(dir, "rwnd limited", c.share, "share", e.Sender(dir)),
			e.socket(dir, "receive windows", c.bytes, "B", side),
			e.socket(dir, "round trip time", c.rtt.Seconds(), "s", e.Sender(dir))),
	}
	unsure, mayGrow := "", true
	switch fit, why := e.receiverFits(dir, side, most); fit {
	case RuledOut:
		return no(why)
	case Unseen:
		f.Confidence = engine.Likely
		unsure = " (" + why + ")"
	default:
		room, _ := median(e.flow(dir).Receiver.Value, (*StreamWindow).receiveRoom)
		mayGrow = !most.Known() || room >= atMost*most.Value
	}
	f.Text = fmt.Sprintf("The %sreceive window limits: %s / %s = %s%s", e.where(side),
		unit.Bytes(uint64(c.bytes)), unit.Duration(c.rtt), unit.Rate(c.allowed), unsure)
	f.Remedy = []engine.Remedy{e.system(side).say("Do not set SO_RCVBUF in the program: it ends autotuning.")}
	if !mayGrow { // it is smaller than the kernel would let it get, and stays so
		f.Text += ", and its program has fixed it (SO_RCVBUF)."
		return holds(f)
	}
	f.Text += ". Raise tcp_rmem " + atSide(e, side) + "."
	f.Remedy = append([]engine.Remedy{
		e.system(side).buffer("Let autotuning give the receiver more.", receiveKeys, 4096, 131072, e.roomFor(c.rtt, most)),
	}, f.Remedy...)
	return holds(f)
}

// atSide names a side in a sentence.
func atSide(e *Evidence, side engine.Side) string {
	if e.side(side) == engine.Far {
		return "at the far end"
	}
	return "here"
}

// windowLimits asks whether a full receive window explains the goodput, whatever keeps
// the window small.
func (e *Evidence) windowLimits(dir engine.Direction) (windowCap, ruling) {
	r := e.capBy(dir, (*StreamWindow).RwndLimited, (*StreamWindow).sendWindow)
	c, ok := r.Get()
	if !ok {
		return c, e.notSeen(e.Sender(dir), "receive window", r.Why())
	}
	g, ok := e.flow(dir).Rate.Get()
	switch {
	case !ok:
		return c, unseen("rate: " + e.flow(dir).Rate.Why())
	case c.share < limited:
		return c, no(fmt.Sprintf("the receive window was full for %s of the time", percent(c.share)))
	case c.allowed < (1-windowFits)*g || c.allowed > (1+windowFits)*g:
		return c, no(fmt.Sprintf("the windows would allow %s, %s flow", unit.Rate(c.allowed), unit.Rate(g)))
	case c.queued:
		return c, no("a queue stands on the path: the windows are larger than it needs")
	}
	return c, ruling{state: Holds}
}

// receiverFits checks with the receiver's own buffers that it reads in time and that its
// buffer has grown as far as it may. Unseen comes with the reason.
func (e *Evidence) receiverFits(dir engine.Direction, side engine.Side, most probes.Reading[float64]) (State, string) {
	r := &e.flow(dir).Receiver
	switch {
	case r.Known() && len(r.Value) > 0:
	case e.side(side) == engine.Far:
		return Unseen, "far end not visible"
	default:
		return Unseen, "its buffers are not visible"
	}
	fill, ok := median(r.Value, (*StreamWindow).Unread)
	if !ok {
		return Unseen, "its buffers are not visible"
	}
	if fill > emptied {
		return RuledOut, fmt.Sprintf("the receive buffer is %s full: its reader is late", percent(fill))
	}
	room, _ := median(r.Value, (*StreamWindow).receiveRoom)
	if most.Known() && room >= atMost*most.Value {
		return Holds, ""
	}
	grows, known := together(r.Value, func(w *StreamWindow) (bool, bool) {
		return w.MemBefore.Known() && w.Mem.Value.RcvBuf > w.MemBefore.Value.RcvBuf, w.MemBefore.Known()
	})
	switch {
	case grows:
		return RuledOut, "the receive buffer still grows"
	case !known:
		return Unseen, "whether its buffer still grows is not visible"
	}
	return Holds, ""
}

// roomFor is the buffer that the link needs over a round trip: the path's product, twice,
// since up to half of a buffer is bookkeeping; no less than twice what there is, and a
// power of two.
func (e *Evidence) roomFor(rtt time.Duration, now probes.Reading[float64]) uint64 {
	need := 2 * now.Or(32<<20)
	if c, ok := e.ceiling().Get(); ok {
		need = max(need, 2*c.Bps/8*rtt.Seconds())
	}
	room := uint64(64 << 20)
	for float64(room) < need && room < 1<<30 {
		room *= 2
	}
	return room
}

// lateReader (R31): the receiving program does not read fast enough.
func lateReader(e *Evidence, dir engine.Direction) ruling {
	side := e.Receiver(dir)
	streams := e.flow(dir).Sender.Value
	share, shareKnown := median(streams, (*StreamWindow).RwndLimited)
	closed, closedKnown := median(streams, (*StreamWindow).closed)
	fill, fillKnown := median(e.flow(dir).Receiver.Value, (*StreamWindow).Unread)
	shut := e.perSecond(side, e.tcp(side, "TcpExt.TCPToZeroWindowAdv"))
	f := engine.Finding{
		Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: e.side(side), Core: -1,
		Short: e.where(side) + "receiver reads too slowly",
		Proof: engine.ProofDiscard,
		Remedy: []engine.Remedy{
			e.system(side).say("See what the receiving program waits for: its disk, or a core."),
			{Text: "Throw the data away instead of storing it, to see what the network alone does."},
		},
	}
	what := ""
	switch {
	case shareKnown && fillKnown && share >= stalledShare && fill >= filled:
		what = fmt.Sprintf("its buffer is %s full", percent(fill))
		f.Evidence = e.from(dir, e.socket(dir, "receive buffer fill", fill, "share", side), e.socket(dir, "rwnd limited", share, "share", e.Sender(dir)))
	case shut.Known() && shut.Value >= closings:
		what = fmt.Sprintf("it closes its window %s a second", times(shut.Value))
		f.Evidence = e.from(dir, e.vital("windows closed", shut.Value, "1/s", side))
	case closedKnown && closed > 0:
		what = fmt.Sprintf("its window was closed in %s of the samples", percent(closed))
		f.Evidence = e.from(dir, e.socket(dir, "window closed", closed, "share", e.Sender(dir)))
		if !shareKnown || share < stalledShare {
			f.Confidence = engine.Likely
		}
	case !shareKnown && !closedKnown && !shut.Known():
		return e.notSeen(e.Sender(dir), "receive window", e.flow(dir).Sender.Why())
	case shareKnown && share >= stalledShare && !fillKnown && !shut.Known():
		return e.notSeen(side, "receive buffer", e.flow(dir).Receiver.Why())
	default:
		return no("the receiver reads in time")
	}
	// A reader that works all the time is no slow disk: the rules about cores speak of it.
	if t := e.busiest(side, dir, false); t.Known() && t.Value.Busy() >= waitingReader {
		return no(fmt.Sprintf("the receiving thread works (%s of a core)", percent(t.Value.Busy())))
	}
	f.Text = fmt.Sprintf("The %sreceiver is not reading fast enough (%s): its disk or its program.", e.where(side), what)
	return holds(f)
}
