//go:build unix

package iperf

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// reuseAddr lets --cport be bound again while the last test's connection from that
// port is still in TIME_WAIT.
func reuseAddr(c syscall.RawConn) error {
	var setErr error
	err := c.Control(func(fd uintptr) {
		setErr = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	})
	if err != nil {
		return err
	}
	return setErr
}
