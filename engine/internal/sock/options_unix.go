//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package sock

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// before sets what must stand before connect or listen.
func (o Options) before(s uintptr, network, address string) error {
	fd := int(s)
	if o.BindDev != "" {
		if err := bindDevice(fd, o.BindDev); err != nil {
			return fmt.Errorf("binding to interface %s: %w", o.BindDev, err)
		}
	}
	if o.MSS > 0 {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_MAXSEG, o.MSS); err != nil {
			return fmt.Errorf("setting TCP_MAXSEG to %d: %w", o.MSS, err)
		}
	}
	if err := errors.Join(o.common(fd)...); err != nil {
		return err
	}
	if o.FlowLabel > 0 && !o.Server && network == "tcp6" {
		if err := connectLabelled(fd, address, o.FlowLabel); err != nil {
			return fmt.Errorf("setting flow label %#x: %w", o.FlowLabel, err)
		}
	}
	return nil
}

// common sets what a client sets before connect and a server after accept.
func (o Options) common(fd int) (failed []error) {
	if o.Window > 0 {
		if err := setWindow(fd, o.Window); err != nil {
			failed = append(failed, err)
		}
	}
	if o.TOS > 0 {
		if err := setTOS(fd, o.TOS); err != nil {
			failed = append(failed, fmt.Errorf("setting type of service to %#x: %w", o.TOS, err))
		}
	}
	if o.Congestion != "" {
		if err := setCongestion(fd, o.Congestion); err != nil {
			failed = append(failed, err)
		}
	}
	return failed
}

// after sets what Control has not.
func (o Options) after(c *net.TCPConn) (failed []error) {
	err := control(c, func(s uintptr) error {
		fd := int(s)
		if o.Server {
			failed = o.common(fd)
		}
		if o.FQRate > 0 {
			if err := setPacing(fd, o.FQRate/8); err != nil {
				failed = append(failed, fmt.Errorf("setting SO_MAX_PACING_RATE: %w", err))
			}
		}
		if o.UserTimeout > 0 {
			if err := setUserTimeout(fd, o.UserTimeout); err != nil {
				failed = append(failed, fmt.Errorf("setting TCP_USER_TIMEOUT: %w", err))
			}
		}
		return nil
	})
	if err != nil {
		failed = append(failed, err)
	}
	return failed
}

func setWindow(fd, size int) error {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, size); err != nil {
		return fmt.Errorf("setting SO_SNDBUF to %d: %w", size, err)
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, size); err != nil {
		return fmt.Errorf("setting SO_RCVBUF to %d: %w", size, err)
	}
	return nil
}

// checkWindow reads the buffers back.
func (o Options) checkWindow(c *net.TCPConn) (warnings []error) {
	err := control(c, func(fd uintptr) error {
		snd, rcv, err := buffers(int(fd))
		if err != nil {
			return err
		}
		if got := snd / bufferFactor; got < o.Window {
			warnings = append(warnings, short("send", got, o.Window, sndLimit))
		}
		if got := rcv / bufferFactor; got < o.Window {
			warnings = append(warnings, short("receive", got, o.Window, rcvLimit))
		}
		return nil
	})
	if err != nil {
		warnings = append(warnings, err)
	}
	return warnings
}

// setTOS sets the type of service of either family. An IPv6 socket on Linux may carry
// IPv4, which has an option of its own.
func setTOS(fd, tos int) error {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return err
	}
	_, v6 := sa.(*unix.SockaddrInet6)
	if !v6 || mappedTOS {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TOS, tos); err != nil {
			return err
		}
	}
	if v6 {
		return unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_TCLASS, tos)
	}
	return nil
}
