package iperf

import (
	"context"
	"net/netip"

	"linerate/engine"
)

// Resolve gives the addresses of the spec's host in the order in which Dial tries them,
// with its port. An error is the *Error that Dial would give.
func Resolve(ctx context.Context, spec engine.Spec) ([]netip.AddrPort, error) {
	r, err := resolve(ctx, spec, netip.AddrPort{})
	if err != nil {
		return nil, err
	}
	return r.addrs, nil
}
