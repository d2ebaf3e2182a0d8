//go:build windows

package iperf

import "syscall"

// reuseAddr does nothing: SO_REUSEADDR on Windows would let two programs share a port.
func reuseAddr(syscall.RawConn) error { return nil }
