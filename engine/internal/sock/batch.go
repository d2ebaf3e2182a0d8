package sock

import "time"

const (
	// maxBlocks is the longest batch. 64 blocks of 128 KiB are 8 MiB, 1.3 ms at
	// 50 Gbit/s; 32 were 3 to 6 % slower with one and with eight streams, more gained
	// nothing.
	maxBlocks = 64

	// heldBlocks is the longest batch of a thread that keeps its place while it is in
	// the kernel: the collector may have to wait for the copy of it, 0.2 ms. Calls are
	// so cheap then that 64 blocks took no less CPU time per byte than 4 or 8.
	heldBlocks = 8
)

const (
	quickCall = time.Millisecond     // a call this short can carry twice as much
	longCall  = 5 * time.Millisecond // a longer one would make the counters jerk
)

// batch finds how many blocks one system call should carry: enough to make calls rare,
// few enough that the counters move smoothly at any speed of the link.
type batch struct {
	blocks, most int
}

func newBatch(allowed bool, most int) batch {
	if !allowed {
		most = 1
	}
	return batch{blocks: 1, most: most}
}

// now is how many blocks the next call should carry.
func (b *batch) now() int {
	if roomy.Load() {
		return min(b.blocks, heldBlocks)
	}
	return b.blocks
}

// learn takes in a call that lasted took and moved all it was asked to (full) or not.
func (b *batch) learn(took time.Duration, full bool) {
	switch {
	case !full && took > longCall: // the link cannot take so much within the timeout
		b.blocks = 1
	case !full: // interrupted by a signal: says nothing about the link
	case took < quickCall:
		b.blocks = min(b.blocks*2, b.most)
	case took > longCall:
		b.blocks = max(b.blocks/2, 1)
	}
}
