package main

import (
	"bytes"
	"io"
	"sync"
)

// maxBacklog bounds what is kept for an output that takes nothing: a day of a busy
// server's lines.
const maxBacklog = 16 << 20

// backlog is an io.Writer that never waits: a terminal that has been stopped (Ctrl-S) must
// not hold up the server that writes to it. Safe for concurrent use.
type backlog struct {
	bell chan struct{} // capacity 1: rung when there is something, or it was closed

	mu     sync.Mutex
	buf    bytes.Buffer
	lost   bool
	closed bool
}

func newBacklog() *backlog { return &backlog{bell: make(chan struct{}, 1)} }

func (b *backlog) Write(p []byte) (int, error) {
	b.mu.Lock()
	if b.buf.Len()+len(p) <= maxBacklog {
		b.buf.Write(p)
	} else {
		b.lost = true
	}
	b.mu.Unlock()
	b.ring()
	return len(p), nil
}

// close says that nothing more comes.
func (b *backlog) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.ring()
}

func (b *backlog) ring() {
	select {
	case b.bell <- struct{}{}:
	default:
	}
}

// take gives what was written since the last call, and whether that was the last of it.
func (b *backlog) take() (p []byte, last bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p = bytes.Clone(b.buf.Bytes())
	b.buf.Reset()
	if b.lost {
		p = append(p, "linerate: note: the output was stopped for too long: lines are missing here\n"...)
		b.lost = false
	}
	return p, b.closed
}

// copyTo writes everything to w until close. After an error of w nothing more is written.
func (b *backlog) copyTo(w io.Writer) {
	failed := false
	for range b.bell {
		p, last := b.take()
		if len(p) > 0 && !failed {
			_, err := w.Write(p)
			failed = err != nil
		}
		if last {
			return
		}
	}
}
