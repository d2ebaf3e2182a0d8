package iperf

import "linerate/engine"

// feedDepth is how many reports may wait for a sink that is slow: 17 minutes of
// one-second intervals. Beyond that the meter waits, and nothing else does.
const feedDepth = 1024

// feed calls a sink from one goroutine of its own, in order, so that a sink that
// waits for its terminal holds up neither the meter nor the protocol.
type feed struct {
	steps chan func(engine.Sink)
	done  chan struct{}
}

// newFeed starts a feed for sink, which may be nil.
func newFeed(sink engine.Sink) *feed {
	f := &feed{steps: make(chan func(engine.Sink), feedDepth), done: make(chan struct{})}
	go func() {
		defer close(f.done)
		for step := range f.steps {
			if sink != nil {
				step(sink)
			}
		}
	}()
	return f
}

// do queues a call.
func (f *feed) do(step func(engine.Sink)) { f.steps <- step }

// close waits until all queued calls have been made.
func (f *feed) close() {
	close(f.steps)
	<-f.done
}
