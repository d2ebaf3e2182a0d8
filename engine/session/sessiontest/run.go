package sessiontest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"linerate/engine"
	"linerate/engine/session"
)

// Running is a session under a test's control. It must live in a bubble of
// testing/synctest.
type Running struct {
	*session.Session
	t       *testing.T
	done    chan engine.Summary
	cancel  context.CancelFunc
	newest  *engine.Snapshot
	summary *engine.Summary
}

// Start runs a session. The test must wait for its end with Wait or Quit; ending the
// test cancels it.
func Start(t *testing.T, cfg session.Config) *Running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &Running{Session: session.New(cfg), t: t, done: make(chan engine.Summary, 1), cancel: cancel}
	go func() { r.done <- r.Run(ctx) }()
	t.Cleanup(cancel)
	synctest.Wait()
	return r
}

// Sleep lets d pass and everything happen that falls due in it.
func (r *Running) Sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// Snapshot gives the newest snapshot.
func (r *Running) Snapshot() *engine.Snapshot {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 0)
	defer cancel()
	if s, err := r.Next(ctx); err == nil {
		r.newest = s
	}
	if r.newest == nil {
		r.t.Fatal("the session has published nothing yet")
	}
	return r.newest
}

// Do has the session carry out a command that it must accept.
func (r *Running) Do(c engine.Command) {
	r.t.Helper()
	if err := r.Session.Do(r.t.Context(), c); err != nil {
		r.t.Fatalf("%#v: %v", c, err)
	}
	synctest.Wait()
}

// Cancel ends the context of the session.
func (r *Running) Cancel() { r.cancel() }

// Wait waits until Run returns, at most within, and gives its summary.
func (r *Running) Wait(within time.Duration) engine.Summary {
	r.t.Helper()
	if r.summary != nil {
		return *r.summary
	}
	select {
	case s := <-r.done:
		r.summary = &s
		return s
	case <-time.After(within):
		r.t.Fatalf("the session has not ended within %v", within)
		return engine.Summary{}
	}
}

// Quit asks for a regular end and waits for it.
func (r *Running) Quit() engine.Summary {
	r.t.Helper()
	r.Do(engine.Quit{})
	return r.Wait(4 * time.Second)
}
