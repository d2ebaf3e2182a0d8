package netstack

import (
	"github.com/prometheus/procfs"

	"linerate/probes"
)

// Softnet reads /proc/net/softnet_stat: one row per core that is online. Kernels before
// 5.10 do not number the rows; there a row's place stands for its core.
func (r *Reader) Softnet() probes.Reading[[]probes.Softnet] {
	rows, err := fromProc(r, "proc/net/softnet_stat", "the kernel shows no packet backlog: no /proc/net/softnet_stat", procfs.FS.NetSoftnetStat)
	if err != nil {
		return probes.Unread[[]probes.Softnet](err)
	}
	list := make([]probes.Softnet, len(rows))
	for i, s := range rows {
		list[i] = probes.Softnet{
			Core: int(s.Index), Processed: s.Processed, Dropped: s.Dropped, Squeezed: s.TimeSqueezed,
			RPS: s.ReceivedRps, FlowLimit: s.FlowLimitCount,
		}
	}
	return probes.Got(list)
}

// NetRx reads the line NET_RX of /proc/softirqs: how often each core took packets in, by
// its number. Cores that could be added have a place too.
func (r *Reader) NetRx() probes.Reading[[]uint64] {
	all, err := fromProc(r, "proc/softirqs", "the kernel shows no softirqs: no /proc/softirqs", procfs.FS.Softirqs)
	switch {
	case err != nil:
		return probes.Unread[[]uint64](err)
	case len(all.NetRx) == 0:
		return probes.Unknown[[]uint64](probes.Absent, "no NET_RX in /proc/softirqs")
	}
	return probes.Got(all.NetRx)
}

// SocketPages reads how much memory all TCP sockets of the computer hold, in pages: the
// number that net.ipv4.tcp_mem limits. Source: /proc/net/sockstat.
func (r *Reader) SocketPages() probes.Reading[uint64] {
	stat, err := fromProc(r, "proc/net/sockstat", "the kernel shows no socket memory: no /proc/net/sockstat", procfs.FS.NetSockstat)
	if err != nil {
		return probes.Unread[uint64](err)
	}
	for _, p := range stat.Protocols {
		if p.Protocol == "TCP" && p.Mem != nil && *p.Mem >= 0 {
			return probes.Got(uint64(*p.Mem))
		}
	}
	return probes.Unknown[uint64](probes.Absent, "no TCP memory in /proc/net/sockstat")
}
