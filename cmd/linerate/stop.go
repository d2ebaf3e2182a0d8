package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"
)

// hangUpLimit bounds what is still done after the terminal or the SSH session has gone:
// the server's results may take three seconds.
const hangUpLimit = 5 * time.Second

// stopper turns signals into the two ways to end: regularly, with results and summary, at
// the first one, and at once at the second.
type stopper struct {
	signals  chan os.Signal
	done     chan struct{} // closed by release
	finished chan struct{} // closed when the goroutine has ended

	// Valid after release.
	first  os.Signal // nil: none came
	hungUp bool      // the terminal is gone
	hard   bool      // the end was at once
}

// listen calls regular at the first signal and cancel at the second, or when a hang-up
// takes too long. release ends it.
func listen(ctx context.Context, regular func(context.Context), cancel context.CancelFunc) *stopper {
	s := &stopper{
		signals:  make(chan os.Signal, 4),
		done:     make(chan struct{}),
		finished: make(chan struct{}),
	}
	signal.Notify(s.signals, endings...)
	go s.wait(ctx, regular, cancel)
	return s
}

func (s *stopper) wait(ctx context.Context, regular func(context.Context), cancel context.CancelFunc) {
	defer close(s.finished)
	var late <-chan time.Time
	for {
		select {
		case sig := <-s.signals:
			if isHangUp(sig) {
				s.hungUp = true
				late = time.After(hangUpLimit)
			}
			switch {
			case s.first == nil:
				s.first = sig
				regular(ctx)
			case !isHangUp(sig):
				s.hard = true
				cancel()
			}
		case <-late:
			s.hard = true
			cancel()
		case <-s.done:
			return
		}
	}
}

// release gives the signals back to the system and waits for the goroutine.
func (s *stopper) release() {
	signal.Stop(s.signals)
	close(s.done)
	<-s.finished
}

// words are iperf3's for a client that a signal has ended (3.19).
func (s *stopper) words() string {
	name, number := "Interrupt", 2
	switch {
	case s.hungUp:
		name, number = "Hangup", 1
	case s.first != os.Interrupt:
		name, number = "Terminated", 15
	}
	return fmt.Sprintf("interrupt - the client has terminated by signal %s(%d)", name, number)
}
