package session

import (
	"context"
	"errors"
	"net/netip"
	"sync/atomic"
	"time"

	"linerate/engine"
	"linerate/engine/diagnose"
	"linerate/engine/iperf"
)

// Config is what a session is made of. Spec and Host are required.
type Config struct {
	Spec engine.Spec       // the first step; its Defaults are filled in
	Host engine.HostSource // this computer; Load is called by one goroutine, Host and Route by another
	// Evidence reads more of this computer for the rules; nil: they do without. Vitals is
	// called by one goroutine at a time.
	Evidence engine.EvidenceSource

	// Path probes the way to the server; nil: it is not probed.
	Path engine.PathSource

	Start Starter     // opens tests; nil: engine/iperf
	Agent string      // what the server is told about this program: "linerate 0.1"
	Sink  engine.Sink // gets what every test reports, in order and without loss; nil: nobody
	// SinkWait is how long Run waits at its end for a Sink that blocks: 0 means 3 s,
	// negative without limit.
	SinkWait time.Duration

	// Settle is left out of a step's averages from its begin on. It is local, while
	// Spec.Omit is told to the server; where Spec.Omit is set it counts instead.
	Settle time.Duration
	// Hold keeps the session after a test that has ended by itself or has failed, until
	// Quit: a key opens the next step. Without it Run returns then. A first connection
	// that fails always ends Run.
	Hold bool

	// ExpectBps is the line speed that the operator says there is, bits/s; 0: none was named.
	ExpectBps float64

	Shape   func(engine.Spec) engine.Spec // what is put on the wire for an asked spec; nil: the same
	LinkBps float64                       // speed of a simulated link, bits/s; 0: the interface's
	Label   string                        // Snapshot.Label

	Auto     bool          // find the best stream count as soon as traffic flows
	BestStep time.Duration // how long that search stays at each count; 0: 4 s

	SSHClient netip.Addr // the other end of the SSH session that started the program, if any
}

// Test is one test on the wire that is open and flowing: *iperf.Client.
type Test interface {
	Info() engine.TestInfo
	// Run blocks to the end of the test. Cancelling ctx ends it at once.
	Run(ctx context.Context) engine.Result
	// Stop asks for a regular end; any goroutine, any number of times.
	Stop()
	// Sample appends the counters of every stream, always in the same order, also after
	// the end.
	Sample(dst []engine.Counters) []engine.Counters
}

// Starter opens a test; it returns when its payload flows.
type Starter func(ctx context.Context, spec engine.Spec, opt iperf.Options) (Test, error)

func dial(ctx context.Context, spec engine.Spec, opt iperf.Options) (Test, error) {
	c, err := iperf.Dial(ctx, spec, opt)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Session is one measurement from the first connection to the last. Run, Next and Do
// may be called from different goroutines; Run once, Next by one reader at a time.
type Session struct {
	cfg      Config
	box      *mailbox
	commands chan request
	over     chan struct{} // closed when Run has ended

	ticks atomic.Uint64
	worst atomic.Int64 // nanoseconds

	last *diagnose.Evidence // written before over is closed
}

type request struct {
	command engine.Command
	answer  chan error // capacity 1
}

var errOver = errors.New("the session is over")

// New prepares a session; Run starts it.
func New(cfg Config) *Session {
	cfg.Spec = cfg.Spec.Defaults()
	if cfg.Start == nil {
		cfg.Start = dial
	}
	if cfg.BestStep == 0 {
		cfg.BestStep = 4 * time.Second
	}
	if cfg.SinkWait == 0 {
		cfg.SinkWait = 3 * time.Second
	}
	return &Session{
		cfg:      cfg,
		box:      newMailbox(),
		commands: make(chan request),
		over:     make(chan struct{}),
	}
}

// Run conducts the session and returns after its end: a Quit, the end of ctx, or, unless
// Config.Hold is set, the end of a test. Cancelling ctx ends the running test at once,
// without the server's results.
func (s *Session) Run(ctx context.Context) engine.Summary {
	defer close(s.over)
	defer s.box.close()
	return newConductor(ctx, s).run()
}

// Next waits for a snapshot that is newer than the one it gave last. What came between is
// skipped. After the last snapshot it returns io.EOF.
func (s *Session) Next(ctx context.Context) (*engine.Snapshot, error) { return s.box.next(ctx) }

// Do carries out what the operator asks. It returns as soon as it is accepted, not when
// the server has confirmed it, and a snapshot that shows it is published before. The
// error of what cannot be done now is fit for the status line.
func (s *Session) Do(ctx context.Context, c engine.Command) error {
	r := request{c, make(chan error, 1)}
	select {
	case s.commands <- r:
		return <-r.answer
	case <-s.over:
		return errOver
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Evidence is what the rules were asked last. It is there once Run has returned; false
// when it has not, or when they never were asked.
func (s *Session) Evidence() (diagnose.Evidence, bool) {
	select {
	case <-s.over:
	default:
		return diagnose.Evidence{}, false
	}
	if s.last == nil {
		return diagnose.Evidence{}, false
	}
	return *s.last, true
}

// Stats tell how punctual the session was.
type Stats struct {
	Ticks uint64        // times the counters were read
	Late  time.Duration // worst lateness of one
}

// Stats may be called at any time by any goroutine.
func (s *Session) Stats() Stats {
	return Stats{Ticks: s.ticks.Load(), Late: time.Duration(s.worst.Load())}
}
