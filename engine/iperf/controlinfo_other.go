//go:build !linux

package iperf

import (
	"net"
	"time"
)

// delivered is known on Linux only.
func delivered(net.Conn) (yes, known bool) { return false, false }

// pathRTT is known on Linux only.
func pathRTT(net.Conn) time.Duration { return 0 }
