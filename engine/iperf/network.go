package iperf

import (
	"context"
	"net"
	"net/netip"
)

// network is how a client reaches its server: *route over TCP in earnest, pipes in
// tests.
type network interface {
	plumbing
	// connect opens a control connection.
	connect(ctx context.Context) (net.Conn, error)
	// connectError puts a failed connect, of control or data, into words.
	connectError(ctx context.Context, err error) *Error
	// dataDialer gives the function that opens data connections to the server behind
	// an established control connection.
	dataDialer(control net.Conn, warn func(error)) func(ctx context.Context, index int) (net.Conn, error)
}

// addrPort gives the address of a connection's end; zero for one without, a pipe.
func addrPort(a net.Addr) netip.AddrPort {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	return unmap(tcp.AddrPort())
}

// unmap gives IPv4 addresses that a dual-stack socket carries their usual form.
func unmap(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}
