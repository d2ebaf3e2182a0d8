package session

import (
	"fmt"
	"math"
	"time"

	"linerate/engine"
)

// worthwhile is by how much SUM must grow for more streams to be worth it: the stop rule
// of diagnosis d.7.
const worthwhile = 1.05

// search looks for the best stream count: 1, 2, 4, 8 … as long as SUM grows.
type search struct {
	engine.Best
	last  int           // streams before Trying; 0 at the first
	rate  float64       // SUM at last, bits/s
	half  time.Duration // when measuring begins: the first half of a step is left out; 0 before its step runs
	until time.Duration // when it ends
	bytes uint64        // moved up to half
	at    time.Duration // of bytes
}

func (c *conductor) findBest() error {
	if c.search.Active {
		c.searchOver("cancelled")
		return nil
	}
	switch {
	case c.stage == idle && !c.done:
		return errStopped
	case c.stage == idle:
		return errNoTest
	case c.spec.Limited():
		return errLimited
	case c.stage != flowing:
		return errNotFlows
	}
	c.changeAt, c.queued = time.Time{}, false
	c.search = search{Best: engine.Best{Active: true}}
	c.tryStreams(1)
	return nil
}

// tryStreams opens a step with n streams, or takes the running one if it has as many.
func (c *conductor) tryStreams(n int) {
	c.search.Trying, c.search.half = n, 0
	c.want.Streams = n
	if c.want == c.spec {
		c.searchBegun(c.since(time.Now()))
		return
	}
	c.replace(plan{spec: c.want, change: changes(c.spec, c.want)})
}

// searchBegun is told that a step has begun at session time at.
func (c *conductor) searchBegun(at time.Duration) {
	s := &c.search
	if !s.Active {
		if c.cfg.Auto && !c.autoDone && c.stage == flowing {
			c.autoDone = true
			if err := c.findBest(); err != nil {
				c.event("%v", err)
			}
		}
		return
	}
	if s.half == 0 && c.spec.Streams == s.Trying {
		s.half, s.until, s.at = at+c.cfg.BestStep/2, at+c.cfg.BestStep, 0
	}
}

// searchTick measures, and judges when it has measured for long enough.
func (c *conductor) searchTick(now time.Duration) {
	s := &c.search
	if !s.Active || s.half == 0 || c.stage != flowing || now < s.half {
		return
	}
	moved := c.step.meter.moved()
	if s.at == 0 {
		s.at, s.bytes = now, moved
		return
	}
	if now >= s.until {
		c.judgeStreams(8 * per(moved-s.bytes, now-s.at))
	}
}

// judgeStreams goes on to twice the streams, or ends at the count before.
func (c *conductor) judgeStreams(rate float64) {
	s := &c.search
	switch grown := rate / s.rate; {
	case s.last > 0 && rate < s.rate*worthwhile:
		c.found(s.last, s.rate, fmt.Sprintf("%d streams gave %s over %d", s.Trying, percent(grown-1), s.last))
	case 2*s.Trying > engine.MaxStreams:
		c.found(s.Trying, rate, fmt.Sprintf("iperf3 allows no more than %d streams", engine.MaxStreams))
	default:
		s.last, s.rate = s.Trying, rate
		c.tryStreams(2 * s.Trying)
	}
}

func (c *conductor) found(n int, rate float64, reason string) {
	c.search.Best = engine.Best{Found: n, Rate: rate, Reason: reason}
	c.event("best stream count: %d; %s", n, reason)
	c.want = c.spec
	c.want.Streams = n
	if c.want != c.spec {
		c.replace(plan{spec: c.want, change: fmt.Sprintf("best stream count, %s", changes(c.spec, c.want))})
	}
}

// searchRefused is told that the server refused a step with n streams.
func (c *conductor) searchRefused(n int, err error) {
	s := &c.search
	if !s.Active {
		return
	}
	if s.last == 0 {
		c.searchOver(err.Error())
		return
	}
	s.Best = engine.Best{Found: s.last, Rate: s.rate, Reason: fmt.Sprintf("%d streams: %v", n, err)}
	c.event("best stream count: %d; %s", s.Found, s.Reason)
}

// searchOver ends a search without an answer.
func (c *conductor) searchOver(reason string) {
	if c.search.Active {
		c.search.Best = engine.Best{Reason: reason}
		c.event("search for the best stream count: %s", reason)
	}
}

// percent prints a change: "+1 %", "-3 %".
func percent(share float64) string {
	return fmt.Sprintf("%+.0f %%", math.Round(100*share)+0) // + 0 turns -0 into 0
}
