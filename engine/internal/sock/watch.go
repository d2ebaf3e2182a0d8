package sock

import (
	"context"
	"errors"
	"sync"
	"time"

	"linerate/engine"
)

// watcherName is the name of a watcher's thread: it moves no bytes, so it has not the
// prefix of those that do.
const watcherName = "linerate-info"

var errNotYet = errors.New("not read yet")

// Watcher reads TCP_INFO of many connections at a steady pace, for callers that must
// not wait: reading takes the socket's lock, which a busy stream holds for up to 20 ms
// (23 ms for 128 streams), so it has a thread of its own.
type Watcher struct {
	conns []*Conn
	every time.Duration
	slots []slot
}

// slot is the last reading of one connection. The lock is held only to copy it: a
// pointer to a fresh value would be garbage ten times a second per stream.
type slot struct {
	mu   sync.Mutex
	info engine.TCPInfo
	at   time.Time
	err  error

	mem    engine.SockMem // read after info
	memErr error
}

// NewWatcher makes a watcher that reads all conns once per every.
func NewWatcher(conns []*Conn, every time.Duration) *Watcher {
	w := &Watcher{conns: conns, every: every, slots: make([]slot, len(conns))}
	for i := range w.slots {
		w.slots[i].err, w.slots[i].memErr = errNotYet, errNotYet
	}
	return w
}

// Run reads until ctx ends; the first time at once. What it read stays readable.
func (w *Watcher) Run(ctx context.Context) {
	// Only pinning could fail, and this thread is not pinned.
	_ = onThread(watcherName, -1, nil, func() error {
		tick := time.NewTicker(w.every)
		defer tick.Stop()
		for {
			w.sweep()
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
		}
	})
}

// sweep reads every connection once. One that was closed keeps its last reading.
func (w *Watcher) sweep() {
	for i, c := range w.conns {
		info, err := c.Info()
		at := time.Now()
		mem, memErr := c.Mem()
		s := &w.slots[i]
		s.mu.Lock()
		if err == nil {
			s.info, s.at = info, at
		}
		if err == nil || s.at.IsZero() {
			s.err = err
		}
		if memErr == nil || s.memErr != nil {
			s.mem, s.memErr = mem, memErr
		}
		s.mu.Unlock()
	}
}

// Read gives the last reading of conns[i] and when it was taken. It never waits for a
// socket. The error says why there is none: not read yet, or errors.ErrUnsupported.
func (w *Watcher) Read(i int) (info engine.TCPInfo, at time.Time, err error) {
	s := &w.slots[i]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info, s.at, s.err
}

// ReadMem gives the last reading of the buffers of conns[i], on the terms of Read.
func (w *Watcher) ReadMem(i int) (engine.SockMem, error) {
	s := &w.slots[i]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mem, s.memErr
}
