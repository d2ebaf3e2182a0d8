package iperf

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"linerate/engine"
	"linerate/engine/internal/wire"
	"linerate/probes"
)

const (
	// sideTimeout bounds the writing of one frame. A client that has not read for so long
	// gets the newest sample when it does again.
	sideTimeout = time.Second
	// vitalsEvery is how often vitals are told: what is slow to read in them is a second
	// old anyway, and they are looked at over several.
	vitalsEvery = time.Second
)

// teller is a server's end of the side channel of one test: it greets the client, and tells
// it twice a second how the server is doing.
type teller struct {
	server *Server
	visit  *visit
	ctl    *control
	seat   *seat
	asked  int64 // when the client had told its parameters, by the server's steady clock

	told     time.Time // the facts
	nic      string    // of them
	seq      uint64
	first    int // the stream whose turn it is where not all have room
	budget   allowance
	payload  uint64              // moved until the last sample
	base     *probes.Vitals      // what the test's vitals are counted from
	named    [3]bool             // the client knows the names in a set of counters
	vitalsAt time.Time           // when they were told last
	found    chan probes.PathMTU // what passes on the way to the client; capacity 1
	path     json.RawMessage     // the same, not told yet
	refusals chan wire.State     // frames to be refused
	misused  sync.Once

	ctx    context.Context // over when nothing more may be written
	cancel context.CancelFunc
	gone   chan struct{}  // closed when run has ended
	looks  sync.WaitGroup // for what passes
	mu     sync.Mutex
	begun  bool
	over   bool // ctx has been cancelled by hush
}

// greet sends the hello to a client that asked for it. From now on the visit has a
// teller.
func (v *visit) greet(ctx context.Context) error {
	s := v.server
	t := &teller{
		server: s, visit: v, ctl: v.ctl, asked: s.steady(time.Now()),
		refusals: make(chan wire.State, 1), found: make(chan probes.PathMTU, 1), gone: make(chan struct{}),
	}
	t.ctx, t.cancel = context.WithCancel(ctx)
	text := t.hello()
	t.seat = s.sampler.join(t.nic)
	v.teller.Store(t)
	if text == nil {
		return nil
	}
	if err := v.ctl.send(wire.AppendFrame(nil, wire.FrameHello, text), writeTimeout); err != nil {
		return lost(visitParams, "the client closed the connection", err)
	}
	return nil
}

// hello writes the facts as they are known within factsWithin; nil when it cannot.
func (t *teller) hello() []byte {
	ctx, cancel := context.WithTimeout(t.ctx, factsWithin)
	defer cancel()
	h, nic := t.server.files.about(ctx, t.visit.client.Addr())
	if ctx.Err() == nil {
		t.told = time.Now()
	}
	t.nic = nic
	h.Version, h.Agent, h.Received, h.Sent = wire.SideVersion, t.server.agent(), t.asked, t.server.steady(time.Now())
	text, err := h.JSON()
	if err != nil {
		return nil // an agent's name of 64 KiB
	}
	return text
}

// begin starts to tell of a test whose payload flows. From now on until end the control
// connection is written by the teller.
func (t *teller) begin(tr *traffic) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begun = true
	go func() {
		defer close(t.gone)
		t.run(tr)
	}()
	t.looks.Go(func() {
		here := addrPort(t.ctl.conn.LocalAddr()).Addr()
		if mtu, ok := t.server.sweeper.look(t.ctx, here, t.visit.client); ok {
			t.found <- mtu
		}
	})
}

func (t *teller) run(tr *traffic) {
	for {
		select {
		case <-t.ctx.Done():
			return
		case now := <-t.seat.news:
			t.refresh()
			t.sample(tr, now)
		case s := <-t.refusals:
			t.write(wire.FrameAnswer, wire.Refusal{Refused: fmt.Sprintf("%v: this version cannot change a running test", s)}.JSON())
		}
	}
}

// hush ends the telling at once: nothing is begun any more, and a write that waits for
// the client is cut short. It does not wait and may be called from any goroutine.
func (t *teller) hush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.begun && !t.over {
		_ = t.ctl.conn.SetWriteDeadline(time.Unix(1, 0))
	}
	t.over = true
	t.cancel()
}

// end hushes the teller and waits until it writes no more: the control connection is its
// owner's again.
func (t *teller) end() {
	t.hush()
	t.mu.Lock()
	begun := t.begun
	t.mu.Unlock()
	if begun {
		<-t.gone
	}
}

// write sends a frame, and tells whether it is on its way.
func (t *teller) write(s wire.State, text []byte) bool {
	t.mu.Lock()
	if t.over || t.ctl.conn.SetWriteDeadline(time.Now().Add(sideTimeout)) != nil {
		t.mu.Unlock()
		return false
	}
	t.mu.Unlock()
	begun, err := t.ctl.offer(wire.AppendFrame(nil, s, text))
	if err != nil && !timedOut(err) {
		t.hush() // the reader will say what has become of the connection
	}
	return begun
}

// heard takes a frame of the client. It has nothing to tell; a later version may ask.
func (t *teller) heard(s wire.State, _ []byte, bad error) {
	switch {
	case bad != nil:
		t.misused.Do(func() {
			t.visit.log(engine.SideChannel, fmt.Sprintf("test %d: %s sent %v on the side channel", t.visit.id, t.visit.client, bad), func(e *engine.ServerEvent) { e.Err = bad })
		})
	case s == wire.FrameRequest:
		select {
		case t.refusals <- s:
		default: // the one before has not been refused yet
		}
	}
}

// refresh tells the facts again when it is time.
func (t *teller) refresh() {
	if !t.told.IsZero() && time.Since(t.told) < factsEvery {
		return
	}
	before := t.nic
	text := t.hello()
	if t.nic != before {
		t.server.sampler.move(t.seat, t.nic)
		t.base, t.named = nil, [3]bool{}
	}
	// They hardly change, so they are not worth the samples of a slow test.
	if text != nil && float64(len(text)) < t.budget.saved/2 && t.budget.spend(len(text), 0) {
		t.write(wire.FrameHello, text)
	}
}

// sample tells how the server is doing.
func (t *teller) sample(tr *traffic, now glance) {
	moved := tr.total()
	t.budget.earn(moved - min(t.payload, moved))
	t.payload = moved
	s := tr.tell(now.load, time.Now())
	s.Seq, s.Clock, s.Wall = t.seq+1, t.server.steady(time.Now()), time.Now().UnixMicro()
	vitals := t.vitals(now.vitals)
	if vitals != nil && time.Since(t.vitalsAt) >= vitalsEvery-sideEvery/2 {
		s.Vitals, s.VitalsAge = asJSON(vitals), age(now.vitals.At)
	}
	credit := t.tellPath(&s)
	fit, err := t.budget.fit(s, t.first)
	if err != nil || !t.budget.spend(len(fit.Text), credit) || !t.write(wire.FrameSample, fit.Text) {
		return
	}
	t.seq++
	t.path = nil
	if n := len(s.Streams); n > 0 {
		t.first = (t.first + fit.Streams) % n
	}
	if fit.Vitals {
		t.vitalsAt = time.Now()
		for i, set := range counterSets(vitals) {
			t.named[i] = t.named[i] || set.Known()
		}
	}
}

// tellPath adds to a sample what probing the path to the client has found, once, and gives
// the credit that it has for that.
func (t *teller) tellPath(s *wire.Sample) (credit int) {
	select {
	case mtu := <-t.found:
		mtu = mtu.WithoutBack(probes.NotRead, "")
		t.path = asJSON(&mtu)
	default:
	}
	if t.path == nil {
		return 0
	}
	s.Path, s.PathTo = t.path, t.visit.client.Addr().WithZone("").String()
	return pathCredit
}

// rest waits for all that the teller has started. end comes first.
func (t *teller) rest() { t.looks.Wait() }

// vitals gives what has happened since the first reading of this test; nil where nothing is
// read.
func (t *teller) vitals(now probes.Vitals) *probes.Vitals {
	if now.At.IsZero() {
		return nil
	}
	if t.base == nil {
		base := now
		t.base = &base
	}
	rebase(t.base, now)
	v := now.Since(*t.base)
	v.At = time.Time{}
	short := moved(v)
	for i, set := range counterSets(&v) {
		if t.named[i] {
			*set = *counterSets(&short)[i]
		}
	}
	return &v
}
