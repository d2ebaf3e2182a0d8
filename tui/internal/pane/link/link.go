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
		{"route", route},
		{"host", hostFacts},
		{"self", self},
	}
	if a.H == 1 {
		single(a, s)
		return
	}
	for _, l := range lines {
		text, role := l.text(s)
		if text == "" {
			continue
		}
		if y >= a.H {
			return
		}
		a.Text(1, y, style.Dim, l.name)
		a.Fit(1+nameWidth, y, a.W-1-nameWidth, role, text)
		y++
	}
}

// single is all that is left where there is only one row: the path, or the interface where
// there is none.
func single(a grid.Area, s *engine.Snapshot) {
	text, role := trip(s)
	more, warns := sizes(s)
	name := "path"
	if text == "" {
		name = "local"
		text, role = local(s)
	}
	a.Text(1, 0, style.Dim, name)
	if more != "" {
		more = "mtu " + more
	}
	rest := a.Sub(1+nameWidth, 0, a.W-1-nameWidth, 1)
	if warns == style.Plain {
		warns = style.Dim
	} else { // a black hole matters more than what it takes to get there
		text, role, more, warns = more, warns, text, role
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
	n, ok := r.NIC.Get()
	if !ok {
		return "interface unknown (" + r.NIC.Why() + ")", style.Plain
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
	return strings.Join(words, " "), style.Plain
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

func far(s *engine.Snapshot) (string, style.Role) {
	if s.Peer.Loopback {
		return strings.TrimLeft(s.Peer.Agent+"  on this same host", " "), style.Plain
	}
	words := []string{}
	if s.Peer.Agent != "" {
		words = append(words, s.Peer.Agent)
	}
	if h, ok := s.Peer.HostInfo.Get(); ok {
		words = append(words, h.Name.Or(""), h.Kernel.Or(""), h.CPU.Model.Or(""), strconv.Itoa(h.CPU.Cores)+" cores")
	} else if !s.Peer.Linerate && s.Peer.Addr.IsValid() {
		words = append(words, "host unknown (stock iperf3)")
	}
	for i := len(s.Segments) - 1; i >= 0; i-- {
		if cpu, ok := s.Segments[i].PeerCPU.Get(); ok {
			words = append(words, "its process used "+figure.Percent(cpu.Total/100)+" % of a core in step "+strconv.Itoa(s.Segments[i].Index))
			break
		}
	}
	return strings.Join(words, "  "), style.Plain
}

// limits is the share of the senders' busy time in which a window or buffer held them.
func limits(s *engine.Snapshot) (string, style.Role) {
	var busy, rwnd, sndbuf time.Duration
	for i := range s.Streams {
		if info, ok := s.Streams[i].TCP.Get(); ok && s.Streams[i].Sender && info.Has(engine.InfoBusyTime) {
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

// drops are the interface's error counters, which count from its start.
func drops(s *engine.Snapshot) (string, style.Role) {
	r, ok := s.Route.Get()
	if !ok {
		return "", style.Plain
	}
	n, ok := r.NIC.Get()
	if !ok || !n.Counters.Known() {
		return "", style.Plain
	}
	c := n.Counters.Value
	text := ""
	for _, f := range [...]struct {
		name string
		n    uint64
	}{{"rx missed", c.RxMissed}, {"rx dropped", c.RxDropped}, {"tx dropped", c.TxDropped},
		{"rx errors", c.RxErrors}, {"tx errors", c.TxErrors}} {
		if f.n > 0 {
			text += f.name + " " + unit.Count(float64(f.n)) + "  "
		}
	}
	if text == "" {
		return "none on " + n.Name + " since it came up", style.Plain
	}
	return text + "(since " + n.Name + " came up)", style.Plain
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
