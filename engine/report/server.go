package report

import (
	"io"
	"sync"

	"linerate/engine"
)

// ServerText writes what iperf3 -s prints: where it listens, and the text of its tests.
// Several tests may run at once, which iperf3's layout was not made for: the lines of one
// call stay together, and where the writing test changes a line says whose lines follow.
// One test after the other looks exactly like iperf3. Safe for concurrent use.
type ServerText struct {
	opt  TextOptions
	port int

	mu      sync.Mutex
	out     *output
	started int         // tests so far
	owner   *serverSink // wrote the last lines; nil after an announcement
}

// NewServerText makes the text of a server that listens on port.
func NewServerText(w io.Writer, port int, opt TextOptions) *ServerText {
	return &ServerText{opt: opt, port: port, out: &output{w: w}}
}

// Err gives the first error of a write; nothing was written after it.
func (s *ServerText) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.err
}

// Listening announces the next test. The server calls it once when it listens; the end of
// each test does it again, but for OneOff.
func (s *ServerText) Listening() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listening()
}

func (s *ServerText) listening() {
	t := s.text()
	t.greet()
	t.line(dashes)
	t.line("Server listening on %d (test #%d)", s.port, s.started+1)
	t.line(dashes)
	t.flush()
	s.owner = nil
}

func (s *ServerText) text() *Text {
	opt := s.opt
	opt.Title = "" // iperf3 gives its server's lines no title
	return &Text{out: s.out, opt: opt}
}

// Sink makes the sink of one test: iperf.Server's NewSink. It is also a
// [engine.Transcript].
func (s *ServerText) Sink(engine.TestInfo) engine.Sink {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started++
	return &serverSink{server: s, text: s.text(), number: s.started}
}

// serverSink is one test's part of a ServerText.
type serverSink struct {
	server *ServerText
	text   *Text
	number int
}

// claim marks the lines that follow as this test's; the caller holds the lock.
func (k *serverSink) claim() {
	s := k.server
	if s.owner == k {
		return
	}
	s.owner = k
	peer := k.text.info.Control.Remote
	t := s.text()
	t.line("Test #%d, %s port %d:", k.number, plainAddr(peer.Addr()), peer.Port())
	t.flush()
}

// Begin needs no mark: its first line says who was accepted.
func (k *serverSink) Begin(info engine.TestInfo) {
	k.server.mu.Lock()
	defer k.server.mu.Unlock()
	k.server.owner = k
	k.text.Begin(info)
}

func (k *serverSink) Interval(iv engine.Interval) {
	k.server.mu.Lock()
	defer k.server.mu.Unlock()
	k.claim()
	k.text.Interval(iv)
}

func (k *serverSink) End(r engine.Result) {
	s := k.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(r.Streams) > 0 {
		k.claim()
	}
	k.text.End(r)
	if !s.opt.OneOff {
		s.listening()
	}
}

func (k *serverSink) Transcript(sofar engine.Result) (string, bool) {
	k.server.mu.Lock()
	defer k.server.mu.Unlock()
	return k.text.Transcript(sofar)
}

var _ engine.Transcript = (*serverSink)(nil)
