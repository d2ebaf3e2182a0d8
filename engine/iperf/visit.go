package iperf

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"linerate/engine"
	"linerate/engine/internal/wire"
)

// visit is one client at the server, from its cookie to its goodbye.
type visit struct {
	server   *Server
	id       int
	cookie   wire.Cookie
	client   netip.AddrPort
	ctl      *control
	params   wire.Params
	teller   atomic.Pointer[teller] // of a linerate client
	arrivals chan *newcomer         // data connections, while streams are created
	complete chan struct{}          // closed when no more are wanted
	enough   sync.Once

	// Guarded by server.mu.
	reserved int      // streams
	traffic  *traffic // set when the payload flows
	counted  bool     // the payload has flowed: OneOff counts it
}

func newVisit(s *Server, id int, cookie wire.Cookie, client netip.AddrPort) *visit {
	return &visit{
		server: s, id: id, cookie: cookie, client: client,
		arrivals: make(chan *newcomer), complete: make(chan struct{}),
	}
}

// run serves the client of the control connection conn to the end.
func (v *visit) run(ctx context.Context, conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetKeepAliveConfig(keepAlive) // without, a client that vanished costs a slot for longer
	}
	v.log(engine.ClientAccepted, fmt.Sprintf("test %d: %s connected", v.id, v.client), nil)
	v.ctl = newControl(conn, v.listener().clientTalk)
	defer v.ctl.close()
	defer v.forget()
	defer v.enough.Do(func() { close(v.complete) })

	t, err := v.prepare(ctx)
	if err != nil {
		v.server.release(v)
		v.part(err)
		v.log(engine.ClientRefused, fmt.Sprintf("test %d: %s turned away: %v", v.id, v.client, err), func(e *engine.ServerEvent) { e.Err = err })
		return
	}
	defer t.close()
	v.perform(ctx, t)
}

// listener is what the reader of the client may do at once.
func (v *visit) listener() listener {
	return listener{
		side: func() bool { return v.teller.Load() != nil },
		frames: func(s wire.State, text []byte, bad error) {
			v.teller.Load().heard(s, text, bad) // there, since side has been asked
		},
		ending: func() {
			if t := v.teller.Load(); t != nil {
				t.hush()
			}
		},
	}
}

// silence waits until the teller, if there is one, writes no more.
func (v *visit) silence() {
	if t := v.teller.Load(); t != nil {
		t.end()
	}
}

// forget ends the teller, if there is one.
func (v *visit) forget() {
	if t := v.teller.Load(); t != nil {
		t.end()
		t.rest()
		v.server.sampler.leave(t.seat)
	}
}

func (v *visit) log(kind engine.ServerEventKind, text string, add func(*engine.ServerEvent)) {
	v.server.log(kind, v.client, text, func(e *engine.ServerEvent) {
		e.Test = v.id
		if add != nil {
			add(e)
		}
	})
}

// visitError is why a visit ends early, with the fault that the client is told.
type visitError struct {
	why  *Error
	tell bool // a fault is sent; else the client knows or is gone
}

func (e *visitError) Error() string { return e.why.Text }

func (e *visitError) Unwrap() error { return e.why }

// failure makes an error that the client is told by its code.
func failure(state string, code wire.Code, format string, args ...any) *visitError {
	return &visitError{tell: true, why: &Error{State: state, Code: int(code), Text: fmt.Sprintf(format, args...)}}
}

// lost makes an error of a client that is gone or has given up.
func lost(state, text string, cause error) *visitError {
	return &visitError{why: &Error{State: state, Code: int(wire.CodeControlClosed), Text: text, Err: cause}}
}

// codeServerTerminated travels as the state SERVER_TERMINATE, not as a fault.
const codeServerTerminated = 120

// States of a visit.
const (
	visitParams  = "waiting for the client's parameters"
	visitStreams = "waiting for the client's streams"
	visitRunning = "running the test"
	visitResults = "waiting for the client's results"
)

// wait waits for the next message of the client.
func (v *visit) wait(ctx context.Context, state string, timeout time.Duration) (message, error) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case m := <-v.ctl.messages:
		if err := v.departed(state, m); err != nil {
			return m, err
		}
		return m, nil
	case <-timer.C:
		return message{}, failure(state, wire.CodeControlClosed, "the client is silent: gave up %s after %v", state, timeout)
	case <-ctx.Done():
		return message{}, v.terminated(state)
	}
}

func (v *visit) terminated(state string) error {
	return &visitError{why: &Error{State: state, Code: codeServerTerminated, Text: "this server was stopped", Err: ErrInterrupted}}
}

// departed gives the error of a message by which a client leaves or breaks the
// protocol; nil for any other.
func (v *visit) departed(state string, m message) error {
	var size *wire.SizeError
	var foreign *wire.StateError
	switch {
	case errors.As(m.err, &size):
		return failure(state, wire.CodeRecvParams, "the client sent %v", size)
	case errors.As(m.err, &foreign):
		return failure(state, 110, "the client broke the protocol: it sent %s", m.said)
	case pathDead(m.err):
		return lost(state, "the client is gone: it has not acknowledged anything for a minute", m.err)
	case m.err != nil || m.state == 0 && m.json == nil:
		return lost(state, "the client closed the control connection while this end was "+state, m.err)
	case m.state == wire.ClientTerminate:
		return lost(state, "the client was interrupted", ErrInterrupted)
	case m.state == wire.Done:
		return lost(state, "the client left while this end was "+state, nil)
	}
	return nil
}

// part sends the fault that belongs to err, if any, and lets the client read it.
func (v *visit) part(err error) {
	var e *visitError
	if !errors.As(err, &e) {
		return
	}
	if e.why.Code == codeServerTerminated {
		v.ctl.goodbye(wire.ServerTerminate)
		return
	}
	if !e.tell {
		return
	}
	f := wire.Fault{Code: wire.Code(e.why.Code)}
	if v.ctl.send(f.Append(nil), goodbyeTimeout) != nil {
		return
	}
	half, ok := v.ctl.conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	timer := time.NewTimer(goodbyeTimeout)
	defer timer.Stop()
	for {
		select {
		case _, more := <-v.ctl.messages:
			if !more {
				return
			}
		case <-timer.C:
			return
		}
	}
}

// prepare goes from PARAM_EXCHANGE to the moment before TEST_START.
func (v *visit) prepare(ctx context.Context) (*traffic, error) {
	if err := v.ctl.sendState(wire.ParamExchange); err != nil {
		return nil, lost(visitParams, "the client closed the connection", err)
	}
	m, err := v.wait(ctx, visitParams, replyTimeout)
	if err != nil {
		return nil, err
	}
	spec, err := v.accept(m.json)
	if err != nil {
		return nil, err
	}
	if v.params.Linerate > 0 {
		if err := v.greet(ctx); err != nil {
			return nil, err
		}
	}
	if err := v.ctl.sendState(wire.CreateStreams); err != nil {
		return nil, lost(visitStreams, "the client closed the connection", err)
	}
	conns, err := v.gather(ctx, spec.Streams*len(spec.Direction.Dirs()))
	if err != nil {
		return nil, err
	}
	return v.connect(spec, conns)
}

// accept checks the parameters against what this server does.
func (v *visit) accept(text []byte) (engine.Spec, error) {
	p, err := wire.ParseParams(text)
	if err != nil {
		code := wire.CodeRecvParams
		var field *wire.FieldError
		if errors.As(err, &field) {
			code = field.Code
		}
		return engine.Spec{}, failure(visitParams, code, "its parameters make no sense: %v", err)
	}
	if p.Protocol != wire.TCP {
		return engine.Spec{}, failure(visitParams, wire.CodeProtocol, "it asks for %v, which this version does not serve", p.Protocol)
	}
	v.params = p
	spec := specOf(p, v.server.port, v.server.interval())
	if spec.SrvAffinity < 0 {
		spec.SrvAffinity = v.server.Affinity
	}
	spec.RcvTimeout, spec.SndTimeout = v.server.RcvTimeout, v.server.SndTimeout
	if spec.SndTimeout <= 0 && runtime.GOOS == "linux" { // others have no such option
		spec.SndTimeout = userTimeout
	}
	n := spec.Streams * len(spec.Direction.Dirs())
	if !v.server.reserveStreams(v, n) {
		return spec, failure(visitParams, wire.CodeStreams, "its %d streams are more than this server has left of %d", n, v.server.maxStreams())
	}
	return spec, nil
}

func (s *Server) interval() time.Duration {
	if s.Interval == 0 {
		return time.Second
	}
	return s.Interval
}

// gather waits for the data connections and returns them in the order in which they
// were accepted, which is the order of creation: cookies are read side by side and may
// overtake each other.
func (v *visit) gather(ctx context.Context, n int) (conns []net.Conn, err error) {
	var came []*newcomer
	defer func() {
		v.enough.Do(func() { close(v.complete) })
		if err != nil {
			for _, c := range came {
				c.conn.Close()
			}
		}
	}()
	all := time.NewTimer(streamsTimeout)
	defer all.Stop()
	idle := time.NewTimer(streamIdleTimeout)
	defer idle.Stop()
	for len(came) < n {
		select {
		case c := <-v.arrivals:
			came = append(came, c)
			idle.Reset(streamIdleTimeout)
		case m := <-v.ctl.messages:
			if err := v.departed(visitStreams, m); err != nil {
				return nil, err
			}
			return nil, failure(visitStreams, 110, "it sent %v too early", m.state)
		case <-idle.C:
			return nil, failure(visitStreams, wire.CodeStreamAccept, "it opened %d of %d streams and no more for %v", len(came), n, streamIdleTimeout)
		case <-all.C:
			return nil, failure(visitStreams, wire.CodeStreamAccept, "it opened %d of %d streams in %v", len(came), n, streamsTimeout)
		case <-ctx.Done():
			return nil, v.terminated(visitStreams)
		}
	}
	slices.SortFunc(came, func(a, b *newcomer) int {
		if a.seq < b.seq {
			return -1
		}
		return 1
	})
	for _, c := range came {
		conns = append(conns, c.conn)
	}
	return conns, nil
}

// connect sets the socket options and makes links of the connections.
func (v *visit) connect(spec engine.Spec, conns []net.Conn) (*traffic, error) {
	var warnings []string
	warn := func(err error) {
		if text := err.Error(); !slices.Contains(warnings, text) {
			warnings = append(warnings, text)
		}
	}
	if spec.Window > 0 {
		// The listener is shared by all tests, so it cannot have one's buffer sizes.
		warn(errors.New("-w was set after the connections stood: the receive window may stay smaller"))
	}
	opts := sockOptions(spec, "", true)
	links := make([]link, 0, len(conns))
	for i, conn := range conns {
		err := applyOptions(opts, conn, warn)
		if err != nil {
			conn.Close()
		} else {
			var l link
			if l, err = v.server.pipes.take(conn); err == nil {
				links = append(links, l)
				continue
			}
		}
		closeLinks(links)
		closeConns(conns[i+1:])
		return nil, failure(visitStreams, wire.CodeStreamInit, "preparing stream %d: %v", i+1, err)
	}
	return newTraffic(engine.TestInfo{
		Role: engine.Server, Spec: spec, Cookie: v.cookie.String(),
		Control:   engine.Conn{Local: addrPort(v.ctl.conn.LocalAddr()), Remote: v.client},
		PeerAgent: agentOf(v.params.ClientVersion),
		Linerate:  v.params.Linerate > 0,
		MSS:       controlMSS(v.ctl.conn),
		Warnings:  warnings,
	}, links, v.server.pipes), nil
}
