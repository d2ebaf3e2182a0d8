package sock

import (
	"sync"
	"sync/atomic"
)

// scarceBytes is when a budget runs low. From there on no loop keeps bytes reserved while it
// waits: a stream that stands still would keep the rest from the one that moves.
const scarceBytes = 64 << 20

// Budget is the goal of -n or -k: a number of bytes that all streams of one direction
// move together, and not one more. Loops reserve bytes before a call and give back what
// the call did not move, so the goal is met exactly whatever the calls do.
type Budget struct {
	counting atomic.Bool
	free     atomic.Int64 // not reserved by any call; negative: moved beyond the goal before Start was seen
	unmoved  atomic.Int64 // free and reserved together: what is still to be moved
	done     chan struct{}
	once     sync.Once
}

// NewBudget makes a goal of so many bytes. Until Start, bytes flow uncounted.
func NewBudget(bytes uint64) *Budget {
	b := &Budget{done: make(chan struct{})}
	b.free.Store(int64(bytes))
	b.unmoved.Store(int64(bytes))
	if bytes == 0 {
		b.finish()
	}
	return b
}

// Start begins the count: at the end of the omitted part, or before the loops when
// nothing is omitted. A call under way at that moment counts whole.
func (b *Budget) Start() { b.counting.Store(true) }

// Done is closed when the goal has been reached; Send and Recv then return nil.
func (b *Budget) Done() <-chan struct{} { return b.done }

func (b *Budget) finish() { b.once.Do(func() { close(b.done) }) }

// reached reports whether nothing is left to move.
func (b *Budget) reached() bool { return b.unmoved.Load() <= 0 }

// scarce reports whether bytes must not be held while waiting.
func (b *Budget) scarce() bool { return b.free.Load() < scarceBytes && b.counting.Load() }

// reserve gives how much of want a call may move, and whether that was taken from the
// goal. 0 means that others have reserved the rest: it may come back, so ask again.
func (b *Budget) reserve(want int) (n int, taken bool) {
	if !b.counting.Load() {
		return want, false
	}
	for {
		free := b.free.Load()
		if free <= 0 {
			return 0, true
		}
		n := min(int64(want), free)
		if b.free.CompareAndSwap(free, free-n) {
			return int(n), true
		}
	}
}

// settle ends what reserve began: of n reserved bytes, moved were moved.
func (b *Budget) settle(n int, taken bool, moved int) {
	switch {
	case taken:
		b.free.Add(int64(n - moved))
	case b.counting.Load(): // started while the call was under way
		b.free.Add(-int64(moved))
	default:
		return
	}
	if b.unmoved.Add(-int64(moved)) <= 0 {
		b.finish()
	}
}
