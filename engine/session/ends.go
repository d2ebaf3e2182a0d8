package session

import (
	"errors"
	"fmt"
	"time"

	"linerate/engine"
	"linerate/engine/iperf"
	"linerate/engine/unit"
)

// chainAfter is the least that a test must have lasted to be continued: a server that
// ends every test at once must not be asked in a circle.
const chainAfter = time.Second

// Codes of iperf3's SERVER_ERROR that are about the length of a test.
const (
	codeTooLong = 37  // refused: above --server-max-duration
	codeExpired = 160 // cut off by it while it ran
)

var errNoResults = errors.New("the server sent no results within 3 s")

func (c *conductor) onEnded(r engine.Result) {
	c.changed = true
	c.cancel()
	c.stage = idle
	lasted := time.Since(c.step.info.Start)
	c.conclude(&r)
	endless := !c.step.seg.Spec.Limited()
	cut := endless && errorCode(r.Err) == codeExpired
	switch {
	case c.then != nothing:
		c.endStep(&r, c.endError(r.Err))
		c.follow()
	case endless && (r.Err == nil || cut) && lasted >= chainAfter:
		c.chain(r)
	case endless && r.Err == nil:
		err := fmt.Errorf("the server ended the test after %v", lasted.Round(time.Millisecond))
		c.endStep(&r, err)
		c.fail(err)
	case r.Err != nil:
		c.endStep(&r, r.Err)
		c.fail(r.Err)
	default:
		c.endStep(&r, nil)
		c.done, c.over = true, !c.cfg.Hold
	}
}

// endError is what was wrong with the end of a test that was asked to end.
func (c *conductor) endError(err error) error {
	switch {
	case c.overtime:
		return errNoResults
	case c.then != leave && errors.Is(err, iperf.ErrInterrupted):
		return nil // a test that was stopped while it was still being opened
	}
	return err
}

// follow does what the running test was ended for.
func (c *conductor) follow() {
	switch c.then {
	case change:
		c.open(c.next)
	case halt:
		c.stopped()
	case leave:
		c.over = true
	}
}

// chain opens the next test of the same step.
func (c *conductor) chain(r engine.Result) {
	if !c.chained {
		c.chained = true
		c.event("the server ends tests after %s: they are chained", unit.Duration(r.Elapsed.Round(time.Second)))
	}
	c.sampleLast(r)
	c.step.result = merge(c.step.result, r)
	c.open(plan{spec: c.step.seg.Spec, chain: true})
}

// fail ends in a state that the operator sees and can leave with a key.
func (c *conductor) fail(err error) {
	c.searchOver("the test failed")
	c.dropProof("the test failed before it showed anything")
	c.failure, c.done, c.over = err, true, !c.cfg.Hold
	c.event("%v", err)
}

// stopped is the state without traffic that the operator asked for.
func (c *conductor) stopped() {
	c.opinion.verdicts = nil
	c.streams, c.sums = quiet(c.streams, c.sums)
	c.event("traffic stopped")
}

// stop asks the running test to end.
func (c *conductor) stop() {
	c.stage = closing
	c.step.test.Stop()
}

// endStep closes the running step, if there is one. r is what its last test brought, nil
// when that could not be opened.
func (c *conductor) endStep(r *engine.Result, err error) {
	if c.step == nil {
		return
	}
	s := c.step
	if r != nil {
		c.sampleLast(*r)
		s.result = merge(s.result, *r)
	}
	s.seg.End = max(s.meter.lastTick, s.seg.Start+1)
	s.seg.Results = s.result
	if s.result != nil {
		s.seg.PeerCPU = s.result.RemoteCPU
	}
	if err != nil {
		s.seg.Err = err.Error()
		if c.then == leave {
			c.failure = err
		}
	}
	s.seg.Verdict, s.seg.Title = headline(c.opinion.verdicts)
	c.streams = c.streamsNow()
	c.sums = c.sumsNow()
	s.seg.Sums = atMean(c.sums)
	if c.then != change {
		c.sums = s.seg.Sums
	}
	c.past.remember(s)
	c.proofStepEnded(&s.seg)
	c.step = nil
}

func errorCode(err error) int {
	var e *iperf.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}
