package pathmtu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"time"

	"linerate/probes/internal/echo"
)

// prober is echo.Prober, or a path in a test.
type prober interface {
	Send(size int) error
	Wait(ctx context.Context, d time.Duration) (echo.Answer, bool)
}

// found is what a search knows in the end. fail is always larger than pass.
type found struct {
	pass     int // largest size that arrived
	fail     int // smallest size that certainly does not
	told     int // smallest size that a router refused in words; no size is this large when none did
	reported int // smallest limit that a router named, 0 none
}

// search narrows down the largest size that arrives.
//
// Answers are what is short: a Linux host gives six at once and one per second from then
// on. So a search goes down from the top, where nothing is answered, and one answer tells
// of all sizes before it. Silence alone tells nothing; an answer to a probe known to pass,
// sent behind the others, makes it count (guess), and since a packet may be lost, the last
// word is two more that are not answered (fail).
type search struct {
	found
	ctx     context.Context
	p       prober
	top     int           // most that the interface sends
	guess   int           // smallest size that was not answered, pass < guess <= fail
	awaited int           // size of the probe that makes silence count
	heard   bool          // its answer came
	slowest time.Duration // round trip
	last    time.Time     // when the last answer came
	refused netip.Addr    // who turned a probe back
}

const (
	never = math.MaxInt // told, when nobody did

	// refill is how long a Linux host takes to allow itself one more answer
	// (icmp_ratelimit), and a little.
	refill = 1050 * time.Millisecond
	// leastWait is for answers that come at once: it covers a busy machine.
	leastWait = 60 * time.Millisecond
	// volleyTime is what one row of probes may take.
	volleyTime = 300 * time.Millisecond
	leastGap   = 2 * time.Millisecond
	maxVolley  = 24
)

// find searches between least, which any path must carry, and top, the most that the
// interface sends. The error tells why nothing at all is known.
func find(ctx context.Context, p prober, least, top int) (found, error) {
	s := search{found: found{fail: top + 1, told: never}, ctx: ctx, p: p, top: top, guess: top + 1}
	if err := s.reach(least); err != nil {
		return s.found, err
	}
	for s.pass+1 < s.fail && ctx.Err() == nil {
		if err := s.step(); err != nil {
			return s.found, nil // the path went away; what is known stays
		}
	}
	return s.found, nil
}

// contactWaits is how long to wait for the first answers, of a host perhaps across a
// satellite. The third try comes when a host that had spent its answers has one again.
var contactWaits = []time.Duration{400 * time.Millisecond, 700 * time.Millisecond, 400 * time.Millisecond}

// reach gets into contact with top and, right behind it, least.
func (s *search) reach(least int) error {
	for _, d := range contactWaits {
		if err := s.sendAll(s.top, least); err != nil {
			return err
		}
		end := time.Now().Add(d)
		for s.pass == 0 && s.collect(time.Until(end)) {
		}
		if s.pass > 0 {
			break
		}
	}
	switch {
	case s.pass == 0 && errors.Is(s.ctx.Err(), context.Canceled):
		return s.ctx.Err()
	case s.pass == 0 && s.refused.IsValid():
		return fmt.Errorf("%s turns the probes back", s.refused)
	case s.pass == 0:
		return errSilent
	}
	s.drain(s.patience())
	if s.pass < s.top && s.told > s.top {
		// That least, sent later, was answered makes the silence of top count; but it may
		// have been lost.
		if err := s.send(s.top); err != nil {
			return nil
		}
		s.drain(s.patience())
	}
	if s.pass < s.top {
		s.guess, s.fail = min(s.guess, s.top), min(s.fail, s.top)
	}
	return nil
}

// step asks one question.
func (s *search) step() error {
	sizes := usualBetween(s.pass, s.guess)
	// A limit that a router named, or that is usual, is likely to be the one.
	likely := s.pass == s.reported || len(sizes) == 0 && slices.Contains(usual, s.pass)
	switch {
	case s.reported > s.pass && s.reported < s.guess:
		return s.volley(s.reported)
	case likely, s.guess == s.pass+1:
		return s.check()
	case len(sizes) > 0:
		return s.volley(pick(sizes, s.row())...)
	default:
		return s.volley(between(s.pass, s.guess, s.row())...)
	}
}

// row is how many probes one volley has: those that can be a round trip apart.
func (s *search) row() int {
	return min(max(int(volleyTime/s.gap()), 1), maxVolley)
}

// gap is long enough for the answer to one probe to come before the next is sent.
func (s *search) gap() time.Duration { return s.slowest*11/10 + leastGap }

func (s *search) patience() time.Duration { return max(leastWait, 2*s.slowest) }

// volley sends sizes from large to small, so far apart that the first to arrive stops the
// rest.
func (s *search) volley(sizes ...int) error {
	before, lowest := s.pass, s.guess
	for _, size := range sizes {
		if err := s.send(size); err != nil {
			return err
		}
		lowest = min(lowest, size)
		if s.drain(s.gap()); s.pass > before {
			break
		}
	}
	if s.pass == before && s.told > lowest {
		if vouched, err := s.vouch(); err != nil || !vouched {
			return err
		}
	}
	for _, size := range sizes {
		if size > s.pass && size >= lowest {
			s.guess = min(s.guess, size)
		}
	}
	return nil
}

// vouch sends what is known to pass, directly behind others where there are any, and tells
// whether the silence of all probes so far counts: if this one is not answered either,
// the host has no answers left, and gets the time to.
func (s *search) vouch(others ...int) (bool, error) {
	s.awaited, s.heard = s.pass, false
	for _, size := range append(others, s.awaited) {
		if err := s.send(size); err != nil {
			return false, err
		}
	}
	s.drain(s.patience())
	if s.heard || s.pass > s.awaited {
		return true, nil
	}
	s.pause(refill - time.Since(s.last))
	return false, nil
}

// check makes certain that one byte more than pass does not arrive, or finds that it does.
// The second probe goes out together with the one that vouches for it: in a moment between
// the two the host might earn its next answer.
func (s *search) check() error {
	size := s.pass + 1
	err := s.send(size)
	if err == nil {
		s.drain(s.gap())
	}
	vouched := true
	if err == nil && s.pass < size && s.told > size {
		vouched, err = s.vouch(size)
	}
	switch {
	case s.pass >= size: // guesses were wrong; believe what is certain only
		s.guess = s.fail
	case err == nil && vouched:
		s.guess, s.fail = size, size
	}
	return err
}

func (s *search) pause(d time.Duration) {
	t := time.NewTimer(max(d, leastWait))
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.ctx.Done():
	}
}

// sendAll sends one probe of each size, once where they are the same.
func (s *search) sendAll(size, smaller int) error {
	if err := s.send(size); err != nil || smaller == size {
		return err
	}
	return s.send(smaller)
}

// send sends one probe. That the interface's MTU fell meanwhile is an answer too.
func (s *search) send(size int) error {
	err := s.p.Send(size)
	if errors.Is(err, echo.ErrSize) && s.pass > 0 && size > s.pass {
		s.guess, s.fail, s.told = min(s.guess, size), min(s.fail, size), min(s.told, size)
		return nil
	}
	return err
}

// drain takes answers until d has passed, or one has come that a later one could add
// nothing to.
func (s *search) drain(d time.Duration) {
	end := time.Now().Add(d)
	pass, heard := s.pass, s.heard
	for s.collect(time.Until(end)) {
		if s.pass > pass || s.heard != heard {
			end = time.Now() // and what is there already
		}
	}
}

// collect takes one answer, if one comes within d.
func (s *search) collect(d time.Duration) bool {
	a, ok := s.p.Wait(s.ctx, max(d, 0))
	if !ok {
		return false
	}
	switch a.What {
	case echo.Arrived:
		s.slowest = max(s.slowest, a.RTT)
		s.last = time.Now()
		s.heard = s.heard || a.Size == s.awaited
		s.arrived(a.Size)
	case echo.TooBig:
		s.told = min(s.told, a.Size)
		s.guess, s.fail = min(s.guess, a.Size), min(s.fail, a.Size)
		if a.MTU >= s.pass && a.MTU < a.Size && a.MTU > 0 && (s.reported == 0 || a.MTU < s.reported) {
			s.reported = a.MTU
		}
	case echo.Refused:
		s.refused = a.From
	}
	return true
}

// arrived notes a size that passed. It takes back what was thought of smaller ones: their
// answers were lost or late, or the path is another one now.
func (s *search) arrived(size int) {
	s.pass = max(s.pass, size)
	if s.told <= s.pass {
		s.told = never
	}
	if s.fail <= s.pass {
		s.fail = min(s.top+1, s.told)
	}
	if s.guess <= s.pass {
		s.guess = s.fail
	}
	if s.reported < s.pass {
		s.reported = 0
	}
}
