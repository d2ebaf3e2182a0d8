package diagnose

import (
	"testing"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// The public cases of the project's list, from what their authors saw alone.
func TestPublicCasesFromOutside(t *testing.T) {
	µs := time.Microsecond
	client := func(n, which int, gbps float64, more ...func(*Evidence)) Evidence {
		return outside(append([]func(*Evidence){flows(up, gbps*gig), wire(local, 10*gig, 1500), cores(local, oneFull(n, which)...)}, more...)...)
	}
	sends := func(core int, busy float64) func(*Evidence) { return thread(local, "lr-tx-1", up, core, busy) }
	program := func(share float64) func(*Evidence) {
		return func(e *Evidence) { e.Ends[local].Process = probes.Got(share) }
	}
	receives := func(gbps float64, more ...func(*Evidence)) Evidence {
		return outside(append([]func(*Evidence){direction(down), flows(down, gbps*gig)}, more...)...)
	}
	driven := func(side engine.Side, name string) func(*Evidence) {
		return nic(side, func(n *probes.NIC) { n.Driver = probes.Got(name) })
	}
	slot2 := func(lanes int) func(*Evidence) {
		return adapter(local, func(a *probes.Adapter) { a.PCIe = probes.Got(probes.PCIe{GTps: 5, Lanes: lanes}) })
	}
	sleepy := adapter(local, func(a *probes.Adapter) { a.ASPM = probes.Got(true) })
	var all []exam
	for _, n := range []int{4, 8, 16, 64} { // 1, 2 and 3: one thread of a program that has no more
		all = append(all,
			exam{name: "1, thread seen", e: client(n, 2, 6.5, sends(2, .99)), want: SenderCore, side: engine.Local, says: []string{"core 2 at 99 %", "press +"}},
			exam{name: "1, process seen", e: client(n, 2, 6.5, program(.99)), want: SenderCore, side: engine.Local, says: []string{"core 2"}},
			exam{name: "1, TCP agrees", e: client(n, 2, 6.5, sends(2, .98), sockets(up, 1, trip(200*µs, 150*µs), func(w *StreamWindow) { w.Now.AppLimited, w.Now.Unacked = true, 200 })), want: SenderCore, side: engine.Local})
	}
	all = append(all, []exam{
		{name: "2: -P 3 in one thread", e: client(4, 0, 5.5, streams(3), sends(0, .98)), want: SenderCore, side: engine.Local},
		{name: "3: writes of 1500 bytes at 100G, IPv6", e: outside(flows(up, 7.9*gig), wire(local, 100*gig, 1500), cores(local, oneFull(32, 5)...), sends(5, 1), func(e *Evidence) {
			e.Test.Spec.BlockSize, e.Test.Spec.Family = 1500, 6
		}), want: SenderCore, side: engine.Local},
		{name: "4: both ways, one of them black", e: outside(direction(engine.Both), wire(local, 10*gig, 9000), flows(down, 9.5*gig), stuckFlow(up, 5*time.Second),
			sockets(up, 1, resent(12, 5), func(w *StreamWindow) {
				w.Now.CAState, w.Now.Backoff, w.Now.SndCwnd, w.Now.SndMSS, w.Now.BytesAcked = 4, 4, 1, 8948, 501000
			})), want: BlackHole, side: engine.Path, says: []string{"upload", "9000"}, fixed: true},
		{name: "4: one way after the other", e: outside(wire(local, 10*gig, 9000), stuckFlow(up, 5*time.Second), step(1, down, 9.5*gig, 0),
			sockets(up, 1, resent(12, 5), func(w *StreamWindow) { w.Now.CAState, w.Now.SndCwnd, w.Now.SndMSS = 4, 1, 8948 })), want: BlackHole, side: engine.Path},
		{name: "like 4 at MTU 1500: 1.41 KB", e: outside(wire(local, 10*gig, 1500), stuckFlow(up, 8*time.Second), step(1, down, 8*gig, 0),
			sockets(up, 1, resent(60, 6), func(w *StreamWindow) { w.Now.Backoff, w.Now.SndCwnd, w.Now.SndMSS = 3, 1, 1448 })), want: BlackHole, side: engine.Path},
		{name: "5: four ports behind PCIe 2.0 x1", e: outside(flows(up, 3.21*gig), wire(local, 4*gig, 9000), slot2(1)), want: BusCeiling, side: engine.Local, says: []string{"PCIe 2.0 x1", "3.36 Gbit/s"}},
		{name: "5: the same with cores that have time", e: outside(flows(up, 3.36*gig), wire(local, 4*gig, 9000), slot2(1), cores(local, .7, .6, .5, .8)), want: BusCeiling, side: engine.Local},
		{name: "6: interrupts and reader on core 0", e: receives(.7, wire(local, gig, 1500), cores(local, idleCores(4)...), softirq(local, 0, .3, .69), thread(local, "lr-rx-1", down, 0, .69), interrupts(local, probes.QueueIRQ{IRQ: 31, Name: "eth0", Core: 0, Count: 9000})), want: SharedCore, side: engine.Local, says: []string{"core 0"}},
		{name: "7: ksoftirqd and the mean of the cores", e: receives(.6, wire(local, gig, 1500), others(local, "ksoftirqd/0", 0, .932), others(local, "curl", 1, .324), func(e *Evidence) {
			var all []probes.CoreLoad
			for i := range 4 {
				all = append(all, probes.CoreLoad{Core: i, User: .042, System: .104, SoftIRQ: .239, Idle: .615})
			}
			e.Ends[local].Cores = probes.Got(all)
		}), want: SoftIRQCore, side: engine.Local, says: []string{"Core 0", "93 %"}},
		{name: "7: ksoftirqd alone", e: receives(.6, wire(local, gig, 1500), others(local, "ksoftirqd/0", 0, .932)), want: SoftIRQCore, side: engine.Local},
		{name: "8: one core full of softirq of 2", e: receives(.6, cores(local, 0, .1), softirq(local, 0, .94, .05)), want: SoftIRQCore, side: engine.Local},
		{name: "8: one core full of softirq of 16", e: receives(4, cores(local, idleCores(16)...), softirq(local, 9, .96, .03), vitals(local, func(v *probes.Vitals) {
			v.NetRx = probes.Got([]uint64{9: 900000, 10: 50, 15: 9})
		})), want: SoftIRQCore, side: engine.Local, says: []string{"Core 9", "96 %", "15 sit idle"}},
		{name: "9: the ring", e: receives(4.5, wire(local, 10*gig, 1500), rings(local, 512, 4096), linked(local, probes.Counters{"rx_missed_errors": 4800, "rx_packets": 1.5e6})), want: RingOverflow, side: engine.Local, says: []string{"512", "1.2k/s", "4096"}},
		{name: "9: the pause frames", e: receives(4.5, wire(local, 10*gig, 1500), rings(local, 512, 4096), driver(local, probes.Counters{"tx_flow_control_xoff": 4800})), want: Paused, side: engine.Local},
		{name: "10: 40G in PCIe 2.0 x4", e: outside(flows(up, 11*gig), wire(local, 40*gig, 1500), slot2(4)), want: BusCeiling, side: engine.Local, says: []string{"PCIe 2.0 x4", "13.4 Gbit/s"}},
		{name: "11: r8169, both steps", e: receives(.06, wire(local, gig, 1500), driven(local, "r8169"), sleepy, step(1, up, .93*gig, 0), cores(local, idleCores(4)...)), want: SleepyBus, side: engine.Local, says: []string{"r8169", "60.0 Mbit/s in"}},
		{name: "11: r8169, both ways at once", e: outside(direction(engine.Both), flows(down, 60e6), flows(up, .9*gig), wire(local, gig, 1500), driven(local, "r8169"), sleepy), want: SleepyBus, side: engine.Local, fixed: true},
		{name: "12: EEE on a LAN", e: outside(flows(up, 300e6), wire(local, gig, 1500), efficient(true), sockets(up, 1, trip(700*µs, 300*µs), resent(100000, 400), by(cubic))), want: EnergyEfficient, side: engine.Local, says: []string{"0.40 %"}},
		{name: "12: EEE, the link comes and goes", e: outside(flows(up, 300e6), wire(local, gig, 1500), efficient(true), vitals(local, func(v *probes.Vitals) { v.Carrier = probes.Got(uint64(2)) })), want: EnergyEfficient, side: engine.Local},
		{name: "13: a tunnel in a program", e: receives(4.08, kind(local, "tun"), driven(local, "tun"), tcp(local, probes.Counters{"Udp.RcvbufErrors": 2742})), want: DatagramBufferFull, side: engine.Local, says: []string{"tunnel"}},
		{name: "14: rootless container", e: outside(flows(up, 1.07*gig), nic(local, func(n *probes.NIC) { n.Name, n.Kind, n.MTU = "tap0", probes.Got("tap"), probes.Got(65520) }), source("10.0.2.100"),
			sockets(up, 1, trip(400*µs, 300*µs), limitedBy(.7, 0), func(w *StreamWindow) { w.Now.Options, w.Now.SndWnd = 1, 65535 })), want: UserStack, side: engine.Local, fixed: true},
		{name: "15: a sync after every write", e: outside(flows(up, .8*gig), disk(local, "nvme", 8*gig), memoryOnly(8*gig)), want: DiskCeiling, side: engine.Local, says: []string{"100 MB/s = 800 Mbit/s", "8.00 Gbit/s"}},
		{name: "16: 30 Mbit/s over 10", e: outside(flows(up, 30e6), wire(local, 10e6, 1500), driven(local, "e1000e"), adapter(local, func(a *probes.Adapter) {
			a.Supported, a.Autoneg = probes.Got([]float64{10e6, 100e6, gig}), probes.Got(true)
		})), want: LinkBelow, side: engine.Local, says: []string{"10.0 Mbit/s", "1.00 Gbit/s"}},
		{name: "16: by what the operator expects", e: outside(flows(up, 30e6), wire(local, 10e6, 1500), func(e *Evidence) { e.Test.ExpectBps = gig }), want: LinkBelow, side: engine.Local},
		{name: "17: forced to 100", e: outside(flows(up, 94.1e6), wire(local, 100e6, 1500), adapter(local, func(a *probes.Adapter) {
			a.Supported, a.Autoneg = probes.Got([]float64{10e6, 100e6, gig}), probes.Got(false)
		})), want: LinkBelow, side: engine.Local, says: []string{"autonegotiation off"}},
		{name: "17: 100, nothing known of negotiation", e: outside(flows(up, 94.1e6), wire(local, 100e6, 1500), adapter(local, func(a *probes.Adapter) { a.Supported = probes.Got([]float64{100e6, gig}) })), want: LinkBelow, side: engine.Local},
		{name: "18: the driver's own counter", e: receives(7, wire(local, 25*gig, 1500), rings(local, 1024, 8192), driver(local, probes.Counters{"rx_out_of_buffer": 40000}), linked(local, probes.Counters{"rx_packets": 4e6})), want: RingOverflow, side: engine.Local},
		{name: "19: one queue, its core full", e: receives(15.3, driven(local, "virtio_net"), channels(local, 1), cores(local, idleCores(32)...), softirq(local, 3, .94, .05)), want: SingleQueue, side: engine.Local, says: []string{"one receive queue"}},
		{name: "19: one queue of 32, its core full", e: receives(15.3, driven(local, "virtio_net"), channels(local, 32), cores(local, idleCores(32)...), softirq(local, 3, .94, .05)), want: SingleQueue, side: engine.Local},
		{name: "19: one queue, the host is busy", e: receives(15.3, driven(local, "virtio_net"), channels(local, 1), cores(local, .3, .4, .2, .5), driver(local, probes.Counters{"rx0_kicks": 400000, "tx0_kicks": 400000})), want: SingleQueue, side: engine.Local},
		{name: "20: vmxnet3 with TSO", e: outside(flows(up, 8e6), step(1, down, .9*gig, 0), driven(local, "vmxnet3"), nic(local, func(n *probes.NIC) { n.Offloads.TSO, n.Offloads.GSO = probes.Got(true), probes.Got(true) }), cores(local, idleCores(4)...)), want: OffloadsOff, side: engine.Local, says: []string{"TSO"}},
		{name: "21: iperf3 for Windows", e: outside(flows(up, 4.5*gig), wire(local, 10*gig, 1500), agent("iperf 3.1.3", "windows")), want: ForeignTool, side: engine.Far, fixed: true},
		{name: "22: 433 Mbit/s", e: outside(flows(up, 223e6), wifi(433e6, nil)), want: Radio, side: engine.Local, says: []string{"433 Mbit/s", "-71 dBm"}},
		{name: "22: 1300 Mbit/s, the server is the access point", e: outside(flows(up, 300e6), wifi(1300e6, nil), gateway(true)), want: Radio, side: engine.Local, says: []string{"300 Mbit/s"}, fixed: true},
		{name: "23: a router's rules", e: receives(.26, platform(local, "OpenWrt 21.02.3"), cores(local, idleCores(4)...), softirq(local, 0, .96, .03), rules4(local, 120, true)), want: FilterCost, side: engine.Local, says: []string{"120"}},
		{name: "25: SO_SNDBUF of 16K, doubled", e: outside(flows(up, 7.04e6), wire(local, 100e6, 1500), setting(local, "net.ipv4.tcp_wmem", "4096 16384 4194304"), sockets(up, 1, trip(20*ms, 20*ms), limitedBy(0, .9), func(w *StreamWindow) {
			w.Mem = probes.Got(engine.SockMem{SndBuf: 32768})
		})), want: SendBuffer, side: engine.Local, says: []string{"SO_SNDBUF"}},
		{name: "26: 4.5 MiB over 150 ms", e: outside(flows(up, 240e6), sockets(up, 1, trip(150*ms, 150*ms), limitedBy(.8, 0), func(w *StreamWindow) { w.Now.SndWnd = 4718592 })), want: ReceiveWindow, side: engine.Far, says: []string{"4.72 MB / 150 ms"}},
		{name: "28: 5 Gbit/s in a cloud", e: outside(flows(up, 4.97*gig), driven(local, "ena"), cores(local, idleCores(16)...)), want: FlowCap, side: engine.Path, says: []string{"5.00 Gbit/s"}, fixed: true},
		{name: "28: 10 Gbit/s, two streams add up", e: outside(streams(2), flows(up, 19.8*gig), host(local, func(h *probes.Host) { h.Virtual = probes.Got("amazon") }), step(1, up, 9.9*gig, 0)), want: FlowCap, side: engine.Path, fixed: true},
		{name: "29: baseline", e: outside(flows(up, 7.24*gig), wire(local, 10*gig, 1500), program(.217), step(1, up, 7.24*gig, .109)), want: FarUnknown, side: engine.Far, fixed: true},
	}...)
	for _, x := range all {
		x.run(t)
	}
}
