package sock

import (
	"math"
	"time"
)

const (
	callSpan  = 100 * time.Microsecond // of the rate: the most one paced call carries, if that is more than a block
	smoothing = 10 * time.Millisecond  // of the rate: a slow stream sends pieces of this, not a block a second
	minPiece  = 1 << 10                // bytes; smaller pieces would be all overhead
	maxNap    = 20 * time.Millisecond  // a stop is seen this often

	// gatherSpan is how much is left to gather when the bucket is empty. Waking the thread and
	// the receiver costs more than the copy: at 10 Gbit/s and one stream 0.29
	// CPU-seconds per GB without it, 0.19 with it.
	gatherSpan = 200 * time.Microsecond

	// bucketDepth is how much lateness is made up for: a thread on a busy host is woken
	// some milliseconds late now and then (with 5 ms, 10 Gbit/s became 9.5 at a load of 9
	// on two cores). Up to slowDepth where that is a burst of no more than slowBurst.
	// Longer stalls are lost.
	bucketDepth = 10 * time.Millisecond
	slowDepth   = 50 * time.Millisecond
	slowBurst   = 1 << 20
)

// pacer is a token bucket kept as a time: everything due before sent has been sent.
// Times are nanoseconds since the stream started. float64 holds them exactly for 104
// days and does not round a single byte's time away.
type pacer struct {
	perByte float64 // ns
	piece   int     // bytes, the most one call may carry
	gather  float64 // ns, what to wait for beyond the first byte once the bucket is empty
	depth   float64 // ns, the most that may be made up for
	sent    float64 // ns
	due     float64 // ns, end of the wait under way
}

// newPacer paces to rate bits per second. burst blocks go out back to back; 0 leaves
// the grain to the pacer.
func newPacer(rate float64, block, burst int, batched bool) *pacer {
	p := &pacer{perByte: 8e9 / rate, piece: piece(rate, block, batched && burst == 0)}
	p.gather = float64(gatherSpan)
	if burst > 0 {
		ahead := float64(burst-1) * float64(block) * p.perByte
		p.gather = math.Max(p.gather, ahead)
		p.sent = -ahead // the first burst is due at once
	}
	p.depth = math.Max(float64(bucketDepth), math.Min(float64(slowDepth), slowBurst*p.perByte))
	p.depth = math.Max(p.depth, p.gather+float64(p.piece)*p.perByte)
	return p
}

// piece is the most that one call carries: as many whole blocks as fit into callSpan, or
// one block; less than a block where the caller left the size open and a block would
// take longer than smoothing.
func piece(rate float64, block int, batched bool) int {
	if !batched {
		return block
	}
	perSecond := rate / 8
	if blocks := int(math.Min(perSecond*callSpan.Seconds()/float64(block), maxBlocks)); blocks >= 1 {
		return blocks * block
	}
	return int(math.Min(float64(block), math.Max(minPiece, perSecond*smoothing.Seconds())))
}

// delay is how long to wait before the next call; 0: it may go now.
func (p *pacer) delay(now time.Duration) time.Duration {
	t := float64(now)
	if t >= p.due {
		if t >= p.sent {
			p.sent = math.Max(p.sent, t-p.depth)
			return 0
		}
		p.due = p.sent + p.gather
	}
	return time.Duration(math.Min(p.due-t, float64(maxNap)))
}

// spend accounts for n bytes that were sent.
func (p *pacer) spend(n int) { p.sent += float64(n) * p.perByte }
