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

	// maxSplit is the smallest part of a block that a call carries on a slow link: 16 KiB
	// of 128. The kernel takes payload in buffers as large as the call; whole blocks make a
	// sender at 5 Mbit/s report five steps a second, a fifth of the rate each.
	maxSplit = 8
)

const (
	quickCall = time.Millisecond     // a call this short can carry twice as much
	longCall  = 5 * time.Millisecond // a longer one would make the counters jerk
)

// batch finds how much one system call should carry: enough to make calls rare, little
// enough that the counters move smoothly at any speed of the link. That is a number of
// blocks, or, where not even one goes in time, a part of one.
type batch struct {
	blocks, most int
	split        int // a call carries 1/split of a block; 1 unless blocks is 1
}

func newBatch(allowed bool, most int) batch {
	if !allowed {
		most = 1
	}
	return batch{blocks: 1, most: most, split: 1}
}

// size is how many bytes the next call should carry, for blocks of so many.
func (b *batch) size(block int) int {
	if b.split > 1 {
		return max(1, block/b.split)
	}
	if roomy.Load() {
		return min(b.blocks, heldBlocks) * block
	}
	return b.blocks * block
}

// learn takes in a call that lasted took and moved all it was asked to (full) or not.
func (b *batch) learn(took time.Duration, full bool) {
	switch {
	case b.most == 1: // the user gave the size
	case !full && took > longCall: // the link cannot take so much within the timeout
		if b.blocks > 1 {
			b.blocks = 1
		} else {
			b.split = min(b.split*2, maxSplit)
		}
	case !full: // interrupted by a signal: says nothing about the link
	case took < quickCall && b.split > 1:
		b.split /= 2
	case took < quickCall:
		b.blocks = min(b.blocks*2, b.most)
	case took > longCall:
		b.blocks = max(b.blocks/2, 1)
	}
}
