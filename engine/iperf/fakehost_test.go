package iperf

import (
	"context"
	"net/netip"
	"sync/atomic"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// fakeHost is a computer with two cores, whose counters grow by one per reading.
type fakeHost struct {
	loads, vitals, hosts atomic.Int64
	inside               atomic.Bool
	together             atomic.Bool   // Load was called by two at once
	slow                 time.Duration // of Host
}

func (h *fakeHost) Host(ctx context.Context) probes.Host {
	h.hosts.Add(1)
	select {
	case <-time.After(h.slow):
		return probes.Host{Name: probes.Got("far\x1b[2J"), OS: "linux", CPU: probes.CPU{Cores: 2, FreqHz: probes.Got([]float64{3e9, 3e9})}}
	case <-ctx.Done():
		return probes.Host{Name: probes.Unread[string](ctx.Err())}
	}
}

func (h *fakeHost) Route(_ context.Context, dest netip.Addr) probes.Reading[probes.Route] {
	return probes.Got(probes.Route{Dest: dest, NIC: probes.Got(probes.NIC{Name: "eth7", MTU: probes.Got(9000)})})
}

func (h *fakeHost) Load() probes.Load {
	if !h.inside.CompareAndSwap(false, true) {
		h.together.Store(true)
	}
	defer h.inside.Store(false)
	n := h.loads.Add(1)
	l := unreadLoad("first reading")
	l.At = time.Now()
	if n > 1 {
		l.Window = sideEvery
		l.Cores = probes.Got([]probes.CoreLoad{{Core: 0, User: 0.25, System: 0.5, IOWait: 0.1, Idle: 0.25}, {Core: 1, Idle: 1}})
		l.Process = probes.Got(probes.ThreadLoad{User: 0.1, System: 1.4})
	}
	return l
}

func (h *fakeHost) Adapter(_ context.Context, nic string) probes.Reading[probes.Adapter] {
	return probes.Got(probes.Adapter{Device: nic, Autoneg: probes.Got(true), Optics: probes.Got(probes.Optics{RxDBm: -3.5})})
}

func (h *fakeHost) Vitals(_ context.Context, nic string) probes.Vitals {
	n := uint64(h.vitals.Add(1))
	return probes.Vitals{
		At: time.Now(),
		TCP: probes.Got(probes.Counters{
			"TcpExt.TCPTimeouts": 1000 + n, "TcpExt.TCPLostRetransmit": 77, "Ip.InReceives": 5 * n, "Ip.ReasmFails": 3,
		}),
		Link:    probes.Got(probes.Counters{"rx_packets": 100 * n, "rx_missed_errors": 2}),
		Driver:  probes.Unknown[probes.Counters](probes.Absent, nic+" tells nothing"),
		Softnet: probes.Got([]probes.Softnet{{Core: 1, Processed: uint32(n)}}),
	}
}

func (h *fakeHost) Settings(context.Context) probes.Settings {
	return probes.Settings{
		"net.ipv4.tcp_rmem":  probes.Got(probes.Setting{Value: "4096 131072 6291456"}),
		"net.core.busy_read": probes.Unknown[probes.Setting](probes.Absent, "not here"),
	}
}

func (h *fakeHost) Firewall(context.Context) probes.Firewall {
	return probes.Firewall{Kind: probes.Got("nftables")}
}
func (h *fakeHost) Disk(context.Context, string) probes.Disk { return probes.Disk{} }

func (h *fakeHost) Memory(context.Context) probes.Reading[float64] { return probes.Got(409.6e9) }

func (h *fakeHost) Listener(_ context.Context, at netip.AddrPort) probes.Reading[probes.Program] {
	return probes.Got(probes.Program{Name: "sshd", PID: int(at.Port())})
}

var _ engine.EvidenceSource = (*fakeHost)(nil)
