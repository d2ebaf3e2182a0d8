package probes

import (
	"math"
	"time"
)

// Counters are kernel counters by name ("TcpExt.TCPLostRetransmit", "rx_missed_errors").
// A counter that this kernel or driver does not have is not in the map.
type Counters map[string]uint64

// Since gives how far each counter that both readings have has come. One that ran
// backwards (a driver reset) is left out, for nothing is known of it.
func (c Counters) Since(earlier Counters) Counters {
	d := make(Counters, len(c))
	for name, now := range c {
		if before, ok := earlier[name]; ok && now >= before {
			d[name] = now - before
		}
	}
	return d
}

// Get gives a counter and whether it is there.
func (c Counters) Get(name string) (uint64, bool) {
	v, ok := c[name]
	return v, ok
}

// Softnet is one row of /proc/net/softnet_stat: the packet backlog of one core. The
// counters have 32 bits and wrap. Not namespaced: a container sees the whole host.
type Softnet struct {
	Core      int    `json:"core"`
	Processed uint32 `json:"processed"`
	Dropped   uint32 `json:"dropped"`  // backlog full: RPS, veth, tunnels and loopback only
	Squeezed  uint32 `json:"squeezed"` // the budget ended before the work did
	RPS       uint32 `json:"rps"`      // interrupts between cores
	FlowLimit uint32 `json:"flow_limit"`
}

// QueueIRQ is one interrupt of a network interface and the core that serves it.
type QueueIRQ struct {
	IRQ   int    `json:"irq"`
	Name  string `json:"name"`  // as /proc/interrupts has it: "eth0-TxRx-3"
	Core  int    `json:"core"`  // where most of Count arrived; -1 unknown
	Count uint64 `json:"count"` // interrupts
}

// Qdisc is one queueing discipline of an interface, or a class of HTB: its rate is the
// class's ceiling and its Parent "class 1:10", so that no two are taken for one.
type Qdisc struct {
	Device     string  `json:"device"`   // the interface it belongs to
	Kind       string  `json:"kind"`     // "fq", "tbf", "mq" …
	Parent     string  `json:"parent"`   // "root", "1:2", ":1" as tc writes them
	RateBps    float64 `json:"rate_bps"` // of a shaper (tbf, htb, cake, netem; fq's maxrate, which is for each flow), bits/s; 0 none
	Dropped    uint64  `json:"dropped"`
	Overlimits uint64  `json:"overlimits"` // a shaper delaying, not loss
	Requeues   uint64  `json:"requeues"`
	Backlog    uint64  `json:"backlog"` // bytes waiting now
}

// Pressure is the time some task stood still for want of a resource: the "some" total of
// /proc/pressure.
type Pressure struct {
	CPU    Reading[time.Duration] `json:"cpu"`
	Memory Reading[time.Duration] `json:"memory"`
	IO     Reading[time.Duration] `json:"io"`
}

// Quota is the CPU limit of this process's control group, v1 or v2.
type Quota struct {
	Cores     Reading[float64]       `json:"cores"`     // cpu.max or cpu.cfs_quota_us; Absent when unlimited
	Throttled Reading[time.Duration] `json:"throttled"` // time held back so far
}

// Thermal is the processor's own account of being too hot, summed over the cores.
type Thermal struct {
	Events    Reading[uint64]        `json:"events"`    // thermal_throttle/*_throttle_count
	Throttled Reading[time.Duration] `json:"throttled"` // *_throttle_total_time_ms
	Margin    Reading[float64]       `json:"margin_c"`  // degrees below the nearest trip point of any zone; no counter
}

// Conntrack is the connection tracking table of this network namespace.
type Conntrack struct {
	Count  uint64 `json:"count"`
	Max    uint64 `json:"max"`
	Failed uint64 `json:"failed"` // insert_failed + drop + early_drop, so far
}

// DiskTimes is one block device of /proc/diskstats, cumulative.
type DiskTimes struct {
	Name         string        `json:"name"`
	ReadBytes    uint64        `json:"read_bytes"`
	WrittenBytes uint64        `json:"written_bytes"`
	Busy         time.Duration `json:"busy"` // io_ticks: no measure of utilisation on NVMe and RAID
}

// Vitals are the counters of a host at one moment, or, made by Since, what happened in a
// window: the medium and slow tiers of the evidence. Sums are cumulative in the first
// form and differences in the second; what is no counter (Qdisc.Backlog, Conntrack.Count,
// SocketPages, Dirty, Thermal.Margin) is the newer reading in both.
//
// What speaks of an interface speaks of the one that packets leave by and those below it,
// down to the wire: Qdiscs of all of them, Driver and Queues of the card, Link and Carrier of
// the card too, or of a bond, which adds up its members. Without hardware below, as of a
// veth, they are the interface's own.
//
// Driver, Queues, Thermal, Conntrack, CoreHz, Disks and Dirty are read once a second at
// most and may be that much older than At. Over less than two seconds their differences mean
// little.
type Vitals struct {
	At     time.Time     `json:"at"`
	Window time.Duration `json:"window_ns"` // 0 in a reading

	TCP         Reading[Counters]    `json:"tcp"`          // /proc/net/{netstat,snmp,snmp6}: "TcpExt.…", "Tcp.…", "Udp.…", "Ip.…", "Icmp6…"
	SocketPages Reading[uint64]      `json:"socket_pages"` // TCP memory in pages: /proc/net/sockstat
	Softnet     Reading[[]Softnet]   `json:"softnet"`
	NetRx       Reading[[]uint64]    `json:"net_rx"` // NET_RX softirqs by core number: /proc/softirqs
	Link        Reading[Counters]    `json:"link"`   // RTM_GETLINK, as rtnl_link_stats64 names them
	Driver      Reading[Counters]    `json:"driver"` // ethtool -S, the driver's own names; refreshed by many only every 1 to 2 s
	Qdiscs      Reading[[]Qdisc]     `json:"qdiscs"`
	Queues      Reading[[]QueueIRQ]  `json:"queues"` // interrupts of the card, those that ever came
	Pressure    Pressure             `json:"pressure"`
	Quota       Quota                `json:"quota"`
	Thermal     Thermal              `json:"thermal"`
	Conntrack   Reading[Conntrack]   `json:"conntrack"`
	CoreHz      Reading[[]float64]   `json:"core_hz"` // scaling_cur_freq by core number; 0 for a core that is offline
	Carrier     Reading[uint64]      `json:"carrier"` // carrier_changes
	Disks       Reading[[]DiskTimes] `json:"disks"`
	Dirty       Reading[float64]     `json:"dirty"`   // pages not yet written as a share of what forces writers to wait: nr_dirty / nr_dirty_threshold
	Members     Reading[[]Member]    `json:"members"` // legs of a bond: RxBytes and TxBytes are the counters here
}

// Since gives what happened between an earlier reading and v. What either lacks is
// unknown, with its reason.
func (v Vitals) Since(earlier Vitals) Vitals {
	d := v
	d.Window = v.At.Sub(earlier.At)
	d.TCP = both(v.TCP, earlier.TCP, Counters.Since)
	d.Link = both(v.Link, earlier.Link, Counters.Since)
	d.Driver = both(v.Driver, earlier.Driver, Counters.Since)
	d.Softnet = both(v.Softnet, earlier.Softnet, softnetSince)
	d.NetRx = both(v.NetRx, earlier.NetRx, func(now, before []uint64) []uint64 {
		out := make([]uint64, len(now))
		for i := range now {
			if i < len(before) && now[i] >= before[i] {
				out[i] = now[i] - before[i]
			}
		}
		return out
	})
	d.Qdiscs = both(v.Qdiscs, earlier.Qdiscs, qdiscsSince)
	d.Queues = both(v.Queues, earlier.Queues, queuesSince)
	d.Pressure = Pressure{
		CPU:    both(v.Pressure.CPU, earlier.Pressure.CPU, less[time.Duration]),
		Memory: both(v.Pressure.Memory, earlier.Pressure.Memory, less[time.Duration]),
		IO:     both(v.Pressure.IO, earlier.Pressure.IO, less[time.Duration]),
	}
	d.Quota.Throttled = both(v.Quota.Throttled, earlier.Quota.Throttled, less[time.Duration])
	d.Thermal = Thermal{
		Events:    both(v.Thermal.Events, earlier.Thermal.Events, less[uint64]),
		Throttled: both(v.Thermal.Throttled, earlier.Thermal.Throttled, less[time.Duration]),
		Margin:    v.Thermal.Margin,
	}
	d.Conntrack = both(v.Conntrack, earlier.Conntrack, func(now, before Conntrack) Conntrack {
		now.Failed = less(now.Failed, before.Failed)
		return now
	})
	d.Carrier = both(v.Carrier, earlier.Carrier, less[uint64])
	d.Disks = both(v.Disks, earlier.Disks, disksSince)
	d.Members = both(v.Members, earlier.Members, membersSince)
	return d
}

// both applies f where both readings are known, and else keeps the reason of the one
// that is not.
func both[T any](now, before Reading[T], f func(now, before T) T) Reading[T] {
	switch {
	case !now.Known():
		return now
	case !before.Known():
		return before
	}
	return Got(f(now.Value, before.Value))
}

func less[N time.Duration | uint64](now, before N) N {
	if now < before {
		return 0
	}
	return now - before
}

func softnetSince(now, before []Softnet) []Softnet {
	old := make(map[int]Softnet, len(before))
	for _, s := range before {
		old[s.Core] = s
	}
	out := make([]Softnet, 0, len(now))
	for _, s := range now {
		b, ok := old[s.Core]
		if !ok {
			continue
		}
		// Differences of uint32 survive one wrap.
		out = append(out, Softnet{s.Core, s.Processed - b.Processed, s.Dropped - b.Dropped,
			s.Squeezed - b.Squeezed, s.RPS - b.RPS, s.FlowLimit - b.FlowLimit})
	}
	return out
}

func qdiscsSince(now, before []Qdisc) []Qdisc {
	type key struct{ device, kind, parent string }
	old := make(map[key]Qdisc, len(before))
	for _, q := range before {
		old[key{q.Device, q.Kind, q.Parent}] = q
	}
	out := make([]Qdisc, 0, len(now))
	for _, q := range now {
		b, ok := old[key{q.Device, q.Kind, q.Parent}]
		if !ok {
			continue
		}
		q.Dropped = less(q.Dropped, b.Dropped)
		q.Overlimits = less(q.Overlimits, b.Overlimits)
		q.Requeues = less(q.Requeues, b.Requeues)
		out = append(out, q)
	}
	return out
}

func queuesSince(now, before []QueueIRQ) []QueueIRQ {
	old := make(map[int]QueueIRQ, len(before))
	for _, q := range before {
		old[q.IRQ] = q
	}
	out := make([]QueueIRQ, 0, len(now))
	for _, q := range now {
		if b, ok := old[q.IRQ]; ok {
			q.Count = less(q.Count, b.Count)
			out = append(out, q)
		}
	}
	return out
}

func disksSince(now, before []DiskTimes) []DiskTimes {
	old := make(map[string]DiskTimes, len(before))
	for _, d := range before {
		old[d.Name] = d
	}
	out := make([]DiskTimes, 0, len(now))
	for _, d := range now {
		if b, ok := old[d.Name]; ok {
			out = append(out, DiskTimes{d.Name, less(d.ReadBytes, b.ReadBytes),
				less(d.WrittenBytes, b.WrittenBytes), less(d.Busy, b.Busy)})
		}
	}
	return out
}

func membersSince(now, before []Member) []Member {
	old := make(map[string]Member, len(before))
	for _, m := range before {
		old[m.Name] = m
	}
	out := make([]Member, 0, len(now))
	for _, m := range now {
		if b, ok := old[m.Name]; ok {
			m.RxBytes, m.TxBytes = less(m.RxBytes, b.RxBytes), less(m.TxBytes, b.TxBytes)
			out = append(out, m)
		}
	}
	return out
}

// PerSecond is the rate of a counter in a window made by Since, unknown when the counter
// is.
func (v Vitals) PerSecond(set Reading[Counters], name string) Reading[float64] {
	if !set.Known() {
		return Unknown[float64](set.Status, set.Why())
	}
	n, ok := set.Value[name]
	seconds := v.Window.Seconds()
	switch {
	case !ok:
		return Unknown[float64](Absent, "no counter "+name)
	case seconds <= 0 || math.IsNaN(seconds):
		return Unknown[float64](NotRead, "first reading")
	}
	return Got(float64(n) / seconds)
}
