package iperf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"linerate/engine"
	"linerate/engine/internal/wire"
)

// handshake is a client on its way from nothing to TEST_RUNNING.
type handshake struct {
	nw     network
	spec   engine.Spec
	opt    Options
	cookie wire.Cookie
	ctl    *control
	far    *farEnd       // of ctl
	rtt    time.Duration // of the connect of the control connection

	mu       sync.Mutex
	warnings []string
}

// run leads through the handshake. On an error everything it opened is closed.
func (h *handshake) run(ctx context.Context) (*Client, error) {
	if err := h.greet(ctx); err != nil {
		return nil, err
	}
	links, err := h.negotiate(ctx)
	if err != nil {
		if errors.Is(err, ErrInterrupted) {
			h.ctl.goodbye(wire.ClientTerminate)
		}
		h.ctl.close()
		return nil, err
	}
	c := &Client{ctl: h.ctl, far: h.far, sink: h.opt.Sink, stopped: make(chan struct{})}
	c.traffic = newTraffic(h.info(), links, h.nw)
	h.far.opened(c.traffic.info.Conns)
	planned := time.Duration(0)
	if h.spec.Duration > 0 {
		planned = h.spec.Omit + h.spec.Duration
	}
	c.traffic.start(h.opt.Sink, planned)
	return c, nil
}

func (h *handshake) info() engine.TestInfo {
	agent, linerate := h.far.agent()
	return engine.TestInfo{
		PeerAgent: agent, Linerate: linerate,
		Role: engine.Client, Spec: h.spec, Cookie: h.cookie.String(),
		Control:  engine.Conn{Local: addrPort(h.ctl.conn.LocalAddr()), Remote: addrPort(h.ctl.conn.RemoteAddr())},
		MSS:      controlMSS(h.ctl.conn),
		IdleRTT:  h.rtt,
		Warnings: h.warnings,
	}
}

// greet connects and gets the server's first word, as often as Options.Retry allows.
func (h *handshake) greet(ctx context.Context) error {
	until := time.Now().Add(h.opt.Retry)
	for {
		err := h.knock(ctx)
		if err == nil || !worthRetry(err) || !time.Now().Before(until) {
			return err
		}
		select {
		case <-time.After(retryEvery):
		case <-ctx.Done():
			return err
		}
	}
}

// worthRetry reports whether a server between two tests may have caused err.
func worthRetry(err error) bool {
	return errors.Is(err, ErrBusy) || errors.Is(err, ErrRefused) || closedByPeer(err)
}

// knock makes one attempt: connect, cookie, first state.
func (h *handshake) knock(ctx context.Context) error {
	began := time.Now()
	conn, err := h.nw.connect(ctx)
	if err != nil {
		return h.nw.connectError(ctx, err)
	}
	h.rtt = time.Since(began)
	if rtt := pathRTT(conn); rtt > 0 {
		h.rtt = min(h.rtt, rtt)
	}
	h.far = newFarEnd(h.spec)
	h.ctl = newControl(conn, frames(h.far.heard).serverTalk)
	if err = h.ctl.send(h.cookie[:], writeTimeout); err == nil {
		err = h.expect(ctx, stateFirst, wire.ParamExchange, firstStateTimeout)
	} else {
		err = closedError(stateFirst, err)
	}
	if err != nil {
		h.ctl.close()
	}
	return err
}

// negotiate goes from the parameters to TEST_RUNNING and returns the links, in order
// of creation.
func (h *handshake) negotiate(ctx context.Context) ([]link, error) {
	text, err := params(h.spec, h.opt.agent()).JSON()
	if err != nil {
		return nil, &Error{State: stateParams, Text: err.Error(), Err: err}
	}
	h.far.asked(time.Now())
	if err := h.ctl.send(wire.AppendJSON(nil, text), writeTimeout); err != nil {
		return nil, h.blame(ctx, closedError(stateParams, err))
	}
	if err := h.expect(ctx, stateParams, wire.CreateStreams, replyTimeout); err != nil {
		return nil, err
	}
	links, err := h.openStreams(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range []wire.State{wire.TestStart, wire.TestRunning} {
		if err := h.expect(ctx, stateStart, s, replyTimeout); err != nil {
			closeLinks(links)
			return nil, err
		}
	}
	return links, nil
}

func (h *handshake) openStreams(ctx context.Context) ([]link, error) {
	n := h.spec.Streams * len(h.spec.Direction.Dirs())
	o := opener{dial: h.nw.dataDialer(h.ctl.conn, h.warn), cookie: h.cookie, rtt: h.rtt, each: connectTimeout(h.spec)}
	opening, cancel := context.WithTimeout(ctx, streamsTimeout)
	defer cancel()
	conns, err := o.open(opening, n, h.spec.Direction)
	if err != nil {
		return nil, h.blame(ctx, h.streamError(ctx, err))
	}
	links := make([]link, 0, n)
	for i, conn := range conns {
		l, err := h.nw.take(conn)
		if err != nil {
			closeLinks(links)
			closeConns(conns[i+1:])
			return nil, &Error{State: stateStreams, Text: fmt.Sprintf("preparing stream %d: %v", i+1, err), Err: err}
		}
		links = append(links, l)
	}
	return links, nil
}

func (h *handshake) streamError(ctx context.Context, err error) *Error {
	e := h.nw.connectError(ctx, err)
	e.State = stateStreams
	if errors.Is(e, ErrRefused) || e.Timeout {
		// The control connection stands, so the host and the port were right.
		e.Hint = "the control connection works: a limit or a firewall may stop further connections to the port"
	}
	return e
}

// warn keeps a warning once.
func (h *handshake) warn(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if text := err.Error(); !slices.Contains(h.warnings, text) {
		h.warnings = append(h.warnings, text)
	}
}

// expect waits for one state. Whatever else comes, or does not, is an error.
func (h *handshake) expect(ctx context.Context, state string, want wire.State, timeout time.Duration) error {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case m, ok := <-h.ctl.messages:
		if ok && m.err == nil && m.state == want {
			return nil
		}
		return unexpected(state, m)
	case <-timer.C:
		return silentError(state, timeout)
	case <-ctx.Done():
		return interruptedError(state, context.Cause(ctx))
	}
}

// blame gives the server a moment to say on the control connection why something
// else failed, and returns the better of both errors.
func (h *handshake) blame(ctx context.Context, err *Error) error {
	timer := time.NewTimer(blameTimeout)
	defer timer.Stop()
	select {
	case m, ok := <-h.ctl.messages:
		if ok && m.err == nil {
			return unexpected(err.State, m)
		}
	case <-timer.C:
	case <-ctx.Done():
	}
	return err
}

// unexpected puts a message that does not fit the state into words. The zero message
// stands for a closed connection.
func unexpected(state string, m message) *Error {
	first := state == stateFirst
	var size *wire.SizeError
	var foreign *wire.StateError
	switch {
	case errors.As(m.err, &foreign) && first:
		return notIperf3Error(state, m.said)
	case errors.As(m.err, &foreign):
		return protocolError(state, m.said, m.err)
	case errors.As(m.err, &size):
		return protocolError(state, size.Error(), m.err)
	case m.err != nil || m.state == 0:
		return closedError(state, m.err)
	case m.state == wire.AccessDenied:
		return busyError(state, nil)
	case m.state == wire.ServerError:
		return faultError(state, m.fault)
	case m.state == wire.ServerTerminate:
		return &Error{
			State: state, Code: 120,
			Text: "the server was stopped by its operator while this end was " + state,
		}
	case first:
		return notIperf3Error(state, fmt.Sprintf("byte 0x%02x", uint8(m.state)))
	}
	return protocolError(state, m.state.String(), nil)
}

func protocolError(state, said string, cause error) *Error {
	return &Error{
		State: state, Code: 110, Err: cause,
		Text: fmt.Sprintf("the server broke the protocol: it sent %s while this end was %s", said, state),
	}
}

// closedError is the end of the control connection, by the peer or the path. Before
// the first state a reset means a busy server: it closes without having read the cookie.
func closedError(state string, cause error) *Error {
	if state == stateFirst {
		if resetByPeer(cause) {
			return busyError(state, cause)
		}
		return &Error{
			State: state, Code: int(wire.CodeControlClosed), Err: cause,
			Text: "the server closed the connection without a word",
			Hint: "something else may be listening on this port, or a proxy stands before it",
		}
	}
	e := &Error{
		State: state, Code: int(wire.CodeControlClosed), Err: cause,
		Text: "the server closed the control connection while this end was " + state,
	}
	switch {
	case errors.Is(cause, io.ErrUnexpectedEOF):
		e.Text = "the server closed the control connection in the middle of a message, while this end was " + state
	case cause == nil || closedByPeer(cause):
	case pathDead(cause):
		e.Timeout = true
		e.Text = "the server is gone: it has not acknowledged anything for a minute"
	default:
		e.Text = fmt.Sprintf("the control connection broke while this end was %s: %v", state, rootCause(cause))
	}
	return e
}

// silentError is a deadline that passed.
func silentError(state string, after time.Duration) *Error {
	e := &Error{State: state, Timeout: true, Text: fmt.Sprintf("the server is silent: gave up %s after %v", state, after)}
	if state == stateFirst {
		e.Text = fmt.Sprintf("the server accepted the connection and said nothing for %v", after)
		e.Hint = "an iperf 2 server? it speaks another protocol; or an iperf3 server that hangs on an earlier client"
	}
	return e
}

func closeLinks(links []link) {
	for _, l := range links {
		l.close()
	}
}

func closeConns(conns []net.Conn) {
	for _, c := range conns {
		c.Close()
	}
}
