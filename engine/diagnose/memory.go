package diagnose

import (
	"fmt"
	"slices"

	"linerate/engine"
	"linerate/probes"
)

const (
	// poolShare is the part of TCP's memory pool from which windows are shrunk soon.
	poolShare = 0.9
	// strayDatagrams is the rate of drops, 1/s, up to which a TCP test takes them for
	// somebody else's.
	strayDatagrams = 1.0
	// datagramBuffer is what asks the UDP receive buffer to be: QUIC libraries want 7.5 MB.
	datagramBuffer = 26214400
)

// tunnels are kinds of interface behind which a program or the kernel wraps packets,
// mostly in UDP.
var tunnels = []string{"wireguard", "tun", "tap", "gre", "gretap", "ipip", "sit", "vxlan", "geneve", "xfrm", "vti", "ppp", "ip6gre", "ip6tnl", "amneziawg"}

// datagramBufferFull (R27): datagrams arrive, but the program's buffer has no room.
func datagramBufferFull(e *Evidence, dir engine.Direction) ruling {
	side := e.Receiver(dir)
	errors := e.tcp(side, "Udp.RcvbufErrors")
	if v6 := e.tcp(side, "Udp6RcvbufErrors"); v6.Known() {
		errors = sum(errors, v6)
	}
	grown := 0.0
	if e.Test.UDP {
		for _, w := range e.flow(dir).Receiver.Value {
			grown += float64(w.Mem.Value.Drops - min(w.MemBefore.Value.Drops, w.Mem.Value.Drops))
		}
	}
	dropped := max(errors.Value, grown)
	switch {
	case dropped <= 0 && !errors.Known():
		return e.notSeen(side, "UDP counters", errors.Why())
	case dropped <= 0:
		return no("no datagram was dropped for want of room")
	}
	rate := e.perSecond(side, probes.Got(dropped))
	kind, _ := e.kind(e.side(side)).Get()
	sys := e.system(side)
	f := engine.Finding{
		Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: e.side(side), Core: -1,
		Text: fmt.Sprintf("UDP datagrams arrive %sbut the socket's buffer is full (%s dropped).",
			prefixed("at the ", e.where(side), "end "), countOrRate(dropped, rate)),
		Short:    e.where(side) + "UDP receive buffer is full",
		Proof:    engine.ProofUDP,
		Evidence: e.from(dir, e.vital("datagrams dropped", dropped, "", side)),
		Remedy: []engine.Remedy{
			sys.sysctl("Allow larger buffers, and let the program ask for one (SO_RCVBUF).", fmt.Sprintf("net.core.rmem_max=%d", datagramBuffer)),
			sys.say("Receive many datagrams per call (UDP GRO, recvmmsg)."),
		},
	}
	switch {
	case e.Test.UDP:
	case slices.Contains(tunnels, kind):
		f.Text = fmt.Sprintf("The tunnel of %s loses datagrams: its program's UDP buffer is full (%s dropped).",
			e.device(side), countOrRate(dropped, rate))
	case rate.Known() && rate.Value < strayDatagrams:
		return no("this test sends no datagrams, and the few dropped are others'")
	default:
		// TCP over nothing that is known to wrap it: perhaps a tunnel further on.
		f.Severity, f.Confidence = engine.SeverityLimit, engine.Unsure
	}
	return holds(f)
}

// prefixed gives a, s and b, or nothing when s is empty.
func prefixed(a, s, b string) string {
	if s == "" {
		return ""
	}
	return a + s + b
}

// memoryPressure (R28): TCP's memory is short, or a receive queue had to be squeezed.
func memoryPressure(e *Evidence, dir engine.Direction) ruling {
	return e.eachComputer(func(side engine.Side) ruling {
		sys := e.system(side)
		f := engine.Finding{
			Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: e.side(side), Core: -1,
			Short: e.where(side) + "TCP memory is short",
			Remedy: []engine.Remedy{
				sys.say("Lower the third number of tcp_rmem, or use fewer streams. A container's memory limit counts socket buffers too."),
				sys.do("Raise the pool, which holds for the whole host, in pages.", "sysctl net.ipv4.tcp_mem", "net.ipv4.tcp_mem in "+ownFile),
			},
		}
		pressures := e.tcp(side, "TcpExt.TCPMemoryPressures")
		pages := e.end(side).Vitals.SocketPages
		limit := e.settingAt(side, "net.ipv4.tcp_mem", 1)
		squeezed := sum(e.tcp(side, "TcpExt.PruneCalled"), e.tcp(side, "TcpExt.RcvPruned"), e.tcp(side, "TcpExt.TCPRcvCollapsed"))
		switch {
		case pressures.Value > 0:
			f.Text = fmt.Sprintf("The %sTCP memory pool is under pressure: windows are being shrunk.", e.where(side))
			f.Evidence = e.from(dir, e.vital("memory pressures", pressures.Value, "", side))
		case pages.Known() && limit.Known() && limit.Value > 0 && float64(pages.Value) > poolShare*limit.Value:
			f.Text = fmt.Sprintf("The %sTCP memory pool is %s full: windows will be shrunk.", e.where(side), percent(float64(pages.Value)/limit.Value))
			f.Evidence = e.from(dir, e.vital("TCP memory", float64(pages.Value), "pages", side), e.fact("pressure from", limit.Value, "pages", side))
		case squeezed.Value > 0:
			// One reader that is late is enough for that: it bounds a healthy test.
			f.Severity, f.Confidence = engine.SeverityLimit, engine.Likely
			f.Text = fmt.Sprintf("A receive queue at the %send had to be squeezed %s to make room: the buffer is too small or its reader late.",
				orElse(e.where(side), "local "), times(squeezed.Value))
			f.Short = e.where(side) + "receive queue squeezed"
			f.Evidence = e.from(dir, e.vital("pruned or collapsed", squeezed.Value, "", side))
		case !pressures.Known() && !squeezed.Known():
			return e.notSeen(side, "TCP counters", pressures.Why())
		default:
			return no("TCP has memory enough")
		}
		return holds(f)
	})
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// lockedOut (R29): packets were dropped because the reader held the socket for too long.
func lockedOut(e *Evidence, dir engine.Direction) ruling {
	side := e.Receiver(dir)
	n := e.tcp(side, "TcpExt.TCPBacklogDrop")
	switch {
	case !n.Known():
		return e.notSeen(side, "TCP counters", n.Why())
	case n.Value <= 0:
		return no("no packet waited too long for the reader")
	}
	return holds(engine.Finding{
		Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: e.side(side), Core: -1,
		Text: fmt.Sprintf("Packets were dropped because the %sreader held the socket (%s): press + for another stream.",
			e.where(side), countOrRate(n.Value, e.perSecond(side, n))),
		Short: "dropped: reader held the socket",
		Press: "+", Proof: engine.ProofAddStream,
		Evidence: e.from(dir, e.vital("backlog drops", n.Value, "", side)),
		Remedy:   []engine.Remedy{e.system(side).say("Use more streams, each with its own socket.")},
	})
}
