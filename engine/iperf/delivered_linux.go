//go:build linux

package iperf

import (
	"net"

	"golang.org/x/sys/unix"
)

// delivered asks TCP_INFO for segments that are not acknowledged yet.
func delivered(conn net.Conn) (yes, known bool) {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return false, false
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return false, false
	}
	var info *unix.TCPInfo
	controlErr := raw.Control(func(fd uintptr) {
		info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	})
	if controlErr != nil || err != nil {
		return false, false
	}
	return info.Unacked == 0 && info.Notsent_bytes == 0, true
}
