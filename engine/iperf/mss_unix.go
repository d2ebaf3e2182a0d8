//go:build unix

package iperf

import (
	"net"

	"golang.org/x/sys/unix"
)

// controlSegment is the size that a client asks for on its control connection: what every
// path carries that carries IPv6. Where a path swallows larger packets, the test shall
// begin all the same and show it; what a linerate server says of itself is larger than
// one segment of a path of 9000.
const controlSegment = 1280 - 60

// controlMSS reads TCP_MAXSEG of the control connection; 0 when it cannot be read.
func controlMSS(conn net.Conn) int {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return 0
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return 0
	}
	var mss int
	err = raw.Control(func(fd uintptr) {
		mss, _ = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_MAXSEG)
	})
	if err != nil {
		return 0
	}
	return mss
}
