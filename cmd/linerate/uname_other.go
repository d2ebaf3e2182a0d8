//go:build !unix

package main

// system is this computer for iperf3's system_info.
func system() string { return goSystem() }
