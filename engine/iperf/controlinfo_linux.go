//go:build linux

package iperf

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// controlInfo reads TCP_INFO of a control connection; nil when it cannot be read.
func controlInfo(conn net.Conn) *unix.TCPInfo {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	var info *unix.TCPInfo
	controlErr := raw.Control(func(fd uintptr) {
		info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	})
	if controlErr != nil || err != nil {
		return nil
	}
	return info
}

// delivered reports whether the peer's system has acknowledged everything sent. known is
// false when the system does not tell.
func delivered(conn net.Conn) (yes, known bool) {
	info := controlInfo(conn)
	if info == nil {
		return false, false
	}
	return info.Unacked == 0 && info.Notsent_bytes == 0, true
}

// pathRTT gives the kernel's round-trip time, which a busy computer does not stretch; 0
// when it is not known.
func pathRTT(conn net.Conn) time.Duration {
	info := controlInfo(conn)
	if info == nil {
		return 0
	}
	return time.Duration(info.Rtt) * time.Microsecond
}
