package session

import (
	"testing"
	"testing/synctest"
	"time"

	"linerate/engine"
)

// slowSink blocks in its first call until released and notes what it gets.
type slowSink struct {
	release chan struct{}
	got     []time.Duration
}

func (s *slowSink) Begin(engine.TestInfo)       { <-s.release; s.got = append(s.got, -1) }
func (s *slowSink) Interval(iv engine.Interval) { s.got = append(s.got, iv.End) }
func (s *slowSink) End(result engine.Result)    { s.got = append(s.got, result.Elapsed) }
func (s *slowSink) letGo()                      { close(s.release) }
func (s *slowSink) numbers() []time.Duration    { return s.got }

func TestQueueKeepsAllInOrderWhileItsSinkBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &slowSink{release: make(chan struct{})}
		q := newQueue(sink)
		go q.drain()
		const n = 10000
		began := time.Now()
		q.Begin(engine.TestInfo{})
		shared := make([]engine.StreamInterval, 1)
		for i := range n {
			q.Interval(engine.Interval{End: time.Duration(i), Streams: shared})
		}
		q.End(engine.Result{Elapsed: n})
		if d := time.Since(began); d > 0 {
			t.Fatalf("filling the queue took %v while the sink blocks", d)
		}
		time.AfterFunc(time.Second, sink.letGo)
		if !q.close(3 * time.Second) {
			t.Fatal("the sink was released in time, close says it was not")
		}
		got := sink.numbers()
		if len(got) != n+2 {
			t.Fatalf("the sink got %d calls, want %d", len(got), n+2)
		}
		for i, v := range got {
			if v != time.Duration(i-1) {
				t.Fatalf("call %d carries %d, want %d", i, v, i-1)
			}
		}
	})
}

func TestQueueGivesUpOnASinkThatBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &slowSink{release: make(chan struct{})}
		q := newQueue(sink)
		go q.drain()
		q.Begin(engine.TestInfo{})
		began := time.Now()
		if q.close(3 * time.Second) {
			t.Error("close says that a blocked sink has taken all")
		}
		if d := time.Since(began); d != 3*time.Second {
			t.Errorf("close waited %v, want 3 s", d)
		}
		sink.letGo()
		<-q.done
	})
}
