package session

import (
	"context"
	"sync"
	"time"

	"linerate/engine"
	"linerate/engine/diagnose"
	"linerate/engine/iperf"
	"linerate/probes"
)

const (
	// settleKeys is how long after the last key a change is sent: five quick keys are one.
	settleKeys = 300 * time.Millisecond
	// reopenFor is how long a change retries to connect: a stock server's listener is
	// gone for some milliseconds between two tests.
	reopenFor = 3 * time.Second
	// quitWithin is the longest that a Quit waits for the server's results.
	quitWithin = 3 * time.Second
)

// stage is what happens on the wire.
type stage uint8

const (
	idle    stage = iota // no connection
	opening              // a test is being opened
	flowing              // its payload flows
	closing              // it was asked to end
)

// after is what follows when the running test has ended or the opening one is there.
type after uint8

const (
	nothing after = iota // it was not asked to end
	change               // open conductor.next
	halt                 // stay without traffic
	leave                // end the session
)

// conductor is the state of a running session; it belongs to the goroutine of Run.
type conductor struct {
	*Session
	ctx   context.Context // ends with Run, and whatever it has started with it
	begin time.Time
	wg    sync.WaitGroup // of everything that run has started

	// On the wire.
	opened  chan attempt
	ended   chan engine.Result
	stage   stage
	then    after
	try     plan               // what is being opened, or was last
	next    plan               // what follows when then is change
	cancel  context.CancelFunc // ends the attempt or the test at once
	step    *step              // running; nil between steps
	endless int                // index into endlessFor: the longest test the server accepts
	chained bool               // the operator was told about chained tests

	// Asked.
	spec     engine.Spec // confirmed by the server; the first one until then
	works    engine.Spec // of the last step that ran
	worked   bool        // there was one
	want     engine.Spec // what the operator asked last
	words    string      // how a SetSpec calls the way to want; "" for what changes says
	changeAt time.Time   // when want is sent; zero: no keys are being collected
	queued   bool        // want fell due while another change was on its way

	// Seen.
	facts     chan facts
	sight     sight
	newVitals chan probes.Vitals
	vitals    vitals
	probed    chan probed
	path      path
	roof      probes.Reading[diagnose.Ceiling]
	opinion   opinion
	search    search
	proof     proof
	autoDone  bool // Config.Auto has had its search
	past      past
	streams   []engine.Stream // as published last, for the time between steps
	sums      []engine.Sum
	history   *history

	// Told.
	queue   *queue
	peer    engine.Peer
	diary   diary
	seq     uint64
	changed bool // publish before waiting again

	due deadlines

	// The end.
	done     bool      // nothing runs because a test has ended by itself, or has failed
	over     bool      // leave the loop
	failure  error     // of the test that has ended last
	quitBy   time.Time // when a Quit stops waiting; zero: none waits
	overtime bool      // it has
	cutShort bool      // ended without waiting for the server
}

// attempt is the outcome of opening a test.
type attempt struct {
	test Test
	err  error
}

func newConductor(ctx context.Context, s *Session) *conductor {
	now := time.Now()
	c := &conductor{
		Session:   s,
		ctx:       ctx,
		begin:     now,
		opened:    make(chan attempt, 1),
		ended:     make(chan engine.Result, 1),
		facts:     make(chan facts, 1),
		newVitals: make(chan probes.Vitals, 1),
		probed:    make(chan probed, 1),
		spec:      s.cfg.Spec,
		want:      s.cfg.Spec,
		history:   newHistory(),
		opinion:   opinion{tracker: diagnose.NewTracker()},
		peer:      engine.Peer{Host: s.cfg.Spec.Host},
		due:       deadlines{now, now, now, now, now},
	}
	c.sight.threads = map[int]probes.ThreadLoad{}
	return c
}

func (c *conductor) run() engine.Summary {
	outer := c.ctx
	ctx, cancel := context.WithCancel(outer)
	defer cancel()
	c.ctx = ctx
	if c.cfg.Sink != nil {
		c.queue = newQueue(c.cfg.Sink)
		go c.queue.drain() // ends with flush
	}
	c.open(plan{spec: c.spec, change: "start"})
	c.loop(outer.Done())
	cancel()
	c.wg.Wait()
	c.flush()
	if c.cutShort && c.failure == nil {
		c.failure = iperf.ErrInterrupted
	}
	c.stage, c.done = idle, true
	c.last = c.opinion.asked
	return engine.Summary{Last: c.publish(time.Now()), Err: c.failure}
}

func (c *conductor) loop(interrupted <-chan struct{}) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for !c.over {
		timer.Reset(time.Until(c.wake()))
		ended := c.ended
		if c.stage == opening {
			ended = nil // a test that ends as soon as it is open is entered first
		}
		select {
		case <-timer.C:
		case r := <-c.commands:
			err := c.do(r.command)
			c.publish(time.Now())
			r.answer <- err
		case a := <-c.opened:
			c.onOpened(a)
		case r := <-ended:
			c.onEnded(r)
		case f := <-c.facts:
			c.onFacts(f)
		case v := <-c.newVitals:
			c.onVitals(v)
		case p := <-c.probed:
			c.onProbed(p)
		case <-interrupted:
			interrupted = nil
			c.interrupt()
		}
		c.meet(time.Now())
	}
}

// wake is when the next thing falls due.
func (c *conductor) wake() time.Time {
	at := c.due.tick
	for _, t := range []time.Time{c.changeAt, c.quitBy} {
		if !t.IsZero() && t.Before(at) {
			at = t
		}
	}
	return at
}

// meet does everything whose time has come.
func (c *conductor) meet(now time.Time) {
	if !c.changeAt.IsZero() && !now.Before(c.changeAt) {
		c.changeAt = time.Time{}
		c.send()
	}
	if !c.quitBy.IsZero() && !now.Before(c.quitBy) {
		c.quitBy = time.Time{}
		c.overtime = true
		c.cancel()
	}
	if !now.Before(c.due.tick) {
		c.onTick(now)
	}
	if c.changed {
		c.publish(now)
	}
}

// onTick reads what must be read at this time. Deadlines are absolute: a late tick does
// not shift the next one, a missed one is left out.
func (c *conductor) onTick(now time.Time) {
	every := idleTick
	if c.stage == flowing || c.stage == closing {
		every = tick
		c.sample(now)
	}
	for c.due.tick = c.due.tick.Add(every); !c.due.tick.After(now); {
		c.due.tick = c.due.tick.Add(every)
	}
	frozen := c.stage == idle && c.done
	if !frozen && reached(&c.due.load, loadEvery, now) {
		c.load(now)
	}
	if !frozen && reached(&c.due.vitals, vitalsEvery, now) {
		c.readVitals()
		c.probePath(now)
	}
	if !frozen && reached(&c.due.host, hostEvery, now) {
		c.look()
	}
	if !frozen && reached(&c.due.publish, publishEvery, now) {
		c.changed = true
	}
}

func (c *conductor) punctual(late time.Duration) {
	c.ticks.Add(1)
	if int64(late) > c.worst.Load() {
		c.worst.Store(int64(late))
	}
}

// since is a moment on the session's clock.
func (c *conductor) since(t time.Time) time.Duration { return max(0, t.Sub(c.begin)) }

// flush waits until the sink has got everything.
func (c *conductor) flush() {
	if c.queue != nil && !c.queue.close(c.cfg.SinkWait) {
		c.event("the output has not been taken for %v: the rest of it is lost", c.cfg.SinkWait)
	}
}
