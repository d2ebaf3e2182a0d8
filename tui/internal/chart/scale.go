package chart

import (
	"math"
	"time"
)

// shrinkAfter is how long the values must stay in the lower half before the scale gets
// smaller: shorter, and a graph breathes with every dip.
const shrinkAfter = 10 * time.Second

// Scale is the upper end of an axis over time. It grows at once, so that nothing is ever
// clamped, and shrinks late. The zero value is ready.
type Scale struct {
	top, base float64
	low       bool
	since     time.Duration
}

// Fit gives the upper end for values up to greatest at session time now: a 1-2-5 step in
// powers of base. Calling it again for the same moment changes nothing.
func (s *Scale) Fit(greatest float64, now time.Duration, base float64) float64 {
	need := Step(greatest, base)
	switch {
	case base != s.base || need > s.top:
		s.top, s.base, s.low = need, base, false
	case greatest >= s.top/2 || need == s.top:
		s.low = false
	case !s.low || now < s.since:
		s.low, s.since = true, now
	case now-s.since >= shrinkAfter:
		s.top, s.low = need, false
	}
	return s.top
}

// Step is the least 1, 2 or 5 × 10ⁿ × baseᵏ that is not below v, at least 1000: there is
// no use in an axis of single bits.
func Step(v, base float64) float64 {
	const least, most = 1000, 1e18
	if math.IsNaN(v) || v < least {
		v = least
	}
	v = min(v, most)
	power := 1.0
	for v/power >= base {
		power *= base
	}
	for _, m := range [...]float64{1, 2, 5, 10, 20, 50, 100, 200, 500} {
		// A float32's worth of rounding must not double the scale.
		if m*power >= v*(1-1e-6) {
			return m * power
		}
	}
	return power * base
}

// lead is the leading digit of a step: 1, 2 or 5.
func lead(top, base float64) int {
	for top >= base {
		top /= base
	}
	for top >= 9.99 {
		top /= 10
	}
	return int(math.Round(top))
}
