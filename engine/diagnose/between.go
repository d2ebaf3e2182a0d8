package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
)

const (
	// flowCapSpread is how steady a flow at a provider's cap is, and belowCap how much
	// headers take of the cap.
	flowCapSpread, belowCap = 0.02, 0.07
	// scales is the part of n times a single flow that n flows reach when each has its cap.
	scales = 0.85
	// someLoss is the loss below which a cap can be what bounds a flow.
	someLoss = 0.001
	// reordered is the reordering metric from which packets overtake each other, segments.
	reordered = 3
	// manySigns of reordering within the last seconds are a path's doing; fewer come from a
	// thread that changes its core, unless they are at least fewSigns and strikingPart of all
	// segments, as at a slow path.
	manySigns, fewSigns, strikingPart = 50, 10, 0.01
	// oftenReordered is the share of segments from which overtaking is worth a word though
	// TCP has learned to wait and sends nothing twice: Linux 6.18 showed 1 to 30 % at links
	// where 1 to 20 % of the packets came late, and no recovery undone.
	oftenReordered = 0.001
	// seldomReordered is the share below which even recoveries that were undone cost nothing
	// that could be measured: threads that change cores shuffle that many on a veth at
	// 17 Gbit/s.
	seldomReordered = 0.0001
)

// caps are the rates at which providers hold single flows, bits/s.
var caps = []float64{5e9, 10e9, 25e9}

// flowCap (R45): the provider holds every single flow at a rate.
func flowCap(e *Evidence, dir engine.Direction) ruling {
	side := e.Sender(dir)
	g, ok := e.flow(dir).Rate.Get()
	if !ok {
		return unseen("rate: " + e.flow(dir).Rate.Why())
	}
	exceeded := e.allowances(side) + e.allowances(e.Receiver(dir))
	streams := float64(max(1, e.Test.Spec.Streams))
	limit := 0.0
	for _, c := range caps {
		if each := g / streams; each >= (1-belowCap)*c && each <= (1+flowCapSpread)*c {
			limit = c
		}
	}
	if limit == 0 && exceeded == 0 {
		return no(fmt.Sprintf("a stream carries %s: no provider's cap", unit.Rate(g/streams)))
	}
	if e.nearCeiling(dir) >= belowLink {
		return no(fmt.Sprintf("%s of what the link can carry is used", percent(e.nearCeiling(dir))))
	}
	host := e.end(engine.Local).Host
	virtual := host.Value.Virtual
	card := e.hardware(engine.Local)
	switch {
	case card.Known() && !card.Value:
		return no("the interface is no card: no provider holds its flows")
	case exceeded > 0 || e.cloudCard() || virtual.Known():
	case host.Known() && virtual.Status == probes.Absent:
		return no("this is no virtual machine: no provider holds its flows")
	case !e.scaled(dir): // what streams add up to is a sign too
		return e.notSeen(engine.Local, "virtualisation", orElse(host.Why(), virtual.Why()))
	}
	flat, known := e.flow(dir).steady(flowCapSpread)
	loss := e.loss(dir)
	switch {
	case exceeded == 0 && !known:
		return unseen("fewer than 3 whole seconds")
	case exceeded == 0 && !flat:
		return no("the rate is not steady")
	case loss.Known() && loss.Value.p > someLoss:
		return no(fmt.Sprintf("%s of the segments are sent again", permille(loss.Value.p)))
	}
	f := engine.Finding{
		Severity: engine.SeverityLimit, Confidence: engine.Likely, Side: engine.Path, Core: -1,
		Press: "+", Proof: engine.ProofAddStream,
		Evidence: e.from(dir),
		Remedy: []engine.Remedy{
			{Text: "Add streams: the cap is on each."},
			{Text: "Put both machines into one placement group, or use the provider's express path."},
		},
	}
	if exceeded > 0 {
		f.Confidence = engine.Sure
		f.Text = fmt.Sprintf("The provider's bandwidth allowance is used up (%s held back or dropped).", plural(exceeded, "packet", "packets"))
		f.Short = "the provider's allowance is used up"
		f.Evidence = append(f.Evidence, e.vital("allowance exceeded", exceeded, "", side))
		return holds(f)
	}
	f.Text = fmt.Sprintf("The provider seems to cap one flow at %s (%s machine): add streams with +.", unit.Rate(limit), orElse(virtual.Value, "cloud"))
	f.Short = fmt.Sprintf("one flow capped at %s: press +", unit.Rate(limit))
	f.Evidence = append(f.Evidence, engine.Evidence{Name: "flow cap", Value: limit, Unit: "bit/s", Side: engine.Path})
	if t, _ := e.moreStreams(dir); e.scaled(dir) {
		f.Confidence = engine.Sure
		f.Text += fmt.Sprintf(" %s.", sentence(t.String()))
	}
	return holds(f)
}

// scaled reports whether n times the streams have given about n times the rate.
func (e *Evidence) scaled(dir engine.Direction) bool {
	t, ok := e.moreStreams(dir)
	return ok && 1+t.gain >= scales*float64(t.to)/float64(t.from)
}

// cloudCard reports a card that only providers have.
func (e *Evidence) cloudCard() bool {
	driver := e.end(engine.Local).NIC.Value.Driver
	return driver.Known() && slices.Contains([]string{"ena", "gve", "mana"}, driver.Value)
}

// allowances counts what a provider's card says was held back.
func (e *Evidence) allowances(side engine.Side) (n float64) {
	for name, v := range e.end(side).Vitals.Driver.Value {
		if strings.HasSuffix(name, "_allowance_exceeded") {
			n += float64(v)
		}
	}
	return n
}

// routerAsEndpoint (R45b): the test ends on a router, whose processor is no measure of
// what it forwards.
func routerAsEndpoint(e *Evidence, dir engine.Direction) ruling {
	f := engine.Finding{
		Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: e.side(engine.Far), Core: -1,
		Short:  "this measures the router itself",
		Remedy: []engine.Remedy{{Text: "Run the server on a host behind the router and test through it."}},
	}
	if e.Path.Gateway.Known() && e.Path.Gateway.Value {
		f.Confidence = engine.Likely
		f.Text = "The far end is this computer's gateway: this measures the router as an endpoint, not what it forwards. Test through it."
		f.Evidence = e.from(dir, engine.Evidence{Name: "far end is the gateway", Value: 1, Unit: engine.True, Side: engine.Path})
		return holds(f)
	}
	v := e.eachComputer(func(side engine.Side) ruling {
		router := e.end(side).Firewall.Router
		switch {
		case !router.Known():
			return e.notSeen(side, "forwarding", router.Why())
		case !router.Value:
			return no("it does not forward")
		}
		cores, ok := e.cores(side).Get()
		if !ok {
			return e.notSeen(side, "cores", e.cores(side).Why())
		}
		top := spreadOf(cores).top
		if top.Busy() < full {
			return no(fmt.Sprintf("it forwards, but its busiest core is %s busy", percent(top.Busy())))
		}
		f.Side, f.Core = e.side(side), top.Core
		f.Text = fmt.Sprintf("The %send is a router and its core %d is full (%s): this measures it as an endpoint, not what it forwards. Test through it.",
			orElse(e.where(side), "local "), top.Core, percent(top.Busy()))
		f.Evidence = e.from(dir, e.share(fmt.Sprintf("core %d busy", top.Core), top.Busy(), side), e.fact("forwards", 1, engine.True, side))
		return holds(f)
	})
	if v.state == RuledOut && !e.Path.Gateway.Known() && !e.Test.SameHost {
		return unseen("gateway: " + e.Path.Gateway.Why())
	}
	return v
}

// measurers are the programs that a test may honestly end in.
var measurers = []string{"iperf3", "iperf", "linerate"}

// overSSH are the beginnings of the names of programs that carry a port through SSH, and
// forwarders those of others that only hand on what they accept: relays and proxies, the port
// forwarders of containers and virtual machines, tunnels. The kernel keeps 15 bytes of a
// name.
var (
	overSSH    = []string{"ssh", "autossh", "dropbear", "dbclient", "tinysshd", "plink"}
	forwarders = []string{
		"socat", "ncat", "rinetd", "redir", "simpleproxy", "systemd-socket-",
		"haproxy", "nginx", "envoy", "traefik", "caddy", "stunnel", "ghostunnel", "3proxy",
		"docker-proxy", "rootlessport", "rootlesskit", "slirp4netns", "pasta", "passt", "gvproxy", "vpnkit", "com.docker.back",
		"kubectl", "kube-proxy", "qemu-system", "VBoxHeadless", "VirtualBoxVM", "VBoxNetNAT", "limactl",
		"cloudflared", "frpc", "frps", "ngrok", "chisel", "gost", "bore", "tailscaled", "wstunnel", "ss-local", "ss-tunnel", "xray", "v2ray", "sing-box",
	}
)

func beginsWithOne(name string, beginnings []string) bool {
	return slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(name, b) })
}

// throughTunnel (R45c): the test goes through a tunnel, and that is what it measures.
func throughTunnel(e *Evidence, dir engine.Direction) ruling {
	f := engine.Finding{
		Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: engine.Path, Core: -1,
		Remedy: []engine.Remedy{{Text: "Test to the address that the tunnel itself goes to, and compare."}},
	}
	program, known := e.Path.Listener.Get()
	ssh := beginsWithOne(program, overSSH)
	if known && (ssh || beginsWithOne(program, forwarders)) {
		what := "a forwarder (" + clip(program, 16) + ")"
		if ssh {
			what = "an SSH tunnel"
		}
		f.Text = fmt.Sprintf("This measures %s: the port on this computer is served by %s. TCP's figures describe only the way to it.", what, clip(program, 16))
		f.Short = "this measures " + what
		f.Evidence = e.from(dir, engine.Evidence{Name: "listener " + clip(program, 16), Value: 1, Unit: engine.True, Side: engine.Local})
		return holds(f)
	}
	kind := e.kind(engine.Local)
	k, ok := kind.Get()
	switch {
	case ok && slices.Contains(tunnels, k):
		name := safeName(e.end(engine.Local).NIC.Value.Name)
		f.Confidence = engine.Likely
		f.Text = fmt.Sprintf("The route leaves by %s, a tunnel (%s): this measures the tunnel.", name, k)
		f.Short = fmt.Sprintf("this measures the tunnel %s", clip(name, 16))
		f.Evidence = e.from(dir, e.fact("tunnel "+k, 1, engine.True, engine.Local))
		return holds(f)
	case !ok:
		return unseen("interface: " + kind.Why())
	case e.Test.SameHost && !known && e.Path.Listener.Why() != "":
		return unseen("listener: " + e.Path.Listener.Why())
	case known && !beginsWithOne(program, measurers):
		return no(fmt.Sprintf("the port is served by %s, which is not known to hand on what it gets", clip(program, 16)))
	}
	return no("no tunnel is in the way")
}

// segmentRate is how many data segments a direction's senders send, 1/s.
func (e *Evidence) segmentRate(dir engine.Direction) (perSecond float64) {
	for i := range e.flow(dir).Sender.Value {
		w := &e.flow(dir).Sender.Value[i]
		if w.Info.Known() && w.Span > 0 {
			perSecond += float64(w.Now.DataSegsOut-w.Before.DataSegsOut) / w.Span.Seconds()
		}
	}
	return perSecond
}

// reordering (R46): packets overtake each other, and what looks like loss is not.
func reordering(e *Evidence, dir engine.Direction) ruling {
	side := e.Sender(dir)
	l := e.loss(dir)
	signs := sum(e.tcp(side, "TcpExt.TCPSACKReorder"), e.tcp(side, "TcpExt.TCPTSReorder"))
	events := e.perSecond(side, signs)
	undone := e.tcp(side, "TcpExt.TCPFullUndo")
	metric, metered := 0.0, false
	for _, w := range e.flow(dir).Sender.Value {
		if w.Info.Known() && w.Info.Value >= engine.InfoBase {
			metric, metered = max(metric, float64(w.Now.Reordering)), true
		}
	}
	vain := l.Known() && l.Value.pd.Known() && l.Value.pd.Value >= spuriousFrom && l.Value.p >= anyLoss && many(l.Value.retrans, l.Value.sent)
	segments := e.segmentRate(dir) * e.end(side).Vitals.Window.Seconds()
	often := oftenReordered
	if undone.Value > 0 {
		often = seldomReordered
	}
	seen := events.Known() && metric > reordered && many(signs.Value, segments) && signs.Value >= often*segments
	if vain && e.windowShut(dir) {
		return no("what met a closed window is sent again, and comes back as a duplicate")
	}
	f := engine.Finding{
		Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: engine.Path, Core: -1,
		Short:    "packets arrive out of order",
		Proof:    engine.ProofCongestion,
		Evidence: e.from(dir),
		Remedy: []engine.Remedy{
			{Text: "Do not spread packets of one stream over several legs (bond mode balance-rr), and keep RSS and RPS still."},
			e.system(side).sysctl("Let TCP expect more reordering.", "net.ipv4.tcp_max_reordering=1000"),
		},
	}
	switch {
	case vain:
		f.Text = fmt.Sprintf("Retransmissions are false alarms: the peer already had %s of the %s segments sent again, since packets arrive out of order.",
			percent(l.Value.pd.Value), unit.Count(l.Value.retrans))
		f.Evidence = append(f.Evidence, e.socket(dir, "sent again in vain", l.Value.pd.Value, "share", side))
	case seen:
		f.Text = fmt.Sprintf("Packets arrive out of order, %s a second: retransmissions are false alarms.", times(events.Value))
		if l.Known() && l.Value.p < anyLoss {
			f.Text = fmt.Sprintf("Packets arrive out of order, %s a second: TCP waits for late ones, and would take long to see a true loss.", times(events.Value))
		}
		f.Evidence = append(f.Evidence, e.vital("reorderings", events.Value, "1/s", side), e.vital("recoveries undone", undone.Value, "", side))
	case !l.Known() && !events.Known():
		return e.notSeen(side, "retransmissions", l.Why())
	case l.Known() && !l.Value.pd.Known() && l.Value.p >= anyLoss && !events.Known():
		return e.notSeen(side, "duplicates", l.Value.pd.Why())
	default:
		return no("packets arrive in order")
	}
	if metered {
		f.Evidence = append(f.Evidence, e.socket(dir, "reordering", metric, "segments", side))
	}
	if d, ok := e.delay(dir).Get(); e.Test.SameHost || ok && d.least < insideComputer && e.maybeOneComputer() {
		f.Confidence = engine.Likely // threads that change cores shuffle what never leaves the computer
	}
	return holds(f)
}

// windowShut reports whether a direction's receiver has closed its window lately.
func (e *Evidence) windowShut(dir engine.Direction) bool {
	closed, _ := median(e.flow(dir).Sender.Value, (*StreamWindow).closed)
	return closed > 0 || e.tcp(e.Receiver(dir), "TcpExt.TCPToZeroWindowAdv").Value > 0
}

// many reports whether so many signs of reordering among so many segments are more than
// chance.
func many(signs, segments float64) bool {
	return signs >= manySigns || signs >= fewSigns && segments > 0 && signs >= strikingPart*segments
}
