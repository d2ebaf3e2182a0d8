//go:build linux

package echo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Prober sends probes of one kind to one host. It belongs to one goroutine. Every probe has
// a socket of its own, so that an answer is known for whose it is even where a router
// returns no more of the probe than its header.
type Prober struct {
	kind    Kind
	dest    netip.AddrPort
	flights []flight
	seq     uint16
}

// flight is a probe without an answer so far.
type flight struct {
	fd   int
	size int
	sent time.Time // with both clocks
}

// maxFlights bounds the open sockets; the oldest probe is given up for a new one.
const maxFlights = 64

// New makes a prober. It opens nothing.
func New(kind Kind, dest netip.AddrPort) *Prober {
	return &Prober{kind: kind, dest: netip.AddrPortFrom(dest.Addr().Unmap(), dest.Port())}
}

// Sized reports whether this system sends probes of a given size that no router may
// cut up.
func Sized() bool { return true }

// Close gives up what is in flight.
func (p *Prober) Close() {
	for _, f := range p.flights {
		unix.Close(f.fd)
	}
	p.flights = nil
}

// Send sends one probe that makes an IP packet of size bytes, not to be fragmented
// whatever the kernel has learnt of the path before.
func (p *Prober) Send(size int) error {
	if size < Headers(p.dest.Addr()) || size > Most(p.dest.Addr()) {
		return sizeError(size)
	}
	fd, err := p.socket()
	if err != nil {
		return fmt.Errorf("probing %s: %w", p.dest, err)
	}
	sent := time.Now()
	if err := unix.Send(fd, p.message(size), unix.MSG_DONTWAIT); err != nil {
		unix.Close(fd)
		switch {
		case errors.Is(err, unix.EMSGSIZE):
			return sizeError(size)
		case errors.Is(err, unix.ENOBUFS), errors.Is(err, unix.EAGAIN):
			return nil // dropped by the interface or its queue: as silent as on the way
		case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
			return fmt.Errorf("probing %s: this host's own firewall forbids it: %w", p.dest, err)
		}
		return fmt.Errorf("probing %s: %w", p.dest, err)
	}
	if len(p.flights) == maxFlights {
		unix.Close(p.flights[0].fd)
		p.flights = slices.Delete(p.flights, 0, 1)
	}
	p.flights = append(p.flights, flight{fd, size, sent})
	return nil
}

func (p *Prober) message(size int) []byte {
	b := payload(size - Headers(p.dest.Addr()))
	if p.kind != Ping {
		return b
	}
	p.seq++
	// The kernel fills in identifier and checksum.
	header := []byte{8, 0, 0, 0, 0, 0, byte(p.seq >> 8), byte(p.seq)}
	if p.dest.Addr().Is6() {
		header[0] = 128
	}
	return append(header, b...)
}

// socket opens one that is connected to the host, reports ICMP errors and when they came,
// and marks its packets not to be fragmented.
func (p *Prober) socket() (int, error) {
	domain, level, protocol := unix.AF_INET, unix.IPPROTO_IP, 0
	options := []struct{ name, value int }{
		{unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_PROBE}, {unix.IP_RECVERR, 1}, {unix.IP_RECVTTL, 1},
	}
	if p.kind == Ping {
		protocol = unix.IPPROTO_ICMP
	}
	if p.dest.Addr().Is6() {
		domain, level = unix.AF_INET6, unix.IPPROTO_IPV6
		options = []struct{ name, value int }{
			{unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_PROBE}, {unix.IPV6_DONTFRAG, 1}, {unix.IPV6_RECVERR, 1}, {unix.IPV6_RECVHOPLIMIT, 1},
		}
		if p.kind == Ping {
			protocol = unix.IPPROTO_ICMPV6
		}
	}
	fd, err := unix.Socket(domain, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, protocol)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EPROTONOSUPPORT) {
		return -1, ErrForbidden
	}
	if err != nil {
		return -1, fmt.Errorf("opening a socket: %w", err)
	}
	for _, o := range options {
		if err := unix.SetsockoptInt(fd, level, o.name, o.value); err != nil {
			unix.Close(fd)
			return -1, fmt.Errorf("socket option %d: %w", o.name, err)
		}
	}
	// Without it, the time is when this process wakes up.
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	addr, err := sockaddr(p.dest)
	if err == nil {
		err = unix.Connect(fd, addr)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func sockaddr(dest netip.AddrPort) (unix.Sockaddr, error) {
	a := dest.Addr()
	if a.Is4() {
		return &unix.SockaddrInet4{Port: int(dest.Port()), Addr: a.As4()}, nil
	}
	sa := &unix.SockaddrInet6{Port: int(dest.Port()), Addr: a.As16()}
	if zone := a.Zone(); zone != "" {
		index, err := strconv.Atoi(zone)
		if err != nil {
			ifi, err := net.InterfaceByName(zone)
			if err != nil {
				return nil, fmt.Errorf("zone of %s: %w", a, err)
			}
			index = ifi.Index
		}
		sa.ZoneId = uint32(index)
	}
	return sa, nil
}

// RouteMTU gives what the kernel believes of the path, as it would for TCP: the MTU of the
// route, or what routers have told it lately.
func (p *Prober) RouteMTU() (int, error) {
	fd, err := p.socket()
	if err != nil {
		return 0, fmt.Errorf("MTU of the route to %s: %w", p.dest.Addr(), err)
	}
	defer unix.Close(fd)
	level, name := unix.IPPROTO_IP, unix.IP_MTU
	if p.dest.Addr().Is6() {
		level, name = unix.IPPROTO_IPV6, unix.IPV6_MTU
	}
	n, err := unix.GetsockoptInt(fd, level, name)
	if err != nil {
		return 0, fmt.Errorf("MTU of the route to %s: %w", p.dest.Addr(), err)
	}
	return n, nil
}

// wake is how often Wait looks at its context.
const wake = 20 * time.Millisecond

// Wait gives the next answer to any probe in flight; none when d has passed, or ctx is
// done, or nothing is in flight.
func (p *Prober) Wait(ctx context.Context, d time.Duration) (Answer, bool) {
	end := time.Now().Add(d)
	for ctx.Err() == nil && len(p.flights) > 0 {
		left := time.Until(end)
		if p.poll(min(max(left, 0), wake)) {
			for i, f := range p.flights {
				if a, ok := f.read(p.dest.Addr()); ok {
					unix.Close(f.fd)
					p.flights = slices.Delete(p.flights, i, i+1)
					return a, true
				}
			}
		}
		if left <= 0 {
			break
		}
	}
	return Answer{}, false
}

// poll waits until something has come.
func (p *Prober) poll(d time.Duration) bool {
	fds := make([]unix.PollFd, len(p.flights))
	for i, f := range p.flights {
		fds[i] = unix.PollFd{Fd: int32(f.fd), Events: unix.POLLIN}
	}
	ts := unix.NsecToTimespec(int64(d))
	n, err := unix.Ppoll(fds, &ts, nil)
	return err == nil && n > 0
}
