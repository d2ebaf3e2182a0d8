package iperf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"linerate/engine"
	"linerate/engine/internal/wire"
)

// newcomer is an accepted connection that has not yet said who it is.
type newcomer struct {
	conn net.Conn
	from netip.AddrPort
	seq  uint64 // order of accept, over all connections
}

// admit lists a new connection as pending. When too many are, the oldest is closed: an
// honest client sends its cookie at once, so it is never the oldest for long.
func (s *Server) admit(conn net.Conn) *newcomer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arrived++
	n := &newcomer{conn: conn, from: addrPort(conn.RemoteAddr()), seq: s.arrived}
	if len(s.pending) >= maxPending {
		s.pending[0].conn.Close()
		s.pending = s.pending[1:]
	}
	s.pending = append(s.pending, n)
	return n
}

// settle takes a newcomer off the list.
func (s *Server) settle(n *newcomer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, p := range s.pending {
		if p == n {
			s.pending = append(s.pending[:i:i], s.pending[i+1:]...)
			return
		}
	}
}

// dropPending closes all that are pending, at the end.
func (s *Server) dropPending() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.pending {
		n.conn.Close()
	}
	s.pending = nil
}

// receive reads a newcomer's cookie and hands the connection to the test that is
// waiting for it, or starts a new test and runs it.
func (s *Server) receive(ctx context.Context, n *newcomer) {
	cookie, err := s.readCookie(ctx, n)
	s.settle(n)
	if err != nil {
		n.conn.Close()
		if errors.Is(err, wire.ErrCookie) {
			s.log(engine.ClientRefused, n.from, fmt.Sprintf("%s does not speak iperf3", n.from), func(e *engine.ServerEvent) { e.Err = err })
		}
		return
	}
	v, data, why := s.route(cookie, n)
	switch {
	case why != "":
		s.deny(n, why)
	case data:
		// A visit takes its connections while it creates streams and no longer.
		select {
		case v.arrivals <- n:
		case <-v.complete:
			s.deny(n, "")
		}
	default:
		v.run(ctx, n.conn)
		s.leave(v)
	}
}

// release makes room for another test when v has no more payload to move, though its
// client may take its time to go. A cookie that is released belongs to a test that is
// over.
func (s *Server) release(v *visit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.visits[v.cookie] != v {
		return
	}
	delete(s.visits, v.cookie)
	s.streams -= v.reserved
	now := time.Now()
	for c, at := range s.recent {
		if now.Sub(at) >= recentCookies {
			delete(s.recent, c)
		}
	}
	s.recent[v.cookie] = now
}

func (s *Server) readCookie(ctx context.Context, n *newcomer) (wire.Cookie, error) {
	stop := context.AfterFunc(ctx, func() { n.conn.Close() })
	defer stop()
	if err := n.conn.SetReadDeadline(time.Now().Add(cookieTimeout)); err != nil {
		return wire.Cookie{}, err
	}
	cookie, err := wire.ReadCookie(n.conn)
	if err != nil {
		return cookie, err
	}
	return cookie, n.conn.SetReadDeadline(time.Time{})
}

// route finds out what a connection with this cookie is: a data connection of v, or
// the control connection of the new test v. why tells that it is neither; "" with
// neither is a stray that is not worth a line in the log.
func (s *Server) route(cookie wire.Cookie, n *newcomer) (v *visit, data bool, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.visits[cookie]; v != nil {
		return v, true, ""
	}
	if ended, ok := s.recent[cookie]; ok && time.Since(ended) < recentCookies {
		return nil, false, "late data connection of a test that is over"
	}
	here := 0
	for _, v := range s.visits {
		if v.client.Addr() == n.from.Addr() {
			here++
		}
	}
	switch {
	case len(s.visits) >= s.maxTests():
		return nil, false, fmt.Sprintf("busy: %d tests are running", len(s.visits))
	case here >= s.maxPerAddr():
		return nil, false, fmt.Sprintf("busy: %d tests of this address are running", here)
	}
	s.nextID++
	v = newVisit(s, s.nextID, cookie, n.from)
	s.visits[cookie] = v
	return v, false, ""
}

// deny tells a newcomer that it is not wanted. Its cookie has been read, so the byte is
// not lost to a reset; waiting for its end, briefly, saves it from one as well.
func (s *Server) deny(n *newcomer, why string) {
	if why != "" {
		s.log(engine.ClientRefused, n.from, fmt.Sprintf("%s turned away: %s", n.from, why), nil)
	}
	defer n.conn.Close()
	if n.conn.SetDeadline(time.Now().Add(goodbyeTimeout)) != nil {
		return
	}
	if _, err := n.conn.Write(wire.AccessDenied.Append(nil)); err != nil {
		return
	}
	if half, ok := n.conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(n.conn, 1<<20))
	}
}

// leave ends a visit.
func (s *Server) leave(v *visit) {
	s.release(v)
	s.mu.Lock()
	defer s.mu.Unlock()
	if v.counted {
		select {
		case s.served <- struct{}{}:
		default:
		}
	}
}

// reserveStreams keeps n streams for v if there are so many left.
func (s *Server) reserveStreams(v *visit, n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams+n > s.maxStreams() {
		return false
	}
	s.streams += n
	v.reserved = n
	return true
}
