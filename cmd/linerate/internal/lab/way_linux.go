package lab

import (
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// Way is one direction of a relayed link. The zero Way carries everything at once. What
// drops packets is asked in the order of the fields below, and the queue last.
type Way struct {
	Delay time.Duration // added to every packet after it has left the queue
	Rate  float64       // bit/s at which the queue drains; 0: at once
	Queue int           // bytes that may wait; a packet that finds it full is dropped

	MaxPacket int // bytes; larger packets vanish; 0: none does

	// While the other direction carries load too, a share CrossLoss of the packets above
	// CrossPacket bytes is lost, as in a card or a switch with too small a buffer.
	CrossPacket int
	CrossLoss   float64

	Loss float64 // share of all packets that is lost at random

	// Police drops what comes faster than so many bit/s without letting it wait; Burst
	// bytes may come at once. 0: no policer.
	Police float64
	Burst  int

	// Late is the share of packets that arrive LateBy after those they were sent with, and
	// so behind some that were sent later.
	Late   float64
	LateBy time.Duration
}

// loaded is the rate, bit/s, from which a direction counts as carrying load.
const loaded = 1e6

// loadWindow is how far back that is looked at.
const loadWindow = 100 * time.Millisecond

// lane is the state of one direction: it belongs to the goroutine that reads its packets,
// but for load.
type lane struct {
	Way
	rng    *rand.Rand
	free   time.Time // when the queue will have drained
	tokens float64   // bytes that the policer lets pass now
	filled time.Time // when tokens was worked out

	since   time.Time // begin of the running window of load
	carried int       // bytes in it so far
	load    atomic.Bool
	other   *lane
	dropped *atomic.Uint64
}

// fate decides over a packet of n bytes that comes at the time now: when it arrives at the
// other host, and by which of the two queues to there.
func (l *lane) fate(n int, now time.Time) (due time.Time, late, ok bool) {
	l.weigh(n, now)
	if l.vanishes(n) || l.polices(n, now) {
		return due, false, false
	}
	if l.free.Before(now) {
		l.free = now
	}
	if l.Rate > 0 {
		if waiting := l.free.Sub(now).Seconds() * l.Rate / 8; int(waiting)+n > l.Queue {
			return due, false, false
		}
		l.free = l.free.Add(time.Duration(float64(n) * 8 / l.Rate * float64(time.Second)))
	}
	due = l.free.Add(l.Delay)
	if late = l.happens(l.Late); late {
		due = due.Add(l.LateBy)
	}
	return due, late, true
}

// weigh keeps account of the load. Packets that will be dropped count: they were sent.
func (l *lane) weigh(n int, now time.Time) {
	if now.Sub(l.since) >= loadWindow {
		l.load.Store(now.Sub(l.since) < 2*loadWindow && float64(l.carried)*8 >= loaded*loadWindow.Seconds())
		l.since, l.carried = now, 0
	}
	l.carried += n
}

func (l *lane) vanishes(n int) bool {
	if l.MaxPacket > 0 && n > l.MaxPacket {
		return true
	}
	if l.CrossLoss > 0 && n > l.CrossPacket && l.other.load.Load() && l.happens(l.CrossLoss) {
		return true
	}
	return l.happens(l.Loss)
}

func (l *lane) happens(share float64) bool { return share > 0 && l.rng.Float64() < share }

func (l *lane) polices(n int, now time.Time) bool {
	if l.Police <= 0 {
		return false
	}
	if l.filled.IsZero() {
		l.tokens = float64(l.Burst)
	} else {
		l.tokens = min(float64(l.Burst), l.tokens+now.Sub(l.filled).Seconds()*l.Police/8)
	}
	l.filled = now
	if l.tokens < float64(n) {
		return true
	}
	l.tokens -= float64(n)
	return false
}
