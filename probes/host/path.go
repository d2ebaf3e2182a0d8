package host

import (
	"context"
	"net/netip"

	"linerate/probes"
	"linerate/probes/pathmtu"
	"linerate/probes/pathrtt"
)

// RTT is pathrtt.Read: the median of n round trips to dest.
func (s *Source) RTT(ctx context.Context, dest netip.AddrPort, n int) probes.PathRTT {
	return pathrtt.Read(ctx, dest, n)
}

// MTU is pathmtu.Read: the largest packet that passes to dest.
func (s *Source) MTU(ctx context.Context, dest netip.AddrPort) probes.PathMTU {
	return pathmtu.Read(ctx, dest)
}
