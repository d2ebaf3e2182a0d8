//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package sock

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// callTimeout bounds every call on a data socket: no byte stays uncounted longer, and a
// stop is seen within it.
const callTimeout = 20 * time.Millisecond

// Conn is a TCP data connection that Go's network poller does not know. Registered
// there it would wake a second thread at every packet, which costs a third of the
// speed.
//
// Stopping one always goes the same way: Counter.Stop, Shutdown if the loop must not
// take its 20 ms, wait for Send or Recv to return, Close. Closing alone would not wake
// a thread that is blocked in a call.
type Conn struct {
	local, remote netip.AddrPort

	mu sync.RWMutex // held for reading while fd is used outside Send and Recv
	fd int          // -1 after Close
}

// Take takes the connection over. c must not be used afterwards, not even when Take
// fails.
//
// The descriptor is duplicated through SyscallConn, since that of TCPConn.File stays
// registered with the poller; closing c then removes the registration, and only after
// that may the socket, which both descriptors share, be made blocking.
func Take(c *net.TCPConn) (*Conn, error) {
	t := &Conn{local: addrPort(c.LocalAddr()), remote: addrPort(c.RemoteAddr()), fd: -1}
	err := control(c, func(fd uintptr) error {
		dup, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
		if err == nil {
			t.fd = dup
		}
		return err
	})
	closeErr := c.Close()
	if err != nil {
		return nil, fmt.Errorf("taking over data connection: %w", err)
	}
	err = closeErr
	if err == nil {
		err = setBlocking(t.fd)
	}
	if err != nil {
		unix.Close(t.fd)
		return nil, fmt.Errorf("taking over data connection: %w", err)
	}
	return t, nil
}

// setBlocking makes calls on fd wait, but not longer than callTimeout.
func setBlocking(fd int) error {
	if err := unix.SetNonblock(fd, false); err != nil {
		return err
	}
	tv := unix.NsecToTimeval(callTimeout.Nanoseconds())
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv); err != nil {
		return err
	}
	return unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &tv)
}

func addrPort(a net.Addr) netip.AddrPort {
	if t, ok := a.(*net.TCPAddr); ok {
		return t.AddrPort()
	}
	return netip.AddrPort{}
}

// Local is this end's address.
func (c *Conn) Local() netip.AddrPort { return c.local }

// Remote is the peer's address.
func (c *Conn) Remote() netip.AddrPort { return c.remote }

// use runs f with the descriptor, unless the connection is closed: the number may be
// somebody else's by then.
func (c *Conn) use(f func(fd int) error) error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.fd < 0 {
		return net.ErrClosed
	}
	return f(c.fd)
}

// writable gives a wait of up to callTimeout for room in the send buffer.
func (c *Conn) writable() func() bool { return c.poll(unix.POLLOUT) }

// readable gives a wait of up to callTimeout for payload or the end of it.
func (c *Conn) readable() func() bool { return c.poll(unix.POLLIN) }

func (c *Conn) poll(events int16) func() bool {
	fds := []unix.PollFd{{Fd: int32(c.fd), Events: events}}
	return func() bool {
		n, err := unix.Poll(fds, int(callTimeout.Milliseconds()))
		return n > 0 || err != nil && err != unix.EINTR // let the call itself tell what is wrong
	}
}

// Buffers gives SO_SNDBUF and SO_RCVBUF in bytes as the kernel reports them; Linux
// reports twice what was asked, since it counts its own overhead too.
func (c *Conn) Buffers() (snd, rcv int, err error) {
	err = c.use(func(fd int) (err error) {
		snd, rcv, err = buffers(fd)
		return err
	})
	return snd, rcv, err
}

func buffers(fd int) (snd, rcv int, err error) {
	if snd, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF); err != nil {
		return 0, 0, fmt.Errorf("reading SO_SNDBUF: %w", err)
	}
	if rcv, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF); err != nil {
		return 0, 0, fmt.Errorf("reading SO_RCVBUF: %w", err)
	}
	return snd, rcv, nil
}

// MSS gives TCP_MAXSEG: the bytes of payload in a full segment.
func (c *Conn) MSS() (mss int, err error) {
	err = c.use(func(fd int) (err error) {
		mss, err = unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_MAXSEG)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("reading TCP_MAXSEG: %w", err)
	}
	return mss, nil
}

// Shutdown ends both directions at once and so wakes a blocked Send or Recv. What
// the kernel has accepted is still delivered. Any goroutine may call it, at any time.
func (c *Conn) Shutdown() error {
	err := c.use(func(fd int) error { return unix.Shutdown(fd, unix.SHUT_RDWR) })
	if err != nil && !errors.Is(err, unix.ENOTCONN) && !errors.Is(err, net.ErrClosed) { // gone already: as asked
		return fmt.Errorf("shutting down data connection: %w", err)
	}
	return nil
}

// Discard makes Close drop what is still queued for the peer and reset the connection,
// so that a full send buffer does not go on to fill the link after the test.
func (c *Conn) Discard() error {
	err := c.use(func(fd int) error {
		return unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1, Linger: 0})
	})
	if err != nil {
		return fmt.Errorf("setting SO_LINGER: %w", err)
	}
	return nil
}

// Close gives the descriptor back. Call it after Send or Recv has returned; further
// calls change nothing.
func (c *Conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fd < 0 {
		return nil
	}
	fd := c.fd
	c.fd = -1
	if err := unix.Close(fd); err != nil {
		return fmt.Errorf("closing data connection: %w", err)
	}
	return nil
}
