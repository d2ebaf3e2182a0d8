//go:build windows

package iperf

import (
	"errors"

	"golang.org/x/sys/windows"
)

// Windows reports socket errors with numbers of its own; syscall.ECONNREFUSED and the
// like are inventions of package syscall there.

func refused(err error) bool { return errors.Is(err, windows.WSAECONNREFUSED) }

func resetByPeer(err error) bool {
	return errors.Is(err, windows.WSAECONNRESET) || errors.Is(err, windows.WSAECONNABORTED) || errors.Is(err, windows.WSAESHUTDOWN)
}

func unreachable(err error) bool {
	return errors.Is(err, windows.WSAEHOSTUNREACH) || errors.Is(err, windows.WSAENETUNREACH) || errors.Is(err, windows.WSAEHOSTDOWN)
}

func addressInUse(err error) bool { return errors.Is(err, windows.WSAEADDRINUSE) }
