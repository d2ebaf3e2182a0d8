package host

import (
	"context"

	"linerate/probes"
)

// Interfaces describes every network interface but loopback. It takes at most two seconds,
// and a millisecond for three of them as a rule.
func (s *Source) Interfaces(ctx context.Context) probes.Reading[[]probes.NIC] {
	return begin(ctx, func(ctx context.Context) probes.Reading[[]probes.NIC] {
		return probes.Read(s.nic.List(ctx))
	}).wait(probes.Unread[[]probes.NIC])
}
