package iperf

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"linerate/engine"
	"linerate/engine/internal/wire"
)

// Limits of a server that its fields leave at 0.
const (
	// DefaultMaxTests is how many tests run at once.
	DefaultMaxTests = 64
	// DefaultMaxStreams bounds the streams of all tests together. Each has an OS thread,
	// of which the Go runtime allows 10,000; a test can ask for 256.
	DefaultMaxStreams = 2048
	// maxPending is how many newcomers may be about to say who they are. A further one
	// takes the place of the oldest.
	maxPending = 1024
)

// Server runs tests for iperf3 and linerate clients, many at once on one port. Set its
// fields before Serve; it can serve once.
type Server struct {
	MaxTests   int  // at once; 0: DefaultMaxTests
	MaxPerAddr int  // at once for one client address; 0: MaxTests
	MaxStreams int  // of all tests together; 0: DefaultMaxStreams
	OneOff     bool // end after one test
	Affinity   int  // core for the data threads when the client names none; use -1 for none

	Interval   time.Duration // between reports to the sinks; 0: 1 s, negative: none
	RcvTimeout time.Duration // without any payload; 0: 120 s as iperf3
	SndTimeout time.Duration // TCP_USER_TIMEOUT of data sockets; 0: 60 s

	// Host is read for linerate clients, which see how this computer is doing while their
	// test runs: its facts before a test, its load twice a second while one runs. It may be
	// an engine.EvidenceSource too, and is then asked for that as well. Nobody else may call
	// its Load. nil: clients see the streams' sockets only.
	Host engine.HostSource
	// Path is asked once in each of their tests, while payload flows, for the largest packet
	// that reaches the client, which the client cannot find out by itself. Probed is the
	// address that the control connection comes from and no other, and never one of this
	// computer. nil: they are told nothing about it.
	Path engine.PathSource
	// Agent is what they are told about this program: "linerate 0.1". "" means "linerate".
	Agent string

	// NewSink gives the sink for one test when its streams stand; nil, or a nil sink,
	// for none. If the sink is an engine.Transcript, clients can have its output.
	NewSink func(engine.TestInfo) engine.Sink
	// Log is told what happens, from several goroutines; it must not block. May be nil.
	Log func(engine.ServerEvent)

	pipes   plumbing  // nil: sockets
	born    time.Time // zero of the steady clock
	sampler *sampler
	files   *files
	sweeper *sweeper

	mu      sync.Mutex
	port    int
	nextID  int
	visits  map[wire.Cookie]*visit
	recent  map[wire.Cookie]time.Time
	streams int // reserved by running tests
	pending []*newcomer
	served  chan struct{} // a test has ended
	arrived uint64        // connections so far
}

// steady is a moment on a clock that nobody sets, µs.
func (s *Server) steady(at time.Time) int64 { return at.Sub(s.born).Microseconds() }

func (s *Server) agent() string {
	if s.Agent == "" {
		return "linerate"
	}
	return s.Agent
}

// userTimeout is how long data may stay unacknowledged before a data connection of the
// server counts as dead: as long as the keepalive of the control connection takes.
const userTimeout = 60 * time.Second

func (s *Server) maxTests() int {
	switch {
	case s.OneOff:
		return 1
	case s.MaxTests > 0:
		return s.MaxTests
	}
	return DefaultMaxTests
}

func (s *Server) maxPerAddr() int {
	if s.MaxPerAddr > 0 {
		return s.MaxPerAddr
	}
	return s.maxTests()
}

func (s *Server) maxStreams() int {
	if s.MaxStreams > 0 {
		return s.MaxStreams
	}
	return DefaultMaxStreams
}

// Serve takes connections from ln until ctx ends or, with OneOff, one test is over. It
// closes ln, ends running tests by SERVER_TERMINATE and returns when all its goroutines
// have ended. The error is nil after ctx and OneOff, otherwise that of ln.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.visits = make(map[wire.Cookie]*visit)
	s.recent = make(map[wire.Cookie]time.Time)
	s.served = make(chan struct{}, 1)
	s.port = int(addrPort(ln.Addr()).Port())
	s.born, s.sampler, s.files, s.sweeper = time.Now(), newSampler(s.Host), newFiles(s.Host), newSweeper(s.Path, s.Host)
	if s.pipes == nil {
		s.pipes = tcpPlumbing{}
	}
	s.mu.Unlock()

	var work sync.WaitGroup
	defer work.Wait()
	defer s.dropPending()
	if s.Host != nil {
		work.Go(func() { s.files.about(ctx, netip.Addr{}) }) // the first client need not wait
	}
	work.Go(func() {
		select {
		case <-ctx.Done():
		case <-s.oneOff():
			cancel()
		}
		ln.Close()
	})
	defer cancel()
	for {
		conn, err := ln.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			if !errors.Is(err, net.ErrClosed) && transient(err) {
				// Out of descriptors, or a client that was gone before it was accepted:
				// running tests go on, and the next attempt may succeed.
				select {
				case <-time.After(acceptPause):
				case <-ctx.Done():
				}
				continue
			}
			return err
		}
		n := s.admit(conn)
		work.Go(func() { s.receive(ctx, n) })
	}
}

// acceptPause keeps a failing accept from spinning.
const acceptPause = 20 * time.Millisecond

// transient reports whether accept may succeed later. net.Error's Temporary is
// deprecated for its vague meaning, but accept is the one place where it is meant:
// EMFILE, ENFILE, ECONNABORTED and their like.
func transient(err error) bool {
	var temporary interface{ Temporary() bool }
	return errors.As(err, &temporary) && temporary.Temporary()
}

// oneOff gives a channel that says that the only test is over; nil without OneOff.
func (s *Server) oneOff() <-chan struct{} {
	if s.OneOff {
		return s.served
	}
	return nil
}

// Tests lists the running tests in order of arrival, for a live table. It may be called
// from any goroutine.
func (s *Server) Tests() []engine.ServerTest {
	s.mu.Lock()
	visits := make([]*visit, 0, len(s.visits))
	for _, v := range s.visits {
		if v.traffic != nil {
			visits = append(visits, v)
		}
	}
	s.mu.Unlock()
	slices.SortFunc(visits, func(a, b *visit) int { return a.id - b.id })
	var tests []engine.ServerTest
	for _, v := range visits {
		tests = append(tests, engine.ServerTest{
			ID:       v.id,
			Info:     v.traffic.info,
			Elapsed:  time.Since(v.traffic.info.Start),
			Counters: v.traffic.sample(nil),
		})
	}
	return tests
}

// log tells what happened.
func (s *Server) log(kind engine.ServerEventKind, client netip.AddrPort, text string, add func(*engine.ServerEvent)) {
	if s.Log == nil {
		return
	}
	e := engine.ServerEvent{Time: time.Now(), Kind: kind, Client: client, Text: text}
	if add != nil {
		add(&e)
	}
	s.Log(e)
}
