//go:build unix

package iperf

import (
	"net"

	"golang.org/x/sys/unix"
)

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
