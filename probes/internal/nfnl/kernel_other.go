//go:build !linux

package nfnl

import (
	"context"

	"linerate/probes/internal/kfs"
)

// Kernel asks the running system, which has no such packet filter.
type Kernel struct{}

// NFTables is errors.ErrUnsupported.
func (Kernel) NFTables(context.Context) (Ruleset, error) { return Ruleset{}, kfs.LinuxOnly() }

// Legacy is errors.ErrUnsupported.
func (Kernel) Legacy(table string, v6 bool) (Ruleset, error) {
	return Ruleset{}, legacyError(table, v6, kfs.LinuxOnly())
}
