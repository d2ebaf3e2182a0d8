package tui

import (
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Marks of synchronized output: the terminal shows the frame when it is whole. Terminals
// that do not know the mode ignore it, so nobody is asked.
const (
	syncBegin = "\x1b[?2026h"
	syncEnd   = "\x1b[?2026l"
	syncLeast = 256 // bytes from which a frame can tear visibly
)

const (
	slowWrite   = 100 * time.Millisecond
	slowWrites  = 2  // in a row until the terminal counts as slow
	quickWrites = 20 // in a row until it does not any more
)

// Output is the terminal as bubbletea writes to it: an *os.File, so that its size and
// its mode can be asked for, whose writes are marked, counted and timed.
type Output struct {
	*os.File
	sync bool

	slow   atomic.Bool   // read while a write is stuck
	failed chan struct{} // closed when a write has failed
	clock  func() time.Time

	mu     sync.Mutex
	buf    []byte
	bytes  uint64
	streak int // of writes that contradict slow
	err    error
}

// newOutput wraps a terminal; sync says whether to mark frames.
func newOutput(f *os.File, sync bool) *Output {
	return &Output{File: f, sync: sync, failed: make(chan struct{}), clock: time.Now}
}

// Write writes one frame, or a control sequence, in one call.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := p
	if o.sync && len(p) > syncLeast {
		o.buf = append(o.buf[:0], syncBegin...)
		o.buf = append(o.buf, p...)
		o.buf = append(o.buf, syncEnd...)
		out = o.buf
	}
	start := o.clock()
	n, err := o.File.Write(out)
	o.bytes += uint64(n)
	o.time(o.clock().Sub(start))
	if err != nil {
		o.fail(err)
		return 0, err
	}
	return len(p), nil
}

// time judges the terminal by how long it took a write.
func (o *Output) time(took time.Duration) {
	slow := o.slow.Load()
	if took > slowWrite == slow {
		o.streak = 0
		return
	}
	o.streak++
	if slow && o.streak >= quickWrites || !slow && o.streak >= slowWrites {
		o.slow.Store(!slow)
		o.streak = 0
	}
}

func (o *Output) fail(err error) {
	if o.err == nil {
		o.err = err
		close(o.failed)
	}
}

// isSlow reports whether the terminal takes its bytes slowly.
func (o *Output) isSlow() bool { return o.slow.Load() }

// cause is the error of the write that failed.
func (o *Output) cause() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
