//go:build freebsd

package sock

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func setCongestion(fd int, name string) error {
	err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("setting congestion control %q: %w", name, err)
	if names, listErr := unix.Sysctl("net.inet.tcp.cc.available"); listErr == nil {
		err = fmt.Errorf("%w (available: %s)", err, names)
	}
	return err
}

// Congestion is the congestion control in use.
func (c *Conn) Congestion() (name string, err error) {
	err = c.use(func(fd int) (err error) {
		name, err = unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("reading TCP_CONGESTION: %w", err)
	}
	return name, nil
}
