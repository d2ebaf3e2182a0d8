package diagnose

import (
	"testing"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// The five published experiments, row by row, from their tables alone.
func TestPublishedResultsFromOutside(t *testing.T) {
	ten := func(gbps float64, mtu int, more ...func(*Evidence)) Evidence {
		return outside(append([]func(*Evidence){flows(up, gbps*gig), wire(local, 10*gig, mtu), wire(farEnd, 10*gig, mtu)}, more...)...)
	}
	// MTU sweep, both ways at once: Mbit/s sent and received.
	two := func(mtu int, sent, got float64, more ...func(*Evidence)) Evidence {
		return outside(append([]func(*Evidence){direction(engine.Both), flows(up, sent*1e6), flows(down, got*1e6), wire(local, gig, mtu), wire(farEnd, gig, mtu), swept(mtu, false)}, more...)...)
	}
	alone := step(1, down, 980e6, 0)
	n100 := cores(local, .07, .06, 1, .08)
	for _, x := range []exam{
		{name: "1: firewall off", e: ten(9.41, 1500), want: LineRate, side: engine.Path, says: []string{"9.41 of 9.415 Gbit/s possible with MTU 1500", "9.90 Gbit/s"}},
		{name: "1: MTU 9216", e: ten(9.9, 9216), want: LineRate, side: engine.Path, says: []string{"MTU 9216."}},
		{name: "1: firewall on, nothing known of cores", e: ten(8.73, 1500, sockets(up, 1, trip(time.Millisecond, 900*time.Microsecond), resent(2000000, 0), func(w *StreamWindow) { w.Now.SndCwnd = 1050 })), want: FarUnknown, side: engine.Far, fixed: true},
		{name: "2: one each way, threads seen", e: outside(direction(engine.Both), flows(up, 9.4*gig), flows(down, 6.51*gig), wire(local, 10*gig, 1500), n100, thread(local, "lr-rx-3", down, 2, .98)), want: ReceiverCore, side: engine.Local, says: []string{"core 2 at 100 %", "3 sit idle", "press +"}, fixed: true},
		{name: "2: one each way, process seen", e: outside(direction(engine.Both), flows(up, 9.4*gig), flows(down, 6.51*gig), wire(local, 10*gig, 1500), n100, func(e *Evidence) { e.Ends[local].Process = probes.Got(1.0) }), want: ReceiverCore, side: engine.Local, fixed: true},
		{name: "2: one each way, the far iperf3 3.12 is full", e: outside(direction(engine.Both), agent("iperf 3.12", "linux"), flows(up, 9.4*gig), flows(down, 6.51*gig), wire(local, 10*gig, 1500), cores(local, .3, .2, .4, .3), step(1, engine.Both, 8*gig, .99)), want: FarOneThread, side: engine.Far, says: []string{"99 %", "single-threaded (iperf 3.12)", "linerate serve"}, fixed: true},
		{name: "2: four streams down", e: outside(direction(down), streams(4), flows(down, 9.41*gig), wire(local, 10*gig, 1500), cores(local, .4, .5, .6, .4)), want: LineRate, side: engine.Path},
		{name: "2: four each way", e: outside(direction(engine.Both), streams(4), flows(up, 9.4*gig), flows(down, 9.4*gig), wire(local, 10*gig, 1500)), want: LineRate, side: engine.Path, fixed: true},
		{name: "3: 9000, not tested alone", e: two(9000, 978, 2.27), want: LargeFramesLost, side: engine.Path, says: []string{"2.27 Mbit/s", "MTU 9000", "alone"}, fixed: true},
		{name: "3: 9000, 980 alone", e: two(9000, 978, 2.27, alone), want: LargeFramesLost, side: engine.Path, says: []string{"2.27 Mbit/s then, 980 Mbit/s alone"}, fixed: true},
		{name: "3: 7250", e: two(7250, 961, 27.1, alone), want: LargeFramesLost, side: engine.Path, fixed: true},
		{name: "3: 6250", e: two(6250, 948, 187, alone), want: LargeFramesLost, side: engine.Path, fixed: true},
		{name: "3: 6250, the far end swept too", e: two(6250, 948, 187, alone, func(e *Evidence) { e.Path.MTU.In = probes.Got(6250) }), want: LargeFramesLost, side: engine.Path, fixed: true},
		{name: "3: 4750 is no collapse", e: two(4750, 916, 791, cores(farEnd, .2)), want: NoCause, side: engine.Path, fixed: true},
		{name: "3: 1500 is no collapse", e: two(1500, 892, 852, cores(farEnd, .2)), want: NoCause, side: engine.Path, fixed: true},
		{name: "4: memory to memory", e: ten(9.9, 9000), want: LineRate, side: engine.Path, says: []string{"9.90 of 9.900"}},
		{name: "4: disk to disk is as fast", e: ten(9.42, 9000, disk(local, "nvme", 28*gig), memoryOnly(9.9*gig), cores(local, .3, .4), cores(farEnd, .3, .4)), want: NoCause, side: engine.Path, fixed: true},
		{name: "4: SATA at the far end", e: ten(4.36, 9000, disk(farEnd, "ssd", 4.4*gig), memoryOnly(9.9*gig)), want: DiskCeiling, side: engine.Far, says: []string{"545 MB/s = 4.36 Gbit/s", "9.90 Gbit/s"}},
		{name: "5: 1 stream, 1500", e: outside(flows(up, 5.24*gig), wire(local, 100*gig, 1500), cores(local, oneFull(24, 7)...), thread(local, "lr-tx-1", up, 7, .99)), want: SenderCore, side: engine.Local},
		{name: "5: 2 streams, 1500", e: outside(streams(2), flows(up, 8.3*gig), wire(local, 100*gig, 1500), cores(local, oneFull(24, 7)...), thread(local, "lr-tx-1", up, 7, .99), thread(local, "lr-tx-3", up, 8, .97), step(1, up, 5.24*gig, 0)), want: SenderCore, side: engine.Local},
		{name: "5: 1 stream, the receiver's softirq", e: outside(flows(up, 5.24*gig), wire(local, 100*gig, 1500), cores(local, idleCores(24)...), cores(farEnd, idleCores(24)...), softirq(farEnd, 3, .97, .02)), want: SoftIRQCore, side: engine.Far},
		{name: "5: window of the defaults over 10 ms", e: outside(flows(up, 2.6*gig), wire(local, 100*gig, 9000), setting(farEnd, "net.ipv4.tcp_rmem", "4096 131072 6291456"), sockets(up, 1, trip(10*ms, 10*ms), limitedBy(.7, 0), func(w *StreamWindow) { w.Now.SndMSS, w.Now.SndWnd = 8948, 3145728 }), readers(up, 1, engine.SockMem{RcvBuf: 6291456})), want: ReceiveWindow, side: engine.Far},
	} {
		x.run(t)
	}
}

// Rules whose case the list does not have, from their conditions alone.
func TestConditionsFromOutside(t *testing.T) {
	busy := func(n int) []float64 {
		all := make([]float64, n)
		for i := range all {
			all[i] = .99
		}
		return all
	}
	program := func(side engine.Side, share float64) func(*Evidence) {
		return func(e *Evidence) { e.Ends[side].Process = probes.Got(share) }
	}
	path := func(mbps float64, edits ...func(*StreamWindow)) func(*Evidence) {
		return func(e *Evidence) { flows(up, mbps*1e6)(e); sockets(up, 1, edits...)(e) }
	}
	var all []exam
	for _, n := range []int{1, 2, 4, 8, 16, 64} {
		all = append(all, exam{name: "R19b, burnt by others", e: outside(flows(up, gig), cores(local, busy(n)...), program(local, .1), others(local, "stress-ng", 0, float64(n)*.9)), want: OtherPrograms, side: engine.Local, says: []string{"stress-ng"}})
		if n > 1 {
			all = append(all, exam{name: "R12", e: outside(direction(down), flows(down, 3*gig), cores(local, idleCores(n)...), softirq(local, n-1, .75, .22)), want: SoftIRQCore, side: engine.Local})
			all = append(all, exam{name: "R11", e: outside(direction(down), flows(down, 3*gig), cores(local, oneFull(n, 1)...), thread(local, "lr-rx-1", down, 1, .96), readers(down, 1, engine.SockMem{RmemAlloc: 4e6, RcvBuf: 6e6})), want: ReceiverCore, side: engine.Local})
		}
	}
	all = append(all, []exam{
		{name: "R02", e: outside(flows(up, 40e6), wire(local, 100e6, 1500), nic(local, func(n *probes.NIC) { n.Duplex = probes.Got("half") })), want: HalfDuplex, side: engine.Local},
		{name: "R02, late collisions at one end", e: outside(flows(up, 4e6), step(1, down, 90e6, 0), wire(local, 100e6, 1500), linked(local, probes.Counters{"rx_crc_errors": 300, "rx_packets": 20000, "tx_window_errors": 9}), sockets(up, 1, trip(ms, ms), resent(4000, 90))), want: HalfDuplex, side: engine.Local, also: []string{DamagedFrames}},
		{name: "R03", e: outside(flows(up, 3*gig), linked(local, probes.Counters{"rx_crc_errors": 40, "rx_packets": 1e6})), want: DamagedFrames, side: engine.Local, says: []string{"10/s"}},
		{name: "R03, the driver's name", e: outside(flows(up, 3*gig), driver(local, probes.Counters{"rx_crc_errors_phy": 40}), linked(local, probes.Counters{"rx_packets": 1e6, "rx_crc_errors": 0})), want: DamagedFrames, side: engine.Local},
		{name: "R08", e: outside(streams(4), flows(up, 9.38*gig), kind(local, "bond"), legs(local, 990, 10)), want: OneBondLeg, side: engine.Local},
		{name: "R09 of the far link", e: outside(flows(up, .941*gig), wire(local, 10*gig, 1500), wire(farEnd, gig, 1500)), want: LineRate, side: engine.Path, says: []string{"941 of 941.5 Mbit/s"}},
		{name: "R14", e: outside(direction(down), streams(4), flows(down, 5*gig), cores(local, .1, .2, .97, .1), queueCounts(local, 10, 20, 900, 70), interrupts(local, probes.QueueIRQ{Name: "eth0-rx-2", Core: 2, Count: 5})), want: Collision, side: engine.Local, says: []string{"90 %", "4 streams"}},
		{name: "R16", e: outside(flows(up, gig), stolenOf(local, .14, .02)), want: Steal, side: engine.Local, says: []string{"14 %"}},
		{name: "R16, full but for what is stolen", e: outside(flows(up, gig), func(e *Evidence) {
			e.Ends[local].Cores = probes.Got([]probes.CoreLoad{{System: .7, Steal: .3}, {Core: 1, System: .75, Steal: .24, Idle: .01}})
			e.Ends[local].Process = probes.Got(1.3)
		}), want: Steal, side: engine.Local},
		{name: "R17", e: outside(flows(up, gig), throttled(local, 1080*ms), cores(local, .3, .3, .2, .2)), want: CPUQuota, side: engine.Local, says: []string{"27 %", "1 core "}},
		{name: "R17, with the signs of R35", e: outside(path(900, trip(ms, ms), func(w *StreamWindow) { w.Now.AppLimited, w.Now.BusyTime = true, time.Second }), throttled(local, 1080*ms)), want: CPUQuota, side: engine.Local},
		{name: "R18", e: outside(flows(up, gig), cores(local, .1, .1, .1, .9), clocked(local, "powersave", "acpi-cpufreq", 3.8e9, 3e9, 3e9, 3e9, 1.4e9)), want: SlowClock, side: engine.Local, says: []string{"1.4 of 3.8 GHz", "powersave"}},
		{name: "R19", e: outside(flows(up, 6.8*gig), thermal(local, 4, 0), func(e *Evidence) {
			e.Flows[up].Seconds = []float64{9.2 * gig, 9.2 * gig, 9.1 * gig, 7 * gig, 6.8 * gig, 6.8 * gig}
		}), want: Heat, side: engine.Local},
		{name: "R19b, on the thread's own core", e: outside(flows(up, gig), cores(local, 1, .1, .1, .1), thread(local, "lr-tx-1", up, 0, .25), others(local, "ffmpeg", 0, .72)), want: OtherPrograms, side: engine.Local, says: []string{"72 % of core 0", "ffmpeg", "25 %"}},
		{name: "R20", e: outside(direction(down), flows(down, 5*gig), cores(local, .2, .6), softnet(local, probes.Softnet{Core: 1, Squeezed: 400, Processed: 1e6})), want: Squeezed, side: engine.Local},
		{name: "R22", e: outside(direction(down), flows(down, 5*gig), cores(local, .2, .6), softnet(local, probes.Softnet{Core: 1, Dropped: 400, Processed: 1e6})), want: BacklogDrops, side: engine.Local, says: []string{"100/s"}},
		{name: "R23", e: outside(flows(up, 5*gig), qdiscs(local, probes.Qdisc{Kind: "mq"}, probes.Qdisc{Kind: "pfifo_fast", Parent: ":1", Dropped: 1360})), want: QdiscDrops, side: engine.Local, says: []string{"340 packets", "pfifo_fast"}},
		{name: "R24, HTB at 94 %", e: outside(flows(up, 470e6), qdiscs(local, probes.Qdisc{Kind: "htb", Parent: "class 1:10", RateBps: 500e6})), want: OwnShaper, side: engine.Local},
		{name: "R26", e: outside(flows(up, 100e6), lro(local, true), setting(local, "net.ipv4.ip_forward", "1")), want: MergingForwarder, side: engine.Local},
		{name: "R28", e: outside(flows(up, gig), tcp(local, probes.Counters{"TcpExt.TCPMemoryPressures": 2})), want: MemoryPressure, side: engine.Local},
		{name: "R29", e: outside(direction(down), flows(down, gig), tcp(local, probes.Counters{"TcpExt.TCPBacklogDrop": 40})), want: LockedOut, side: engine.Local, says: []string{"10/s"}},
		{name: "R34", e: outside(path(13, trip(40*ms, 40*ms), func(w *StreamWindow) { w.Now.Options, w.Now.SndWnd = 3, 65535 })), want: UnscaledWindow, side: engine.Path},
		{name: "R44", e: outside(path(900, trip(ms, ms)), mtu(local, 9000)), want: MixedMTU, side: engine.Path},
		{name: "R45b", e: outside(flows(up, 600e6), gateway(true), cores(local, .1, .2)), want: RouterAsEndpoint, side: engine.Far, fixed: true},
		{name: "R45b, a full router", e: outside(flows(up, 600e6), router(farEnd, true), cores(farEnd, .96, .3, .2, .3), cores(local, .1, .2)), want: RouterAsEndpoint, side: engine.Far},
		{name: "R48, the table", e: outside(flows(up, gig), tracked(local, 98, 100, 0)), want: FilterCost, side: engine.Local, says: []string{"98 % full"}},
		{name: "R49", e: outside(flows(up, 20*gig), wire(local, 100*gig, 9000), node(local, 1, 8, 9, 10, 11), thread(local, "lr-tx-1", up, 2, .6), cores(local, idleCores(16)...)), want: RemoteNode, side: engine.Local},
		{name: "R51", e: outside(flows(up, 9*gig), nic(local, func(n *probes.NIC) { n.Driver = probes.Got("virtio_net") }), cores(local, .4, .3), driver(local, probes.Counters{"tx0_kicks": 300000})), want: OutsideGuest, side: engine.Local},
		{name: "R52, 10.0.2.100 with 65520", e: outside(flows(up, 5*gig), mtu(local, 65520), kind(local, "tun"), source("10.0.2.100")), want: UserStack, side: engine.Local, fixed: true},
		{name: "R53", e: outside(flows(up, 1.2*gig), kind(local, "wireguard"), others(local, "kworker/2:1-wg-crypt", 2, .97), cores(local, .2, .1, .99, .1)), want: TunnelCore, side: engine.Local},
		{name: "R54", e: outside(flows(up, 107e6), func(e *Evidence) {
			e.Test.UDP, e.Test.Spec.Bitrate, e.Test.Spec.BlockSize, e.Test.Spec.Burst = true, gig, 1472, 10
		}, thread(local, "lr-tx-1", up, 1, .2)), want: TimerLimited, side: engine.Local, says: []string{"107 Mbit/s"}},
		{name: "X04", e: outside(stuckFlow(up, 6*time.Second)), want: StandStill, side: engine.Path},
	}...)
	for _, x := range all {
		x.run(t)
	}
}
