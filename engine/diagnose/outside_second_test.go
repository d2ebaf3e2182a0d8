package diagnose

import (
	"slices"
	"testing"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// Two things at once: the order of the list decides, symptoms of the first are not said, and
// what is a trap is not walked into.
func TestSecondSymptomsFromOutside(t *testing.T) {
	µs := time.Microsecond
	window := []func(*Evidence){flows(up, 64.1e6), sockets(up, 1, trip(40200*µs, 40*ms), limitedBy(.449, 0), func(w *StreamWindow) { w.Now.SndWnd = 326272 }), readers(up, 1, engine.SockMem{RcvBuf: 524288})}
	lossy := []func(*Evidence){flows(up, 8.95e6), sockets(up, 1, trip(41400*µs, 40*ms), resent(11831, 13), by(cubic))}
	policed := []func(*Evidence){flows(up, 24.2e6), sockets(up, 1, trip(21100*µs, 20*ms), resent(16306, 374), by(cubic)), tcp(local, probes.Counters{"TcpExt.TCPLostRetransmit": 10, "TcpExt.TCPTimeouts": 5})}
	queue := []func(*Evidence){flows(up, 47.2e6), sockets(up, 1, trip(288300*µs, 20300*µs), resent(32789, 72), by(cubic))}
	with := func(edits []func(*Evidence), more ...func(*Evidence)) Evidence {
		return outside(slices.Concat(edits, more)...)
	}
	burnt := func(side engine.Side) func(*Evidence) { // a relay on the same computer spins
		return func(e *Evidence) {
			cores(side, 1, 1)(e)
			e.Ends[side].Process = probes.Got(.03)
			others(side, "relay", 0, .97)(e)
			others(side, "relay", 1, .97)(e)
		}
	}
	for _, tt := range []struct {
		name  string
		e     Evidence
		want  string
		never []string
	}{
		{"a full window and a receiver whose core is full", with(window, cores(farEnd, .1, .2, .99, .1), thread(farEnd, "lr-rx-1", up, 2, .97), readers(up, 1, engine.SockMem{RmemAlloc: 4e5, RcvBuf: 524288})), ReceiverCore, []string{ReceiveWindow, LateReader}},
		{"the same, but nothing waits for the reader", with(window, cores(farEnd, .1, .2, .99, .1), thread(farEnd, "lr-rx-1", up, 2, .97)), NoCause, []string{ReceiveWindow, LateReader, ReceiverCore}},
		{"a full window and a far core that is full of something", with(window, cores(farEnd, .1, .2, .99, .1)), NoCause, []string{ReceiveWindow}},
		{"a full window and a core full of packets", with(window, cores(farEnd, .1, .2, .1, .1), softirq(farEnd, 2, .95, .04)), SoftIRQCore, []string{ReceiveWindow}},
		{"a full window and an idle 64-core receiver", with(window, cores(farEnd, idleCores(64)...), thread(farEnd, "lr-rx-1", up, 2, .04)), ReceiveWindow, nil},
		{"random loss and damaged frames at the receiver", with(lossy, linked(farEnd, probes.Counters{"rx_crc_errors": 13, "rx_packets": 11000})), DamagedFrames, []string{RandomLoss}},
		{"random loss and an own queue that drops", with(lossy, qdiscs(local, probes.Qdisc{Kind: "pfifo", Dropped: 13})), QdiscDrops, []string{RandomLoss}},
		{"random loss and a ring that misses as many", with(lossy, linked(farEnd, probes.Counters{"rx_missed_errors": 13, "rx_packets": 11831}), rings(farEnd, 256, 4096)), RingOverflow, []string{RandomLoss}},
		{"the same with the longest ring", with(lossy, linked(farEnd, probes.Counters{"rx_missed_errors": 13, "rx_packets": 11831}), rings(farEnd, 4096, 4096), cores(farEnd, .1)), NoCause, []string{RandomLoss}},
		{"a policer and a ring that misses little", with(policed, linked(farEnd, probes.Counters{"rx_missed_errors": 5, "rx_packets": 16000}), rings(farEnd, 256, 4096)), RingOverflow, []string{RandomLoss}},
		{"random loss beyond a LAN with EEE", with(lossy, efficient(true)), EnergyEfficient, nil},
		{"a policer and EEE far from it", with(policed, efficient(true)), Policer, []string{RandomLoss}},
		{"a queue and an own shaper", with(queue, qdiscs(local, probes.Qdisc{Kind: "htb", RateBps: 50e6})), OwnShaper, []string{Bufferbloat, AckCongestion}},
		{"a queue on a computer that a relay keeps busy", with(queue, burnt(local)), OtherPrograms, []string{AllCoresFull}},
		{"a black hole on such a computer", with(nil, mtu(local, 9000), swept(4074, true), stuckFlow(up, 8*time.Second), burnt(local)), BlackHole, []string{StandStill}},
		{"a full core at 95 % of the link", outside(flows(up, 8.95*gig), wire(local, 10*gig, 1500), cores(local, oneFull(4, 1)...), thread(local, "lr-tx-1", up, 1, .99)), FarUnknown, []string{SenderCore}},
		{"line rate with a full core, pauses and offloads off", outside(flows(up, 9.41*gig), wire(local, 10*gig, 1500), cores(local, oneFull(4, 1)...), thread(local, "lr-tx-1", up, 1, .99),
			driver(local, probes.Counters{"rx_pause": 40}), offloads(local, false, false, true), softnet(local, probes.Softnet{Processed: 4 * 700000})), LineRate, []string{SenderCore, Paused, OffloadsOff}},
		{"line rate of a link that came up slow", outside(flows(up, .941*gig), wire(local, gig, 1500), adapter(local, func(a *probes.Adapter) {
			a.Supported, a.Advertised = probes.Got([]float64{gig, 10 * gig}), probes.Got([]float64{gig, 10 * gig})
		})), LinkBelow, nil},
		{"a narrow slot and a full core", outside(flows(up, 2.9*gig), wire(local, 10*gig, 1500), adapter(local, func(a *probes.Adapter) { a.PCIe = probes.Got(probes.PCIe{GTps: 5, Lanes: 1}) }), cores(local, oneFull(4, 0)...), thread(local, "lr-tx-1", up, 0, .99)), SenderCore, []string{BusCeiling}},
		{"the hypervisor and a core that it fills", outside(flows(up, gig), stolenOf(local, .2, 0, 0, 0), thread(local, "lr-tx-1", up, 0, .3)), Steal, []string{SenderCore}},
		{"a ring that overflows under a full core", outside(direction(down), flows(down, 3*gig), cores(local, .1, .1, .1, .1), softirq(local, 1, .97, .02), linked(local, probes.Counters{"rx_missed_errors": 4000, "rx_packets": 1e6}), rings(local, 256, 4096)), SoftIRQCore, []string{RingOverflow, RandomLoss}},
		{"own -b and a slow receiver", outside(flows(up, 20.1e6), func(e *Evidence) { e.Test.Spec.Bitrate = 20e6 }, cores(local, .1, .1)), AskedRate, nil},
		{"a fast LAN with a little of everything", outside(flows(up, 9.3*gig), wire(local, 10*gig, 1500), cores(local, .4, .5, .3, .2), cores(farEnd, .5, .4, .3, .2), sockets(up, 1, trip(300*µs, 200*µs), resent(2000000, 9), limitedBy(.1, .15), func(w *StreamWindow) {
			w.Now.SndWnd, w.Now.AppLimited, w.Mem = 3e6, true, probes.Got(engine.SockMem{SndBuf: 4194304})
		}), softnet(local, probes.Softnet{Squeezed: 3, Processed: 1e6})), LineRate, nil},
		{"a 40G LAN that nothing bounds visibly", outside(flows(up, 22*gig), wire(local, 40*gig, 9000), cores(local, .5, .6, .3, .2), cores(farEnd, .6, .4, .3, .2), sockets(up, 2, trip(200*µs, 150*µs), resent(500000, 0), limitedBy(.05, .1), func(w *StreamWindow) {
			w.Now.SndMSS, w.Now.SndWnd, w.Mem = 8948, 6e6, probes.Got(engine.SockMem{SndBuf: 4194304})
		})), NoCause, nil},
	} {
		v := gravest(Verdicts(tt.e))[0]
		if v.Main.Code != tt.want && !(tt.want == LineRate && v.Main.Code == FarUnknown) {
			t.Errorf("%s: got %s (%v), want %s: %s\n%s", tt.name, v.Main.Code, v.Main.Confidence, tt.want, v.Main.Text, alsoOf(v))
		}
		for _, f := range append(v.Also, v.Main) {
			checkFinding(t, tt.name, f)
			if slices.Contains(tt.never, f.Code) {
				t.Errorf("%s: %s is said: %s", tt.name, f.Code, f.Text)
			}
			if (tt.want == LineRate || tt.want == NoCause) && f.Severity >= engine.SeverityWarning {
				t.Errorf("%s: %v %s: %s", tt.name, f.Severity, f.Code, f.Text)
			}
		}
	}
}
