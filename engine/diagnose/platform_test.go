package diagnose

import (
	"net/netip"
	"time"

	"linerate/engine"
	"linerate/probes"
)

func disk(side engine.Side, class string, limit float64) func(*Evidence) {
	return func(e *Evidence) {
		e.Ends[side].Disk = probes.Got(probes.Disk{Name: "sda1", Class: probes.Got(class), LimitBps: probes.Got(limit)})
	}
}

func noFile(e *Evidence) { e.Ends[farEnd].Disk = probes.Unknown[probes.Disk](probes.Absent, "no file") }

func diskBusy(side engine.Side, bytesPerSecond uint64, pressure time.Duration) func(*Evidence) {
	return vitals(side, func(v *probes.Vitals) {
		v.Disks = probes.Got([]probes.DiskTimes{{Name: "sda", WrittenBytes: 4 * bytesPerSecond}})
		v.Pressure.IO = probes.Got(pressure)
		v.Dirty = probes.Got(.1)
	})
}

func memoryOnly(bps float64) func(*Evidence) {
	return steps(Step{Spec: engine.Spec{Streams: 1}, Rates: [2]float64{bps, bps}})
}

func rules4(side engine.Side, n int, router bool) func(*Evidence) {
	return func(e *Evidence) {
		e.Ends[side].Firewall = probes.Firewall{Kind: probes.Got("nftables"), Rules: probes.Got(n), Tracked: probes.Got(true), Router: probes.Got(router)}
	}
}

func tracked(side engine.Side, count, most, failed uint64) func(*Evidence) {
	return vitals(side, func(v *probes.Vitals) {
		v.Conntrack = probes.Got(probes.Conntrack{Count: count, Max: most, Failed: failed})
	})
}

func node(side engine.Side, n int, near ...int) func(*Evidence) {
	return adapter(side, func(a *probes.Adapter) { a.NUMA, a.LocalCores = probes.Got(n), probes.Got(near) })
}

func oneNode(side engine.Side) func(*Evidence) {
	return adapter(side, func(a *probes.Adapter) { a.NUMA = probes.Got(-1) })
}

func ram(side engine.Side, bps float64) func(*Evidence) {
	return func(e *Evidence) { e.Ends[side].Memory = probes.Got(bps) }
}

func platformRows() []row {
	file := func(edits ...func(*Evidence)) Evidence {
		return base(append([]func(*Evidence){rateOf(up, 4.36*gig), disk(local, "ssd", 4.4*gig), noFile, memoryOnly(9.4 * gig)}, edits...)...)
	}
	hot := []func(*Evidence){cores(local, 0, .1, .2, .1), softirq(local, 0, .94, .04)}
	far2 := known(oneNode(farEnd), rules4(farEnd, 3, false), tracked(farEnd, 10, 1000, 0), ram(farEnd, 400*gig))
	numa := func(edits ...func(*Evidence)) Evidence {
		return base(append([]func(*Evidence){far2, card(local, 100*gig, nil, nil), rateOf(up, 40*gig), node(local, 1, 4, 5, 6, 7), thread(local, "lr-tx-1", up, 2, .8)}, edits...)...)
	}
	memory := func(edits ...func(*Evidence)) Evidence {
		return base(append([]func(*Evidence){far2, ram(local, 160*gig), rateOf(up, 40*gig), cores(local, .7, .8, .7, .8), streams(4), step(2, up, 40*gig, 0)}, edits...)...)
	}
	guest := func(edits ...func(*Evidence)) Evidence {
		virtio := func(n *probes.NIC) { n.Driver = probes.Got("virtio_net") }
		return base(append([]func(*Evidence){known(nic(farEnd, func(n *probes.NIC) { n.Driver = probes.Got("ixgbe") })), nic(local, virtio),
			driver(local, probes.Counters{"rx0_kicks": 4, "tx0_kicks": 200400, "rx0_drops": 0})}, edits...)...)
	}
	timer := func(edits ...func(*Evidence)) Evidence {
		return base(append([]func(*Evidence){rateOf(up, 110e6), thread(local, "lr-tx-1", up, 0, .3), func(e *Evidence) {
			e.Test.UDP = true
			e.Test.Spec.Bitrate, e.Test.Spec.BlockSize, e.Test.Spec.Burst = gig, 1472, 10
		}}, edits...)...)
	}
	return []row{
		{DiskCeiling, "SATA at 545 MB/s", file(diskBusy(local, 545e6, 0)), up, Holds, "The disk sda1 is the ceiling: 545 MB/s = 4.36 Gbit/s (99 % of what its class can do); the network alone did 9.40 Gbit/s."},
		{DiskCeiling, "tasks wait", file(diskBusy(local, 100e6, 800*time.Millisecond), rateOf(up, .8*gig)), up, Holds, "tasks wait for it 20 % of the time"},
		{DiskCeiling, "iowait", file(diskBusy(local, 100e6, 0), rateOf(up, .8*gig), thread(local, "lr-tx-1", up, 1, .1), func(e *Evidence) {
			e.Ends[local].Cores = probes.Got([]probes.CoreLoad{{Core: 0, Idle: 1}, {Core: 1, System: .1, Idle: .9, IOWait: .2}})
		}), up, Holds, "core 1 waits"},
		{DiskCeiling, "unwritten pages", file(diskBusy(local, 100e6, 0), rateOf(up, .8*gig), vitals(local, func(v *probes.Vitals) { v.Dirty = probes.Got(.9) })), up, Holds, "90 % of their room"},
		{DiskCeiling, "89 % of its class", file(diskBusy(local, 489e6, 700*time.Millisecond), rateOf(up, 3.9*gig)), up, Unseen, "disk"},
		{DiskCeiling, "89 %, no file there", file(diskBusy(local, 489e6, 700*time.Millisecond), rateOf(up, 3.9*gig), oneHostDisk), up, RuledOut, "keeps up"},
		{DiskCeiling, "memory was no faster", file(diskBusy(local, 545e6, 0), oneHostDisk, func(e *Evidence) { e.Steps = []Step{{Rates: [2]float64{5.2 * gig, 0}}} }), up, RuledOut, "memory to memory reached"},
		{DiskCeiling, "signs unknown, but memory was faster", file(rateOf(up, .8*gig), memoryOnly(8*gig), disk(local, "nvme", 28*gig)), up, Holds, "the network alone did"},
		{DiskCeiling, "no file", base(oneHostDisk, func(e *Evidence) { e.Ends[local].Disk = probes.Unknown[probes.Disk](probes.Absent, "no file") }), up, RuledOut, "no file"},
		{DiskCeiling, "signs unknown", file(rateOf(up, .8*gig), func(e *Evidence) { e.Steps = nil }), up, Unseen, "I/O pressure"},
		{DiskCeiling, "disk not read", base(), up, Unseen, "disk"},

		{FilterCost, "table 98 % full", base(tracked(local, 98, 100, 0), rules4(local, 3, false)), up, Holds, "The connection tracking table is 98 % full."},
		{FilterCost, "table 89 % full", base(far2, tracked(local, 89, 100, 0), rules4(local, 3, false)), up, RuledOut, "no burden"},
		{FilterCost, "insertions fail", base(tracked(local, 10, 100, 5)), up, Holds, "and 5 packets were dropped for it"},
		{FilterCost, "a router with 300 rules", base(append(hot, direction(down), rules4(local, 300, true), tracked(local, 1, 100, 0))...), down, Holds, "Every packet may walk 300 firewall rules, and core 0 is full of packets"},
		{FilterCost, "50 rules", base(append(hot, direction(down), far2, rules4(local, 50, true), tracked(local, 1, 100, 0))...), down, RuledOut, ""},
		{FilterCost, "many rules, idle cores", base(direction(down), far2, rules4(local, 300, true), tracked(local, 1, 100, 0)), down, RuledOut, "300 rules, but"},
		{FilterCost, "table unknown", base(), up, Unseen, "connection tracking"},
		{FilterCost, "rules denied", base(tracked(local, 1, 100, 0), func(e *Evidence) {
			e.Ends[local].Firewall.Rules = probes.Unknown[int](probes.Denied, "needs CAP_NET_ADMIN")
		}), up, Unseen, "CAP_NET_ADMIN"},

		{RemoteNode, "node 1, core 2", numa(), up, Holds, "The card eth0 is on node 1, the thread runs on core 2 of another"},
		{RemoteNode, "near", numa(node(local, 0, 0, 1, 2, 3)), up, RuledOut, "near the card"},
		{RemoteNode, "interrupts", numa(node(local, 0, 0, 1, 2, 3), interrupts(local, probes.QueueIRQ{Core: 9, Count: 50}, probes.QueueIRQ{Core: 1, Count: 5})), up, Holds, "the interrupts arrive on core 9 of another"},
		{RemoteNode, "10G", numa(card(local, 10*gig, nil, nil)), up, RuledOut, "hardly matters"},
		{RemoteNode, "one node", numa(oneNode(local)), up, RuledOut, "no node"},
		{RemoteNode, "node unknown", base(), up, Unseen, "NUMA"},
		{RemoteNode, "threads unknown", numa(blindThreads(local)), up, Unseen, "hidepid"},

		{MemoryBound, "three quarters used", memory(), up, Holds, "Memory bandwidth is likely the limit"},
		{MemoryBound, "59 %", memory(ram(local, 204*gig)), up, RuledOut, ""},
		{MemoryBound, "a core is full", memory(cores(local, .7, .96, .7, .8), ram(farEnd, 9e12)), up, RuledOut, ""},
		{MemoryBound, "more streams helped", memory(func(e *Evidence) { e.Steps = nil }, step(2, up, 30*gig, 0), ram(farEnd, 9e12)), up, RuledOut, ""},
		{MemoryBound, "the sender's unknown, the receiver's full", base(known(ram(farEnd, 160*gig), cores(farEnd, .7, .8, .7, .8)), rateOf(up, 40*gig), streams(4), step(2, up, 40*gig, 0)), up, Holds, "Far memory bandwidth is likely the limit"},
		{MemoryBound, "the sender's unknown, the receiver's not", base(known(ram(farEnd, 9e12))), up, Unseen, "memory bandwidth"},
		{MemoryBound, "bandwidth unknown", base(), up, Unseen, "memory bandwidth"},

		{OutsideGuest, "50 k kicks", guest(), up, Holds, "The limit is likely outside this virtual machine: its cores are at most 45 % busy, its card (virtio_net) notifies the host 50.1k times a second."},
		{OutsideGuest, "drops", guest(driver(local, probes.Counters{"tx0_kicks": 4, "rx0_drops": 2})), up, Holds, ""},
		{OutsideGuest, "49 k kicks", guest(driver(local, probes.Counters{"tx0_kicks": 196000})), up, RuledOut, "keeps up"},
		{OutsideGuest, "busy guest", guest(cores(local, .1, .7)), up, RuledOut, "70 % busy"},
		{OutsideGuest, "real card", guest(nic(local, func(n *probes.NIC) { n.Driver = probes.Got("ixgbe") })), up, RuledOut, "no virtual card"},
		{OutsideGuest, "loss", guest(sender(up, lost(10000, 2, 0))), up, RuledOut, "0.02 %"},
		{OutsideGuest, "kicks unknown", guest(blindVitals(local)), up, Unseen, "notifications"},
		{OutsideGuest, "driver unknown", base(), up, Unseen, "driver"},

		{UserStack, "tap0", base(nic(local, func(n *probes.NIC) { n.Name, n.Kind, n.MTU = "tap0", probes.Got("tap"), probes.Got(65520) })), up, Holds, "The network behind tap0 is a user program"},
		{UserStack, "10.0.2.15 in a guest", base(mtu(local, 1500), host(local, func(h *probes.Host) { h.Virtual = probes.Got("kvm") }), source("10.0.2.15")), up, Holds, ""},
		{UserStack, "10.0.2.15 on bare metal", base(mtu(local, 1500), host(local, func(*probes.Host) {}), source("10.0.2.15")), up, RuledOut, "no user program"},
		{UserStack, "jumbo there", base(mtu(local, 9000), host(local, func(h *probes.Host) { h.Virtual = probes.Got("kvm") }), source("10.0.2.15")), up, RuledOut, ""},
		{UserStack, "interface unknown", base(func(e *Evidence) { e.Ends[local].NIC = probes.Unknown[probes.NIC](probes.Failed, "reading route") }), up, Unseen, "reading route"},

		{TunnelCore, "kworker", base(kind(local, "wireguard"), others(local, "kworker/3:1-wg-", 3, .95)), up, Holds, "fills one core: kworker/3:1-wg- uses 95 % of it."},
		{TunnelCore, "89 %", base(kind(local, "wireguard"), known(), others(local, "kworker/3:1-wg-", 3, .89)), up, RuledOut, "89 %"},
		{TunnelCore, "another program", base(kind(local, "tun"), known(), others(local, "ffmpeg", 3, 1)), up, RuledOut, ""},
		{TunnelCore, "no tunnel", base(known(), others(local, "kworker/3:1", 3, .95)), up, RuledOut, "no tunnel"},
		{TunnelCore, "threads unknown", base(kind(local, "wireguard")), up, Unseen, "threads"},

		{TimerLimited, "a wake-up per 1.06 ms", timer(), up, Holds, "one wake-up per 1.06 ms with 14.7 kB gives 110 Mbit/s of the 1.00 Gbit/s asked."},
		{TimerLimited, "no such period", timer(rateOf(up, 400e6)), up, RuledOut, "no timer's period"},
		{TimerLimited, "reached", timer(rateOf(up, 950e6)), up, RuledOut, "is reached"},
		{TimerLimited, "busy thread", timer(func(e *Evidence) { e.Ends[local].Threads = probes.Got([]Thread{}) }, thread(local, "lr-tx-1", up, 0, .6)), up, RuledOut, "60 %"},
		{TimerLimited, "TCP waits for the network", timer(func(e *Evidence) { e.Test.UDP = false }, sender(up, func(w *StreamWindow) { w.AppLimited = probes.Got(.4) })), up, RuledOut, "wait for the network"},
		{TimerLimited, "none asked", base(), up, RuledOut, "no -b"},
		{TimerLimited, "threads unknown", timer(blindThreads(local)), up, Unseen, "hidepid"},
		{TimerLimited, "TCP_INFO unknown", timer(func(e *Evidence) { e.Test.UDP = false }), up, Unseen, "only the other end knows"},
	}
}

// oneHostDisk takes the far end out of a rule about both.
func oneHostDisk(e *Evidence) { e.Test.SameHost = true }

func source(addr string) func(*Evidence) {
	return func(e *Evidence) { e.Path.Source = netip.MustParseAddr(addr) }
}
