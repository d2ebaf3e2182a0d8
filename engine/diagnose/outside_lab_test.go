package diagnose

import (
	"testing"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// The lab runs of the project's list, from their counters alone.
func TestLabRunsFromOutside(t *testing.T) {
	µs := time.Microsecond
	l4 := func(n int, more ...func(*Evidence)) Evidence {
		return outside(append([]func(*Evidence){streams(n), flows(up, 64.1e6*float64(n)), sockets(up, n, trip(40200*µs, 40*ms), limitedBy(.449, 0), by(bbr), func(w *StreamWindow) {
			w.Now.SndWnd, w.Now.NotSentBytes = 326272, 3671992
		}), readers(up, n, engine.SockMem{RcvBuf: 524288})}, more...)...)
	}
	l6 := func(edits ...func(*Evidence)) Evidence {
		return outside(append([]func(*Evidence){flows(up, 306e6), sockets(up, 1, trip(107*ms, 100*ms), limitedBy(0, .377), func(w *StreamWindow) {
			w.Now.SndWnd, w.Mem = 20970496, probes.Got(engine.SockMem{SndBuf: 4194304})
		}), setting(local, "net.ipv4.tcp_wmem", "4096 16384 4194304")}, edits...)...)
	}
	l7 := func(scale float64, edits ...func(*Evidence)) Evidence {
		return outside(append([]func(*Evidence){flows(up, 8.95e6*scale), sockets(up, 1, trip(41400*µs, 40*ms), resent(11831, 13), by(cubic), func(w *StreamWindow) {
			w.Now.SndCwnd, w.Now.SndSSThresh, w.Now.SndWnd = 32, 29, 3e6
		})}, edits...)...)
	}
	l9 := func(scale float64, edits ...func(*Evidence)) Evidence {
		return outside(append([]func(*Evidence){flows(up, 24.2e6*scale), sockets(up, 1, trip(21100*µs, 20*ms), resent(16306, 374), by(cubic)),
			tcp(local, probes.Counters{"TcpExt.TCPLostRetransmit": 10, "TcpExt.TCPTimeouts": 5})}, edits...)...)
	}
	l11 := func(edits ...func(*Evidence)) Evidence {
		return outside(append([]func(*Evidence){flows(up, 47.2e6), sockets(up, 1, trip(288300*µs, 20300*µs), resent(32789, 72), by(cubic), func(w *StreamWindow) { w.Now.SndCwnd = 1224 }),
			tcp(local, probes.Counters{"TcpExt.TCPTimeouts": 0})}, edits...)...)
	}
	l11b := func(again uint32) Evidence {
		return outside(flows(up, 47.6e6), sockets(up, 1, trip(28200*µs, 20400*µs), resent(34678, again), by(cubic)))
	}
	l12b := func(edits ...func(*Evidence)) Evidence {
		return outside(append([]func(*Evidence){flows(up, 31.1e6), sockets(up, 1, trip(272700*µs, 21500*µs), resent(28000, 0), func(w *StreamWindow) {
			w.Now.SndCwnd, w.Now.SegsIn = 882, 12320
		})}, edits...)...)
	}
	veth := kind(local, "veth")
	for _, x := range []exam{
		{name: "L1, 2 cores", e: outside(veth, flows(up, 9.82*gig), cores(local, 1, 1), softirq(local, 0, .19, .81), softirq(local, 1, .22, .78),
			tcp(local, probes.Counters{"TcpExt.TCPWantZeroWindowAdv": 1314}), sockets(up, 1, trip(54*µs, 3*µs), resent(3000000, 11), limitedBy(.169, .093), func(w *StreamWindow) { w.Now.AppLimited, w.Now.SndWnd = true, 3e6 }),
			readers(up, 1, engine.SockMem{RcvBuf: 33554432})), want: AllCoresFull, side: engine.Local, says: []string{"Both cores are full"}, fixed: true},
		{name: "L3, ramp with seconds", e: outside(ownWindow(262144), flows(up, 25.3e6), func(e *Evidence) {
			e.Test.Age, e.Flows[up].Seconds = 5*time.Second, []float64{3e6, 8e6, 15e6, 21e6, 25.3e6}
		}, sockets(up, 1, trip(40*ms, 40*ms), func(w *StreamWindow) {
			w.Before.SndCwnd, w.Before.SndMSS, w.Now.SndCwnd, w.Now.SndSSThresh = 80, 1448, 238, 28
		})), want: Ramping, side: engine.Path, says: []string{"slow start ended at 28 segments"}},
		{name: "L3, ramp without seconds", e: outside(ownWindow(262144), flows(up, 25.3e6), func(e *Evidence) { e.Test.Age, e.Flows[up].Seconds = 5*time.Second, nil },
			sockets(up, 1, trip(40*ms, 40*ms), func(w *StreamWindow) {
				w.Before.SndCwnd, w.Before.SndMSS, w.Now.SndCwnd, w.Now.SndSSThresh = 80, 1448, 238, 28
			}),
			tcp(local, probes.Counters{"TcpExt.TCPHystartDelayDetect": 1, "TcpExt.TCPTimeouts": 1})), want: Ramping, side: engine.Path},
		{name: "L3 later, -w 256K", e: outside(ownWindow(262144), flows(up, 64e6), sockets(up, 1, trip(40*ms, 40*ms), limitedBy(.6, 0), func(w *StreamWindow) { w.Now.SndWnd = 326272 })), want: LockedBuffer, side: engine.Far, says: []string{"-w 256 KiB", "Drop -w"}},
		{name: "L4", e: l4(1, setting(farEnd, "net.ipv4.tcp_rmem", "4096 131072 524288")), want: ReceiveWindow, side: engine.Far, says: []string{"far", "326 kB / 40.2 ms", "tcp_rmem", "far end"}},
		{name: "L4, two streams", e: l4(2, setting(farEnd, "net.ipv4.tcp_rmem", "4096 131072 524288")), want: ReceiveWindow, side: engine.Far},
		{name: "L4, settings unknown", e: l4(1), want: ReceiveWindow, side: engine.Far},
		{name: "L4, stock server", e: l4(1, func(e *Evidence) { e.Flows[up].Receiver = probes.Reading[[]StreamWindow]{} }), want: ReceiveWindow, side: engine.Far, says: []string{"far end not visible"}},
		{name: "L4, CUBIC and 8 idle cores", e: l4(1, cores(local, idleCores(8)...), cores(farEnd, idleCores(16)...), again(up, by(cubic))), want: ReceiveWindow, side: engine.Far},
		{name: "L4, program fixed it", e: l4(1, setting(farEnd, "net.ipv4.tcp_rmem", "4096 131072 33554432")), want: ReceiveWindow, side: engine.Far, says: []string{"SO_RCVBUF"}},
		{name: "L5", e: outside(flows(up, 51e6), sockets(up, 1, trip(40*ms, 40*ms), limitedBy(0, .716), func(w *StreamWindow) { w.Mem = probes.Got(engine.SockMem{SndBuf: 262144}) }), setting(local, "net.ipv4.tcp_wmem", "4096 16384 262144")), want: SendBuffer, side: engine.Local, says: []string{"262 kB / 40.0 ms", "tcp_wmem"}},
		{name: "L6", e: l6(), want: SendBuffer, side: engine.Local, says: []string{"4.19 MB / 107 ms", "Raise tcp_wmem here"}},
		{name: "L6, settings unknown", e: l6(func(e *Evidence) { e.Ends[local].Settings = nil }), want: SendBuffer, side: engine.Local},
		{name: "L7", e: l7(1), want: RandomLoss, side: engine.Path, says: []string{"0.11 %", "CUBIC"}},
		{name: "L7, 20 % slower", e: l7(.8), want: RandomLoss, side: engine.Path},
		{name: "L7, 20 % faster", e: l7(1.2), want: RandomLoss, side: engine.Path},
		{name: "L7, with 64 idle cores at both ends", e: l7(1, cores(local, idleCores(64)...), cores(farEnd, idleCores(64)...)), want: RandomLoss, side: engine.Path},
		{name: "L7, a stray pause frame", e: l7(1, driver(local, probes.Counters{"rx_pause": 1})), want: RandomLoss, side: engine.Path},
		{name: "L8: BBR bears it", e: outside(flows(up, 265e6), sockets(up, 1, trip(68*ms, 40*ms), resent(181627, 187), by(bbr)), cores(local, idleCores(4)...), cores(farEnd, idleCores(4)...)), want: NoCause, side: engine.Path},
		{name: "L9", e: l9(1), want: Policer, side: engine.Path, says: []string{"2.29 %"}},
		{name: "L9, 20 % slower", e: l9(.8), want: Policer, side: engine.Path},
		{name: "L9, 20 % faster", e: l9(1.2), want: Policer, side: engine.Path},
		{name: "L10: BBR at a policer with a short queue", e: outside(flows(up, 47e6), sockets(up, 1, trip(32800*µs, 20*ms), resent(41000, 2952), by(bbr)),
			tcp(local, probes.Counters{"TcpExt.TCPLostRetransmit": 97, "Tcp.RetransSegs": 2952, "TcpExt.TCPTimeouts": 1})), want: Policer, side: engine.Path, says: []string{"7.20 %"}},
		{name: "L11", e: l11(), want: Bufferbloat, side: engine.Path, says: []string{"268 ms", "47.2 Mbit/s"}},
		{name: "L11, BBR", e: l11(again(up, by(bbr))), want: Bufferbloat, side: engine.Path},
		{name: "L11b", e: l11b(139), want: ShallowQueue, side: engine.Path},
		{name: "L11b, a fifth more lost", e: l11b(167), want: ShallowQueue, side: engine.Path},
		{name: "L11b, a fifth less lost", e: l11b(111), want: ShallowQueue, side: engine.Path},
		{name: "L12, as it was asked", e: outside(flows(up, 28.7e6), func(e *Evidence) { e.Test.Spec.FQRate = 30e6 }), want: Paced, side: engine.Local, says: []string{"30.0 Mbit/s"}, fixed: true},
		{name: "L12, by the socket", e: outside(flows(up, 28e6), sockets(up, 1, trip(20*ms, 20*ms), func(w *StreamWindow) {
			w.Now.MaxPacingRate, w.Now.PacingRate, w.Now.NotSentBytes = 3750000, 3750000, 505352
		})), want: Paced, side: engine.Local, says: []string{"30.0 Mbit/s", "SO_MAX_PACING_RATE"}},
		{name: "L12a, as it was asked", e: outside(flows(up, 20.1e6), func(e *Evidence) { e.Test.Spec.Bitrate = 20e6 }), want: AskedRate, side: engine.Local, fixed: true},
		{name: "L12a, by the sockets", e: outside(flows(up, 20.1e6), cores(local, .06, .06), sockets(up, 1, trip(ms, ms), func(w *StreamWindow) {
			w.Span, w.Now.BusyTime, w.Now.AppLimited = 4420*ms, 2160*ms, true
		})), want: AskedRate, side: engine.Local, says: []string{"20.1 Mbit/s"}},
		{name: "L12b, the reverse was tested", e: l12b(step(1, down, .5e6, 0)), want: AckCongestion, side: engine.Path, says: []string{"500 kbit/s", "31.1 Mbit/s"}},
		{name: "L12b, the reverse flows too", e: l12b(direction(engine.Both), flows(down, .5e6)), want: AckCongestion, side: engine.Path, fixed: true},
		{name: "L12b, the receiver shapes itself", e: l12b(qdiscs(farEnd, probes.Qdisc{Kind: "tbf", RateBps: .5e6})), want: AckCongestion, side: engine.Path},
		{name: "L13", e: outside(flows(up, 191.3e6), qdiscs(local, probes.Qdisc{Kind: "tbf", Parent: "root", RateBps: 200e6, Overlimits: 199891}), sockets(up, 1, trip(5200*µs, 7*µs), resent(50000, 0), buffers(engine.SockMem{WmemAlloc: 136800}))), want: OwnShaper, side: engine.Local, says: []string{"200 Mbit/s"}},
		{name: "L14, CPU as it was", e: outside(veth, flows(up, 5.72*gig), cores(local, .96, .97), softirq(local, 0, .51, .45), offloads(local, false, false, false), softnet(local, probes.Softnet{Core: 0, Processed: 4 * 477870}, probes.Softnet{Core: 1, Processed: 4 * 162252})), want: OffloadsOff, side: engine.Local, says: []string{"640k packets"}},
		{name: "L14, softirq only", e: outside(veth, flows(up, 5.72*gig), softirqOnly(.51, .51), offloads(local, false, false, false), softnet(local, probes.Softnet{Core: 0, Processed: 4 * 477870}, probes.Softnet{Core: 1, Processed: 4 * 162252})), want: OffloadsOff, side: engine.Local},
		{name: "L14, CPU unknown", e: outside(veth, mtu(local, 1500), flows(up, 5.72*gig), offloads(local, false, false, false), softnet(local, probes.Softnet{Core: 0, Processed: 4 * 477870}, probes.Softnet{Core: 1, Processed: 4 * 162252})), want: OffloadsOff, side: engine.Local},
		{name: "L15, both on core 0 of 2", e: outside(veth, flows(up, 19.98*gig), cores(local, 1, .1), thread(local, "lr-tx-1", up, 0, .55), func(e *Evidence) { e.Test.Spec.Affinity = 0 },
			sockets(up, 1, trip(60*µs, 3*µs), limitedBy(.586, 0), func(w *StreamWindow) { w.Now.SndWnd = 150000 })), want: CrowdedCore, side: engine.Local, fixed: true},
		{name: "L16", e: outside(flows(up, 80e6), sockets(up, 1, trip(21*ms, 20*ms), resent(100000, 3090), by(cubic), func(w *StreamWindow) { w.Now.DSACKDups, w.Now.Reordering = 2585, 40 })), want: Reordering, side: engine.Path},
		{name: "L16, EEE is active", e: outside(flows(up, 80e6), sockets(up, 1, trip(21*ms, 20*ms), resent(100000, 3090), by(cubic), func(w *StreamWindow) { w.Now.DSACKDups = 3080 }), efficient(true)), want: Reordering, side: engine.Path},
		{name: "L17", e: outside(func(e *Evidence) { e.Test.UDP = true }, flows(up, 775e6), tcp(farEnd, probes.Counters{"Udp.RcvbufErrors": 105092, "Udp.InErrors": 105092})), want: DatagramBufferFull, side: engine.Far, says: []string{"far"}},
		{name: "L18", e: outside(flows(up, 300e6), sockets(up, 1, trip(1100*µs, ms), limitedBy(.905, 0), func(w *StreamWindow) { w.Now.SndWnd = 40000 }), readers(up, 1, engine.SockMem{RmemAlloc: 11.74e6, RcvBuf: 11.88e6})), want: LateReader, side: engine.Far, says: []string{"99 % full"}},
		{name: "L18, seen by the window alone", e: outside(flows(up, 300e6), sockets(up, 1, trip(1100*µs, ms), limitedBy(.905, 0), shut(.3)), readers(up, 1, engine.SockMem{RmemAlloc: 11.74e6, RcvBuf: 11.88e6})), want: LateReader, side: engine.Far},
		{name: "L19, swept", e: outside(mtu(local, 9000), swept(4074, true), stuckFlow(up, 8*time.Second), sockets(up, 1, trip(20*ms, 20*ms), resent(40, 8), func(w *StreamWindow) { w.Now.CAState, w.Now.Backoff, w.Now.SndCwnd, w.Now.SndMSS = 4, 5, 1, 8948 }),
			tcp(local, probes.Counters{"TcpExt.TCPTimeouts": 5, "TcpExt.TCPLostRetransmit": 6})), want: BlackHole, side: engine.Path, says: []string{"4074", "9000"}},
		{name: "L19, not swept", e: outside(mtu(local, 9000), stuckFlow(up, 8*time.Second), sockets(up, 1, resent(40, 8), func(w *StreamWindow) { w.Now.SndCwnd, w.Now.SndMSS = 1, 8948 }),
			tcp(local, probes.Counters{"TcpExt.TCPTimeouts": 5, "TcpExt.TCPLostRetransmit": 6})), want: BlackHole, side: engine.Path, says: []string{"9000"}},
		{name: "L19, time without payload left out", e: outside(mtu(local, 9000), swept(4074, true), func(e *Evidence) {
			e.Flows[up].Rate, e.Flows[up].Window = probes.Got(0.0), 3*time.Second
		}), want: BlackHole, side: engine.Path, says: []string{"4074"}},
		{name: "L20", e: outside(mtu(local, 9000), flows(up, 2.42*gig), sockets(up, 1, trip(20*ms, 20*ms), resent(40000, 6), func(w *StreamWindow) { w.Now.SndMSS, w.Now.PMTU, w.Now.SndWnd = 4019, 9000, 3e6 }), step(1, down, 4.9*gig, 0),
			tcp(local, probes.Counters{"TcpExt.TCPMTUPSuccess": 5, "TcpExt.TCPMTUPFail": 6, "TcpExt.TCPTimeouts": 4})), want: BlackHole, side: engine.Path, says: []string{"4019"}},
	} {
		x.run(t)
	}
}

// softirqOnly is cores of which only the softirq share is told.
func softirqOnly(shares ...float64) func(*Evidence) {
	return func(e *Evidence) {
		var all []probes.CoreLoad
		for i, s := range shares {
			all = append(all, probes.CoreLoad{Core: i, SoftIRQ: s, Idle: 1 - s})
		}
		e.Ends[local].Cores = probes.Got(all)
	}
}
