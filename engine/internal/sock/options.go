package sock

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"syscall"
	"time"
)

// Options are the socket options of data connections. Zero values change nothing, but
// for NoDelay. Systems other than Linux lack some; asking for one that is missing is an
// errors.ErrUnsupported, on a server a warning.
type Options struct {
	Window      int           // SO_SNDBUF and SO_RCVBUF in bytes; 0: the kernel tunes
	MSS         int           // TCP_MAXSEG in bytes; a peer's connection learns it from the handshake
	NoDelay     bool          // TCP_NODELAY; without it the option is cleared, since Go sets it and iperf3 does not
	Congestion  string        // TCP_CONGESTION
	TOS         int           // IP_TOS or IPV6_TCLASS, 0 … 255
	FQRate      float64       // SO_MAX_PACING_RATE in bits/s, paced by the kernel
	UserTimeout time.Duration // TCP_USER_TIMEOUT, in steps of 1 ms
	BindDev     string        // SO_BINDTODEVICE
	FlowLabel   int           // IPv6 flow label, 1 … 0xfffff; clients only
	Server      bool          // the connection is accepted, so Control has not seen it
}

// Control sets what must stand before connect or listen: device, buffers (the
// window scale is agreed on in the handshake), segment size, type of service, congestion
// control. It fits net.Dialer.Control and net.ListenConfig.Control.
//
// With a flow label and tcp6 it also starts connecting, since the label goes into the
// address of connect, which the net package does not let through; the dialer must then
// have no LocalAddr.
func (o Options) Control(network, address string, c syscall.RawConn) error {
	return rawControl(c, func(fd uintptr) error { return o.before(fd, network, address) })
}

// Apply sets everything else on a connected or accepted connection. All options are
// tried; err joins what failed. A warning says that the test runs, but not as asked:
// a buffer that the kernel did not grant, or, on a server, what it cannot do for the
// client.
func (o Options) Apply(c *net.TCPConn) (warnings []error, err error) {
	if err := c.SetNoDelay(o.NoDelay); err != nil {
		return nil, fmt.Errorf("setting TCP_NODELAY: %w", err)
	}
	var failed []error
	for _, err := range o.after(c) {
		if o.Server && (errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrNotExist)) {
			warnings = append(warnings, err)
		} else {
			failed = append(failed, err)
		}
	}
	if o.Window > 0 {
		warnings = append(warnings, o.checkWindow(c)...)
	}
	return warnings, errors.Join(failed...)
}

// short tells that the kernel granted less than was asked; limit is what to raise.
func short(buffer string, granted, asked int, limit string) error {
	err := fmt.Errorf("%s buffer: the kernel granted %d of %d bytes (-w)", buffer, granted, asked)
	if limit != "" {
		err = fmt.Errorf("%w: raise %s", err, limit)
	}
	return err
}

// rawControl runs f with the descriptor of c and gives f's error.
func rawControl(c syscall.RawConn, f func(fd uintptr) error) error {
	var inner error
	if err := c.Control(func(fd uintptr) { inner = f(fd) }); err != nil {
		return err
	}
	return inner
}

// control runs f with the descriptor of c and gives f's error.
func control(c syscall.Conn, f func(fd uintptr) error) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	return rawControl(raw, f)
}
