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
	free     atomic.Int64 // not reserved by any call; negative when calls from before Start hold more than the goal
	unmoved  atomic.Int64 // free and reserved together: what is still to be moved
	early    atomic.Int64 // reserved by calls before Start
	done     chan struct{}
	once     sync.Once

	// booking is held for reading while a call is reserved before Start, and from
	// counting its bytes on the stream until they are settled here; for writing while
	// Start looks at the streams' counts.
	booking sync.RWMutex
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
func (b *Budget) Start() { b.StartWith(func() {}) }

// StartWith begins the count and runs snapshot at that very moment: no byte that a
// Counter shows to snapshot is counted for the goal, and each that it shows later is. So
// what the streams have moved since the snapshot is the goal to the byte, unless the
// calls under way carried more than the whole goal. snapshot must be short, and may
// start the budget of the other direction.
func (b *Budget) StartWith(snapshot func()) {
	b.booking.Lock()
	defer b.booking.Unlock()
	if !b.counting.Load() {
		b.free.Add(-b.early.Load()) // as if the calls under way had reserved from the goal
		b.counting.Store(true)
	}
	snapshot()
}

// Done is closed when the goal has been reached; Send and Recv then return nil.
func (b *Budget) Done() <-chan struct{} { return b.done }

func (b *Budget) finish() { b.once.Do(func() { close(b.done) }) }

// reached reports whether nothing is left to move.
func (b *Budget) reached() bool { return b.unmoved.Load() <= 0 }

// scarce reports whether bytes must not be held while waiting.
func (b *Budget) scarce() bool { return b.free.Load() < scarceBytes && b.counting.Load() }

// reserve gives how much of want a call may move. 0 means that others have reserved the
// rest: it may come back, so ask again.
func (b *Budget) reserve(want int) int {
	if !b.counting.Load() && b.reserveEarly(want) {
		return want
	}
	for {
		free := b.free.Load()
		if free <= 0 {
			return 0
		}
		n := min(int64(want), free)
		if b.free.CompareAndSwap(free, free-n) {
			return int(n)
		}
	}
}

// reserveEarly reserves without limit; false: the count has begun meanwhile.
func (b *Budget) reserveEarly(want int) bool {
	b.booking.RLock()
	defer b.booking.RUnlock()
	if b.counting.Load() {
		return false
	}
	b.early.Add(int64(want))
	return true
}

// book ends what reserve began: of n reserved bytes moved were moved, which are counted
// on the stream and here.
func (b *Budget) book(ctr *Counter, n, moved int) {
	b.booking.RLock()
	defer b.booking.RUnlock()
	ctr.add(moved)
	if !b.counting.Load() {
		b.early.Add(-int64(n))
		return
	}
	b.free.Add(int64(n - moved))
	if b.unmoved.Add(-int64(moved)) <= 0 {
		b.finish()
	}
}
