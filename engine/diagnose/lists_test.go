package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// published are the public cases of the project's list of causes, by its numbers. What a
// case does not tell is left unknown.
func published() []listed {
	noCores := blindCores(local)
	far10 := func(busy float64) func(*Evidence) { return thread(local, "lr-tx-1", up, 2, busy) }
	return []listed{
		{"1: one thread for all, 6.5 of 10G", base(rateOf(up, 6.5*gig), cores(local, .1, .2, .99, .3), far10(.99)), up, SenderCore, nil},
		{"2: -P 3 in one thread", base(streams(3), rateOf(up, 5.5*gig), cores(local, .1, .2, .99, .3), far10(.98)), up, SenderCore, nil},
		{"4: 4 Mbit/s for a second, then nothing", base(mtu(local, 9000), stuckFlow(up, 5*time.Second), sender(up, waiting(8740)), step(1, down, 9.5*gig, 0)), up, BlackHole, []string{LargeFramesLost}},
		{"5: four ports of 1G behind PCIe 2.0 x1", base(noCores, jumboCeiling(4*gig), rateOf(up, 3.21*gig), slot(local, 5, 1, 3.4*gig)), up, BusCeiling, nil},
		{"6: interrupts and program on core 0", base(direction(down), rateOf(down, 700e6), ceiling(gig), softirq(local, 0, .28, .7), thread(local, "lr-rx-1", down, 0, .7), interrupts(local, probes.QueueIRQ{IRQ: 31, Name: "eth0", Core: 0, Count: 9})), down, SharedCore, nil},
		{"7: ksoftirqd/0 at 93 %", base(direction(down), rateOf(down, 600e6), ceiling(gig), softirq(local, 0, .9, .1), others(local, "ksoftirqd/0", 0, .932)), down, SoftIRQCore, nil},
		{"9: ring of 512, the switch is paused", base(direction(down), rateOf(down, 4.5*gig), linked(local, probes.Counters{"rx_missed_errors": 900, "rx_packets": 1.5e6}), rings(local, 512, 4096), driver(local, probes.Counters{"tx_flow_control_xoff": 0})), down, RingOverflow, nil},
		{"9: seen from the pause frames", base(direction(down), rateOf(down, 4.5*gig), rings(local, 512, 4096), driver(local, probes.Counters{"tx_flow_control_xoff": 900})), down, Paused, nil},
		{"10: 40G in PCIe 2.0 x4", base(noCores, ceiling(40*gig), rateOf(up, 11*gig), slot(local, 5, 4, 13.4*gig)), up, BusCeiling, nil},
		{"11: r8169 with ASPM", base(ceiling(gig), direction(down), rateOf(down, 60e6), step(1, up, 930e6, 0), nic(local, func(n *probes.NIC) { n.Driver = probes.Got("r8169") }), adapter(local, func(a *probes.Adapter) { a.ASPM = probes.Got(true) })), down, SleepyBus, nil},
		{"13: WireGuard in a program, buffers of 208 KiB", base(direction(down), kind(local, "tun"), rateOf(down, 4.08*gig), noCeiling, tcp(local, probes.Counters{"Udp.RcvbufErrors": 9000})), down, DatagramBufferFull, nil},
		{"15: a sync after every write", base(noCores, rateOf(up, .8*gig), disk(local, "nvme", 8*gig), memoryOnly(8*gig), diskBusy(local, 100e6, 3*time.Second)), up, DiskCeiling, nil},
		{"16: 10M link, reading stale", base(noCores, ceiling(10e6), rateOf(up, 30e6), card(local, 10e6, []float64{10e6, 100e6, gig}, []float64{10e6, 100e6, gig})), up, LinkBelow, nil},
		{"17: forced to 100M", base(noCores, ceiling(.1*gig), rateOf(up, 94e6), card(local, .1*gig, []float64{.1 * gig, gig}, nil), adapter(local, func(a *probes.Adapter) { a.Autoneg = probes.Got(false) })), up, LinkBelow, nil},
		{"19: virtio with one queue", base(direction(down), noCeiling, rateOf(down, 15.3*gig), softirq(local, 1, .95, .04), channels(local, 1), nic(local, func(n *probes.NIC) { n.Driver = probes.Got("virtio_net") })), down, SingleQueue, nil},
		{"21: iperf3 for Windows", base(agent("iperf 3.1.3", "windows"), rateOf(up, 4.5*gig)), up, ForeignTool, nil},
		{"22: 433 Mbit/s radio", base(wifi(433e6, nil), noCeiling, rateOf(up, 223e6)), up, Radio, nil},
		{"22: 1300 Mbit/s radio", base(wifi(1300e6, nil), noCeiling, rateOf(up, 300e6)), up, Radio, nil},
		{"23: small router without flow offload", base(noCeiling, rateOf(up, 260e6), known(softirq(farEnd, 0, .95, .04), platform(farEnd, "OpenWrt 21.02.3"), rules4(farEnd, 120, true))), up, FilterCost, []string{SoftIRQCore}},
		{"25: SO_SNDBUF of 16K over 20 ms", base(noCores, ceiling(.1*gig), rateOf(up, 7.04e6), setting(local, "net.ipv4.tcp_wmem", "4096 16384 4194304"), sender(up, windows(wide(20*ms, 20*ms), limitedBy(0, .8), peerWindow(3e6), buffers(engine.SockMem{SndBuf: 16384})))), up, SendBuffer, nil},
		{"26: window of 4.5 MiB over 150 ms", base(noCores, ceiling(gig), rateOf(up, 240e6), sender(up, windows(wide(150*ms, 150*ms), limitedBy(.8, 0), peerWindow(4718592)))), up, ReceiveWindow, nil},
		{"28: one flow in a cloud", base(inCloud, rateOf(up, 4.97*gig)), up, FlowCap, nil},
		{"29: baseline", base(noCores, rateOf(up, 7.24*gig), func(e *Evidence) { e.Ends[local].Process = probes.Got(.217) }, thread(local, "lr-tx-1", up, 2, .217)), up, FarUnknown, []string{SenderCore, ReceiverCore}},
	}
}

type listed struct {
	name string
	e    Evidence
	dir  engine.Direction
	want string
	not  []string
}

// runs are the lab runs of the same list. The relay that delayed their packets kept both
// cores of the machine busy, so their CPU columns are left unknown but where the run was
// about them.
func runs() []listed {
	lab := func(edits ...func(*Evidence)) Evidence {
		return base(append([]func(*Evidence){noCeiling, kind(local, "veth"), blindCores(local)}, edits...)...)
	}
	tun := func(edits ...func(*Evidence)) Evidence {
		return lab(append([]func(*Evidence){kind(local, "tun")}, edits...)...)
	}
	both := func(busy ...float64) func(*Evidence) {
		return func(e *Evidence) {
			e.Ends[local].Cores = end(busy...).Cores
			e.Ends[local].Process = probes.Got(1.0)
		}
	}
	l4 := []func(*Evidence){rateOf(up, 64.1e6), sender(up, windows(wide(40*ms, 40200*time.Microsecond), limitedBy(.449, 0), peerWindow(326272), by(bbr), func(w *StreamWindow) { w.Now.NotSentBytes = 3671992 })),
		receiver(up, buffers(engine.SockMem{RcvBuf: 524288})), setting(farEnd, "net.ipv4.tcp_rmem", "4096 131072 524288")}
	return []listed{
		{"L1: two full cores", lab(both(1, 1), rateOf(up, 9.82*gig), far2Process, softirq(local, 0, .19, .81), softirq(local, 1, .22, .78), tcp(local, probes.Counters{"TcpExt.TCPWantZeroWindowAdv": 1314}),
			sender(up, windows(wide(3*time.Microsecond, 54*time.Microsecond), lost(3000000, 11, 0), limitedBy(.169, .093), peerWindow(3e6), func(w *StreamWindow) { w.AppLimited = probes.Got(1.0) }))), up, AllCoresFull, []string{ReceiveWindow, OtherPrograms, LateReader, RandomLoss}},
		{"L3: ramp", tun(ramp(3e6, 8e6, 15e6, 25.3e6), func(e *Evidence) { e.Test.Age = 5 * time.Second }, ownWindow(262144), sender(up, windows(wide(40*ms, 40*ms), func(w *StreamWindow) {
			w.Before.SndCwnd, w.Now.SndCwnd, w.Now.SndSSThresh = 60, 238, 28
		}))), up, Ramping, []string{RandomLoss, LockedBuffer}},
		{"L3, later: -w", tun(ownWindow(262144), rateOf(up, 64e6), sender(up, windows(wide(40*ms, 40*ms), limitedBy(.6, 0), peerWindow(326272)))), up, LockedBuffer, []string{ReceiveWindow}},
		{"L4: receive window", tun(l4...), up, ReceiveWindow, []string{LateReader, LockedBuffer}},
		{"L5: send buffer of 256 KB", tun(rateOf(up, 51e6), setting(local, "net.ipv4.tcp_wmem", "4096 16384 262144"), sender(up, windows(wide(40*ms, 40*ms), limitedBy(0, .716), peerWindow(3e6), buffers(engine.SockMem{SndBuf: 262144})))), up, SendBuffer, nil},
		{"L6: default send buffer", tun(rateOf(up, 306e6), setting(local, "net.ipv4.tcp_wmem", "4096 16384 4194304"), sender(up, windows(wide(100*ms, 107*ms), limitedBy(0, .377), peerWindow(20970496), buffers(engine.SockMem{SndBuf: 4194304})))), up, SendBuffer, nil},
		{"L7: 0.1 % random loss", tun(rateOf(up, 8.95e6), sender(up, windows(wide(40*ms, 41400*time.Microsecond), lost(11831, 13, 0), by(cubic)))), up, RandomLoss, []string{Policer, ShallowQueue}},
		{"L8: the same, BBR", tun(rateOf(up, 265e6), sender(up, windows(wide(40*ms, 68*ms), lost(181627, 187, 0), by(bbr)))), up, ThroughTunnel, []string{RandomLoss, Policer, ShallowQueue, Bufferbloat}},
		{"L9: policer", tun(rateOf(up, 24.2e6), sender(up, windows(wide(20*ms, 21100*time.Microsecond), lost(16306, 374, 0), by(cubic))), tcp(local, probes.Counters{"TcpExt.TCPLostRetransmit": 10, "TcpExt.TCPTimeouts": 5, "Tcp.RetransSegs": 374})), up, Policer, []string{RandomLoss}},
		{"L10: policer, BBR, a short queue", tun(rateOf(up, 47e6), sender(up, windows(wide(20*ms, 32800*time.Microsecond), lost(41000, 2952, 0), by(bbr))), tcp(local, probes.Counters{"TcpExt.TCPLostRetransmit": 97, "TcpExt.TCPTimeouts": 1, "Tcp.RetransSegs": 2952})), up, Policer, []string{RandomLoss}},
		{"L11: queue of 2 MB", tun(rateOf(up, 44.4e6), sender(up, windows(wide(20300*time.Microsecond, 288300*time.Microsecond), lost(32789, 72, 0), by(cubic)))), up, Bufferbloat, []string{RandomLoss, Policer}},
		{"L11b: queue of 60 KB", tun(rateOf(up, 47.6e6), sender(up, windows(wide(20400*time.Microsecond, 28200*time.Microsecond), lost(34678, 139, 0), inBursts, by(cubic)))), up, ShallowQueue, []string{RandomLoss, Policer, Bufferbloat}},
		{"L12: --fq-rate 30M", tun(rateOf(up, 28.7e6), sender(up, func(w *StreamWindow) { w.Now.MaxPacingRate, w.Now.PacingRate = 30e6/8, 30e6/8 })), up, Paced, nil},
		{"L12a: -b 20M", tun(rateOf(up, 20.1e6), func(e *Evidence) { e.Test.Spec.Bitrate = 20e6 }, sender(up, resting(1, .49, 0))), up, AskedRate, nil},
		{"L12b: ACK path of 0.5M", tun(rateOf(up, 31.1e6), step(1, down, .47e6, 0), sender(up, windows(wide(21500*time.Microsecond, 272700*time.Microsecond), lost(28000, 0, 0)))), up, AckCongestion, []string{Bufferbloat}},
		{"L12b, reverse not tested: both are named", tun(rateOf(up, 31.1e6), sender(up, windows(wide(21500*time.Microsecond, 272700*time.Microsecond), lost(28000, 0, 0)))), up, Bufferbloat, nil},
		{"L13: tbf 200M", lab(rateOf(up, 191.3e6), qdiscs(local, probes.Qdisc{Kind: "tbf", RateBps: 200e6, Overlimits: 199891}), sender(up, windows(wide(7*time.Microsecond, 5200*time.Microsecond), buffers(engine.SockMem{WmemAlloc: 136800})))), up, OwnShaper, []string{Bufferbloat, QdiscDrops}},
		{"L14: offloads off", lab(both(.96, .97), far2Process, mtu(local, 1500), rateOf(up, 5.72*gig), softirq(local, 0, .51, .45), offloads(local, false, false, false), softnet(local, probes.Softnet{Core: 0, Processed: 4 * 477870}, probes.Softnet{Core: 1, Processed: 4 * 162252})), up, OffloadsOff, []string{AllCoresFull}},
		{"L15: both pinned to core 0", lab(both(1, .2), far2Process, rateOf(up, 19.98*gig), func(e *Evidence) { e.Test.Spec.Affinity = 0 }, thread(local, "lr-tx-1", up, 0, .5), sender(up, windows(wide(3*time.Microsecond, 60*time.Microsecond), limitedBy(.586, 0), peerWindow(150000)))), up, CrowdedCore, []string{ReceiveWindow}},
		{"L16: reordering", tun(rateOf(up, 80e6), sender(up, windows(wide(20*ms, 21*ms), lost(100000, 3090, 2585), by(cubic)))), up, Reordering, []string{RandomLoss, Policer}},
		{"L17: UDP into a small buffer", lab(direction(down), rateOf(down, 775e6), func(e *Evidence) { e.Test.UDP = true }, tcp(local, probes.Counters{"Udp.RcvbufErrors": 105092, "Udp.InErrors": 105092})), down, DatagramBufferFull, nil},
		{"L18: slow receiver", tun(rateOf(up, 300e6), known(thread(farEnd, "lr-rx-1", up, 1, .2)), sender(up, windows(wide(ms, 1100*time.Microsecond), limitedBy(.905, 0), peerWindow(40000))), receiver(up, buffers(engine.SockMem{RmemAlloc: 11.74e6, RcvBuf: 11.88e6})), setting(farEnd, "net.ipv4.tcp_rmem", "4096 131072 11880000")), up, LateReader, []string{ReceiveWindow}},
		{"L19: black hole", lab(kind(local, "tun"), mtu(local, 9000), stuckFlow(up, 8*time.Second), swept(4074, true), sender(up, waiting(8948)), tcp(local, probes.Counters{"TcpExt.TCPTimeouts": 5, "TcpExt.TCPLostRetransmit": 6})), up, BlackHole, []string{StandStill}},
		{"L20: black hole with probing", lab(kind(local, "tun"), mtu(local, 9000), rateOf(up, 2.42*gig), sender(up, segment(4019, 9000)), tcp(local, probes.Counters{"TcpExt.TCPMTUPSuccess": 5, "TcpExt.TCPMTUPFail": 6})), up, BlackHole, []string{MixedMTU}},
	}
}

func noCeiling(e *Evidence) {
	e.Path.Ceiling = probes.Unknown[Ceiling](probes.Absent, "it has no line speed")
}

func jumboCeiling(bps float64) func(*Evidence) {
	return func(e *Evidence) {
		e.Path.Ceiling = probes.Got(NewCeiling(bps, Framing{MTU: 9000, Family: 4, Timestamps: true}))
	}
}

// far2Process is a far linerate on the same computer in another network namespace.
func far2Process(e *Evidence) {
	e.Test.Linerate = true
	e.Ends[farEnd].Process = probes.Got(.9)
}

// The verdict of each case is the one that its authors found.
func TestLists(t *testing.T) {
	for _, tt := range slices.Concat(published(), runs()) {
		t.Run(tt.name, func(t *testing.T) {
			var v engine.Verdict
			for _, one := range Verdicts(tt.e) {
				if one.Dir == tt.dir {
					v = one
				}
			}
			if v.Main.Code != tt.want {
				t.Errorf("got %s (%v) %q, want %s", v.Main.Code, v.Main.Confidence, v.Main.Text, tt.want)
			}
			tracked := playAll(tt.e, tt.dir)
			if tracked.Main.Code != tt.want {
				t.Errorf("after 5 s: got %s %q, want %s", tracked.Main.Code, tracked.Main.Text, tt.want)
			}
			for _, f := range append(append([]engine.Finding{v.Main}, v.Also...), tracked.Also...) {
				checkFinding(t, f.Code, f)
				if slices.Contains(tt.not, f.Code) {
					t.Errorf("%s must not appear: %s", f.Code, f.Text)
				}
			}
			t.Logf("%s %v: %s", v.Main.Code, v.Main.Confidence, v.Main.Text)
			for _, f := range v.Also {
				t.Logf("  also %s %v %v: %s", f.Code, f.Severity, f.Confidence, f.Text)
			}
		})
	}
}

func playAll(e Evidence, dir engine.Direction) (v engine.Verdict) {
	tracker := NewTracker()
	for at := time.Duration(0); at <= 5*time.Second; at += 250 * time.Millisecond {
		for _, one := range tracker.Update(at, e) {
			if one.Dir == dir {
				v = one
			}
		}
	}
	return v
}

// What a finding says of the far end names it, and without it nothing is called fine.
func TestFarEndIsNamed(t *testing.T) {
	for _, c := range Review(base(sender(up, nil)), up) {
		if strings.Contains(c.Why, "stock iperf3") && c.State == RuledOut {
			t.Errorf("%s is ruled out though the far end is not visible: %s", c.Code, c.Why)
		}
	}
	v := Verdicts(smallWindow())[0]
	if v.Main.Side != engine.Far || !strings.Contains(v.Main.Text, "far") {
		t.Errorf("%s: side %v, %q", v.Main.Code, v.Main.Side, v.Main.Text)
	}
	for _, e := range v.Main.Evidence {
		if e.Name == "receive windows" && e.Side != engine.Far {
			t.Errorf("the receiver's window is said to be %v", e.Side)
		}
	}
}

// Streams that share a full link unevenly are no fault of anything.
func TestUnevenStreamsAtLineRate(t *testing.T) {
	e := base(quietFar, streams(4), rateOf(up, 9.41*gig), queueCounts(farEnd, 800, 100, 50, 50), cores(farEnd, .92, .3, .2, .2), interrupts(farEnd, probes.QueueIRQ{Name: "eth0-0", Core: 0, Count: 5}))
	var all []StreamWindow
	for i, rate := range []float64{1.52, 3.14, 3.14, 1.61} {
		w := window()
		w.ID, w.Bytes = 1+2*i, uint64(rate*gig/8*w.Span.Seconds())
		all = append(all, w)
	}
	e.Flows[up].Sender = probes.Got(all)
	v := Verdicts(e)[0]
	if v.Main.Code != LineRate || !strings.Contains(v.Main.Text, "9.41 of 9.415 Gbit/s") {
		t.Errorf("got %s %q, want %s with both figures", v.Main.Code, v.Main.Text, LineRate)
	}
	for _, f := range v.Also {
		if f.Severity >= engine.SeverityWarning {
			t.Errorf("also %s: %s", f.Code, f.Text)
		}
	}
}

// Clean runs in the lab show much that looks like trouble: none of it is a warning.
func TestCleanRuns(t *testing.T) {
	veth := func(edits ...func(*Evidence)) Evidence {
		return base(append([]func(*Evidence){noCeiling, kind(local, "veth"), mtu(local, 1500), far2Process, kind(farEnd, "veth"), mtu(farEnd, 1500),
			offloads(local, true, true, false), offloads(farEnd, true, true, false), qdiscs(local, probes.Qdisc{Kind: "noqueue"}), qdiscs(farEnd, probes.Qdisc{Kind: "noqueue"}),
			softnet(local, probes.Softnet{Core: 0, Processed: 300000}, probes.Softnet{Core: 1, Processed: 100000}), softnet(farEnd, probes.Softnet{Core: 0, Processed: 300000}, probes.Softnet{Core: 1, Processed: 100000})}, edits...)...)
	}
	busy := func(a, b, tx, rx float64) func(*Evidence) {
		return func(e *Evidence) {
			cores(local, a, b)(e)
			e.Ends[local].Process, e.Ends[farEnd].Process = probes.Got(tx), probes.Got(rx)
			e.Ends[farEnd].Cores = e.Ends[local].Cores
			thread(local, "lr-tx-1", up, 0, tx)(e)
			thread(farEnd, "lr-rx-1", up, 1, rx)(e)
		}
	}
	noisy := []func(*Evidence){
		tcp(local, probes.Counters{"TcpExt.TCPSACKReorder": 16, "TcpExt.TCPTSReorder": 1, "TcpExt.TCPFullUndo": 10, "TcpExt.TCPTimeouts": 0, "TcpExt.TCPLostRetransmit": 0, "Tcp.RetransSegs": 726, "Udp.RcvbufErrors": 0, "TcpExt.TCPBacklogDrop": 0}),
		tcp(farEnd, probes.Counters{"TcpExt.TCPToZeroWindowAdv": 79, "TcpExt.TCPWantZeroWindowAdv": 77, "TcpExt.TCPRcvCollapsed": 4, "TcpExt.TCPBacklogDrop": 3, "Udp.RcvbufErrors": 0}),
		sender(up, windows(wide(30*time.Microsecond, 150*time.Microsecond), lost(4400000, 726, 22), limitedBy(.3, .2), peerWindow(3e6), shut(.1), func(w *StreamWindow) { w.Now.Reordering = 40 })),
		receiver(up, buffers(engine.SockMem{RmemAlloc: 3e6, RcvBuf: 6e6})),
	}
	tests := []struct {
		name, want string
		e          Evidence
	}{
		{"both cores full", AllCoresFull, veth(append(noisy, rateOf(up, 8.6*gig), busy(1, .98, .85, .65))...)},
		{"both cores busy", CoresBusy, veth(append(noisy, rateOf(up, 8.6*gig), busy(.88, .71, .7, .5))...)},
		{"tbf 500M", OwnShaper, veth(rateOf(up, 478e6), busy(.15, .1, .05, .05), qdiscs(local, probes.Qdisc{Kind: "tbf", RateBps: 500e6, Overlimits: 90000, Dropped: 300}),
			sender(up, windows(wide(40*time.Microsecond, 6*ms), lost(120000, 400, 0), inBursts, peerWindow(3e6))), receiver(up, buffers(engine.SockMem{RcvBuf: 6e6})))},
	}
	for _, tt := range tests {
		for _, v := range Verdicts(tt.e) {
			for _, f := range append(v.Also, v.Main) {
				if f.Severity >= engine.SeverityWarning {
					t.Errorf("%s: %s %v: %s", tt.name, f.Code, f.Severity, f.Text)
				}
			}
			if v.Main.Code != tt.want {
				t.Errorf("%s: got %s %q, want %s", tt.name, v.Main.Code, v.Main.Text, tt.want)
			}
		}
	}
}
