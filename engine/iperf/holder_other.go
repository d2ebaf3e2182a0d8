//go:build !linux

package iperf

// portHolder is known on Linux only.
func portHolder(int) string { return "" }
