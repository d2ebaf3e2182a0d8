package engine

import (
	"math"
	"time"
)

// Point is one slot of a history: the least, mean and greatest value of the samples
// that fell into it. A slot without samples holds NaN and is drawn as a gap.
type Point struct {
	Min, Mean, Max float32
}

var gap = Point{float32(math.NaN()), float32(math.NaN()), float32(math.NaN())}

// Gap reports whether nothing was sampled in the slot.
func (p Point) Gap() bool { return p.Mean != p.Mean }

const chunkLen = 256

// level is one resolution of a series: slots of step from slot index first on. Full
// chunks are immutable and shared between snapshots; the last one grows by appending,
// which no earlier snapshot can see.
type level struct {
	step   time.Duration
	keep   int // slots kept at least
	chunks [][]Point
	first  int // slot index of chunks[0][0]
	n      int // slots held

	// The slot that is being filled, in what Series gives out of a coarse level: without
	// it the newest seconds would be missing there.
	open     Point
	openSlot int // -1: none
}

func (l *level) at(slot int) Point {
	if slot == l.openSlot {
		return l.open
	}
	i := slot - l.first
	if i < 0 || i >= l.n {
		return gap
	}
	return l.chunks[i/chunkLen][i%chunkLen]
}

func (l *level) push(p Point) {
	if l.n%chunkLen == 0 {
		chunks := l.chunks
		if drop := l.n - chunkLen; drop >= l.keep {
			chunks = chunks[1:]
			l.first += chunkLen
			l.n -= chunkLen
		}
		// A fresh slice: snapshots hold the old one.
		l.chunks = append(append(make([][]Point, 0, len(chunks)+1), chunks...), make([]Point, 0, chunkLen))
	} else {
		// Snapshots share the outer slice too, so its last element is replaced in a copy.
		l.chunks = append([][]Point(nil), l.chunks...)
	}
	last := len(l.chunks) - 1
	l.chunks[last] = append(l.chunks[last], p)
	l.n++
}

// Resolution is the step of a level and how long it is kept.
type Resolution struct {
	Step, Keep time.Duration
}

// FullHistory is kept for the sums and the cores, ShortHistory for each stream.
var (
	FullHistory = []Resolution{
		{100 * time.Millisecond, 10 * time.Minute},
		{time.Second, 2 * time.Hour},
		{10 * time.Second, 24 * time.Hour},
	}
	ShortHistory = []Resolution{{time.Second, time.Minute}}
)

// Series is an immutable history of one quantity on the session's clock. Copying it is
// cheap; the zero value is empty.
type Series struct {
	levels []level
}

// Recorder builds a Series. It belongs to one goroutine; the Series it gives out may be
// read by others at any time.
type Recorder struct {
	levels []level
	open   []bucket
}

type bucket struct {
	slot     int
	min, max float64
	sum      float64
	n        int
}

// NewRecorder makes a recorder with the given resolutions, finest first.
func NewRecorder(res []Resolution) *Recorder {
	r := &Recorder{levels: make([]level, len(res)), open: make([]bucket, len(res))}
	for i, x := range res {
		r.levels[i] = level{step: x.Step, keep: int(x.Keep / x.Step), openSlot: -1}
		r.open[i].slot = -1
	}
	return r
}

// Add records value v at session time t. Times must not decrease; a sample before the
// open slot is counted into it.
func (r *Recorder) Add(t time.Duration, v float64) {
	for i := range r.levels {
		l, b := &r.levels[i], &r.open[i]
		slot := int(t / l.step)
		if b.slot < 0 {
			if l.n == 0 {
				l.first = slot
			}
		}
		if slot > b.slot {
			l.close(b)
			for next := l.first + l.n; next < slot; next++ {
				if slot-next > l.keep {
					// A pause longer than what is kept: nothing older matters.
					l.chunks, l.n, l.first = nil, 0, slot
					break
				}
				l.push(gap)
			}
			*b = bucket{slot: slot, min: v, max: v}
		}
		b.min, b.max = min(b.min, v), max(b.max, v)
		b.sum += v
		b.n++
	}
}

func (l *level) close(b *bucket) {
	if b.n > 0 {
		l.push(b.point())
	}
}

func (b *bucket) point() Point {
	return Point{float32(b.min), float32(b.sum / float64(b.n)), float32(b.max)}
}

// Series gives the history so far, without the slot of the finest level that is still
// open.
func (r *Recorder) Series() Series {
	levels := append([]level(nil), r.levels...)
	for i := range levels {
		if b := &r.open[i]; i > 0 && b.n > 0 {
			levels[i].open, levels[i].openSlot = b.point(), b.slot
		}
	}
	return Series{levels: levels}
}

// End is the session time up to which the series has slots, by its finest level.
func (s Series) End() time.Duration {
	if len(s.levels) == 0 {
		return 0
	}
	l := &s.levels[0]
	return time.Duration(l.first+l.n) * l.step
}

// Step is the width of the slots that Columns would read for a column of the given
// width: the coarsest level that is not coarser than the column, or the finest.
func (s Series) Step(column time.Duration) time.Duration {
	if len(s.levels) == 0 {
		return 0
	}
	return s.pick(column, -1).step
}

// pick is the level to read for columns of a width: the coarsest that is not coarser
// than them. When that one has already dropped what lies after from (negative: it does
// not matter), a coarser one that still has it.
func (s Series) pick(column, from time.Duration) *level {
	best := &s.levels[0]
	for i := range s.levels[1:] {
		l := &s.levels[i+1]
		start := time.Duration(best.first) * best.step
		older := l.n > 0 && time.Duration(l.first+1)*l.step <= start
		if l.step <= column || from >= 0 && start > from && older {
			best = l
		}
	}
	return best
}

// Columns divides the time from … to into len(dst) equal columns and gives each the
// least, mean and greatest value in it. Columns without samples are gaps.
func (s Series) Columns(from, to time.Duration, dst []Point) {
	for i := range dst {
		dst[i] = gap
	}
	if len(s.levels) == 0 || len(dst) == 0 || to <= from {
		return
	}
	width := (to - from) / time.Duration(len(dst))
	if width <= 0 {
		return
	}
	l := s.pick(width, max(0, from))
	for i := range dst {
		a := from + (to-from)*time.Duration(i)/time.Duration(len(dst))
		b := from + (to-from)*time.Duration(i+1)/time.Duration(len(dst))
		lo, hi := int(a/l.step), int((b-1)/l.step)
		if a < 0 {
			if b <= 0 {
				continue
			}
			lo = 0
		}
		var c bucket
		var sum float64
		n := 0
		for slot := lo; slot <= hi; slot++ {
			p := l.at(slot)
			if p.Gap() {
				continue
			}
			if n == 0 {
				c.min, c.max = float64(p.Min), float64(p.Max)
			}
			c.min, c.max = min(c.min, float64(p.Min)), max(c.max, float64(p.Max))
			sum += float64(p.Mean)
			n++
		}
		if n > 0 {
			dst[i] = Point{float32(c.min), float32(sum / float64(n)), float32(c.max)}
		}
	}
}

// History is what the graphs draw, on the session's clock: one series per quantity.
type History struct {
	Up, Down Series   // goodput, bits/s
	Retrans  Series   // retransmitted segments per second, both directions
	RTT      Series   // smoothed RTT in seconds, mean over the streams that know it
	Cwnd     Series   // sum of the congestion windows in bytes
	Cores    []Series // busy share, 0 to 1, one per local core
}
