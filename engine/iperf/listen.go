package iperf

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"

	"linerate/engine"
	"linerate/engine/internal/sock"
	"linerate/probes"
)

// Listen opens the server's port as spec says: Port, Family, Bind, BindDev. Without
// Family and Bind it takes IPv6 and IPv4 on all addresses, or IPv4 alone where the
// system has no IPv6. Port 0 picks a free one. A port that is in use gives an *Error
// that names the program holding it, where Host tells.
func (s *Server) Listen(ctx context.Context, spec engine.Spec) (net.Listener, error) {
	network, host, dev := "tcp", "", spec.BindDev
	switch spec.Family {
	case 4:
		network = "tcp4"
	case 6:
		network = "tcp6"
	}
	if spec.Bind != "" {
		addrs, err := lookup(ctx, spec.Bind, spec.Family)
		if err != nil {
			return nil, &Error{
				State: stateListen, Err: err,
				Text: fmt.Sprintf("the address %q to listen on cannot be used: %v", spec.Bind, err),
				Hint: "-B wants an address of this computer",
			}
		}
		a := addrs[0]
		if zone := a.Zone(); zone != "" && !a.IsLinkLocalUnicast() {
			dev, a = zone, a.WithZone("") // iperf3's -B ADDR%DEV
		}
		host = a.String()
	}
	opts := sock.Options{BindDev: dev, Server: true}
	lc := net.ListenConfig{
		KeepAlive: -1, // control connections get theirs, data connections need none
		Control: func(network, address string, c syscall.RawConn) error {
			return opts.Control(network, address, c)
		},
	}
	// Go listens with MPTCP by default. Its sockets are slower and have no TCP_INFO of
	// the kind read here.
	lc.SetMultipathTCP(false)
	ln, err := lc.Listen(ctx, network, net.JoinHostPort(host, strconv.Itoa(spec.Port)))
	if err != nil {
		return nil, s.listenError(ctx, spec, err)
	}
	return ln, nil
}

const stateListen = "opening the port"

func (s *Server) listenError(ctx context.Context, spec engine.Spec, err error) *Error {
	e := &Error{State: stateListen, Code: 102, Err: err}
	switch {
	case addressInUse(err):
		e.Text = fmt.Sprintf("port %d is in use", spec.Port)
		e.Hint = "use another one with -p"
		if p, ok := s.holder(ctx, spec.Port).Get(); ok {
			e.Text += fmt.Sprintf(" by %s (pid %d)", p.Name, p.PID)
			e.Hint = "end that program or use another port with -p"
		}
	case errors.Is(err, syscall.EACCES):
		e.Text = fmt.Sprintf("port %d needs a right that this user does not have", spec.Port)
		e.Hint = "ports below 1024 need root, or on Linux `sysctl net.ipv4.ip_unprivileged_port_start`"
	default:
		e.Text = fmt.Sprintf("port %d cannot be opened: %v", spec.Port, rootCause(err))
	}
	return e
}

// holder finds the program that listens on a port of this computer.
func (s *Server) holder(ctx context.Context, port int) probes.Reading[probes.Program] {
	source, ok := s.Host.(engine.EvidenceSource)
	if !ok {
		return probes.Unknown[probes.Program](probes.NotRead, "there is nobody to ask")
	}
	return source.Listener(ctx, netip.AddrPortFrom(netip.IPv6Unspecified(), uint16(port)))
}
