//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package sock

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"time"
)

// callTimeout bounds every call on a data socket: no byte stays uncounted longer, and a
// stop is seen within it.
const callTimeout = 20 * time.Millisecond

// mostBlocks is the longest batch of one call.
const mostBlocks = 1

// Conn is a TCP data connection; here a net.TCPConn with a deadline for every call.
//
// Stopping one always goes the same way: Counter.Stop, Shutdown if the loop must not
// take its 20 ms, wait for Send or Recv to return, Close.
type Conn struct {
	tcp           *net.TCPConn
	local, remote netip.AddrPort
}

// Take takes the connection over. c must not be used afterwards.
func Take(c *net.TCPConn) (*Conn, error) {
	return &Conn{tcp: c, local: addrPort(c.LocalAddr()), remote: addrPort(c.RemoteAddr())}, nil
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

// MSS is not told by the systems that this file is for.
func (c *Conn) MSS() (int, error) { return 0, unsupported("TCP_MAXSEG") }

// Congestion is not told by the systems that this file is for.
func (c *Conn) Congestion() (string, error) { return "", unsupported("TCP_CONGESTION") }

// Shutdown ends both directions at once and so wakes a blocked Send or Recv. Any
// goroutine may call it, at any time.
func (c *Conn) Shutdown() error {
	err := errors.Join(c.tcp.CloseRead(), c.tcp.CloseWrite())
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Discard makes Close drop what is still queued for the peer and reset the connection.
func (c *Conn) Discard() error { return c.tcp.SetLinger(0) }

// Close gives the connection back. Call it after Send or Recv has returned; further
// calls change nothing.
func (c *Conn) Close() error {
	if err := c.tcp.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// sender gives the mover of Send and what releases it. There is no zero-copy here.
func (c *Conn) sender(cfg SendConfig, _ int) (mover, func(), error) {
	block := payload(cfg.Block, cfg.Repeating)
	move := func(want int, _ bool) (int, error) {
		if err := c.tcp.SetWriteDeadline(time.Now().Add(callTimeout)); err != nil {
			return 0, err
		}
		n, err := c.tcp.Write(block[:want])
		return n, patient(err)
	}
	return move, func() {}, nil
}

// receiver gives the mover of Recv.
func (c *Conn) receiver(cfg RecvConfig, _ int) mover {
	block := make([]byte, cfg.Block)
	return func(want int, _ bool) (int, error) {
		if err := c.tcp.SetReadDeadline(time.Now().Add(callTimeout)); err != nil {
			return 0, err
		}
		n, err := c.tcp.Read(block[:want])
		if n > 0 && errors.Is(err, io.EOF) {
			err = nil // the next call tells it again
		}
		return n, patient(err)
	}
}

// writable and readable have nothing to ask here.
func (c *Conn) writable() func() bool { return func() bool { return true } }

func (c *Conn) readable() func() bool { return func() bool { return true } }

func patient(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errAgain
	}
	return err
}

func nap(d time.Duration) { time.Sleep(d) }
