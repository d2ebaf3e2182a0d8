package diagnose

import (
	"testing"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// lossy is a CUBIC flow over 40 ms that loses 0.11 %: Mathis allows 10 Mbit/s.
func lossy(edits ...func(*Evidence)) Evidence {
	all := []func(*Evidence){quietFar, rateOf(up, 8.95e6), sender(up, windows(wide(40*ms, 41*ms), lost(11831, 13, 0), by(cubic)))}
	return base(append(all, edits...)...)
}

// policed is a CUBIC flow at a policer of 50 Mbit/s.
func policed(edits ...func(*Evidence)) Evidence {
	all := []func(*Evidence){quietFar, rateOf(up, 25e6), sender(up, windows(wide(20*ms, 21*ms), lost(16306, 374, 0), by(cubic))),
		tcp(local, probes.Counters{"TcpExt.TCPLostRetransmit": 10, "TcpExt.TCPTimeouts": 5, "Tcp.RetransSegs": 374})}
	return base(append(all, edits...)...)
}

// shallow is a CUBIC flow through a queue of 60 KB at 50 Mbit/s.
func shallow(edits ...func(*Evidence)) Evidence {
	all := []func(*Evidence){quietFar, rateOf(up, 48.2e6), sender(up, windows(wide(20400*time.Microsecond, 28200*time.Microsecond), lost(34678, 139, 0), inBursts, by(cubic)))}
	return base(append(all, edits...)...)
}

// bloat is a CUBIC flow with a queue of 268 ms.
func bloat(edits ...func(*Evidence)) Evidence {
	all := []func(*Evidence){quietFar, rateOf(up, 47.2e6), sender(up, windows(wide(20300*time.Microsecond, 288300*time.Microsecond), lost(32789, 72, 0), inBursts, by(cubic)))}
	return base(append(all, edits...)...)
}

func lossless(w *StreamWindow) { lost(32789, 0, 0)(w) }

// swept is what probing the path showed.
func swept(out int, hole bool) func(*Evidence) {
	return func(e *Evidence) {
		e.Path.MTU.Out, e.Path.MTU.BlackHole = probes.Got(out), hole
	}
}

// sweptBack is what the far end has found of the way back.
func sweptBack(in int, hole bool) func(*Evidence) {
	return func(e *Evidence) {
		m := &e.Path.MTU
		m.In, m.InBlackHole, m.InTooBig = probes.Got(in), hole, probes.Unknown[int](probes.Absent, "all sizes pass")
		if hole {
			m.InTooBig = probes.Got(in + 1)
		}
	}
}

func stuckFlow(dir engine.Direction, d time.Duration) func(*Evidence) {
	return func(e *Evidence) {
		e.Flows[dir].Rate, e.Flows[dir].Idle = probes.Got(0.0), probes.Got(d)
	}
}

// waiting is a sender in timeouts with one packet of the given size in flight.
func waiting(mss uint32) func(*StreamWindow) {
	return func(w *StreamWindow) {
		w.Now.CAState, w.Now.Backoff, w.Now.SndCwnd, w.Now.SndMSS, w.Now.PMTU = caStateLoss, 3, 1, mss, mss+52
	}
}

func segment(mss, pmtu uint32) func(*StreamWindow) {
	return func(w *StreamWindow) { w.Now.SndMSS, w.Now.PMTU, w.Now.Options = mss, pmtu, 7 }
}

func pathRows() []row {
	hole := []func(*Evidence){mtu(local, 9000), stuckFlow(up, 8*time.Second), sender(up, waiting(8948))}
	holeBack := []func(*Evidence){quietFar, direction(down), mtu(local, 9000), mtu(farEnd, 9000), stuckFlow(down, 8*time.Second), sender(down, waiting(8948))}
	noWayBack := func(e *Evidence) {
		e.Path.MTU.In = probes.Unknown[int](probes.Absent, "only a linerate server can tell the way back")
	}
	twoWays := func(mtuBytes int, there, back float64, edits ...func(*Evidence)) Evidence {
		all := []func(*Evidence){quietFar, direction(engine.Both), mtu(local, mtuBytes), mtu(farEnd, mtuBytes), swept(mtuBytes, false),
			rateOf(up, back), rateOf(down, there), func(e *Evidence) { e.Path.MTU.In = probes.Got(mtuBytes) }}
		return base(append(all, edits...)...)
	}
	alone := func(dir engine.Direction, bps float64) func(*Evidence) { return step(1, dir, bps, 0) }
	return []row{
		{RandomLoss, "0.11 % at 40 ms", lossy(), up, Holds, "0.11 % random loss at 41.0 ms allows about 10.4 Mbit/s to CUBIC"},
		{RandomLoss, "twice what Mathis allows", lossy(rateOf(up, 21e6)), up, RuledOut, "would allow 10.4"},
		{RandomLoss, "less than half of it", lossy(rateOf(up, 4.4e6)), up, RuledOut, ""},
		{RandomLoss, "next to nothing lost", lossy(again(up, lost(1100000, 10, 0))), up, RuledOut, "0.0009 %"},
		{RandomLoss, "half of it in vain", lossy(again(up, lost(11831, 14, 7))), up, RuledOut, "false alarms"},
		{RandomLoss, "a queue", lossy(again(up, wide(40*ms, 48*ms))), up, RuledOut, "a queue of 8.00 ms"},
		{RandomLoss, "over veth", lossy(kind(local, "veth"), again(up, wide(100*time.Microsecond, 150*time.Microsecond), lost(4400000, 726, 22)), rateOf(up, 8.59*gig)), up, RuledOut, "do not leave this computer"},
		{RandomLoss, "in bursts", lossy(again(up, inBursts)), up, RuledOut, "in bursts"},
		{RandomLoss, "a core is full", lossy(cores(local, .1, .97), thread(local, "lr-tx-1", up, 1, .97)), up, RuledOut, "CPU first"},
		{RandomLoss, "own shaper", lossy(qdiscs(local, probes.Qdisc{Kind: "tbf", RateBps: 9.3e6})), up, RuledOut, "own shaper"},
		{RandomLoss, "ramp", lossy(ramp(1e6, 2e6, 4e6, 8e6, 9e6), func(e *Evidence) { e.Test.Age = 5 * time.Second }, func(e *Evidence) {
			e.Flows[up].Sender = probes.Unknown[[]StreamWindow](probes.Absent, "gone")
		}), up, Unseen, "still ramping up"},
		{RandomLoss, "TCP_INFO unknown", base(), up, Unseen, "only the other end knows"},
		{RandomLoss, "far sender", base(direction(down)), down, Unseen, "far end not visible"},
		{RandomLoss, "kernel too old", lossy(again(up, func(w *StreamWindow) { w.Info, w.Losses = probes.Got(144), nil })), up, Unseen, "too short"},

		{Policer, "CUBIC at 50M", policed(), up, Holds, "The path polices at 25.0 Mbit/s or somewhat more: it drops 2.29 % without queueing."},
		{Policer, "BBR", policed(rateOf(up, 47e6), again(up, lost(20000, 1440, 0), by(bbr)), func(e *Evidence) { e.Ends[local].Vitals = probes.Vitals{} }), up, Holds, "47.0 Mbit/s"},
		{Policer, "0.49 %", policed(again(up, lost(20000, 98, 0))), up, RuledOut, "0.49 %"},
		{Policer, "0.6 %, no timeouts", policed(rateOf(up, 30e6), again(up, lost(20000, 120, 0)), tcp(local, probes.Counters{"TcpExt.TCPTimeouts": 0})), up, RuledOut, "none timed out"},
		{Policer, "lost long ago", policed(again(up, func(w *StreamWindow) { w.Now.TotalRetrans = w.Before.TotalRetrans + 80 })), up, RuledOut, "0.49 %"},
		{Policer, "what random loss allows", policed(rateOf(up, 13e6)), up, RuledOut, "would allow"},
		{Policer, "BBR was 34 times as fast", policed(steps(Step{Spec: engine.Spec{Streams: 1, Congestion: bbr}, Rates: [2]float64{34 * 25e6, 0}})), up, RuledOut, "850 Mbit/s went through"},
		{Policer, "BBR was twice as fast", policed(steps(Step{Spec: engine.Spec{Streams: 1, Congestion: bbr}, Rates: [2]float64{47e6, 0}})), up, Holds, "about 47.0 Mbit/s"},
		{Policer, "a queue, few lost again", policed(again(up, wide(20*ms, 33*ms)), tcp(local, probes.Counters{"TcpExt.TCPLostRetransmit": 7})), up, RuledOut, "a queue"},
		{Policer, "a queue, 2.7 % lost again", policed(again(up, wide(20*ms, 33*ms)), rateOf(up, 47e6)), up, Holds, ""},
		{Policer, "counters unknown", policed(rateOf(up, 30e6), again(up, lost(20000, 120, 0)), blindVitals(local)), up, Unseen, "lost retransmissions"},
		{Policer, "TCP_INFO unknown", base(), up, Unseen, "only the other end knows"},

		{ShallowQueue, "60 KB", shallow(), up, Holds, "A buffer on the path is small: 0.40 % lost at the peaks"},
		{ShallowQueue, "BBR did better by far", shallow(steps(Step{Spec: engine.Spec{Congestion: bbr}, Rates: [2]float64{57e6, 0}})), up, RuledOut, "that BBR or UDP reached"},
		{ShallowQueue, "BBR did the same", shallow(steps(Step{Spec: engine.Spec{Congestion: bbr}, Rates: [2]float64{50e6, 0}})), up, Holds, ""},
		{ShallowQueue, "0.09 %", shallow(again(up, lost(34678, 31, 0), inBursts)), up, RuledOut, "0.09 %"},
		{ShallowQueue, "1.1 %", shallow(again(up, lost(34678, 381, 0), inBursts)), up, RuledOut, "1.10 %"},
		{ShallowQueue, "a longer queue", shallow(again(up, wide(20*ms, 31*ms))), up, RuledOut, "a queue"},
		{ShallowQueue, "no bursts", shallow(again(up, lost(34678, 139, 0))), up, RuledOut, "not come in bursts"},
		{ShallowQueue, "TCP_INFO unknown", base(), up, Unseen, "only the other end knows"},

		{Bufferbloat, "268 ms", bloat(), up, Holds, "A queue adds 268 ms (20.3 ms → 288 ms) at 47.2 Mbit/s, awful: about 1.58 MB wait in it."},
		{Bufferbloat, "nothing lost: which direction?", bloat(again(up, lossless)), up, Holds, "A queue in one of the directions adds 268 ms"},
		{Bufferbloat, "nothing lost, the reverse has room", bloat(again(up, lossless), alone(down, 90e6)), up, Holds, "A queue adds 268 ms"},
		{Bufferbloat, "the reverse is what is full", bloat(again(up, lossless), rateOf(up, 31e6), alone(down, .5e6)), up, RuledOut, "reverse direction"},
		{Bufferbloat, "4.9 ms", bloat(again(up, wide(ms, 5900*time.Microsecond))), up, RuledOut, "adds 4.90 ms"},
		{Bufferbloat, "less than the path itself", bloat(again(up, wide(20*ms, 39*ms))), up, RuledOut, "adds 19.0 ms"},
		{Bufferbloat, "much lost", bloat(again(up, lost(10000, 101, 0))), up, RuledOut, "1.01 %"},
		{Bufferbloat, "much lost long ago", bloat(again(up, lost(10000, 400, 0), func(w *StreamWindow) { w.Now.TotalRetrans = w.Before.TotalRetrans + 20 })), up, Holds, ""},
		{Bufferbloat, "own shaper's queue", bloat(qdiscs(local, probes.Qdisc{Kind: "tbf", RateBps: 50e6})), up, RuledOut, "own shaper"},
		{Bufferbloat, "TCP_INFO unknown", base(), up, Unseen, "only the other end knows"},

		{AckCongestion, "ACK path of 0.5M", bloat(again(up, lossless), rateOf(up, 31e6), alone(down, .5e6)), up, Holds, "Acknowledgements queue in the reverse direction, which carries 500 kbit/s: upload drops to 31.0 Mbit/s"},
		{AckCongestion, "reverse not tested", bloat(again(up, lossless)), up, Holds, "a queue in one of the directions. Test the reverse."},
		{AckCongestion, "the reverse has room", bloat(again(up, lossless), alone(down, 90e6)), up, RuledOut, "room for the acknowledgements"},
		{AckCongestion, "segments lost", bloat(alone(down, .5e6)), up, RuledOut, "this direction"},
		{AckCongestion, "no queue", bloat(again(up, lossless, wide(20*ms, 24*ms)), alone(down, .5e6)), up, RuledOut, "adds 4.00 ms"},
		{AckCongestion, "behind the own upload", base(quietFar, direction(engine.Both), alone(down, 90e6), rateOf(down, 31e6), rateOf(up, 5e6), sender(down, windows(wide(20*ms, 270*ms), lossless))), down, Holds, "download drops to 31.0 Mbit/s"},
		{AckCongestion, "both full alike", base(quietFar, direction(engine.Both), rateOf(down, 47e6), rateOf(up, 47e6), sender(down, windows(wide(20*ms, 270*ms), lossless))), down, RuledOut, "alike"},
		{AckCongestion, "TCP_INFO unknown", base(), up, Unseen, "only the other end knows"},

		{BlackHole, "sweep found 4074", base(append(hole, swept(4074, true))...), up, Holds, "The path drops packets above 4074 bytes in upload (host MTU 9000)."},
		{BlackHole, "sweep, no TCP_INFO", base(mtu(local, 9000), stuckFlow(up, 8*time.Second), swept(4074, true)), up, Holds, "4074"},
		{BlackHole, "no sweep yet, reverse fine", base(append(hole, step(1, down, 9.5*gig, 0))...), up, Holds, "seems to drop large packets"},
		{BlackHole, "full size passes", base(append(hole, swept(9000, false))...), up, RuledOut, "packets of 9000 bytes pass"},
		{BlackHole, "payload moves", base(append(hole, swept(4074, true), stuckFlow(up, 900*ms))...), up, RuledOut, "payload moves"},
		{BlackHole, "a router said so", base(append(hole, swept(4074, false), func(e *Evidence) { e.Path.MTU.Reported = probes.Got(4074) })...), up, RuledOut, ""},
		{BlackHole, "the other direction stands still too", base(append(hole, direction(engine.Both), stuckFlow(down, 8*time.Second))...), up, RuledOut, "stands still too"},
		{BlackHole, "both ways, not swept, nothing has moved", base(append(hole, direction(engine.Both))...), up, Holds, "seems to drop large packets"},
		{BlackHole, "both ways, not swept, it moved before", base(append(hole, direction(engine.Both), again(up, func(w *StreamWindow) { w.Now.BytesAcked = 1 << 30 }))...), up, Unseen, "only while both directions run"},
		{BlackHole, "both ways, not swept, still for 2.9 s", base(append(hole, direction(engine.Both), stuckFlow(up, 2900*ms))...), up, Unseen, "only while both directions run"},
		{BlackHole, "moved a lot before, not swept", base(append(hole, again(up, func(w *StreamWindow) { w.Now.BytesAcked = 1 << 30 }))...), up, Unseen, "path MTU"},
		{BlackHole, "MTU unknown", base(stuckFlow(up, 8*time.Second), sender(up, waiting(8948)), step(1, down, 9.5*gig, 0)), up, Unseen, "MTU"},
		{BlackHole, "TCP_INFO and sweep unknown", base(mtu(local, 9000), stuckFlow(up, 8*time.Second)), up, Unseen, "TCP_INFO"},
		{BlackHole, "TCP has found it by probing", base(quietFar, mtu(local, 9000), rateOf(up, 2.42*gig), sender(up, segment(4019, 9000)), tcp(local, probes.Counters{"TcpExt.TCPMTUPSuccess": 5, "TcpExt.TCPMTUPFail": 6})), up, Holds, "sends segments of 4019"},
		{BlackHole, "the other end asked for small segments", base(quietFar, mtu(local, 9000), rateOf(up, 2.42*gig), sender(up, segment(1448, 9000)), swept(1504, true)), up, RuledOut, "payload moves"},
		{BlackHole, "segments shrunk, and nothing moves", base(quietFar, mtu(local, 9000), mtu(farEnd, 9000), stuckFlow(up, 8*time.Second), sender(up, windows(waiting(1448), func(w *StreamWindow) { w.Now.PMTU = 9000 })), swept(4074, true)), up, Holds, "The path drops packets above 4074 bytes in upload"},
		{BlackHole, "without traffic", base(idleTest, mtu(local, 9000), swept(4074, true)), up, Holds, "above 4074 bytes"},
		{BlackHole, "without traffic, all passes", base(idleTest, mtu(local, 9000), swept(9000, false)), up, RuledOut, "pass"},
		{BlackHole, "download, swept by the far end", base(append(holeBack, sweptBack(4074, true))...), down, Holds, "The path drops packets above 4074 bytes in download (host MTU 9000)."},
		{BlackHole, "download, the way out swallows", base(append(holeBack, sweptBack(9000, false), swept(4074, true))...), down, RuledOut, "packets of 9000 bytes pass in download"},
		{BlackHole, "download, a router there said so", base(append(holeBack, sweptBack(4074, false), func(e *Evidence) { e.Path.MTU.InReported = probes.Got(4074) })...), down, RuledOut, "packets of 4074 bytes pass"},
		{BlackHole, "download, a router here said so", base(append(holeBack, sweptBack(4074, true), func(e *Evidence) { e.Path.MTU.Reported = probes.Got(1500) })...), down, Holds, "above 4074 bytes in download"},
		{BlackHole, "download, the far end does not tell", base(append(holeBack, noWayBack, again(down, func(w *StreamWindow) { w.Now.BytesAcked = 1 << 30 }))...), down, Unseen, "only a linerate server"},
		{BlackHole, "download, TCP there has found it by probing", base(quietFar, direction(down), mtu(farEnd, 9000), rateOf(down, 2.42*gig), sender(down, segment(4019, 9000)), sweptBack(4074, true)), down, Holds, "above about 4074 bytes in download"},
		{BlackHole, "download, without traffic", base(idleTest, mtu(farEnd, 9000), sweptBack(4074, true)), down, Holds, "above 4074 bytes in download"},
		{BlackHole, "without traffic, not swept", base(idleTest, mtu(local, 9000)), up, Unseen, "path MTU"},

		{MixedMTU, "jumbo one way", base(direction(engine.Both), mtu(local, 9000), sender(up, segment(8948, 9000)), sender(down, segment(1448, 1500))), up, Holds, "Packets of 9000 bytes one way and 1500 the other"},
		{MixedMTU, "path differs by direction", base(mtu(local, 9000), swept(9000, false), func(e *Evidence) { e.Path.MTU.In = probes.Got(1500) }), up, Holds, "9000 bytes out and 1500 back"},
		{MixedMTU, "larger ones vanish on the way back", base(mtu(local, 9000), swept(9000, false), sweptBack(4074, true)), up, Holds, "9000 bytes out and 4074 back; larger ones vanish on the way back."},
		{MixedMTU, "larger ones vanish on the way out", base(mtu(local, 9000), swept(4074, true), sweptBack(9000, false)), down, Holds, "4074 bytes out and 9000 back; larger ones vanish on the way out."},
		{MixedMTU, "time ran out", base(mtu(local, 9000), swept(9000, false), sweptBack(576, true), sender(up, segment(8948, 9000)), func(e *Evidence) { e.Path.MTU.InTooBig = probes.Got(9000) }), up, RuledOut, "as large as"},
		{MixedMTU, "TCP carries more than the sweep", base(quietFar, direction(down), mtu(farEnd, 9000), swept(9000, false), sweptBack(8000, true), sender(down, windows(segment(8948, 9000), func(w *StreamWindow) {
			w.Before.SndMSS, w.Before.BytesAcked, w.Now.BytesAcked = 8948, 0, 20*8948
		}))), down, RuledOut, "as large as"},
		{MixedMTU, "smaller than the interface", base(mtu(local, 9000), sender(up, segment(1448, 1500))), up, Holds, "allows packets of 9000 bytes, but TCP uses 1500"},
		{MixedMTU, "fragments fail", base(mtu(local, 1500), sender(up, segment(1448, 1500)), tcp(local, probes.Counters{"Ip.FragFails": 3})), up, Holds, "3 times"},
		{MixedMTU, "an ordinary line", base(mtu(local, 1500), sender(up, segment(1400, 1452))), up, RuledOut, "as large as"},
		{MixedMTU, "own -M", base(mtu(local, 9000), sender(up, segment(1448, 1500)), func(e *Evidence) { e.Test.Spec.MSS = 1448 }), up, RuledOut, "-M"},
		{MixedMTU, "segments unknown", base(mtu(local, 9000)), up, Unseen, "segment size"},
		{MixedMTU, "MTU unknown", base(sender(up, segment(1448, 1500))), up, Unseen, "MTU"},

		{LargeFramesLost, "2.3 of 978, 980 alone", twoWays(9000, 978e6, 2.27e6, alone(up, 980e6)), up, Holds, "Large frames are lost only while both directions run (2.27 Mbit/s then, 980 Mbit/s alone)"},
		{LargeFramesLost, "not tested alone", twoWays(9000, 978e6, 2.27e6), up, Holds, "Test it alone."},
		{LargeFramesLost, "in the step alone", twoWays(9000, 0, 0, direction(up), rateOf(up, 980e6), steps(Step{Spec: engine.Spec{Direction: engine.Both}, Rates: [2]float64{2.27e6, 978e6}})), up, Holds, "980 Mbit/s alone"},
		{LargeFramesLost, "the other direction is well", twoWays(9000, 978e6, 2.27e6, alone(up, 980e6)), down, RuledOut, ""},
		{LargeFramesLost, "half as fast", twoWays(9000, 900e6, 450e6, alone(up, 980e6)), up, RuledOut, ""},
		{LargeFramesLost, "no better alone", twoWays(9000, 978e6, 2.27e6, alone(up, 3e6)), up, RuledOut, "alone it reaches only"},
		{LargeFramesLost, "ordinary frames", twoWays(1500, 978e6, 2.27e6, alone(up, 980e6)), up, RuledOut, "no large frames"},
		{LargeFramesLost, "black hole", twoWays(9000, 978e6, 2.27e6, alone(up, 980e6), swept(4074, true)), up, RuledOut, "one by one"},
		{LargeFramesLost, "a sweep fooled by losses", twoWays(9000, 978e6, 2.27e6, alone(up, 980e6), swept(8999, true), sender(up, windows(segment(8948, 9000), func(w *StreamWindow) {
			w.Before.SndMSS, w.Before.BytesAcked, w.Now.BytesAcked = 8948, 0, 20*8948
		}))), up, Holds, "MTU 9000 itself passes"},
		{LargeFramesLost, "download", twoWays(9000, 2.27e6, 978e6, alone(down, 980e6)), down, Holds, "MTU 9000 itself passes"},
		{LargeFramesLost, "download, black hole", twoWays(9000, 2.27e6, 978e6, alone(down, 980e6), sweptBack(4074, true)), down, RuledOut, "one by one"},
		{LargeFramesLost, "too little to tell", twoWays(9000, 978e6, 2.27e6, alone(up, 980e6), swept(8999, true), sender(up, windows(segment(8948, 9000), func(w *StreamWindow) {
			w.Before.SndMSS, w.Before.BytesAcked, w.Now.BytesAcked = 8948, 0, 19*8948
		}))), up, RuledOut, "one by one"},
		{LargeFramesLost, "nothing passes", twoWays(9000, 978e6, 0, alone(up, 980e6)), up, RuledOut, "nothing at all"},
		{LargeFramesLost, "half duplex", twoWays(9000, 978e6, 2.27e6, alone(up, 980e6), nic(local, func(n *probes.NIC) { n.Duplex = probes.Got("half") })), up, RuledOut, "half duplex"},
		{LargeFramesLost, "never both ways", base(), up, Unseen, "not tested"},
		{LargeFramesLost, "MTU unknown", base(direction(engine.Both), rateOf(up, 2e6)), up, Unseen, "MTU"},
	}
}

func TestMathis(t *testing.T) {
	tests := []struct{ rtt, p, want float64 }{
		{.040, 1e-6, 353e6}, {.040, 1e-5, 112e6}, {.040, 1e-4, 35.3e6}, {.040, 1e-3, 11.2e6}, {.040, 1e-2, 3.5e6},
		{.0404, .00138, 9.4e6},
	}
	for _, tt := range tests {
		if got := mathis(1448, tt.rtt, tt.p, "reno"); !near(got, tt.want, 0.01) {
			t.Errorf("p %g over %g s: got %.4g, want %.4g", tt.p, tt.rtt, got, tt.want)
		}
	}
	if got := mathis(1448, .040, 1e-5, cubic); !near(got, 154e6, 0.01) {
		t.Errorf("CUBIC at 1e-5: got %.4g, want 1.54e8", got)
	}
}

// Losses at random are told from those at the peaks of a sawtooth.
func TestDispersion(t *testing.T) {
	var even, bursts StreamWindow
	for _, n := range []uint32{1, 3, 0, 2, 1, 2, 4, 1, 0, 2} {
		even.Losses = append(even.Losses, Loss{1000, n, 0})
	}
	for _, n := range []uint32{0, 0, 14, 0, 0, 0, 16, 0, 0, 0} {
		bursts.Losses = append(bursts.Losses, Loss{1000, n, 0})
	}
	get := func(w StreamWindow) float64 {
		e := Evidence{}
		e.Flows[up].Sender = probes.Got([]StreamWindow{w})
		l := e.loss(up)
		if !l.Known() || !l.Value.dispersion.Known() {
			t.Fatalf("%+v: unknown", l)
		}
		return l.Value.dispersion.Value
	}
	if d := get(even); d >= clusteredFrom {
		t.Errorf("random losses: dispersion %.2f, want below %v", d, clusteredFrom)
	}
	if d := get(bursts); d < clusteredFrom {
		t.Errorf("bursts: dispersion %.2f, want %v and more", d, clusteredFrom)
	}
}
