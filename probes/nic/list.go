package nic

import (
	"context"

	"linerate/probes"
)

// List describes every interface of this network namespace but loopback, in the kernel's
// order. Its only error is that the system does not list them.
func (r *Reader) List(ctx context.Context) ([]probes.NIC, error) {
	all, err := r.ask().All(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]probes.NIC, 0, len(all))
	for _, link := range all {
		if !link.Loopback {
			list = append(list, r.Read(ctx, link.Name))
		}
	}
	return list, nil
}
