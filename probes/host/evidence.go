package host

import (
	"context"

	"linerate/probes"
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
