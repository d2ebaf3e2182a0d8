//go:build darwin

package sock

import (
	"net"

	"golang.org/x/sys/unix"
)

func bindDevice(fd int, name string) error {
	nic, err := net.InterfaceByName(name)
	if err != nil {
		return err
	}
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return err
	}
	if _, v6 := sa.(*unix.SockaddrInet6); v6 {
		return unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_BOUND_IF, nic.Index)
	}
	return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BOUND_IF, nic.Index)
}
