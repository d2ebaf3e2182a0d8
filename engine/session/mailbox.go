package session

import (
	"context"
	"io"
	"sync/atomic"

	"linerate/engine"
)

// mailbox holds the newest snapshot for one reader. Putting never blocks: a snapshot
// that was not fetched in time is replaced.
type mailbox struct {
	newest atomic.Pointer[engine.Snapshot]
	bell   chan struct{} // capacity 1: rung when newest has changed
	closed chan struct{}
	given  uint64 // Seq of the last one handed out; the reader's alone
}

func newMailbox() *mailbox {
	return &mailbox{bell: make(chan struct{}, 1), closed: make(chan struct{})}
}

func (m *mailbox) put(s *engine.Snapshot) {
	m.newest.Store(s)
	select {
	case m.bell <- struct{}{}:
	default:
	}
}

// close lets the reader have what it has not seen yet and then io.EOF.
func (m *mailbox) close() { close(m.closed) }

func (m *mailbox) next(ctx context.Context) (*engine.Snapshot, error) {
	for {
		// The bell may ring once more for a snapshot that was already fetched.
		if s := m.newest.Load(); s != nil && s.Seq != m.given {
			m.given = s.Seq
			return s, nil
		}
		select {
		case <-m.bell:
			continue
		default:
		}
		select {
		case <-m.bell:
		case <-m.closed:
			if s := m.newest.Load(); s == nil || s.Seq == m.given {
				return nil, io.EOF
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
