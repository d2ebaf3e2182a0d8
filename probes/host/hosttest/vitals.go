package hosttest

import (
	"slices"
	"time"

	"linerate/probes"
)

// Happen adds to the counters of the host what d says, in the form that
// probes.Vitals.Since gives: between two readings with Happen(d) in between, Since is d.
// What is no counter there (Qdisc.Backlog, Conntrack.Count and Max, SocketPages, Dirty,
// Thermal.Margin, CoreHz) becomes what d says. Unknown readings in d leave theirs alone.
//
// Counters, queueing disciplines, interrupts and disks must be those that the fixture has,
// else the test fails: a kernel's set of them does not change. Members are for TransferLeg,
// bytes and packets of the NIC for Transfer. Time does not pass: call Advance after it, and
// leave d.Window to it. A reading made between the two, by another goroutine, sees the counts
// before their time.
func (h *Host) Happen(d probes.Vitals) {
	h.t.Helper()
	now := &h.vitals
	h.count("counter", now.TCP.Value, d.TCP.Value)
	h.count("link counter", now.Link.Value, d.Link.Value)
	h.count("driver counter", now.Driver.Value, d.Driver.Value)
	for _, s := range d.Softnet.Value {
		h.softnet(s)
	}
	for core, n := range d.NetRx.Value {
		h.core(core)
		now.NetRx.Value[core] += n
	}
	for _, q := range d.Queues.Value {
		h.interrupt(q)
	}
	for _, q := range d.Qdiscs.Value {
		h.queue(q)
	}
	for _, x := range d.Disks.Value {
		h.disk(x)
	}
	now.Carrier.Value += d.Carrier.Value
	now.Pressure.CPU.Value += d.Pressure.CPU.Value
	now.Pressure.Memory.Value += d.Pressure.Memory.Value
	now.Pressure.IO.Value += d.Pressure.IO.Value
	now.Quota.Throttled.Value += d.Quota.Throttled.Value
	now.Thermal.Events.Value += d.Thermal.Events.Value
	now.Thermal.Throttled.Value += d.Thermal.Throttled.Value
	if c, ok := d.Conntrack.Get(); ok {
		c.Failed += now.Conntrack.Value.Failed
		now.Conntrack.Value = c
	}
	now.Thermal.Margin.Value = d.Thermal.Margin.Or(now.Thermal.Margin.Value)
	now.SocketPages.Value = d.SocketPages.Or(now.SocketPages.Value)
	now.Dirty.Value = d.Dirty.Or(now.Dirty.Value)
	now.CoreHz.Value = slices.Clone(d.CoreHz.Or(now.CoreHz.Value))
	h.writeVitals()
	h.writeLinks()
}

// count adds up counters by name.
func (h *Host) count(what string, now, d probes.Counters) {
	h.t.Helper()
	for name, n := range d {
		if _, ok := now[name]; !ok {
			h.t.Fatalf("the fixture has no %s %s", what, name)
		}
		now[name] += n
	}
}

func (h *Host) core(n int) {
	h.t.Helper()
	if n < 0 || n >= h.machine.Cores {
		h.t.Fatalf("core %d: the fixture has %d cores", n, h.machine.Cores)
	}
}

func (h *Host) softnet(d probes.Softnet) {
	h.t.Helper()
	h.core(d.Core)
	s := &h.vitals.Softnet.Value[d.Core]
	s.Processed += d.Processed
	s.Dropped += d.Dropped
	s.Squeezed += d.Squeezed
	s.RPS += d.RPS
	s.FlowLimit += d.FlowLimit
}

func (h *Host) interrupt(d probes.QueueIRQ) {
	h.t.Helper()
	h.core(d.Core)
	counts, ok := h.irqs[d.IRQ]
	if !ok {
		h.t.Fatalf("the fixture's NIC has no interrupt %d", d.IRQ)
	}
	counts[d.Core] += d.Count
}

func (h *Host) queue(d probes.Qdisc) {
	h.t.Helper()
	all := h.vitals.Qdiscs.Value
	i := slices.IndexFunc(all, func(q probes.Qdisc) bool { return q.Kind == d.Kind && q.Parent == d.Parent })
	if i < 0 {
		h.t.Fatalf("the fixture has no queueing discipline %s at %s", d.Kind, d.Parent)
	}
	d.Dropped += all[i].Dropped
	d.Overlimits += all[i].Overlimits
	d.Requeues += all[i].Requeues
	all[i] = d
}

func (h *Host) disk(d probes.DiskTimes) {
	h.t.Helper()
	all := h.vitals.Disks.Value
	i := slices.IndexFunc(all, func(x probes.DiskTimes) bool { return x.Name == d.Name })
	if i < 0 {
		h.t.Fatalf("the fixture has no disk %s", d.Name)
	}
	all[i].ReadBytes += d.ReadBytes
	all[i].WrittenBytes += d.WrittenBytes
	all[i].Busy += d.Busy
}

// freshVitals is a host that has counted nothing yet.
func (h *Host) freshVitals() probes.Vitals {
	m := h.machine
	zero := func(names []string) probes.Reading[probes.Counters] {
		c := probes.Counters{}
		for _, name := range names {
			c[name] = 0
		}
		return probes.Got(c)
	}
	v := probes.Vitals{
		TCP:         zero(protocolCounters),
		SocketPages: probes.Got(uint64(20)),
		Softnet:     probes.Got(make([]probes.Softnet, m.Cores)),
		NetRx:       probes.Got(make([]uint64, m.Cores)),
		Link:        zero(linkCounters),
		Driver:      zero(driverCounters[m.NIC.Driver]),
		Qdiscs:      probes.Got(slices.Clone(m.NIC.Qdiscs)),
		Pressure:    probes.Pressure{CPU: probes.Got(time.Duration(0)), Memory: probes.Got(time.Duration(0)), IO: probes.Got(time.Duration(0))},
		Quota:       probes.Quota{Throttled: probes.Got(time.Duration(0))},
		Thermal:     probes.Thermal{Events: probes.Got(uint64(0)), Throttled: probes.Got(time.Duration(0)), Margin: probes.Got(45.0)},
		Conntrack:   probes.Got(probes.Conntrack{Max: 262144}),
		CoreHz:      probes.Got(slices.Repeat([]float64{m.Hz}, m.Cores)),
		Carrier:     probes.Got(uint64(2)),
		Disks:       probes.Got([]probes.DiskTimes{{Name: diskName}, {Name: diskName + "p1"}}),
		Dirty:       probes.Got(0.0),
	}
	for i := range v.Softnet.Value {
		v.Softnet.Value[i].Core = i
	}
	if v.Qdiscs.Value == nil {
		v.Qdiscs.Value = []probes.Qdisc{{Kind: "mq", Parent: "root"}, {Kind: "fq_codel", Parent: ":1"}}
	}
	return v
}

// protocolCounters are those of diagnosis.md a.3; a kernel has three times as many.
var protocolCounters = []string{
	"TcpExt.TCPFastRetrans", "TcpExt.TCPSlowStartRetrans", "TcpExt.TCPTimeouts", "TcpExt.TCPLostRetransmit", "TcpExt.TCPLossProbes",
	"TcpExt.TCPSackRecovery", "TcpExt.TCPSpuriousRTOs", "TcpExt.TCPRetransFail", "TcpExt.TCPDSACKRecv", "TcpExt.TCPDSACKUndo",
	"TcpExt.TCPFullUndo", "TcpExt.TCPLossUndo", "TcpExt.TCPSACKReorder", "TcpExt.TCPTSReorder", "TcpExt.PruneCalled",
	"TcpExt.RcvPruned", "TcpExt.OfoPruned", "TcpExt.TCPRcvCollapsed", "TcpExt.TCPRcvQDrop", "TcpExt.TCPZeroWindowDrop",
	"TcpExt.TCPMemoryPressures", "TcpExt.TCPMemoryPressuresChrono", "TcpExt.TCPOFODrop", "TcpExt.TCPToZeroWindowAdv",
	"TcpExt.TCPFromZeroWindowAdv", "TcpExt.TCPWantZeroWindowAdv", "TcpExt.TCPWinProbe", "TcpExt.TCPBacklogCoalesce",
	"TcpExt.TCPBacklogDrop", "TcpExt.TCPRcvCoalesce", "TcpExt.PFMemallocDrop", "TcpExt.TCPMTUPFail", "TcpExt.TCPMTUPSuccess",
	"TcpExt.TCPHystartTrainDetect", "TcpExt.TCPHystartTrainCwnd", "TcpExt.TCPHystartDelayDetect", "TcpExt.TCPHystartDelayCwnd",
	"TcpExt.TCPAckCompressed", "TcpExt.DelayedACKs", "TcpExt.DelayedACKLost", "TcpExt.ListenOverflows", "TcpExt.ListenDrops",
	"TcpExt.TCPReqQFullDrop",
	"IpExt.InCsumErrors", "IpExt.InCEPkts", "IpExt.InECT0Pkts", "IpExt.InOctets", "IpExt.OutOctets",
	"Tcp.OutSegs", "Tcp.InSegs", "Tcp.RetransSegs", "Tcp.InCsumErrors",
	"Udp.InDatagrams", "Udp.OutDatagrams", "Udp.NoPorts", "Udp.InErrors", "Udp.RcvbufErrors", "Udp.SndbufErrors", "Udp.InCsumErrors", "Udp.MemErrors",
	"Ip.FragFails", "Ip.ReasmFails", "Ip.InReceives", "Icmp.InDestUnreachs",
	"Icmp6InPktTooBigs", "Ip6FragFails", "Ip6ReasmFails", "Ip6InReceives", "Udp6RcvbufErrors", "Udp6InErrors", "Udp6SndbufErrors",
}

// linkCounters are those of rtnl_link_stats64 that Transfer does not count.
var linkCounters = []string{
	"rx_errors", "tx_errors", "rx_dropped", "tx_dropped", "multicast", "collisions", "rx_length_errors", "rx_over_errors",
	"rx_crc_errors", "rx_frame_errors", "rx_fifo_errors", "rx_missed_errors", "tx_aborted_errors", "tx_carrier_errors",
	"tx_fifo_errors", "tx_heartbeat_errors", "tx_window_errors", "rx_compressed", "tx_compressed", "rx_nohandler",
}

// driverCounters are some of those that a driver shows with ethtool -S.
var driverCounters = map[string][]string{
	"ixgbe":      {"rx_missed_errors", "rx_no_dma_resources", "alloc_rx_page_failed", "tx_restart_queue", "rx_flow_control_xoff", "tx_flow_control_xoff", "rx_queue_0_packets", "rx_queue_1_packets", "rx_queue_2_packets", "rx_queue_3_packets"},
	"mlx5_core":  {"rx_out_of_buffer", "rx_discards_phy", "rx_prio0_pause", "tx_prio0_pause", "outbound_pci_stalled_wr"},
	"virtio_net": {"rx_drops", "rx_kicks", "tx_kicks", "tx_tx_timeouts"},
	"ena":        {"bw_in_allowance_exceeded", "bw_out_allowance_exceeded", "pps_allowance_exceeded", "conntrack_allowance_exceeded"},
	"r8169":      {"rx_missed"},
}
