package host

import (
	"context"

	"linerate/probes"
)

// Adapter describes the card behind an interface, and the devices between the two. It
// takes a millisecond on most machines, and tens of them where a driver has to ask its
// card over a slow bus. It may be called from any goroutine.
func (s *Source) Adapter(ctx context.Context, nic string) probes.Reading[probes.Adapter] {
	return begin(ctx, func(ctx context.Context) probes.Reading[probes.Adapter] {
		return probes.Read(s.nic.Adapter(ctx, nic))
	}).wait(probes.Unread[probes.Adapter])
}
