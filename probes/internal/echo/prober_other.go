//go:build !linux

package echo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"syscall"
	"time"
)

// Prober sends small UDP probes to one host and learns that they arrived: a connected
// socket is told of "port unreachable" everywhere. It knows no more of the answer. It
// belongs to one goroutine.
type Prober struct {
	kind Kind
	dest netip.AddrPort
	conn net.Conn
	size int
	sent time.Time
}

// New makes a prober. It opens nothing.
func New(kind Kind, dest netip.AddrPort) *Prober {
	return &Prober{kind: kind, dest: netip.AddrPortFrom(dest.Addr().Unmap(), dest.Port())}
}

// Sized is false: probes may be fragmented on the way.
func Sized() bool { return false }

// Close gives up what is in flight.
func (p *Prober) Close() {
	if p.conn != nil {
		p.conn.Close()
		p.conn = nil
	}
}

// Send sends one probe and gives up the one before.
func (p *Prober) Send(size int) error {
	if p.kind == Ping {
		return fmt.Errorf("pinging %s: %w", p.dest.Addr(), ErrForbidden)
	}
	if size < Headers(p.dest.Addr()) || size > Most(p.dest.Addr()) {
		return sizeError(size)
	}
	p.Close()
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(p.dest))
	if err != nil {
		return fmt.Errorf("probing %s: %w", p.dest, err)
	}
	p.conn, p.size, p.sent = c, size, time.Now()
	if _, err := c.Write(payload(size - Headers(p.dest.Addr()))); err != nil {
		p.Close()
		return fmt.Errorf("probing %s: %w", p.dest, err)
	}
	return nil
}

// RouteMTU is errors.ErrUnsupported.
func (p *Prober) RouteMTU() (int, error) {
	return 0, fmt.Errorf("MTU of a route on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// connectionReset is what Windows reports for "port unreachable" (WSAECONNRESET).
const connectionReset = syscall.Errno(10054)

// Wait gives the answer to the probe in flight; none when d has passed or ctx is done.
func (p *Prober) Wait(ctx context.Context, d time.Duration) (Answer, bool) {
	c := p.conn
	if c == nil || c.SetReadDeadline(time.Now().Add(d)) != nil {
		return Answer{}, false
	}
	defer context.AfterFunc(ctx, func() { c.SetReadDeadline(time.Now()) })()
	var b [1]byte
	_, err := c.Read(b[:])
	a := Answer{Size: p.size, RTT: time.Since(p.sent), What: Refused}
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return Answer{}, false
	case err == nil, errors.Is(err, syscall.ECONNREFUSED), runtime.GOOS == "windows" && errors.Is(err, connectionReset):
		a.What = Arrived
	}
	p.Close()
	return a, true
}
