package iperf

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"linerate/engine"
	"linerate/engine/internal/sock"
	"linerate/engine/internal/wire"
)

// The tests of the protocol run over net.Pipe in a synctest bubble: time is fake, and a
// goroutine that outlives its test fails it.

// pipePlumbing makes links of pipes.
type pipePlumbing struct{}

func (pipePlumbing) take(conn net.Conn) (link, error) { return &pipeLink{conn: conn}, nil }
func (pipePlumbing) reserve(int) func()               { return func() {} }
func (pipePlumbing) watch(links []link) watcher       { return pipeWatcher{links} }

// pipeLink moves one block per millisecond: without a pause, fake time would stand
// still.
type pipeLink struct {
	conn net.Conn
	n    atomic.Uint64
	quit atomic.Bool
	once sync.Once
}

func (l *pipeLink) send(cfg sock.SendConfig) error {
	buf := make([]byte, cfg.Block)
	for !l.quit.Load() {
		l.conn.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
		n, err := l.conn.Write(buf)
		l.n.Add(uint64(n))
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			if l.quit.Load() {
				return nil
			}
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

func (l *pipeLink) recv(cfg sock.RecvConfig) error {
	buf := make([]byte, cfg.Block)
	for !l.quit.Load() {
		l.conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		n, err := l.conn.Read(buf)
		l.n.Add(uint64(n))
		switch {
		case err == nil || errors.Is(err, os.ErrDeadlineExceeded):
		case errors.Is(err, io.EOF) || l.quit.Load():
			return nil
		default:
			return err
		}
	}
	return nil
}

func (l *pipeLink) stop()         { l.quit.Store(true) }
func (l *pipeLink) bytes() uint64 { return l.n.Load() }
func (l *pipeLink) tid() int      { return 0 }
func (l *pipeLink) shutdown()     { l.conn.Close() }
func (l *pipeLink) close()        { l.once.Do(func() { l.conn.Close() }) }
func (l *pipeLink) facts() linkFacts {
	return linkFacts{sndBuf: 1000, rcvBuf: 2000, congestion: "pipe"}
}

// info counts a segment sent again for every block.
func (l *pipeLink) info() (engine.TCPInfo, error) {
	return engine.TCPInfo{Size: engine.InfoRTO, TotalRetrans: uint32(l.bytes() / blockLen), RTT: 3 * time.Millisecond, SndCwnd: 10, SndMSS: 100}, nil
}

// testSlack is what a deadline may be missed by: loops look up every 20 ms, and a stall
// of a few seconds is looked for every tenth of it.
const testSlack = 120 * time.Millisecond

// blockLen is the block of the tests' specs.
const blockLen = 1000

type pipeWatcher struct{ links []link }

func (w pipeWatcher) run(ctx context.Context) { <-ctx.Done() }

func (pipeWatcher) readMem(int) (engine.SockMem, error) {
	return engine.SockMem{}, errors.ErrUnsupported
}

func (w pipeWatcher) read(i int) (engine.TCPInfo, time.Time, error) {
	info, err := w.links[i].info()
	return info, time.Now(), err
}

// pipeNet is a client's way to a server behind a pipeListener.
type pipeNet struct {
	pipePlumbing
	route
	ln *pipeListener
}

func (p *pipeNet) take(conn net.Conn) (link, error) { return p.pipePlumbing.take(conn) }
func (p *pipeNet) reserve(n int) func()             { return p.pipePlumbing.reserve(n) }
func (p *pipeNet) watch(links []link) watcher       { return p.pipePlumbing.watch(links) }

func (p *pipeNet) connect(ctx context.Context) (net.Conn, error) { return p.ln.dial(ctx) }

func (p *pipeNet) dataDialer(net.Conn, func(error)) func(context.Context, int) (net.Conn, error) {
	return func(ctx context.Context, _ int) (net.Conn, error) { return p.ln.dial(ctx) }
}

// pipeListener is a net.Listener for pipes. They have no addresses unless from and at are
// set: those of the clients and of the server.
type pipeListener struct {
	from, at netip.AddrPort
	lobby    chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{lobby: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	here, there := net.Pipe()
	if l.at.IsValid() {
		here, there = placed{here, l.from, l.at}, placed{there, l.at, l.from}
	}
	select {
	case l.lobby <- there:
		return here, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// placed is a pipe with addresses.
type placed struct {
	net.Conn
	local, remote netip.AddrPort
}

func (p placed) LocalAddr() net.Addr  { return net.TCPAddrFromAddrPort(p.local) }
func (p placed) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(p.remote) }

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.lobby:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{Port: 5201} }

// testSpec is the plainest upload of blocks that suit the pipes.
func testSpec(change func(*engine.Spec)) engine.Spec {
	s := engine.Spec{Host: "host", Port: 5201, Streams: 1, Duration: 2 * time.Second, BlockSize: blockLen, Affinity: -1, SrvAffinity: -1}
	if change != nil {
		change(&s)
	}
	return s
}

// dialPipe opens a test with a server behind ln.
func dialPipe(ctx context.Context, t *testing.T, ln *pipeListener, spec engine.Spec, opt Options) (*Client, error) {
	t.Helper()
	spec, err := prepare(spec)
	if err != nil {
		t.Fatal(err)
	}
	return dial(ctx, &pipeNet{route: route{spec: spec}, ln: ln}, spec, opt)
}

// peer is one end of a control connection in a scripted test. Its methods end the
// goroutine of the script when the connection is gone.
type peer struct {
	net.Conn
	t *testing.T
}

func (p peer) put(b ...byte) {
	if _, err := p.Write(b); err != nil {
		p.t.Errorf("script: writing % x: %v", b, err)
	}
}

func (p peer) state(s wire.State) { p.put(byte(s)) }

func (p peer) want(s wire.State) {
	p.t.Helper()
	var b [1]byte
	if _, err := io.ReadFull(p, b[:]); err != nil || wire.State(int8(b[0])) != s {
		p.t.Errorf("script: want %v, got 0x%02x, %v", s, b[0], err)
	}
}

func (p peer) json(limit int) []byte {
	p.t.Helper()
	text, err := wire.ReadJSON(p, limit)
	if err != nil {
		p.t.Errorf("script: reading JSON: %v", err)
	}
	return text
}

func (p peer) send(text string) { p.put(wire.AppendJSON(nil, []byte(text))...) }

// gone waits until the other end has closed, throwing away what still comes.
func (p peer) gone() {
	_, _ = io.Copy(io.Discard, p)
	p.Close()
}

// reports collects what a sink is told.
type reports struct {
	mu        sync.Mutex
	begun     int
	info      engine.TestInfo
	intervals []engine.Interval
	results   []engine.Result
}

func (r *reports) Begin(i engine.TestInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun++
	r.info = i
}

func (r *reports) Interval(i engine.Interval) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.intervals = append(r.intervals, i)
}

func (r *reports) End(x engine.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results = append(r.results, x)
}
