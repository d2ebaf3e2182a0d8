//go:build windows

package iperf

import "net"

// controlMSS is not known on Windows, which has no TCP_MAXSEG.
func controlMSS(net.Conn) int { return 0 }
