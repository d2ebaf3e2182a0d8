//go:build !linux

package iperf

import "testing"

func fullBacklog(t *testing.T) int {
	t.Skip("a full backlog drops SYNs on Linux only")
	return 0
}
