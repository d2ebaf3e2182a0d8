package sessiontest

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"linerate/engine"
	"linerate/engine/iperf"
	"linerate/probes"
)

const (
	// watchEvery is how often the sockets are read, as engine/internal/sock does.
	watchEvery = 100 * time.Millisecond
	// grain is the step in which rates are added up.
	grain = 5 * time.Millisecond
	// inFlight is what a sender has been given by its program and the far end has not
	// acknowledged yet.
	inFlight = 512 << 10
	// cookieBytes precede the payload on every data connection and are acknowledged too.
	cookieBytes = 37
)

// Test is one scripted test; a session.Test.
type Test struct {
	server *Server
	number int
	info   engine.TestInfo
	sink   engine.Sink

	stop     chan struct{}
	stopOnce sync.Once

	mu      sync.Mutex
	ended   time.Time // of the payload; zero while it flows
	streams []scripted
}

// scripted is one stream, added up until at.
type scripted struct {
	conn    engine.Conn
	at      time.Duration
	bytes   float64
	retrans float64
}

func newTest(s *Server, number int, spec engine.Spec, sink engine.Sink) *Test {
	t := &Test{server: s, number: number, sink: sink, stop: make(chan struct{})}
	local := netip.MustParseAddr("192.168.10.2")
	if s.addr().Addr().IsLoopback() {
		local = s.addr().Addr()
	}
	id := 1
	for _, dir := range spec.Direction.Dirs() {
		for range spec.Streams {
			t.streams = append(t.streams, scripted{conn: engine.Conn{
				ID: id, Socket: 5 + 2*len(t.streams), Dir: dir, Sender: dir == engine.Upload,
				Local:  netip.AddrPortFrom(local, uint16(40000+100*number+len(t.streams))),
				Remote: s.addr(),
			}})
			id = max(3, id+1) // iperf3 leaves out 2
		}
	}
	t.info = engine.TestInfo{
		Role: engine.Client, Spec: spec, Cookie: "sessiontest", Start: time.Now(),
		Control:   engine.Conn{Local: netip.AddrPortFrom(local, 39999), Remote: s.addr()},
		PeerAgent: s.Agent, Linerate: s.Far != nil, MSS: 1448,
	}
	for _, c := range t.streams {
		t.info.Conns = append(t.info.Conns, c.conn)
	}
	return t
}

// Info describes the test.
func (t *Test) Info() engine.TestInfo { return t.info }

// Stop ends the payload.
func (t *Test) Stop() {
	t.stopOnce.Do(func() { close(t.stop) })
}

// Spec is what was asked for on the wire.
func (t *Test) Spec() engine.Spec { return t.info.Spec }

// Ended is when its payload ended, zero while it flows.
func (t *Test) Ended() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

func (t *Test) flows() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended.IsZero()
}

// Run blocks until the test has ended, as a client of iperf3 does: payload, then the
// exchange of results, which takes Server.Exchange.
func (t *Test) Run(ctx context.Context) engine.Result {
	if t.sink != nil {
		t.sink.Begin(t.info)
	}
	err := t.payload(ctx)
	t.mu.Lock()
	t.ended = time.Now()
	t.mu.Unlock()
	if err == nil {
		err = t.exchange(ctx)
	}
	r := t.result(err)
	if t.sink != nil {
		t.sink.End(r)
	}
	return r
}

// payload waits for the end of the payload: a limit, Stop, a failure, or ctx.
func (t *Test) payload(ctx context.Context) error {
	limit, failure := time.Duration(1<<62), error(nil)
	if d := t.info.Spec.Duration; d > 0 {
		limit = d + t.info.Spec.Omit
	}
	if d := t.server.Lasts; d > 0 {
		limit = min(limit, d)
	}
	if t.server.Fail != nil {
		if after, err := t.server.Fail(t.number, t.info.Spec); err != nil && after < limit {
			limit, failure = after, err
		}
	}
	ticker := time.NewTicker(max(t.info.Spec.Interval, engine.MinInterval))
	defer ticker.Stop()
	end := time.NewTimer(limit)
	defer end.Stop()
	for {
		select {
		case <-ctx.Done():
			return &iperf.Error{State: "running the test", Text: "interrupted while running the test", Err: iperf.ErrInterrupted}
		case <-t.stop:
			return nil
		case <-end.C:
			return failure
		case now := <-ticker.C:
			if t.sink != nil {
				t.sink.Interval(engine.Interval{End: now.Sub(t.info.Start)})
			}
		}
	}
}

func (t *Test) exchange(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return &iperf.Error{State: "waiting for the server's results", Text: "interrupted while waiting for the server's results", Err: iperf.ErrInterrupted}
	case <-time.After(t.server.Exchange):
		return nil
	}
}

func (t *Test) result(err error) engine.Result {
	elapsed := t.ended.Sub(t.info.Start) - t.info.Spec.Omit
	r := engine.Result{Info: t.info, Elapsed: elapsed, Err: err}
	r.RemoteCPU = probes.Unknown[engine.CPUUse](probes.Absent, "the server did not tell")
	if err == nil {
		r.RemoteCPU = t.server.cpu(t.info.Spec)
	}
	for _, c := range t.Sample(nil) {
		end := probes.Got(engine.End{Bytes: c.Bytes, Seconds: elapsed.Seconds()})
		s := engine.StreamResult{Conn: c.Conn, Sent: end, Received: end}
		if c.TCP.Known() {
			s.Retransmits = probes.Got(uint64(c.TCP.Value.TotalRetrans))
		}
		r.Streams = append(r.Streams, s)
	}
	return r
}

// Sample appends the counters of this moment: accepted and read bytes are of now, the
// sockets were read at the last full 100 ms.
func (t *Test) Sample(dst []engine.Counters) []engine.Counters {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if !t.ended.IsZero() {
		now = t.ended
	}
	age := now.Sub(t.info.Start)
	watched := age.Truncate(watchEvery)
	for i := range t.streams {
		s := &t.streams[i]
		acked := s.advance(t, watched)
		total := s.advance(t, age)
		c := engine.Counters{
			Conn: s.conn, TID: threadID(i), Bytes: uint64(total.bytes), BaseAcked: cookieBytes,
			TCP:   probes.Unknown[engine.TCPInfo](probes.Unsupported, "no TCP_INFO here"),
			TCPAt: t.info.Start.Add(watched),
		}
		if s.conn.Sender && t.ended.IsZero() {
			c.Bytes += inFlight
		}
		if !t.server.Blind {
			c.TCP = probes.Got(t.tcp(s, acked, watched))
		}
		dst = append(dst, c)
	}
	return dst
}

// advance adds up the script until age and gives the totals of then. Totals of the last
// 100 ms are computed anew each time, so that samples do not change each other.
func (s *scripted) advance(t *Test, age time.Duration) scripted {
	keep := age.Truncate(watchEvery)
	if s.at < keep {
		s.run(t, keep)
	}
	ahead := *s
	ahead.run(t, age)
	return ahead
}

func (s *scripted) run(t *Test, until time.Duration) {
	for s.at < until {
		dt := min(grain, until-s.at)
		s.bytes += t.server.rate(t.info.Spec, s.conn, s.at) / 8 * dt.Seconds()
		if t.server.Retransmits != nil {
			s.retrans += t.server.Retransmits(t.info.Spec, s.conn, s.at) * dt.Seconds()
		}
		s.at += dt
	}
}

// threadID is the number of the thread that moves stream i: those of hosttest's process
// 4711 follow it.
func threadID(i int) int { return 4720 + i }
