package iperf

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"

	"linerate/engine"
	"linerate/engine/internal/sock"
)

// keepAlive finds a dead peer on a silent control connection within a minute, and keeps
// the entries of NATs and firewalls on the way alive.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 9}

// route is how a client reaches its server: which addresses, from where, with which
// socket options.
type route struct {
	tcpPlumbing
	spec  engine.Spec
	local netip.Addr // to bind to; invalid: any
	dev   string
	addrs []netip.AddrPort // in the order to try
}

// resolve finds the server's addresses and the local one.
func resolve(ctx context.Context, spec engine.Spec, only netip.AddrPort) (*route, error) {
	r := &route{spec: spec, dev: spec.BindDev}
	if spec.Bind != "" {
		local, err := lookup(ctx, spec.Bind, spec.Family)
		if err != nil {
			return nil, &Error{
				State: stateResolve, Err: err,
				Text: fmt.Sprintf("the address %q to bind to cannot be used: %v", spec.Bind, err),
				Hint: "-B wants an address of this computer",
			}
		}
		r.local = local[0]
		if zone := r.local.Zone(); zone != "" && !r.local.IsLinkLocalUnicast() {
			r.dev, r.local = zone, r.local.WithZone("") // iperf3's -B ADDR%DEV
		}
	}
	if only.IsValid() {
		r.addrs = []netip.AddrPort{only}
		return r, nil
	}
	addrs, err := lookup(ctx, spec.Host, spec.Family)
	if err != nil {
		return nil, resolveError(spec, err)
	}
	for _, a := range interleave(addrs) {
		if r.local.IsValid() && a.Is4() != r.local.Is4() {
			continue
		}
		r.addrs = append(r.addrs, netip.AddrPortFrom(a, uint16(spec.Port)))
	}
	if len(r.addrs) == 0 {
		return nil, &Error{
			State: stateResolve,
			Text:  fmt.Sprintf("%s has no address of the same family as %s", spec.Host, spec.Bind),
			Hint:  "bind to an address of the other family",
		}
	}
	return r, nil
}

// lookup gives the addresses of a name or literal, all of the asked family.
func lookup(ctx context.Context, host string, family int) ([]netip.Addr, error) {
	network := map[int]string{4: "ip4", 6: "ip6"}[family]
	if network == "" {
		network = "ip"
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, network, host)
	if err == nil && len(addrs) == 0 {
		err = &net.DNSError{Err: "no address", Name: host, IsNotFound: true}
	}
	for i, a := range addrs {
		addrs[i] = a.Unmap()
	}
	return addrs, err
}

func resolveError(spec engine.Spec, err error) *Error {
	e := &Error{State: stateResolve, Err: err}
	family := ""
	if spec.Family != 0 {
		family = fmt.Sprintf("IPv%d ", spec.Family)
	}
	e.Text = fmt.Sprintf("no %saddress found for %q", family, spec.Host)
	e.Hint = "check the spelling, or use the address itself"
	var dns *net.DNSError
	if errors.As(err, &dns) && !dns.IsNotFound {
		e.Text = fmt.Sprintf("looking up %q did not work: %s", spec.Host, dns.Err)
		e.Hint = "the name server may be out of reach: use the address itself"
		e.Timeout = dns.IsTimeout
	}
	var addrErr *net.AddrError
	if spec.Family != 0 && errors.As(err, &addrErr) {
		e.Hint = "the address is of the other family: leave out -4 or -6"
	}
	return e
}

// interleave orders addresses as RFC 8305 asks: families in turn, beginning with the
// one the resolver put first.
func interleave(addrs []netip.Addr) []netip.Addr {
	if len(addrs) == 0 {
		return nil
	}
	var first, second []netip.Addr
	for _, a := range addrs {
		if a.Is4() == addrs[0].Is4() {
			first = append(first, a)
		} else {
			second = append(second, a)
		}
	}
	var out []netip.Addr
	for i := range max(len(first), len(second)) {
		if i < len(first) {
			out = append(out, first[i])
		}
		if i < len(second) {
			out = append(out, second[i])
		}
	}
	return out
}

// localAddr is what to bind a socket to; nil any.
func (r *route) localAddr(port int) net.Addr {
	if !r.local.IsValid() && port == 0 {
		return nil
	}
	a := &net.TCPAddr{Port: port}
	if r.local.IsValid() {
		a.IP, a.Zone = r.local.AsSlice(), r.local.Zone()
	}
	return a
}

// connect opens a control connection to the first address that answers. Each address
// gets a head start of staggerConnect over the next, which begins at once when all
// before it have failed. All others are given up when one has answered.
func (r *route) connect(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout(r.spec))
	defer cancel()
	opts := sock.Options{BindDev: r.dev, MSS: controlSegment}
	dialer := net.Dialer{LocalAddr: r.localAddr(0), KeepAliveConfig: keepAlive, Control: opts.Control}
	return race(ctx, r.addrs, func(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
		return dialer.DialContext(ctx, "tcp", addr.String())
	})
}

func connectTimeout(s engine.Spec) time.Duration {
	if s.ConnectTimeout > 0 {
		return s.ConnectTimeout
	}
	return DefaultConnectTimeout
}

// attempt is the outcome of one address.
type attempt struct {
	conn net.Conn
	err  error
}

// race dials addrs side by side, staggered, and returns the first connection. Its error
// is that of the address that came furthest.
func race(ctx context.Context, addrs []netip.AddrPort, dial func(context.Context, netip.AddrPort) (net.Conn, error)) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	results := make(chan attempt)
	pending, next := 0, 0
	launch := func() {
		addr := addrs[next]
		next++
		pending++
		go func() {
			conn, err := dial(ctx, addr)
			results <- attempt{conn, err}
		}()
	}
	drain := func() {
		cancel()
		for ; pending > 0; pending-- {
			if late := <-results; late.conn != nil {
				late.conn.Close()
			}
		}
	}
	defer drain()
	timer := time.NewTimer(staggerConnect)
	defer timer.Stop()
	launch()
	var best error
	for {
		select {
		case a := <-results:
			pending--
			if a.err == nil {
				return a.conn, nil
			}
			if best == nil || rank(a.err) > rank(best) {
				best = a.err
			}
			if next < len(addrs) {
				launch()
				timer.Reset(staggerConnect)
			} else if pending == 0 {
				return nil, best
			}
		case <-timer.C:
			if next < len(addrs) {
				launch()
				timer.Reset(staggerConnect)
			}
		}
	}
}

// rank says how far a failed connect came: a refusal proves that the host is there.
func rank(err error) int {
	switch {
	case refused(err):
		return 3
	case resetByPeer(err):
		return 2
	case errors.Is(err, context.DeadlineExceeded) || timedOut(err):
		return 1
	}
	return 0
}

// connectError puts a failed connect into words.
func (r *route) connectError(ctx context.Context, err error) *Error {
	where := r.where()
	e := &Error{State: stateConnect, Err: err}
	var netErr net.Error
	switch {
	case context.Cause(ctx) != nil && errors.Is(ctx.Err(), context.Canceled):
		return interruptedError(stateConnect, context.Cause(ctx))
	case refused(err):
		e.Err = errors.Join(ErrRefused, err)
		e.Text = fmt.Sprintf("nothing listens on %s: connection refused", where)
		e.Hint = "start a server there: `iperf3 -s` or `linerate serve`; or check the port (-p)"
	case errors.As(err, &netErr) && netErr.Timeout():
		e.Timeout = true
		e.Text = fmt.Sprintf("no answer from %s", where)
		e.Hint = "the host is down, or a firewall drops packets to this port"
	case unreachable(err):
		e.Text = fmt.Sprintf("%s cannot be reached: no route to it", where)
		e.Hint = "check the address and this computer's routes"
	case resetByPeer(err):
		e.Text = fmt.Sprintf("%s reset the connection", where)
	default:
		e.Text = fmt.Sprintf("connecting to %s: %v", where, rootCause(err))
		if r.spec.Bind != "" || r.spec.BindDev != "" {
			e.Hint = "-B and --bind-dev want an address or interface of this computer"
		}
	}
	return e
}

// where names the server as the user did, with the address when there is just one.
func (r *route) where() string {
	name := net.JoinHostPort(r.spec.Host, strconv.Itoa(r.spec.Port))
	if len(r.addrs) == 1 {
		if addr := r.addrs[0].String(); addr != name {
			return fmt.Sprintf("%s (%s)", name, addr)
		}
		return name
	}
	return fmt.Sprintf("%s (%d addresses tried)", name, len(r.addrs))
}

// rootCause leaves out net's and os's "dial tcp …: connect: …" around a system error.
func rootCause(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}

// options are the socket options of the data connections.
func (r *route) options() sock.Options { return sockOptions(r.spec, r.dev, false) }

func sockOptions(s engine.Spec, dev string, server bool) sock.Options {
	return sock.Options{
		Window: s.Window, MSS: s.MSS, NoDelay: s.NoDelay, Congestion: s.Congestion,
		TOS: s.TOS, FQRate: s.FQRate, UserTimeout: s.SndTimeout,
		BindDev: dev, FlowLabel: s.FlowLabel, Server: server,
	}
}
