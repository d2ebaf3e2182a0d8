package diagnose

import (
	"linerate/engine"
	"linerate/probes"
)

func inCloud(e *Evidence) {
	host(local, func(h *probes.Host) { h.Virtual = probes.Got("amazon") })(e)
	nic(local, func(n *probes.NIC) { n.Driver = probes.Got("ena") })(e)
	ceiling(25 * gig)(e)
}

func gateway(yes bool) func(*Evidence) {
	return func(e *Evidence) { e.Path.Gateway = probes.Got(yes) }
}

func listener(program string) func(*Evidence) {
	return func(e *Evidence) { e.Path.Listener = probes.Got(program) }
}

func wifi(bps float64, edit func(*probes.WiFi)) func(*Evidence) {
	return func(e *Evidence) {
		kind(local, "wifi")(e)
		w := probes.WiFi{TxBps: bps, RxBps: bps, SignalDBm: -71, PowerSave: probes.Got(false)}
		if edit != nil {
			edit(&w)
		}
		adapter(local, func(a *probes.Adapter) { a.WiFi = probes.Got(w) })(e)
	}
}

func agent(name, system string) func(*Evidence) {
	return func(e *Evidence) {
		e.Test.PeerAgent = name
		host(farEnd, func(h *probes.Host) { h.OS = system })(e)
	}
}

func betweenRows() []row {
	reorder := sender(up, windows(wide(20*ms, 21*ms), lost(100000, 3090, 2585), func(w *StreamWindow) { w.Now.Reordering = 30 }))
	events := probes.Counters{"TcpExt.TCPSACKReorder": 40, "TcpExt.TCPTSReorder": 10, "TcpExt.TCPFullUndo": 1}
	slow := func(n uint32) func(*StreamWindow) { // so many segments in the 4 s of the counters
		return windows(lost(n*3/4, 0, 0), func(w *StreamWindow) { w.Now.Reordering = 9 })
	}
	return []row{
		{ForeignTool, "Windows", base(agent("iperf 3.1.3", "windows"), rateOf(up, 4.5*gig)), up, Holds, "The far iperf3 is a Windows build"},
		{ForeignTool, "Linux", base(agent("iperf 3.12", "linux"), rateOf(up, 4.5*gig)), up, RuledOut, "runs on linux"},
		{ForeignTool, "Windows near the ceiling", base(agent("iperf 3.1.3", "windows"), rateOf(up, 8.6*gig)), up, RuledOut, ""},
		{ForeignTool, "far host unknown", base(func(e *Evidence) { e.Test.PeerAgent = "iperf 3.1.3" }), up, Unseen, "far end not visible"},

		{FlowCap, "5 Gbit/s", base(inCloud, rateOf(up, 4.96*gig)), up, Holds, "cap one flow at 5.00 Gbit/s (amazon machine): add streams with +."},
		{FlowCap, "two streams, twice as much", base(inCloud, streams(2), rateOf(up, 9.9*gig), step(1, up, 4.96*gig, 0)), up, Holds, "2 streams gave +100 % over 1."},
		{FlowCap, "4.6 Gbit/s", base(inCloud, rateOf(up, 4.6*gig)), up, RuledOut, "no provider's cap"},
		{FlowCap, "not steady", base(inCloud, rateOf(up, 4.96*gig), func(e *Evidence) { e.Flows[up].Seconds = []float64{4.7 * gig, 5 * gig, 5.1 * gig, 4.8 * gig} }), up, RuledOut, "not steady"},
		{FlowCap, "lossy", base(inCloud, rateOf(up, 4.96*gig), sender(up, lost(10000, 11, 0))), up, RuledOut, "0.11 %"},
		{FlowCap, "bare metal", base(rateOf(up, 4.96*gig), host(local, func(*probes.Host) {})), up, RuledOut, "no virtual machine"},
		{FlowCap, "at the link's ceiling", base(inCloud, ceiling(5*gig), rateOf(up, 4.7*gig)), up, RuledOut, "of what the link"},
		{FlowCap, "allowance used up", base(inCloud, driver(local, probes.Counters{"bw_out_allowance_exceeded": 120})), up, Holds, "allowance is used up (120"},
		{FlowCap, "virtualisation unknown", base(rateOf(up, 4.96*gig)), up, Unseen, "virtualisation"},
		{FlowCap, "too few seconds", base(inCloud, rateOf(up, 4.96*gig), func(e *Evidence) { e.Flows[up].Seconds = nil }), up, Unseen, "seconds"},

		{RouterAsEndpoint, "the gateway", base(gateway(true)), up, Holds, "The far end is this computer's gateway"},
		{RouterAsEndpoint, "a full router", base(gateway(false), router(local, false), known(router(farEnd, true), cores(farEnd, .1, .96))), up, Holds, "The far end is a router and its core 1 is full (96 %)"},
		{RouterAsEndpoint, "a router with time", base(gateway(false), router(local, false), known(router(farEnd, true), cores(farEnd, .1, .94))), up, RuledOut, "it forwards, but"},
		{RouterAsEndpoint, "no router", base(gateway(false), router(local, false), known(router(farEnd, false))), up, RuledOut, "does not forward"},
		{RouterAsEndpoint, "forwarding unknown", base(gateway(false)), up, Unseen, "forwarding"},
		{RouterAsEndpoint, "gateway unknown", base(router(local, false), known(router(farEnd, false))), up, Unseen, "gateway"},

		{ThroughTunnel, "SSH listens", base(oneHost(.1), kind(local, "loopback"), listener("sshd")), up, Holds, "This measures an SSH tunnel"},
		{ThroughTunnel, "a container's proxy", base(oneHost(.1), kind(local, "loopback"), listener("docker-proxy")), up, Holds, "a forwarder (docker-proxy)"},
		{ThroughTunnel, "OpenSSH 9.8", base(oneHost(.1), kind(local, "loopback"), listener("sshd-session")), up, Holds, "served by sshd-session"},
		{ThroughTunnel, "the kernel has cut the name", base(oneHost(.1), kind(local, "loopback"), listener("systemd-socket-")), up, Holds, "a forwarder"},
		{ThroughTunnel, "without traffic", base(idleTest, oneHost(.1), kind(local, "loopback"), listener("socat")), up, Holds, "a forwarder (socat)"},
		{ThroughTunnel, "a program nobody knows", base(oneHost(.1), kind(local, "loopback"), listener("session.test")), up, RuledOut, "not known to hand on"},
		{ThroughTunnel, "an iperf3 listens", base(oneHost(.1), kind(local, "loopback"), listener("iperf3")), up, RuledOut, "no tunnel"},
		{ThroughTunnel, "WireGuard", base(kind(local, "wireguard")), up, Holds, "a tunnel (wireguard)"},
		{ThroughTunnel, "a card", base(), up, RuledOut, "no tunnel"},
		{ThroughTunnel, "interface unknown", base(func(e *Evidence) { e.Ends[local].NIC = probes.Unknown[probes.NIC](probes.Failed, "reading route") }), up, Unseen, "reading route"},
		{ThroughTunnel, "listener unknown", base(oneHost(.1), kind(local, "loopback"), func(e *Evidence) {
			e.Path.Listener = probes.Unknown[string](probes.Denied, "another user's")
		}), up, Unseen, "another user's"},

		{Reordering, "2585 of 3090 in vain", base(reorder), up, Holds, "the peer already had 84 % of the 3.1k segments sent again"},
		{Reordering, "49 %", base(sender(up, lost(100000, 3090, 1514))), up, RuledOut, "in order"},
		{Reordering, "a handful of retransmissions says nothing", base(sender(up, lost(10000, 49, 49))), up, RuledOut, "in order"},
		{Reordering, "50 of them do", base(sender(up, lost(10000, 50, 50))), up, Holds, "100 % of the 50 segments"},
		{Reordering, "10 of 1000 do", base(sender(up, lost(1000, 10, 10))), up, Holds, "100 % of the 10 segments"},
		{Reordering, "9 of 900 do not", base(sender(up, lost(900, 9, 9))), up, RuledOut, "in order"},
		{Reordering, "events", base(sender(up, windows(lost(100000, 10, 0), func(w *StreamWindow) { w.Now.Reordering = 4 })), tcp(local, events)), up, Holds, "out of order, 12 times a second"},
		{Reordering, "the same events at a fast link", base(sender(up, windows(lost(400000, 10, 0), func(w *StreamWindow) { w.Now.Reordering = 4 })), tcp(local, events)), up, RuledOut, "in order"},
		{Reordering, "duplicates of a closed window", base(sender(up, windows(lost(100000, 3090, 2585), shut(.1)))), up, RuledOut, "closed window"},
		{Reordering, "49 events", base(sender(up, windows(lost(100000, 10, 0), func(w *StreamWindow) { w.Now.Reordering = 4 })), tcp(local, events), tcp(local, probes.Counters{"TcpExt.TCPTSReorder": 9})), up, RuledOut, "in order"},
		{Reordering, "10 events of 1000 segments", base(sender(up, slow(1000)), tcp(local, probes.Counters{"TcpExt.TCPSACKReorder": 10})), up, Holds, "TCP waits"},
		{Reordering, "10 events of 1100 segments", base(sender(up, slow(1100)), tcp(local, probes.Counters{"TcpExt.TCPSACKReorder": 10})), up, RuledOut, "in order"},
		{Reordering, "TCP waits: nothing is sent twice", base(sender(up, windows(lost(100000, 0, 0), func(w *StreamWindow) { w.Now.Reordering = 300 })), tcp(local, probes.Counters{"TcpExt.TCPSACKReorder": 140})), up, Holds, "35 times a second: TCP waits"},
		{Reordering, "seldom", base(sender(up, windows(lost(100000, 0, 0), func(w *StreamWindow) { w.Now.Reordering = 300 })), tcp(local, probes.Counters{"TcpExt.TCPSACKReorder": 132})), up, RuledOut, "in order"},
		{Reordering, "metric of 3", base(sender(up, windows(lost(100000, 10, 0), func(w *StreamWindow) { w.Now.Reordering = 3 })), tcp(local, events)), up, RuledOut, ""},
		{Reordering, "TCP_INFO unknown", base(), up, Unseen, "only the other end knows"},
		{Reordering, "duplicates unknown", base(sender(up, windows(lost(1000, 10, 0), func(w *StreamWindow) { w.Info, w.Losses = probes.Got(engine.InfoDelivered), nil }))), up, Unseen, "duplicates"},

		{Radio, "433 gives 223", base(wifi(433e6, nil), rateOf(up, 223e6)), up, Holds, "Wi-Fi: a 433 Mbit/s radio gives about 216 Mbit/s of TCP; signal -71 dBm."},
		{Radio, "only 39 %", base(wifi(1300e6, nil), rateOf(up, 500e6)), up, Holds, "and only 500 Mbit/s flow"},
		{Radio, "power save", base(wifi(433e6, func(w *probes.WiFi) { w.PowerSave = probes.Got(true) }), rateOf(up, 223e6)), up, Holds, "power save is on"},
		{Radio, "retries", base(wifi(433e6, func(w *probes.WiFi) { w.Retries = probes.Got(.21) }), rateOf(up, 223e6)), up, Holds, "21 % of the frames"},
		{Radio, "without traffic, all well", base(idleTest, wifi(433e6, nil), known()), up, RuledOut, "settings are good"},
		{Radio, "no radio", base(known()), up, RuledOut, "no radio"},
		{Radio, "radio unknown", base(kind(local, "wifi")), up, Unseen, "radio"},
	}
}
