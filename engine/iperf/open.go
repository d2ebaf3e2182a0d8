package iperf

import (
	"context"
	"fmt"
	"net"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"linerate/engine"
	"linerate/engine/internal/sock"
	"linerate/engine/internal/wire"
)

// serialBudget is the time that opening the streams one after the other may take.
// Beyond it they are opened side by side where the order does not carry meaning.
const serialBudget = 50 * time.Millisecond

// synSpacing keeps the first packets of streams opened side by side in order on the
// way, since servers number the streams in the order of their arrival.
const synSpacing = time.Millisecond

// opener opens data connections.
type opener struct {
	dial   func(ctx context.Context, index int) (net.Conn, error)
	cookie wire.Cookie
	rtt    time.Duration // of the control connection's handshake
	each   time.Duration // for one connect
}

// open connects n data connections and sends the cookie on each. The order matters
// both ways: the first half of them carries one direction, and nothing but the order
// says which; then they are opened strictly one by one. For a single direction a
// mix-up only swaps the rows of two streams, so a long path is not waited for n times.
func (o opener) open(ctx context.Context, n int, dir engine.Direction) ([]net.Conn, error) {
	conns := make([]net.Conn, n)
	var err error
	if dir == engine.Both || time.Duration(n)*o.rtt <= serialBudget {
		err = o.serial(ctx, conns)
	} else {
		err = o.sideBySide(ctx, conns)
	}
	if err != nil {
		for _, c := range conns {
			if c != nil {
				c.Close()
			}
		}
		return nil, err
	}
	return conns, nil
}

func (o opener) serial(ctx context.Context, conns []net.Conn) error {
	for i := range conns {
		if err := o.connect(ctx, conns, i); err != nil {
			return err
		}
		if err := o.introduce(conns, i); err != nil {
			return err
		}
	}
	return nil
}

func (o opener) sideBySide(ctx context.Context, conns []net.Conn) error {
	g, ctx := errgroup.WithContext(ctx)
	for i := range conns {
		g.Go(func() error {
			select {
			case <-time.After(time.Duration(i) * synSpacing):
				return o.connect(ctx, conns, i)
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i := range conns {
		if err := o.introduce(conns, i); err != nil {
			return err
		}
	}
	return nil
}

func (o opener) connect(ctx context.Context, conns []net.Conn, i int) (err error) {
	ctx, cancel := context.WithTimeout(ctx, o.each)
	defer cancel()
	if conns[i], err = o.dial(ctx, i); err != nil {
		return fmt.Errorf("connecting stream %d of %d: %w", i+1, len(conns), err)
	}
	return nil
}

// introduce writes the cookie. A write to a fresh connection does not block.
func (o opener) introduce(conns []net.Conn, i int) error {
	if err := conns[i].SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err := conns[i].Write(o.cookie[:]); err != nil {
		return fmt.Errorf("sending the cookie on stream %d of %d: %w", i+1, len(conns), err)
	}
	return conns[i].SetWriteDeadline(time.Time{})
}

// dataDialer gives the dial function of an opener for real connections. warn, from any
// goroutine, is told of options that were not granted.
func (r *route) dataDialer(control net.Conn, warn func(error)) func(context.Context, int) (net.Conn, error) {
	opts := r.options()
	addr := control.RemoteAddr().String()
	return func(ctx context.Context, index int) (net.Conn, error) {
		port := 0
		if r.spec.ClientPort > 0 {
			port = r.spec.ClientPort + index
		}
		if port > 65535 {
			return nil, fmt.Errorf("--cport %d leaves no port for stream %d", r.spec.ClientPort, index+1)
		}
		d := net.Dialer{
			LocalAddr: r.localAddr(port), KeepAlive: -1,
			Control: func(network, address string, c syscall.RawConn) error {
				if port > 0 {
					if err := reuseAddr(c); err != nil {
						return err
					}
				}
				return opts.Control(network, address, c)
			},
		}
		conn, err := d.DialContext(ctx, "tcp", addr)
		if err != nil {
			return nil, err
		}
		if err := applyOptions(opts, conn, warn); err != nil {
			conn.Close()
			return nil, err
		}
		return conn, nil
	}
}

// applyOptions sets what can be set on a connected socket. Connections that are not
// TCP, in tests, have none.
func applyOptions(opts sock.Options, conn net.Conn, warn func(error)) error {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil
	}
	warnings, err := opts.Apply(tcp)
	for _, w := range warnings {
		warn(w)
	}
	return err
}
