package iperf

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"linerate/engine"
	"linerate/engine/internal/sock"
)

// link is one data connection as the protocol sees it: *tcpLink in earnest, a pipe in
// tests. send and recv block until stop, until the budget is used up, or until the peer
// is gone; one of them is called, once.
type link interface {
	send(sock.SendConfig) error
	recv(sock.RecvConfig) error
	stop() // asks the loop to return within 20 ms
	bytes() uint64
	tid() int
	info() (engine.TCPInfo, error)
	facts() linkFacts
	shutdown() // wakes a blocked call; any goroutine
	close()    // after the loop has returned
}

// linkFacts do not change while a link lives.
type linkFacts struct {
	local, remote  netip.AddrPort
	sndBuf, rcvBuf int    // bytes, 0 unknown
	mss            int    // bytes, 0 unknown
	congestion     string // "" unknown
}

// watcher reads the TCP_INFO and the buffers of all links now and then; read and readMem
// give the last ones of the link with index i.
type watcher interface {
	run(ctx context.Context)
	read(i int) (info engine.TCPInfo, at time.Time, err error)
	readMem(i int) (engine.SockMem, error)
}

// plumbing makes links: sockets, or pipes in tests.
type plumbing interface {
	// take makes a link of a data connection whose cookie has been exchanged. conn must
	// not be used afterwards, even when take fails.
	take(conn net.Conn) (link, error)
	watch(links []link) watcher
	reserve(threads int) (release func())
}

type tcpLink struct {
	conn *sock.Conn
	ctr  sock.Counter
}

func (l *tcpLink) send(cfg sock.SendConfig) error { return l.conn.Send(cfg, &l.ctr) }
func (l *tcpLink) recv(cfg sock.RecvConfig) error { return l.conn.Recv(cfg, &l.ctr) }
func (l *tcpLink) stop()                          { l.ctr.Stop() }
func (l *tcpLink) bytes() uint64                  { return l.ctr.Bytes() }
func (l *tcpLink) tid() int                       { return l.ctr.TID() }
func (l *tcpLink) info() (engine.TCPInfo, error)  { return l.conn.Info() }
func (l *tcpLink) shutdown()                      { _ = l.conn.Shutdown() }

// close drops what is still queued: both ends have counted, and on a slow path the rest
// of a full send buffer would stand before the results on the control connection.
func (l *tcpLink) close() {
	_ = l.conn.Discard()
	_ = l.conn.Close()
}

func (l *tcpLink) facts() linkFacts {
	f := linkFacts{local: l.conn.Local(), remote: l.conn.Remote()}
	f.sndBuf, f.rcvBuf, _ = l.conn.Buffers()
	f.mss, _ = l.conn.MSS()
	f.congestion, _ = l.conn.Congestion()
	return f
}

// tcpPlumbing makes links of TCP connections.
type tcpPlumbing struct{}

func (tcpPlumbing) take(conn net.Conn) (link, error) {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		conn.Close()
		return nil, fmt.Errorf("%T is not a TCP connection: %w", conn, errors.ErrUnsupported)
	}
	c, err := sock.Take(tcp)
	if err != nil {
		return nil, err
	}
	return &tcpLink{conn: c}, nil
}

func (tcpPlumbing) reserve(threads int) func() { return sock.Reserve(threads) }

func (tcpPlumbing) watch(links []link) watcher {
	conns := make([]*sock.Conn, len(links))
	for i, l := range links {
		conns[i] = l.(*tcpLink).conn // all links here are of take
	}
	return tcpWatcher{sock.NewWatcher(conns, sampleEvery)}
}

type tcpWatcher struct{ w *sock.Watcher }

func (w tcpWatcher) run(ctx context.Context) { w.w.Run(ctx) }

func (w tcpWatcher) read(i int) (engine.TCPInfo, time.Time, error) { return w.w.Read(i) }
func (w tcpWatcher) readMem(i int) (engine.SockMem, error)         { return w.w.ReadMem(i) }
