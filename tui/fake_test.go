package tui

import (
	"context"
	"errors"
	"io"
	"sync"

	"linerate/engine"
)

// recorder is a Control that notes what it is asked, and tells heard, if there is one.
type recorder struct {
	mu    sync.Mutex
	got   []engine.Command
	fail  error
	heard chan struct{}
}

func (r *recorder) Do(ctx context.Context, c engine.Command) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, c)
	if r.heard != nil {
		r.heard <- struct{}{}
	}
	return r.fail
}

func (r *recorder) commands() []engine.Command {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]engine.Command(nil), r.got...)
}

// tape is a Source that gives its snapshots one after the other, then waits, and ends
// when it is closed.
type tape struct {
	snaps chan *engine.Snapshot
	over  chan struct{}
	once  sync.Once
}

func newTape(snaps ...*engine.Snapshot) *tape {
	t := &tape{snaps: make(chan *engine.Snapshot, 16), over: make(chan struct{})}
	for _, s := range snaps {
		t.snaps <- s
	}
	return t
}

func (t *tape) close() { t.once.Do(func() { close(t.over) }) }

func (t *tape) Next(ctx context.Context) (*engine.Snapshot, error) {
	select {
	case s := <-t.snaps:
		return s, nil
	default:
	}
	select {
	case s := <-t.snaps:
		return s, nil
	case <-t.over:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var errRefused = errors.New("wait until traffic flows")
