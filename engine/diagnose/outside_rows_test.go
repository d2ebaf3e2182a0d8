package diagnose

import (
	"testing"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// outsideRows are what the cases from outside have taught: the condition, just below it, and
// without its reading.
func outsideRows() []row {
	µs := time.Microsecond
	left := func(e *Evidence) { e.Path.Ceiling = probes.Reading[Ceiling]{} }
	process := func(share float64) func(*Evidence) {
		return func(e *Evidence) { blindThreads(local)(e); e.Ends[local].Process = probes.Got(share) }
	}
	hungry := func(w *StreamWindow) { // left slow start at 28 segments, and has grown since
		wide(40*ms, 40*ms)(w)
		w.Before.SndCwnd, w.Now.SndCwnd, w.Now.SndSSThresh = 100, 238, 28
	}
	young := func(e *Evidence) { noCeiling(e); e.Test.Age, e.Flows[up].Seconds = 5*time.Second, nil }
	flapping := vitals(local, func(v *probes.Vitals) { v.Carrier = probes.Got(uint64(2)) })
	near := sender(up, windows(wide(300*µs, 500*µs), lost(10000, 12, 0)))
	crowd := func(own, strange float64, more ...func(*Evidence)) Evidence {
		return base(append([]func(*Evidence){far(.1, .1), cores(local, 1, .1, .1, .1), thread(local, "lr-tx-1", up, 0, own), others(local, "ffmpeg", 0, strange)}, more...)...)
	}
	vmx := func(out float64, more ...func(*Evidence)) Evidence {
		return base(append([]func(*Evidence){rateOf(up, out), step(1, down, .9*gig, 0), known(offloads(farEnd, true, true, true)), nic(local, func(n *probes.NIC) {
			n.Driver, n.Offloads.TSO, n.Offloads.GSO = probes.Got("vmxnet3"), probes.Got(true), probes.Got(true)
		})}, more...)...)
	}
	return []row{
		{LineRate, "ceiling left out, speed and MTU known", base(left, wire(local, gig, 1500), rateOf(up, .941*gig)), up, Holds, "941 of 941.5 Mbit/s"},
		{LineRate, "ceiling left out, IPv6", base(left, wire(local, gig, 1500), rateOf(up, .928*gig), func(e *Evidence) { e.Test.Spec.Family = 6 }), up, Holds, "928 of 928.5 Mbit/s"},
		{LineRate, "ceiling left out, MTU unknown", base(left, nic(local, func(n *probes.NIC) { n.SpeedBps = probes.Got(gig) }), rateOf(up, .941*gig)), up, Unseen, "MTU of eth0"},
		{LineRate, "of the far link", base(known(wire(farEnd, gig, 1500)), rateOf(up, .941*gig)), up, Holds, "Line rate of the far link"},
		{LineRate, "of the far link, 98 %", base(known(wire(farEnd, gig, 1500)), rateOf(up, .92*gig)), up, RuledOut, "920 of 941.5"},

		{DamagedFrames, "by the driver's name", base(driver(local, probes.Counters{"rx_fcs_errors": 8}), linked(local, probes.Counters{"rx_packets": 1e6})), up, Holds, "2/s"},
		{DamagedFrames, "a link that EEE takes down", base(efficient(true), flapping, known(linked(farEnd, probes.Counters{"rx_crc_errors": 0}))), up, RuledOut, "Energy-Efficient"},
		{EnergyEfficient, "a link that comes and goes", base(efficient(true), flapping), up, Holds, "comes and goes"},
		{EnergyEfficient, "0.12 % on a LAN", base(efficient(true), near), up, Holds, "0.12 %"},
		{EnergyEfficient, "sent again in vain", base(efficient(true), known(noEEE(farEnd)), sender(up, lost(10000, 40, 31))), up, RuledOut, "0.09 %"},

		{BusCeiling, "usable rate left out", base(slot(local, 5, 1, 0), rateOf(up, 3*gig)), up, Holds, "3.36 Gbit/s usable"},
		{BusCeiling, "more flows than the slot is said to carry", base(known(slot(farEnd, 8, 8, 52.9*gig)), slot(local, 2.5, 1, 1.68*gig), rateOf(up, 3*gig)), up, RuledOut, "cannot be true"},

		{SenderCore, "the process instead of its thread", base(cores(local, .1, .99, .1), process(.98)), up, Holds, "core 1 at 99 %"},
		{SenderCore, "a process of 94 %", base(cores(local, .1, .99, .1), process(.94)), up, Unseen, "hidepid"},
		{SenderCore, "a process of more than a core", base(cores(local, .1, .99, .1), process(1.3)), up, Unseen, "hidepid"},
		{SenderCore, "a core full of packets beside the process", base(cores(local, .1, .99, .1), softirq(local, 1, .8, .19), process(.98)), up, Unseen, "hidepid"},
		{SenderCore, "small writes", base(cores(local, .1, .99, .1), thread(local, "lr-tx-1", up, 1, .98), func(e *Evidence) { e.Test.Spec.BlockSize = 1500 }), up, Holds, "drop -l 1500, or press +"},
		{ReceiverCore, "cores unknown", base(direction(down), thread(local, "lr-rx-1", down, 3, .98), blindCores(local)), down, Holds, "(98 % of one, now core 3): press + for another stream."},

		{SoftIRQCore, "two cores", base(direction(down), cores(local, 0, .4), softirq(local, 0, .94, .04)), down, Holds, "1 sits idle"},
		{SoftIRQCore, "two cores, the other half busy", base(direction(down), cores(local, 0, .51), softirq(local, 0, .94, .04)), down, RuledOut, "busy too"},
		{SoftIRQCore, "ksoftirqd alone", base(direction(down), blindCores(local), others(local, "ksoftirqd/3", 0, .8)), down, Holds, "Core 3 is full of packet receive (ksoftirqd/3 80 %)"},
		{SoftIRQCore, "ksoftirqd alone, 79 %", base(direction(down), blindCores(local), others(local, "ksoftirqd/3", 0, .79)), down, Unseen, "cgo"},

		{AllCoresFull, "full but for what is stolen", base(far(.1, .1), func(e *Evidence) {
			e.Ends[local].Cores = probes.Got([]probes.CoreLoad{{System: .9, Steal: .1}, {Core: 1, System: .9, Steal: .1}})
		}), up, RuledOut, "hypervisor takes 10 %"},
		{OtherPrograms, "on the thread's own core", crowd(.3, .68), up, Holds, "Other programs use 68 % of core 0 (top: ffmpeg), on which the sending thread runs; this test gets 30 % of it"},
		{OtherPrograms, "on the thread's own core, 39 %", crowd(.3, .39), up, RuledOut, "time left"},
		{OtherPrograms, "on the thread's own core, which it fills to 60 %", crowd(.6, .68), up, RuledOut, "time left"},
		{OtherPrograms, "threads alone known", base(far(.1, .1), cores(local, .97, .97), thread(local, "lr-tx-1", up, 0, .2), func(e *Evidence) { e.Ends[local].Process = probes.Reading[float64]{} }), up, Holds, "this test 10 %"},

		{RandomLoss, "the ring misses a quarter of it", lossy(linked(farEnd, probes.Counters{"rx_missed_errors": 4, "rx_packets": 11831}), rings(farEnd, 4096, 4096)), up, RuledOut, "the receive ring of far eth0 overflows"},
		{RandomLoss, "the ring misses less", lossy(linked(farEnd, probes.Counters{"rx_missed_errors": 3, "rx_packets": 11831}), rings(farEnd, 4096, 4096)), up, Holds, ""},
		{RandomLoss, "beyond a LAN with EEE", lossy(efficient(true)), up, Holds, ""},
		{RandomLoss, "on a LAN with EEE", lossy(efficient(true), again(up, wide(1900*µs, 1900*µs)), rateOf(up, 200e6)), up, RuledOut, "Energy-Efficient"},
		{RingOverflow, "mlx5's name", base(direction(down), driver(local, probes.Counters{"rx_discards_phy": 4800}), rings(local, 1024, 8192)), down, Holds, "1024"},

		{OffloadsOff, "a sender's single segments", base(cores(local, .9, .6), mtu(local, 1500), offloads(local, false, false, true), rateOf(up, 1.2*gig), softnet(local, probes.Softnet{Processed: 8000}), sender(up, lost(310000, 0, 0))), up, Holds, "103k packets"},
		{OffloadsOff, "a sender's few segments", base(cores(local, .9, .6), mtu(local, 1500), offloads(local, false, false, true), known(offloads(farEnd, true, true, true)), rateOf(up, 1.1*gig), softnet(local, probes.Softnet{Processed: 8000}), sender(up, lost(290000, 0, 0))), up, RuledOut, "cost nothing"},
		{OffloadsOff, "MTU unknown", cut(func(e *Evidence) { e.Ends[local].NIC.Value.MTU = probes.Reading[int]{} }), up, Holds, "640k"},
		{OffloadsOff, "vmxnet3 collapses with TSO", vmx(90e6), up, Holds, "collapses with TSO on: 90.0 Mbit/s out, 900 Mbit/s in"},
		{OffloadsOff, "vmxnet3, a ninth", vmx(100.1e6), up, RuledOut, ""},
		{OffloadsOff, "another card collapses", vmx(90e6, nic(local, func(n *probes.NIC) { n.Driver = probes.Got("ixgbe") })), up, RuledOut, ""},
		{OffloadsOff, "vmxnet3, the other direction unknown", vmx(90e6, func(e *Evidence) { e.Steps = nil }), up, RuledOut, ""},

		{ReceiveWindow, "fixed by the program", smallWindow(setting(farEnd, "net.ipv4.tcp_rmem", "4096 131072 33554432")), up, Holds, "65.3 Mbit/s, and its program has fixed it (SO_RCVBUF)."},
		{SendBuffer, "fixed, twice as large as what it carries", smallSendBuffer(setting(local, "net.ipv4.tcp_wmem", "4096 16384 33554432"), rateOf(up, 160e6), again(up, func(w *StreamWindow) { w.MemBefore = probes.Reading[engine.SockMem]{} })), up, Holds, "has fixed it (SO_SNDBUF)"},
		{SendBuffer, "the same, 9 s old", smallSendBuffer(setting(local, "net.ipv4.tcp_wmem", "4096 16384 33554432"), rateOf(up, 160e6), again(up, func(w *StreamWindow) { w.MemBefore = probes.Reading[engine.SockMem]{} }), func(e *Evidence) { e.Test.Age = 9 * time.Second }), up, RuledOut, "may still grow"},
		{LateReader, "the last window was closed", smallWindow(again(up, limitedBy(.6, 0), peerWindow(0))), up, Holds, "in 100 % of the samples"},
		{LateReader, "a window that was left out", smallWindow(again(up, limitedBy(.4, 0), peerWindow(0))), up, RuledOut, "in time"},
		{AskedRate, "the last reading is application limited", base(rateOf(up, 20.1e6), sender(up, windows(resting(1, .49, 0), func(w *StreamWindow) { w.AppLimited, w.Now.AppLimited = probes.Reading[float64]{}, true }))), up, Holds, "20.1 Mbit/s"},
		{AskedRate, "it is not", base(rateOf(up, 20.1e6), sender(up, windows(resting(1, .49, 0), func(w *StreamWindow) { w.AppLimited = probes.Reading[float64]{} }))), up, RuledOut, ""},

		{Ramping, "windows alone", base(young, sender(up, hungry)), up, Holds, "grew from 100 to 238 segments; slow start ended at 28 segments."},
		{Ramping, "windows that grow by 29 %", base(young, sender(up, windows(hungry, func(w *StreamWindow) { w.Now.SndCwnd = 129 }))), up, RuledOut, "do not grow"},
		{Ramping, "slow start was not left", base(young, sender(up, windows(hungry, func(w *StreamWindow) { w.Now.SndSSThresh = noThreshold }))), up, Unseen, "no whole seconds"},
		{Ramping, "slow start was not left early", base(young, sender(up, windows(hungry, func(w *StreamWindow) { w.Now.SndSSThresh = 300 }))), up, RuledOut, "not left early"},
		{Ramping, "age left out", base(ramp(1.2e9, 2e9, 2.9e9, 4.8e9), func(e *Evidence) { e.Test.Age = 0 }), up, RuledOut, "older"},

		{AckCongestion, "the receiver's own shaper", bloat(again(up, lossless), rateOf(up, 31e6), qdiscs(farEnd, probes.Qdisc{Kind: "tbf", RateBps: .5e6})), up, Holds, "which carries 500 kbit/s"},
		{AckCongestion, "a shaper with room", bloat(again(up, lossless), rateOf(up, 31e6), qdiscs(farEnd, probes.Qdisc{Kind: "tbf", RateBps: 50e6})), up, RuledOut, "room for the acknowledgements"},

		{BlackHole, "timeouts instead of a state", base(mtu(local, 9000), stuckFlow(up, 8*time.Second), sender(up, func(w *StreamWindow) { w.Now.SndCwnd, w.Now.SndMSS = 1, 8948 }), tcp(local, probes.Counters{"TcpExt.TCPTimeouts": 2}), step(1, down, gig, 0)), up, Holds, "seems to drop"},
		{BlackHole, "one timeout", base(mtu(local, 9000), stuckFlow(up, 8*time.Second), sender(up, func(w *StreamWindow) { w.Now.SndCwnd, w.Now.SndMSS = 1, 8948 }), tcp(local, probes.Counters{"TcpExt.TCPTimeouts": 1}), step(1, down, gig, 0)), up, RuledOut, "no sender waits"},
		{StandStill, "seconds of zero", base(func(e *Evidence) {
			e.Flows[up].Idle, e.Flows[up].Seconds = probes.Reading[time.Duration]{}, []float64{4e6, 0, 0, 0}
		}), up, Holds, "for 3 s"},
		{StandStill, "two seconds of zero", base(func(e *Evidence) {
			e.Flows[up].Idle, e.Flows[up].Seconds = probes.Reading[time.Duration]{}, []float64{4e6, 0, 0}
		}), up, RuledOut, "moves"},
		{MixedMTU, "loopback", base(oneHost(.1, .1), kind(local, "loopback"), mtu(local, 65536), sender(up, segment(32768, 65535))), up, RuledOut, "loopback"},
		{FlowCap, "virtualisation unknown, but it scales", base(streams(2), rateOf(up, 9.9*gig), ceiling(25*gig), step(1, up, 4.96*gig, 0)), up, Holds, "+100 % over 1"},
	}
}

// How grave and how sure a finding is depends on what was read.
func TestHowSure(t *testing.T) {
	for _, tt := range []struct {
		name       string
		code       string
		e          Evidence
		dir        engine.Direction
		severity   engine.Severity
		confidence engine.Confidence
	}{
		{"a slow link, though its cause is open", LinkBelow, base(card(local, .1*gig, []float64{.1 * gig, gig}, nil)), up, engine.SeverityWarning, engine.Sure},
		{"what the other end offers", LinkBelow, base(card(local, gig, []float64{gig, 2.5 * gig}, []float64{gig})), up, engine.SeverityLimit, engine.Likely},
		{"a few pause frames", Paused, base(driver(local, probes.Counters{"rx_pause": 3})), up, engine.SeverityLimit, engine.Unsure},
		{"many", Paused, base(driver(local, probes.Counters{"rx_pause": 4})), up, engine.SeverityWarning, engine.Sure},
		{"EEE on a LAN", EnergyEfficient, base(efficient(true), sender(up, windows(wide(1900*time.Microsecond, 2*ms), lost(10000, 12, 0)))), up, engine.SeverityWarning, engine.Sure},
		{"EEE beyond", EnergyEfficient, base(efficient(true), sender(up, windows(wide(2*ms, 2*ms), lost(10000, 12, 0)))), up, engine.SeverityLimit, engine.Likely},
		{"a mismatch at 100 Mbit/s", HalfDuplex, base(wire(local, 100e6, 1500), rateOf(up, 4e6), step(1, down, 90e6, 0), linked(local, probes.Counters{"rx_crc_errors": 40}), sender(up, lost(10000, 101, 0))), up, engine.SeverityFault, engine.Sure},
		{"and at 1 Gbit/s", HalfDuplex, base(wire(local, gig, 1500), rateOf(up, 4e6), step(1, down, 90e6, 0), linked(local, probes.Counters{"rx_crc_errors": 40}), sender(up, lost(10000, 101, 0))), up, engine.SeverityFault, engine.Likely},
		{"a ring without a packet count", RingOverflow, base(direction(down), linked(local, probes.Counters{"rx_missed_errors": 4800}), rings(local, 512, 4096)), down, engine.SeverityWarning, engine.Likely},
		{"no window scaling over 40 ms", UnscaledWindow, smallWindow(rateOf(up, 13e6), again(up, func(w *StreamWindow) { w.Now.Options, w.Now.SndWnd = 3, 65535 })), up, engine.SeverityWarning, engine.Sure},
		{"no window scaling where it bounds nothing", UnscaledWindow, smallWindow(rateOf(up, 6e6), again(up, func(w *StreamWindow) { w.Now.Options, w.Now.SndWnd = 3, 65535 })), up, engine.SeverityLimit, engine.Likely},
	} {
		v := answer(t, tt.code, tt.e, tt.dir)
		if v.state != Holds || v.finding.Severity != tt.severity || v.finding.Confidence != tt.confidence {
			t.Errorf("%s: got %v %v %v (%s%s), want %v %v", tt.name, v.state, v.finding.Severity, v.finding.Confidence, v.finding.Text, v.why, tt.severity, tt.confidence)
		}
	}
}

// A document without any flow is one without traffic; one with a rate but no age is old
// enough.
func TestWhatIsLeftOut(t *testing.T) {
	static := Evidence{}
	wire(local, .1*gig, 1500)(&static)
	adapter(local, func(a *probes.Adapter) { a.Supported = probes.Got([]float64{.1 * gig, gig}) })(&static)
	x := Examination([]Evidence{static})
	if x.Traffic || x.Findings[0].Code != LinkBelow || !x.Links[0].Ceiling.Known() {
		t.Errorf("traffic %v, findings %v, ceiling %+v", x.Traffic, codesOf(x.Findings), x.Links[0].Ceiling)
	}
	quick := base(rateOf(up, 9.41*gig), func(e *Evidence) { e.Test.Age = 0 })
	if v := Verdicts(quick)[0]; v.Main.Code != LineRate {
		t.Errorf("a rate without an age: got %s", v.Main.Code)
	}
	quick.Test.Age = 2 * time.Second
	if c := Review(quick, up); c[0].State == Holds {
		t.Errorf("stands still: %+v", c[0])
	}
	for _, c := range Review(quick, up) {
		if c.Code == ReceiveWindow && c.State != Unseen {
			t.Errorf("a path of 2 s is judged: %+v", c)
		}
	}
}
