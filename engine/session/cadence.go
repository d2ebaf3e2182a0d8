package session

import "time"

// Cadence of the conductor. All but tick itself are rounded to it, so that one wake-up
// serves them together.
const (
	tick         = 100 * time.Millisecond // counters are read, graphs get a slot
	idleTick     = 500 * time.Millisecond // while no test runs
	loadEvery    = 500 * time.Millisecond // cores are read, rules are asked
	publishEvery = 250 * time.Millisecond // 0.2, 0.5, 0.7, 1.0 s
	hostEvery    = 30 * time.Second       // facts that hardly change are read again
)

// deadlines are when each thing that is done again and again falls due.
type deadlines struct{ tick, load, vitals, publish, host time.Time }

// reached reports whether a deadline lies nearer to this tick than to the next, and
// moves it on.
func reached(deadline *time.Time, every time.Duration, now time.Time) bool {
	if deadline.Sub(now) > tick/2 {
		return false
	}
	for deadline.Sub(now) <= tick/2 {
		*deadline = deadline.Add(every)
	}
	return true
}
