//go:build windows

package sock

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/windows"
)

// Buffers gives SO_SNDBUF and SO_RCVBUF in bytes.
func (c *Conn) Buffers() (snd, rcv int, err error) {
	raw, err := c.tcp.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	return buffers(raw)
}

func buffers(raw syscall.RawConn) (snd, rcv int, err error) {
	var optErr error
	err = raw.Control(func(fd uintptr) {
		if snd, optErr = windows.GetsockoptInt(windows.Handle(fd), windows.SOL_SOCKET, windows.SO_SNDBUF); optErr == nil {
			rcv, optErr = windows.GetsockoptInt(windows.Handle(fd), windows.SOL_SOCKET, windows.SO_RCVBUF)
		}
	})
	if err == nil {
		err = optErr
	}
	if err != nil {
		return 0, 0, fmt.Errorf("reading socket buffer sizes: %w", err)
	}
	return snd, rcv, nil
}
