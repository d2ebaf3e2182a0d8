package diagnose

import (
	"linerate/engine"
	"linerate/probes"
)

func rings(side engine.Side, now, most int) func(*Evidence) {
	return adapter(side, func(a *probes.Adapter) { a.Rings = probes.Got(probes.Rings{Rx: now, RxMax: most}) })
}

func offloads(side engine.Side, tso, gso, gro bool) func(*Evidence) {
	return nic(side, func(n *probes.NIC) {
		n.Offloads = probes.Offloads{TSO: probes.Got(tso), GSO: probes.Got(gso), GRO: probes.Got(gro)}
	})
}

func lro(side engine.Side, on bool) func(*Evidence) {
	return nic(side, func(n *probes.NIC) { n.Offloads.LRO = probes.Got(on) })
}

func router(side engine.Side, yes bool) func(*Evidence) {
	return func(e *Evidence) { e.Ends[side].Firewall.Router = probes.Got(yes) }
}

func pages(side engine.Side, n uint64) func(*Evidence) {
	return vitals(side, func(v *probes.Vitals) { v.SocketPages = probes.Got(n) })
}

// cut is a sender whose packets go through the stack one by one: 5.7 Gbit/s in 478 000
// packets a second.
func cut(edits ...func(*Evidence)) Evidence {
	all := []func(*Evidence){rateOf(up, 5.72*gig), cores(local, .9, .6), mtu(local, 1500), offloads(local, false, false, true),
		softnet(local, probes.Softnet{Core: 0, Processed: 1911480}, probes.Softnet{Core: 1, Processed: 649048})}
	return base(append(all, edits...)...)
}

func queueRows() []row {
	tbf := func(bps float64) probes.Qdisc {
		return probes.Qdisc{Kind: "tbf", Parent: "root", RateBps: bps, Overlimits: 199891}
	}
	calm := tcp(farEnd, probes.Counters{"TcpExt.TCPMemoryPressures": 0, "TcpExt.PruneCalled": 0})
	return []row{
		{Squeezed, "10 times a second, ring misses", base(direction(down), softnet(local, probes.Softnet{Core: 1, Squeezed: 40}), linked(local, probes.Counters{"rx_missed_errors": 3})), down, Holds, "10 times a second on core 1"},
		{Squeezed, "core has time left", base(direction(down), cores(local, .1, .89), softnet(local, probes.Softnet{Core: 1, Squeezed: 40})), down, Holds, ""},
		{Squeezed, "9.75 times", base(direction(down), softnet(local, probes.Softnet{Core: 1, Squeezed: 39}), linked(local, probes.Counters{"rx_missed_errors": 3})), down, RuledOut, "runs out"},
		{Squeezed, "core is full", base(direction(down), cores(local, .1, .9), softnet(local, probes.Softnet{Core: 1, Squeezed: 40})), down, RuledOut, "would not help"},
		{Squeezed, "softnet unknown", base(direction(down), blindVitals(local)), down, Unseen, "no /proc here"},
		{Squeezed, "cores unknown", base(direction(down), blindCores(local), softnet(local, probes.Softnet{Core: 1, Squeezed: 40})), down, Unseen, "cgo"},

		{RingOverflow, "1.2 k/s of 512", base(direction(down), linked(local, probes.Counters{"rx_missed_errors": 4800, "rx_packets": 3e6}), rings(local, 512, 4096)), down, Holds, "The receive ring of eth0, 512 descriptors, overflows (1.2k/s); the card allows 4096."},
		{RingOverflow, "0.75/s", base(direction(down), linked(local, probes.Counters{"rx_missed_errors": 3, "rx_packets": 3e6}), rings(local, 512, 4096)), down, RuledOut, "does not overflow"},
		{RingOverflow, "less than a millionth", base(direction(down), linked(local, probes.Counters{"rx_missed_errors": 4, "rx_packets": 5e6}), rings(local, 512, 4096)), down, RuledOut, "only"},
		{RingOverflow, "ring as long as it gets", base(direction(down), linked(local, probes.Counters{"rx_missed_errors": 4800, "rx_packets": 3e6}), rings(local, 4096, 4096)), down, RuledOut, "all of its 4096"},
		{RingOverflow, "driver's own name", base(direction(down), driver(local, probes.Counters{"rx_out_of_buffer": 4800}), rings(local, 1024, 8192)), down, Holds, "1024"},
		{RingOverflow, "counters unknown", base(direction(down), blindVitals(local)), down, Unseen, "no /proc here"},
		{RingOverflow, "rings unknown", base(direction(down), linked(local, probes.Counters{"rx_missed_errors": 4800, "rx_packets": 3e6})), down, Unseen, "rings"},
		{RingOverflow, "far receiver unknown", base(), up, Unseen, "far end not visible"},

		{BacklogDrops, "one drop", base(direction(down), cores(local, .1, .1, .5), softnet(local, probes.Softnet{Core: 2, Dropped: 8})), down, Holds, "The packet backlog of core 2 is full: 2/s drops."},
		{BacklogDrops, "core full", base(direction(down), cores(local, .1, .1, .95), softnet(local, probes.Softnet{Core: 2, Dropped: 8})), down, Holds, "and the core is 95 % busy."},
		{BacklogDrops, "none", base(direction(down), softnet(local, probes.Softnet{Core: 2, Processed: 9e6})), down, RuledOut, "no core"},
		{BacklogDrops, "softnet unknown", base(direction(down), blindVitals(local)), down, Unseen, "no /proc here"},

		{QdiscDrops, "340/s", base(qdiscs(local, probes.Qdisc{Kind: "pfifo_fast", Dropped: 1360})), up, Holds, "The queue of eth0 (pfifo_fast) drops 340 packets a second"},
		{QdiscDrops, "0.75/s", base(qdiscs(local, probes.Qdisc{Kind: "pfifo_fast", Dropped: 3})), up, RuledOut, ""},
		{QdiscDrops, "fq_codel drops on purpose", base(qdiscs(local, probes.Qdisc{Kind: "fq_codel", Dropped: 1360})), up, RuledOut, "against its will"},
		{QdiscDrops, "mq adds up its children", base(qdiscs(local, probes.Qdisc{Kind: "mq", Dropped: 1360}, probes.Qdisc{Kind: "fq_codel", Parent: "mq", Dropped: 1360})), up, RuledOut, ""},
		{QdiscDrops, "a shaper's drops", base(qdiscs(local, probes.Qdisc{Kind: "tbf", RateBps: 5e8, Dropped: 1360})), up, RuledOut, ""},
		{QdiscDrops, "queueing disciplines unknown", base(blindVitals(local)), up, Unseen, "no /proc here"},
		{QdiscDrops, "far sender", base(direction(down)), down, Unseen, "far end not visible"},

		{OwnShaper, "191 of tbf 200M", base(rateOf(up, 191.3e6), qdiscs(local, tbf(200e6))), up, Holds, "A tbf shaper of 200 Mbit/s on eth0 is the limit: 191 Mbit/s pass"},
		{OwnShaper, "92 %", base(rateOf(up, 184e6), qdiscs(local, tbf(200e6))), up, Holds, ""},
		{OwnShaper, "91.9 %", base(rateOf(up, 183.8e6), qdiscs(local, tbf(200e6))), up, RuledOut, "184 of 200"},
		{OwnShaper, "above it", base(rateOf(up, 217e6), qdiscs(local, tbf(200e6))), up, RuledOut, ""},
		{OwnShaper, "fq maxrate is per flow", base(streams(4), rateOf(up, 780e6), qdiscs(local, probes.Qdisc{Kind: "fq", RateBps: 200e6})), up, Holds, "fq shaper of 800 Mbit/s"},
		{OwnShaper, "one of several classes, on the card below", base(kind(local, "vlan"), rateOf(up, 470e6), qdiscs(local,
			probes.Qdisc{Device: "eth1", Kind: "htb", Parent: "root"}, probes.Qdisc{Device: "eth1", Kind: "htb", Parent: "class 1:1", RateBps: 900e6},
			probes.Qdisc{Device: "eth1", Kind: "htb", Parent: "class 1:10", RateBps: 500e6}, probes.Qdisc{Device: "eth1", Kind: "htb", Parent: "class 1:20", RateBps: 50e6})), up, Holds, "An htb shaper of 500 Mbit/s on eth1 is the limit"},
		{OwnShaper, "far shaper", base(direction(down), rateOf(down, 470e6), known(qdiscs(farEnd, probes.Qdisc{Kind: "htb", RateBps: 500e6}))), down, Holds, "on far eth0"},
		{OwnShaper, "no shaper", base(qdiscs(local, probes.Qdisc{Kind: "fq_codel"})), up, RuledOut, "no shaper"},
		{OwnShaper, "without traffic", base(idleTest, qdiscs(local, tbf(200e6))), up, Holds, "sits on eth0"},
		{OwnShaper, "queueing disciplines unknown", base(blindVitals(local)), up, Unseen, "no /proc here"},
		{OwnShaper, "rate unknown", base(qdiscs(local, tbf(200e6)), blindRate(up)), up, Unseen, "rate"},

		{OffloadsOff, "478 k packets a second", cut(), up, Holds, "TSO, GSO of eth0 are off: 640k packets a second go through the stack one by one."},
		{OffloadsOff, "receiver", base(direction(down), rateOf(down, 5.72*gig), cores(local, .9, .6), mtu(local, 1500), offloads(local, true, true, false), softnet(local, probes.Softnet{Processed: 1911480})), down, Holds, "GRO of eth0 is off"},
		{OffloadsOff, "packets are joined all the same", cut(softnet(local, probes.Softnet{Processed: 1500000}), known(offloads(farEnd, true, true, true))), up, RuledOut, ""},
		{OffloadsOff, "cores cool", cut(cores(local, .69, .6), known(offloads(farEnd, true, true, true))), up, RuledOut, ""},
		{OffloadsOff, "another program heats the core", cut(thread(local, "lr-tx-1", up, 0, .04), known(offloads(farEnd, true, true, true))), up, RuledOut, "or cost nothing"},
		{OffloadsOff, "cannot be changed", cut(known(offloads(farEnd, true, true, true)), adapter(local, func(a *probes.Adapter) { a.Fixed = []string{"tso", "gso"} })), up, RuledOut, ""},
		{OffloadsOff, "all on", cut(offloads(local, true, true, true), known(offloads(farEnd, true, true, true))), up, RuledOut, ""},
		{OffloadsOff, "without traffic", base(idleTest, offloads(local, false, true, true)), up, Holds, "TSO of eth0 is off: every packet will cost"},
		{OffloadsOff, "without traffic, veth", base(idleTest, kind(local, "veth"), offloads(local, true, true, false), known(offloads(farEnd, true, true, true))), down, RuledOut, ""},
		{OffloadsOff, "offloads unknown", base(), up, Unseen, "offloads"},
		{OffloadsOff, "softnet unknown", cut(blindVitals(local)), up, Unseen, "no /proc here"},

		{MergingForwarder, "ip_forward", base(lro(local, true), setting(local, "net.ipv4.ip_forward", "1")), up, Holds, "LRO of eth0 breaks TCP that is forwarded (ip_forward is on)"},
		{MergingForwarder, "bridge port", base(lro(local, true), adapter(local, func(a *probes.Adapter) { a.Chain = []probes.Layer{{Name: "br0", Kind: "bridge"}, {Name: "eth0"}} })), up, Holds, "br0 is a bridge"},
		{MergingForwarder, "nothing forwarded", base(lro(local, true), setting(local, "net.ipv4.ip_forward", "0"), known(lro(farEnd, false))), up, RuledOut, "nothing is forwarded"},
		{MergingForwarder, "LRO off", base(lro(local, false), setting(local, "net.ipv4.ip_forward", "1"), known(lro(farEnd, false))), up, RuledOut, "LRO is off"},
		{MergingForwarder, "LRO unknown", base(setting(local, "net.ipv4.ip_forward", "1")), up, Unseen, "LRO"},
		{MergingForwarder, "forwarding unknown", base(lro(local, true)), up, Unseen, "ip_forward"},

		{DatagramBufferFull, "UDP test", base(direction(down), func(e *Evidence) { e.Test.UDP = true }, tcp(local, probes.Counters{"Udp.RcvbufErrors": 105092})), down, Holds, "the socket's buffer is full (26.3k/s dropped)"},
		{DatagramBufferFull, "socket drops", base(direction(down), func(e *Evidence) { e.Test.UDP = true }, tcp(local, probes.Counters{"Udp.RcvbufErrors": 0}), receiver(down, func(w *StreamWindow) {
			w.MemBefore, w.Mem = probes.Got(engine.SockMem{Drops: 4}), probes.Got(engine.SockMem{Drops: 12})
		})), down, Holds, "2/s dropped"},
		{DatagramBufferFull, "tunnel", base(direction(down), kind(local, "tun"), tcp(local, probes.Counters{"Udp.RcvbufErrors": 8})), down, Holds, "The tunnel of eth0 loses datagrams"},
		{DatagramBufferFull, "none", base(direction(down), func(e *Evidence) { e.Test.UDP = true }, tcp(local, probes.Counters{"Udp.RcvbufErrors": 0})), down, RuledOut, "no datagram"},
		{DatagramBufferFull, "others' datagrams", base(direction(down), tcp(local, probes.Counters{"Udp.RcvbufErrors": 3})), down, RuledOut, "others'"},
		{DatagramBufferFull, "counters unknown", base(direction(down), blindVitals(local)), down, Unseen, "no /proc here"},
		{DatagramBufferFull, "far receiver", base(), up, Unseen, "far end not visible"},

		{MemoryPressure, "one pressure", base(tcp(local, probes.Counters{"TcpExt.TCPMemoryPressures": 1})), up, Holds, "under pressure"},
		{MemoryPressure, "pool 91 % full", base(tcp(local, probes.Counters{"TcpExt.TCPMemoryPressures": 0}), pages(local, 91), setting(local, "net.ipv4.tcp_mem", "50 100 150")), up, Holds, "91 % full"},
		{MemoryPressure, "pool 90 % full", base(known(calm), tcp(local, probes.Counters{"TcpExt.TCPMemoryPressures": 0}), pages(local, 90), setting(local, "net.ipv4.tcp_mem", "50 100 150")), up, RuledOut, "memory enough"},
		{MemoryPressure, "collapsed", base(tcp(local, probes.Counters{"TcpExt.TCPRcvCollapsed": 7})), up, Holds, "had to be squeezed 7 times"},
		{MemoryPressure, "none", base(known(calm), tcp(local, probes.Counters{"TcpExt.TCPMemoryPressures": 0, "TcpExt.TCPRcvCollapsed": 0})), up, RuledOut, ""},
		{MemoryPressure, "counters unknown", base(blindVitals(local)), up, Unseen, "no /proc here"},

		{LockedOut, "one drop", base(direction(down), tcp(local, probes.Counters{"TcpExt.TCPBacklogDrop": 4})), down, Holds, "held the socket (1/s)"},
		{LockedOut, "none", base(direction(down), tcp(local, probes.Counters{"TcpExt.TCPBacklogDrop": 0})), down, RuledOut, ""},
		{LockedOut, "counters unknown", base(direction(down), blindVitals(local)), down, Unseen, "no /proc here"},
	}
}
