package link

import (
	"strconv"
	"time"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
	"linerate/tui/internal/figure"
	"linerate/tui/internal/style"
)

// Delays that load adds, from which on they are not to be overlooked: where
// probes.BloatGrade says "fair" and "bad".
const (
	fair = 30 * time.Millisecond
	bad  = 60 * time.Millisecond
)

// trip is the round trip without load and under it, and what the load adds.
func trip(s *engine.Snapshot) (string, style.Role) {
	if s.Peer.Loopback || !s.Peer.Addr.IsValid() {
		return "", style.Plain
	}
	r := s.PathRTT
	if !r.Loaded.Known() { // the sockets of a sender measure it too
		if rtt, sends := meanRTT(s); sends {
			r.Loaded = rtt
		}
	}
	role := style.Plain
	text := "idle " + duration(r.Idle) + "  load " + duration(r.Loaded)
	if added, ok := r.Added().Get(); ok {
		text += "  +" + unit.Duration(added) + " queue: " + probes.BloatGrade(added)
		switch {
		case added >= bad:
			text, role = text+" !", style.Warning
		case added >= fair:
			role = style.Limit
		}
	}
	return text, role
}

// sizes are the largest packets that pass each way, and how many routers are passed.
func sizes(s *engine.Snapshot) (string, style.Role) {
	if s.Peer.Loopback || !s.Peer.Addr.IsValid() {
		return "", style.Plain
	}
	m := &s.PathMTU
	out, swallows := passes(m.Out, m.BlackHole)
	back, swallowsBack := passes(m.In, m.InBlackHole)
	role := style.Plain
	if swallows || swallowsBack {
		role = style.Fault
	}
	return "out " + out + "  back " + back + "  hops " + size(s.PathRTT.Hops), role
}

// passes is the largest packet that passes one way, and whether larger ones vanish.
func passes(largest probes.Reading[int], hole bool) (text string, swallows bool) {
	text, swallows = size(largest), largest.Known() && hole
	if swallows {
		text += ", larger ones vanish !!"
	}
	return text, swallows
}

// meanRTT is the mean over the streams that send, or over all where none does.
func meanRTT(s *engine.Snapshot) (rtt probes.Reading[time.Duration], sends bool) {
	if rtt := meanOver(s.Streams, true); rtt.Known() {
		return rtt, true
	}
	return meanOver(s.Streams, false), false
}

func meanOver(streams []engine.Stream, senders bool) probes.Reading[time.Duration] {
	var sum time.Duration
	n := 0
	for i := range streams {
		if r, ok := streams[i].RTT.Get(); ok && streams[i].Sender == senders {
			sum += r
			n++
		}
	}
	if n == 0 {
		return probes.Unknown[time.Duration](probes.Absent, "no socket tells")
	}
	return probes.Got(sum / time.Duration(n))
}

func duration(r probes.Reading[time.Duration]) string {
	if !r.Known() {
		return unknown(r.Why())
	}
	return figure.Duration(r)
}

func size(r probes.Reading[int]) string {
	if !r.Known() {
		return unknown(r.Why())
	}
	return strconv.Itoa(r.Value)
}

// unknown is a dash and why.
func unknown(why string) string { return unit.None + " (" + why + ")" }
