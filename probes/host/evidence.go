package host

import (
	"context"
	"net/netip"

	"linerate/probes"
	"linerate/probes/cpu"
	"linerate/probes/memory"
	"linerate/probes/sysctl"
)

// Settings reads the kernel settings that matter to a test. It takes at most two seconds,
// and a millisecond as a rule.
func (s *Source) Settings(ctx context.Context) probes.Settings {
	return begin(ctx, func(context.Context) probes.Settings { return s.sysctl.Read() }).wait(sysctl.Unread)
}

// Firewall reads the packet filter. It takes at most two seconds, and a microsecond per
// rule as a rule.
func (s *Source) Firewall(ctx context.Context) probes.Firewall {
	return begin(ctx, s.vitals.firewall.Read).wait(func(err error) probes.Firewall {
		return probes.Firewall{
			Kind: probes.Unread[string](err), Rules: probes.Unread[int](err),
			Tracked: probes.Unread[bool](err), Router: probes.Unread[bool](err),
		}
	})
}

// Disk describes the disk behind a path, which need not exist yet. It takes at most two
// seconds: a path on a server that does not answer can hold it up.
func (s *Source) Disk(ctx context.Context, path string) probes.Disk {
	return begin(ctx, func(ctx context.Context) probes.Disk { return s.vitals.disk.Read(ctx, path) }).wait(func(err error) probes.Disk {
		return probes.Disk{Class: probes.Unread[string](err), LimitBps: probes.Unread[float64](err)}
	})
}

// Memory gives the peak bandwidth of the RAM, bits/s, by what the firmware says of its
// modules; see memory.Bandwidth. It takes at most two seconds, and 0.1 ms as a rule.
func (s *Source) Memory(ctx context.Context) probes.Reading[float64] {
	return begin(ctx, func(context.Context) probes.Reading[float64] {
		if cpu.Hypervisor(s.root).Known() {
			return probes.Unknown[float64](probes.Absent, "a virtual machine is not told how fast its memory is")
		}
		return probes.Read(memory.Bandwidth(s.root))
	}).wait(probes.Unread[float64])
}

// Listener finds the program that accepts TCP connections to an address of this computer;
// see netstack.Reader.Listener. It takes at most two seconds, and some 10 ms where there
// are hundreds of processes.
func (s *Source) Listener(ctx context.Context, at netip.AddrPort) probes.Reading[probes.Program] {
	return begin(ctx, func(ctx context.Context) probes.Reading[probes.Program] {
		return probes.Read(s.vitals.stack.Listener(ctx, at))
	}).wait(probes.Unread[probes.Program])
}
