package session

import (
	"slices"
	"sync"
	"time"

	"linerate/engine"
)

// queue is an engine.Sink that hands everything on to another one, in order and without
// loss, from a goroutine of its own: a sink that blocks (a stopped terminal, a full pipe)
// delays neither the test nor the session. It grows as long as the sink blocks; at ten
// reports per second of eight streams that is some 40 kB per second.
type queue struct {
	to   engine.Sink
	done chan struct{} // closed when the goroutine has handed on everything

	mu      sync.Mutex
	filled  sync.Cond
	waiting []any          // TestInfo, Interval or Result
	ended   *engine.Result // of a test that waits for conclude
	closed  bool
}

func newQueue(to engine.Sink) *queue {
	q := &queue{to: to, done: make(chan struct{})}
	q.filled.L = &q.mu
	return q
}

func (q *queue) Begin(info engine.TestInfo) { q.put(info) }

// End keeps the result until conclude says what the rules made of it.
func (q *queue) End(result engine.Result) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = &result
}

// conclude hands on the result of the test that has ended, if one has, with findings.
func (q *queue) conclude(findings []engine.Finding) {
	q.mu.Lock()
	q.release(findings)
	q.mu.Unlock()
	q.filled.Signal()
}

// release needs mu.
func (q *queue) release(findings []engine.Finding) {
	if q.ended == nil {
		return
	}
	q.ended.Findings = findings
	q.waiting = append(q.waiting, *q.ended)
	q.ended = nil
}

func (q *queue) Interval(iv engine.Interval) {
	// The test may reuse the slice for its next interval.
	iv.Streams = slices.Clone(iv.Streams)
	q.put(iv)
}

func (q *queue) put(item any) {
	q.mu.Lock()
	q.release(nil) // nothing may come before the end of the test before
	q.waiting = append(q.waiting, item)
	q.mu.Unlock()
	q.filled.Signal()
}

// take waits for items and takes all of them; none are left once the queue is closed
// and empty.
func (q *queue) take() []any {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) == 0 && !q.closed {
		q.filled.Wait()
	}
	items := q.waiting
	q.waiting = nil
	return items
}

// drain hands on what arrives until close; its caller gives it a goroutine.
func (q *queue) drain() {
	defer close(q.done)
	for items := q.take(); len(items) > 0; items = q.take() {
		for _, item := range items {
			switch item := item.(type) {
			case engine.TestInfo:
				q.to.Begin(item)
			case engine.Interval:
				q.to.Interval(item)
			case engine.Result:
				q.to.End(item)
			}
		}
	}
}

// close takes no more items and waits until the sink has taken all, at most for the
// given time (negative: without limit). It reports whether it has.
func (q *queue) close(wait time.Duration) bool {
	q.mu.Lock()
	q.release(nil)
	q.closed = true
	q.mu.Unlock()
	q.filled.Signal()
	if wait < 0 {
		<-q.done
		return true
	}
	select {
	case <-q.done:
		return true
	case <-time.After(wait):
		return false
	}
}
