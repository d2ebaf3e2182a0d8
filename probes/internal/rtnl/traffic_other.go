//go:build !linux

package rtnl

import (
	"context"
	"fmt"

	"linerate/probes"
)

// Traffic is errors.ErrUnsupported.
func (Kernel) Traffic(context.Context, string) (Traffic, error) {
	return Traffic{}, fmt.Errorf("interface counters: %w", errLinuxOnly)
}

// All is errors.ErrUnsupported.
func (Kernel) All(context.Context) ([]Link, error) {
	return nil, fmt.Errorf("interfaces: %w", errLinuxOnly)
}

// Statistics is errors.ErrUnsupported.
func (Kernel) Statistics(string) (probes.Counters, error) {
	return nil, fmt.Errorf("driver statistics: %w", errLinuxOnly)
}
