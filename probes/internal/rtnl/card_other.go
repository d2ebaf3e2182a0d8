//go:build !linux

package rtnl

import (
	"context"
	"fmt"

	"linerate/probes"
)

// Card is all unknown.
func (Kernel) Card(string) Card { return NoCard(errLinuxOnly) }

// Fixed is errors.ErrUnsupported.
func (Kernel) Fixed(string) ([]string, error) {
	return nil, fmt.Errorf("features: %w", errLinuxOnly)
}

// Below is errors.ErrUnsupported.
func (Kernel) Below(context.Context, string) (Below, error) {
	return Below{}, fmt.Errorf("what is below an interface: %w", errLinuxOnly)
}

// WiFi is errors.ErrUnsupported.
func (Kernel) WiFi(context.Context, string) (probes.WiFi, error) {
	return probes.WiFi{}, fmt.Errorf("radio: %w", errLinuxOnly)
}
