//go:build windows

package iperf

import "net"

// controlSegment is left to Windows, which has no TCP_MAXSEG.
const controlSegment = 0

// controlMSS is not known on Windows, which has no TCP_MAXSEG.
func controlMSS(net.Conn) int { return 0 }
