package link

import (
	"strconv"
	"strings"
	"time"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
	"linerate/tui/internal/figure"
	"linerate/tui/internal/grid"
	"linerate/tui/internal/style"
)

// nameWidth is the room for a line's name: "local", "path".
const nameWidth = 7

// Draw draws as many lines as fit, the most useful first.
func Draw(a grid.Area, s *engine.Snapshot) {
	y := 0
	lines := [...]line{
		{"local", local},
		{"path", trip},
		{"mtu", sizes},
		{"tcp", sockets},
		{"far", far},
		{"limit", limits},
		{"drops", drops},
		{"there", peer},
		{"here", hostFacts},
		{"route", route},
		{"self", self},
	}
	if a.H == 1 {
		single(a, s)
		return
	}
	var texts [len(lines)]string
	var roles [len(lines)]style.Role
	spare := a.H
	for i, l := range lines {
		if texts[i], roles[i] = l.text(s); texts[i] != "" {
			spare--
		}
	}
	room := a.W - 1 - nameWidth
	for i, l := range lines {
		text, role := texts[i], roles[i]
		if text == "" {
			continue
		}
		if y >= a.H {
			return
		}
		a.Text(1, y, style.Dim, l.name)
		// What is too long goes on below where no other line needs the row.
		if spare > 0 && a.Width(text) > room {
			head, tail := grid.Wrap(text, room)
			a.Fit(1+nameWidth, y, room, role, head)
			text = tail
			y++
			spare--
		}
		a.Fit(1+nameWidth, y, room, role, text)
		y++
	}
}

// single is all that is left where there is only one row: the path, or the interface where
// there is none.
func single(a grid.Area, s *engine.Snapshot) {
	text, role := trip(s)
	if text == "" {
		text, role = local(s)
		a.Text(1, 0, style.Dim, "local")
		a.Fit(1+nameWidth, 0, a.W-1-nameWidth, role, text)
		return
	}
	a.Text(1, 0, style.Dim, "path")
	rest := a.Sub(1+nameWidth, 0, a.W-1-nameWidth, 1)
	g := a.Glyphs()
	out, swallows := passes(s.PathMTU.Out, s.PathMTU.BlackHole)
	back, swallowsBack := passes(s.PathMTU.In, s.PathMTU.InBlackHole)
	if !s.PathMTU.In.Known() {
		back = unit.None // why has no room here
	}
	more := "mtu " + g.Up + out + " " + g.Down + back
	if hops := "  hops " + size(s.PathRTT.Hops); a.Width(text)+2+a.Width(more+hops) <= rest.W {
		more += hops
	}
	warns := style.Dim
	if swallows || swallowsBack { // a black hole matters more than what it takes to get there
		text, role, more, warns = more, style.Fault, text, role
	}
	x := rest.Fit(0, 0, rest.W, role, text) + 2
	rest.Fit(x, 0, rest.W-x, warns, more)
}

// line is one row; without a text it is left out.
type line struct {
	name string
	text func(*engine.Snapshot) (string, style.Role)
}

// local is the interface that the route uses.
func local(s *engine.Snapshot) (string, style.Role) {
	r, ok := s.Route.Get()
	if !ok {
		return "interface unknown (" + s.Route.Why() + ")", style.Plain
	}
	return card(r.NIC), style.Plain
}

// card describes an interface.
func card(nic probes.Reading[probes.NIC]) string {
	n, ok := nic.Get()
	if !ok {
		return "interface unknown (" + nic.Why() + ")"
	}
	words := []string{n.Name}
	add := func(known bool, text string) {
		if known {
			words = append(words, text)
		}
	}
	add(n.Driver.Known(), n.Driver.Value)
	add(!n.Driver.Known() && n.Kind.Known(), n.Kind.Value)
	if n.SpeedBps.Known() {
		words = append(words, strings.Replace(unit.Rate(n.SpeedBps.Value), ".0 ", " ", 1))
	} else if n.Kind.Or("") != "loopback" {
		words = append(words, "speed "+unit.None)
	}
	add(n.Duplex.Known(), n.Duplex.Value)
	add(n.MTU.Known(), "mtu "+strconv.Itoa(n.MTU.Value))
	words = append(words, offloads(n.Offloads)...)
	if n.RxQueues.Known() && n.TxQueues.Known() {
		words = append(words, "queues "+strconv.Itoa(n.RxQueues.Value)+"/"+strconv.Itoa(n.TxQueues.Value))
	}
	return strings.Join(words, " ")
}

// offloads lists what is on; when one of the two that matter is off, it says so.
func offloads(o probes.Offloads) (words []string) {
	for _, f := range [...]struct {
		name   string
		on     probes.Reading[bool]
		matter bool
	}{{"tso", o.TSO, true}, {"gso", o.GSO, false}, {"gro", o.GRO, true}, {"lro", o.LRO, false}} {
		switch on, ok := f.on.Get(); {
		case ok && on:
			words = append(words, f.name)
		case ok && f.matter:
			words = append(words, f.name+"-off!")
		}
	}
	return words
}

// sockets is what TCP knows: the mean RTT over the streams, the least ever seen, segment
// size.
func sockets(s *engine.Snapshot) (string, style.Role) {
	var least time.Duration
	mss, pmtu := uint32(0), uint32(0)
	for i := range s.Streams {
		st := &s.Streams[i]
		if info, ok := st.TCP.Get(); ok && st.Sender {
			mss, pmtu = info.SndMSS, info.PMTU
			if info.Has(engine.InfoMinRTT) && info.MinRTT > 0 && (least == 0 || info.MinRTT < least) {
				least = info.MinRTT
			}
		}
	}
	rtt, _ := meanRTT(s)
	text := "rtt " + figure.Duration(rtt)
	if least > 0 {
		text += " (min " + unit.Duration(least) + ")"
	}
	if mss > 0 {
		text += "  mss " + strconv.Itoa(int(mss))
	}
	if pmtu > 0 && pmtu < 1<<16 {
		text += "  pmtu " + strconv.Itoa(int(pmtu))
	}
	return text, style.Plain
}

// far is the interface at the far end, or what a stock server tells instead.
func far(s *engine.Snapshot) (string, style.Role) {
	if s.Peer.Loopback {
		return strings.TrimLeft(s.Peer.Agent+"  on this same host", " "), style.Plain
	}
	text := ""
	switch route, ok := s.Peer.Route.Get(); {
	case !s.Peer.Addr.IsValid():
		return "", style.Plain
	case !s.Peer.Linerate:
		text = "interface and drops unknown (stock iperf3)"
	case !ok:
		text = "interface unknown (" + s.Peer.Route.Why() + ")"
	default:
		text = card(route.NIC)
		if name, rest, _ := strings.Cut(text, " "); route.NIC.Known() && s.Peer.FactsAge > 0 {
			text = name + " (" + figure.Age(s.Peer.FactsAge) + ") " + rest
		}
	}
	for i := len(s.Segments) - 1; i >= 0 && !s.Peer.Linerate; i-- {
		if cpu, ok := s.Segments[i].PeerCPU.Get(); ok {
			return text + "  its process used " + figure.Percent(cpu.Total/100) + " % of a core in step " + strconv.Itoa(s.Segments[i].Index), style.Plain
		}
	}
	return text, style.Plain
}

// peer is the far computer.
func peer(s *engine.Snapshot) (string, style.Role) {
	h, ok := s.Peer.HostInfo.Get()
	if !ok || s.Peer.Loopback {
		return "", style.Plain
	}
	var words []string
	for _, w := range [...]string{h.Name.Or(""), h.CPU.Model.Or(""), strconv.Itoa(h.CPU.Cores) + " cores", h.Kernel.Or(""), h.Virtual.Or(""), s.Peer.Agent} {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, "  "), style.Plain
}

// limits is the share of the senders' busy time in which a window or buffer held them. In
// a path that lets nothing through, the kernel counts all of it as held by the far window.
func limits(s *engine.Snapshot) (string, style.Role) {
	var busy, rwnd, sndbuf time.Duration
	for i := range s.Streams {
		if info, ok := s.Streams[i].TCP.Get(); ok && s.Streams[i].Sender && s.Streams[i].Rate > 0 && info.Has(engine.InfoBusyTime) {
			busy += info.BusyTime
			rwnd += info.RwndLimited
			sndbuf += info.SndbufLimited
		}
	}
	if busy <= 0 {
		return "", style.Plain
	}
	share := func(d time.Duration) string { return figure.Percent(float64(d)/float64(busy)) + " % " }
	rest := max(0, busy-rwnd-sndbuf)
	return "held by " + share(rwnd) + "far window  " + share(sndbuf) + "send buffer  " + share(rest) + "else", style.Plain
}

// drops are the packets that the two computers have lost in the running step.
func drops(s *engine.Snapshot) (string, style.Role) {
	here, role := lost(s.Drops)
	if s.Peer.Loopback || !s.Peer.Addr.IsValid() {
		return here + "  in this step", role
	}
	there, farRole := "unknown (stock iperf3)", style.Plain
	if s.Peer.Linerate {
		there, farRole = lost(s.Peer.Drops)
		if s.Peer.Drops.Known() {
			there += ", " + figure.Age(s.Peer.DropsAge)
		}
	}
	if farRole != style.Plain {
		role = farRole
	}
	return "here " + here + "  far " + there + "  in this step", role
}

// lost lists where packets were dropped.
func lost(r probes.Reading[engine.Drops]) (string, style.Role) {
	d, ok := r.Get()
	if !ok {
		return unknown(r.Why()), style.Plain
	}
	var words []string
	for _, f := range [...]struct {
		name string
		n    uint64
	}{{"rx missed", d.RxMissed}, {"rx dropped", d.RxDropped}, {"rx damaged", d.RxErrors}, {"backlog", d.Backlog},
		{"queue", d.Queue}, {"tx dropped", d.TxDropped}, {"tx errors", d.TxErrors}} {
		if f.n > 0 {
			words = append(words, f.name+" "+unit.Count(float64(f.n)))
		}
	}
	if len(words) == 0 {
		return "none", style.Plain
	}
	return strings.Join(words, " "), style.Warning
}

func route(s *engine.Snapshot) (string, style.Role) {
	r, ok := s.Route.Get()
	if !ok || !r.Source.IsValid() {
		return "", style.Plain
	}
	text := r.Source.String() + " → " + r.Dest.String()
	if r.Gateway.IsValid() {
		text += " by way of " + r.Gateway.String()
	}
	return text, style.Plain
}

func hostFacts(s *engine.Snapshot) (string, style.Role) {
	var words []string
	for _, r := range [...]probes.Reading[string]{s.Host.Name, s.Host.CPU.Model, s.Host.Kernel, s.Host.Virtual} {
		if v, ok := r.Get(); ok && v != "" {
			words = append(words, v)
		}
	}
	return strings.Join(words, "  "), style.Plain
}

func self(s *engine.Snapshot) (string, style.Role) {
	if !s.SelfCPU.Known() {
		return "", style.Plain
	}
	return "screen and measuring use " + figure.Tenths(s.SelfCPU.Value) + " % of a core", style.Plain
}
