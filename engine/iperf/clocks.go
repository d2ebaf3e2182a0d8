package iperf

import "time"

// drift is how far two clocks that nobody sets run apart at worst: good crystals stay
// within 50 parts in a million, and there are two.
const drift = 100e-6

// clocks estimates the difference between the steady clocks of two computers from when
// messages left the one and arrived at the other. A message never arrives before it was
// sent: each way gives a bound that no estimate of the delay is needed for.
//
// All times are since some moment of their own clock; the difference is far − local.
type clocks struct {
	low, high time.Duration // the difference is between them
	round     time.Duration // the round trip of the exchange, the far end's own time left out
	at        time.Duration // local, when low and high were right
}

// exchanged starts with a question that left here at asked and arrived there at received,
// and its answer, which left there at sent and arrived here at answered.
func exchanged(asked, received, sent, answered time.Duration) clocks {
	c := clocks{low: sent - answered, high: received - asked, at: answered}
	if c.high < c.low { // its clock does not run straight
		c.high = c.low
	}
	c.round = c.high - c.low
	return c
}

// heard takes a message that left there at sent and arrived here at arrived: one that
// travelled faster than those before narrows the bounds.
func (c *clocks) heard(sent, arrived time.Duration) {
	apart := time.Duration(drift * float64(max(0, arrived-c.at)))
	c.low -= apart
	c.high += apart
	c.at = arrived
	c.low = max(c.low, sent-arrived)
	if c.low > c.high { // one of the computers was asleep, or its clock was set
		c.high = c.low + c.round
	}
}

// difference is the best guess and the most by which it can be wrong: that the fastest
// message took half a round trip.
func (c *clocks) difference() (guess, wrong time.Duration) {
	guess = min(c.low+c.round/2, c.high)
	return guess, max(guess-c.low, c.high-guess)
}
