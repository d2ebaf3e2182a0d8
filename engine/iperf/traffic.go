package iperf

import (
	"context"
	"fmt"
	"sync"
	"time"

	"linerate/engine"
	"linerate/engine/internal/sock"
	"linerate/probes"
)

// flow is one stream of a test with the loop that moves its bytes.
type flow struct {
	engine.Conn
	link link
	base engine.TCPInfo // at TEST_RUNNING; zero when the system does not tell
	err  error          // of the loop; read after done is closed
	done chan struct{}
}

// traffic is the data side of one test, in either role: streams, their loops, the
// TCP_INFO watcher, the meter and the feed of the sink.
type traffic struct {
	info       engine.TestInfo
	pipes      plumbing
	flows      []*flow
	congestion string          // in use on the first link, "" unknown
	budgets    [2]*sock.Budget // by Direction; nil: no byte goal that this end keeps
	ended      chan *flow      // loops that have returned
	feed       *feed
	meter      *meter
	watch      watcher
	cpu        cpuTimes // at the start

	release   func() // gives the threads back
	stopWatch context.CancelFunc
	watching  sync.WaitGroup
	halted    sync.Once
	final     account
	closed    sync.Once
}

// newTraffic puts links, in order of creation, to the streams that info.Spec asks for
// and completes info. Nothing moves yet.
func newTraffic(info engine.TestInfo, links []link, pipes plumbing) *traffic {
	t := &traffic{info: info, pipes: pipes, ended: make(chan *flow, len(links))}
	t.info.Conns = layout(info.Role, info.Spec)
	for i, l := range links {
		facts := l.facts()
		c := &t.info.Conns[i]
		c.Local, c.Remote = unmap(facts.local), unmap(facts.remote)
		if i == 0 {
			t.info.SndBuf, t.info.RcvBuf = facts.sndBuf, facts.rcvBuf
			if facts.mss > 0 { // that of the control connection is small on purpose
				t.info.MSS = facts.mss
			}
			t.congestion = facts.congestion
		}
		t.flows = append(t.flows, &flow{Conn: *c, link: l, done: make(chan struct{})})
	}
	t.budgets = budgets(t.info)
	return t
}

// budgets gives the byte goals that this end stops at by itself. The client keeps
// both directions. A server only sends no more than was asked, and only when nothing is
// omitted: its clock starts a little before the client's, so with -O it might
// count as measured what the client has not, and both would wait for ever.
func budgets(info engine.TestInfo) (b [2]*sock.Budget) {
	bytes := goal(info.Spec)
	if bytes == 0 {
		return b
	}
	for _, dir := range info.Spec.Direction.Dirs() {
		if info.Role == engine.Client || dir == engine.Download && info.Spec.Omit == 0 {
			b[dir] = sock.NewBudget(bytes)
		}
	}
	return b
}

// startBudgets begins the count for the goals and runs snapshot at that very moment: what
// the streams have moved since is what counts.
func (t *traffic) startBudgets(snapshot func()) {
	for _, b := range t.budgets {
		if b != nil {
			within := snapshot
			snapshot = func() { b.StartWith(within) }
		}
	}
	snapshot()
}

// goalReached gives a channel that is closed when a byte goal has been reached in the
// direction; nil when there is none.
func (t *traffic) goalReached(dir engine.Direction) <-chan struct{} {
	if t.budgets[dir] == nil {
		return nil
	}
	return t.budgets[dir].Done()
}

// start lets the payload flow. sink may be nil. planned is the whole length of the test
// if this end will stop it, else 0.
func (t *traffic) start(sink engine.Sink, planned time.Duration) {
	t.release = t.pipes.reserve(len(t.flows))
	links := make([]link, len(t.flows))
	for i, f := range t.flows {
		links[i] = f.link
		if info, err := f.link.info(); err == nil {
			f.base = info
		}
	}
	t.watch = t.pipes.watch(links)
	t.cpu = processTimes()
	t.info.Start = time.Now()

	if t.info.Spec.Omit == 0 {
		t.startBudgets(func() {}) // before the first byte: both ends count the same ones
	}
	// Receivers first: a peer that sends may already be at it.
	for _, receivers := range []bool{true, false} {
		for _, f := range t.flows {
			if f.Sender != receivers {
				go t.run(f)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.stopWatch = cancel
	t.watching.Go(func() { t.watch.run(ctx) })

	t.feed = newFeed(sink)
	info := t.info
	t.feed.do(func(s engine.Sink) { s.Begin(info) })
	t.meter = newMeter(t, planned)
	go t.meter.run()
}

// run moves one stream's bytes until halt, the goal, or the peer's end.
func (t *traffic) run(f *flow) {
	defer func() { t.ended <- f }()
	defer close(f.done)
	spec := t.info.Spec
	core := spec.Affinity
	if t.info.Role == engine.Server && spec.SrvAffinity >= 0 {
		core = spec.SrvAffinity
	}
	batch := spec.BlockSize == 0 && !spec.NoDelay && spec.Blocks == 0 && !spec.ZeroCopy
	if f.Sender {
		f.err = f.link.send(sock.SendConfig{
			Block: spec.Block(), Batch: batch,
			Rate: spec.Bitrate, Burst: spec.Burst,
			ZeroCopy: spec.ZeroCopy, Repeating: spec.Repeating,
			Budget: t.budgets[f.Dir], Core: core, Name: fmt.Sprintf("lr-tx-%d", f.Number()),
		})
		return
	}
	f.err = f.link.recv(sock.RecvConfig{
		Block: spec.Block(), Batch: batch, Discard: spec.SkipRxCopy,
		Budget: t.budgets[f.Dir], Core: core, Name: fmt.Sprintf("lr-rx-%d", f.Number()),
	})
}

// threadName is what the thread of a stream is called, at both ends.
func threadName(sends bool, id int) string {
	if sends {
		return fmt.Sprintf("%stx-%d", probes.ThreadPrefix, id)
	}
	return fmt.Sprintf("%srx-%d", probes.ThreadPrefix, id)
}

// broken reports whether a flow that has ended did so without being asked to: the
// peer closed it, or it failed.
func (t *traffic) broken(f *flow) bool {
	if f.err != nil {
		return true
	}
	if b := t.budgets[f.Dir]; b != nil {
		select {
		case <-b.Done():
			return false
		default:
		}
	}
	return true
}

// halt stops all loops, waits for them and closes the books. It returns the account of
// this end and is the same on every call. The links stay open.
//
// A server shuts its sockets down at once, since the client has stopped and a receiver
// would wait for nothing. A client must not: until the server has read TEST_END, a
// reset looks like a failure to it.
func (t *traffic) halt() account {
	t.halted.Do(func() {
		for _, f := range t.flows {
			f.link.stop()
			if t.info.Role == engine.Server {
				f.link.shutdown()
			}
		}
		t.join()
		at := time.Now()
		cpu := processTimes().since(t.cpu)
		t.stopWatch()
		t.watching.Wait()
		t.final = t.meter.finish(at)
		t.final.cpu = cpu
		t.release()
	})
	return t.final
}

// join waits for the loops. One that does not look up in time has its socket shut down.
func (t *traffic) join() {
	patience := time.NewTimer(joinTimeout)
	defer patience.Stop()
	for _, f := range t.flows {
		select {
		case <-f.done:
		case <-patience.C:
			for _, late := range t.flows {
				late.link.shutdown()
			}
			patience.Stop()
			<-f.done
		}
	}
}

// close closes the links, once; halt comes first when start has been called.
func (t *traffic) close() {
	t.closed.Do(func() {
		for _, f := range t.flows {
			f.link.close()
		}
	})
}

// acknowledged reports whether the peer's system has everything that was sent; true
// where the system does not tell.
func (t *traffic) acknowledged() bool {
	for _, f := range t.flows {
		if !f.Sender {
			continue
		}
		info, err := f.link.info()
		if err == nil && info.Has(engine.InfoMinRTT) && (info.Unacked > 0 || info.NotSentBytes > 0) {
			return false
		}
	}
	return true
}

// total is the payload moved so far, for telling a stall.
func (t *traffic) total() (sum uint64) {
	for _, f := range t.flows {
		sum += f.link.bytes()
	}
	return sum
}

// sample appends the streams' counters. After halt it keeps giving the last ones.
func (t *traffic) sample(dst []engine.Counters) []engine.Counters {
	for i, f := range t.flows {
		dst = append(dst, t.counters(i, f))
	}
	return dst
}

// counters are those of the flow at place i.
func (t *traffic) counters(i int, f *flow) engine.Counters {
	info, at, err := t.watch.read(i)
	return engine.Counters{
		Conn:      f.Conn,
		Bytes:     f.link.bytes(),
		TID:       f.link.tid(),
		TCP:       probes.Read(info, err),
		TCPAt:     at,
		BaseAcked: f.base.BytesAcked,

		Mem:        probes.Read(t.watch.readMem(i)),
		Congestion: t.congestion,
	}
}
