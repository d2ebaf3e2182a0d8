package sessiontest

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"linerate/engine"
	"linerate/engine/iperf"
	"linerate/engine/session"
	"linerate/probes"
)

// Server is a scripted far end. Its fields are set before the session starts; the zero
// value serves 1 Gbit/s per stream, at once, to everybody.
type Server struct {
	// Rate is the goodput of one stream, bits/s, when its test has run for age. It must
	// be nothing but a function of its arguments.
	Rate func(spec engine.Spec, conn engine.Conn, age time.Duration) float64
	// Retransmits is the same for segments per second.
	Retransmits func(spec engine.Spec, conn engine.Conn, age time.Duration) float64
	// Refuse is asked for the n-th test, from 0, and for each further one; an error
	// refuses it.
	Refuse func(n int, spec engine.Spec) error
	// Fail is how long the n-th test runs until it fails, and with what; a nil error never.
	Fail func(n int, spec engine.Spec) (time.Duration, error)

	Lasts     time.Duration // a server that ends every test after so long; 0: none does
	Handshake time.Duration // from Start to flowing payload
	Exchange  time.Duration // from the end of the payload to the end of the test
	Blind     bool          // the kernel has no TCP_INFO
	RTT       time.Duration // 0: 200 µs
	MinRTT    time.Duration // the least of them; 0: three quarters
	Addr      netip.AddrPort
	Agent     string
	Far       *FarEnd                        // what it tells about its own end; nil: it is a stock iperf3
	CPU       func(spec engine.Spec) float64 // share of one core that the far process has used; nil: unknown

	mu      sync.Mutex
	tests   []*Test
	asked   []engine.Spec
	options []iperf.Options
}

// Start is the session.Starter of the server.
func (s *Server) Start(ctx context.Context, spec engine.Spec, opt iperf.Options) (session.Test, error) {
	s.mu.Lock()
	n := len(s.asked)
	s.asked = append(s.asked, spec)
	s.options = append(s.options, opt)
	s.mu.Unlock()
	select {
	case <-ctx.Done():
		return nil, &iperf.Error{State: "connecting", Text: "interrupted while connecting", Err: iperf.ErrInterrupted}
	case <-time.After(s.Handshake):
	}
	if s.Refuse != nil {
		if err := s.Refuse(n, spec); err != nil {
			return nil, err
		}
	}
	t := newTest(s, n, spec, opt.Sink)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tests = append(s.tests, t)
	return t, nil
}

// Asked lists the specs of all tests that were asked for, refused ones too.
func (s *Server) Asked() []engine.Spec {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]engine.Spec(nil), s.asked...)
}

// Options lists how they were asked for.
func (s *Server) Options() []iperf.Options {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]iperf.Options(nil), s.options...)
}

// Tests lists all tests that have begun.
func (s *Server) Tests() []*Test {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Test(nil), s.tests...)
}

// Current is the test that runs, nil for none.
func (s *Server) Current() *Test {
	for _, t := range s.Tests() {
		if t.flows() {
			return t
		}
	}
	return nil
}

func (s *Server) rate(spec engine.Spec, conn engine.Conn, age time.Duration) float64 {
	if s.Rate == nil {
		return 1e9
	}
	return s.Rate(spec, conn, age)
}

func (s *Server) addr() netip.AddrPort {
	if s.Addr.IsValid() {
		return s.Addr
	}
	return netip.MustParseAddrPort("192.168.10.1:5201")
}

func (s *Server) cpu(spec engine.Spec) probes.Reading[engine.CPUUse] {
	if s.CPU == nil {
		return probes.Unknown[engine.CPUUse](probes.Absent, "the server did not tell")
	}
	return probes.Got(engine.CPUUse{Total: 100 * s.CPU(spec)})
}
