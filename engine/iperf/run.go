package iperf

import (
	"context"
	"fmt"
	"time"

	"linerate/engine"
	"linerate/engine/internal/wire"
)

// Run carries the test to its end and returns what was measured, in whatever way it
// ended: Result.Err tells. A test ends by its limits, by Stop, or by ctx, which stops
// at once and without the server's results. Run is called once; it waits for all that
// the test has started, the sink's End included.
func (c *Client) Run(ctx context.Context) engine.Result {
	failure := c.await(ctx)
	acc := c.traffic.halt()
	var result engine.Result
	if failure == nil {
		result, failure = c.exchange(ctx, acc)
	} else {
		result = localResult(c.traffic, acc, "the test did not end regularly")
		c.ctl.goodbye(wire.ClientTerminate) // a server that is gone does not mind
	}
	if failure != nil {
		result.Err = failure
	}
	c.traffic.close()
	c.ctl.close()
	c.traffic.feed.do(func(s engine.Sink) { s.End(result) })
	c.traffic.feed.close()
	return result
}

// await waits while the payload flows. nil means that it is time for TEST_END.
func (c *Client) await(ctx context.Context) *Error {
	t := c.traffic
	var end <-chan time.Time
	if d := t.info.Spec.Duration; d > 0 {
		timer := time.NewTimer(time.Until(t.info.Start.Add(t.info.Spec.Omit + d)))
		defer timer.Stop()
		end = timer.C
	}
	stall := newStall(t)
	defer stall.ticker.Stop()
	var broken *Error
	var blame <-chan time.Time
	for {
		select {
		case <-end:
			return nil
		case <-c.stopped:
			return nil
		case <-t.goalReached(engine.Upload):
			return c.drain(ctx)
		case <-t.goalReached(engine.Download):
			return nil
		case <-ctx.Done():
			return interruptedError(stateRunning, context.Cause(ctx))
		case m := <-c.ctl.messages:
			return unexpected(stateRunning, m)
		case f := <-t.ended:
			if t.broken(f) && broken == nil {
				broken = brokenError(f, t.info.Spec.Direction)
				timer := time.NewTimer(blameTimeout)
				defer timer.Stop()
				blame = timer.C
			}
		case <-blame:
			return broken
		case <-stall.ticker.C:
			if err := stall.check(); err != nil {
				return err
			}
		}
	}
}

// drain waits until the server's system has all bytes of an upload that has reached its
// goal: TEST_END on the control connection would overtake them, and they would not
// count there. What the path cannot deliver within drainTimeout is left.
func (c *Client) drain(ctx context.Context) *Error {
	poll := time.NewTicker(drainPoll)
	defer poll.Stop()
	timeout := time.NewTimer(drainTimeout)
	defer timeout.Stop()
	for !c.traffic.acknowledged() {
		select {
		case <-poll.C:
		case <-timeout.C:
			return nil
		case <-c.stopped:
			return nil
		case <-ctx.Done():
			return interruptedError(stateRunning, context.Cause(ctx))
		case m := <-c.ctl.messages:
			return unexpected(stateRunning, m)
		}
	}
	return nil
}

// brokenError puts the end of a stream that nobody asked for into words.
func brokenError(f *flow, dir engine.Direction) *Error {
	if f.err == nil && !f.Sender && dir == engine.Both && f.link.bytes() == 1 {
		// The single byte is ACCESS_DENIED: a server that does not know the key
		// expects half the streams and turns away the rest.
		return &Error{
			State: stateRunning, Code: int(wire.CodeAccessDenied),
			Text: "the server is too old to send and receive at once",
			Hint: "both ways needs iperf3 3.7 or newer there; upload and download one after the other work",
		}
	}
	e := &Error{State: stateRunning, Code: 207, Err: f.err, Text: fmt.Sprintf("the server closed stream %d while the test was running", f.ID)}
	if f.err != nil {
		e.Text = fmt.Sprintf("stream %d broke while the test was running: %v", f.ID, rootCause(f.err))
		e.Code = 206
		if f.Sender {
			e.Code = 205
		}
	}
	return e
}

// stall watches for payload that has stopped while the control connection lives.
type stall struct {
	t       *traffic
	limit   time.Duration
	ticker  *time.Ticker
	last    uint64
	movedAt time.Time
}

func newStall(t *traffic) *stall {
	s := &stall{t: t, limit: t.info.Spec.RcvTimeout, movedAt: t.info.Start}
	if s.limit <= 0 {
		s.limit = defaultRcvTimeout
	}
	if rate := t.info.Spec.Bitrate; rate > 0 {
		// A slow paced sender may pause for the length of a block between two.
		pause := float64(max(1, t.info.Spec.Burst)*t.info.Spec.Block()) * 8 / rate
		s.limit = max(s.limit, time.Duration(3*min(pause, 86400)*float64(time.Second)))
	}
	s.ticker = time.NewTicker(min(time.Second, max(s.limit/10, 10*time.Millisecond)))
	return s
}

func (s *stall) check() *Error {
	if now := s.t.total(); now != s.last {
		s.last, s.movedAt = now, time.Now()
		return nil
	}
	if time.Since(s.movedAt) < s.limit {
		return nil
	}
	return &Error{
		State: stateRunning, Code: int(wire.CodeNoData), Timeout: true,
		Text: fmt.Sprintf("no byte moved in any stream for %v, though the control connection stands", s.limit.Round(time.Millisecond)),
		Hint: "the path lets small packets through and not large ones (MTU?), or a firewall cut the data connections",
	}
}

// exchange ends the test with the server and returns the results of both ends, or of
// this end with the reason why the other's are missing.
func (c *Client) exchange(ctx context.Context, acc account) (engine.Result, *Error) {
	result := localResult(c.traffic, acc, "the server did not tell")
	if err := c.ctl.sendState(wire.TestEnd); err != nil {
		return result, closedError(stateEnd, err)
	}
	timeout := replyTimeout
	select {
	case <-c.stopped:
		timeout = stopTimeout
	default:
	}
	w := &endWait{ctx: ctx, c: c, timeout: timeout, timer: time.NewTimer(timeout), drop: time.NewTicker(dropAfter)}
	defer w.timer.Stop()
	defer w.drop.Stop()

	if _, err := w.next(stateEnd, wire.ExchangeResults); err != nil {
		return result, err
	}
	c.traffic.close() // the server has closed its ends
	text, err := report(result, printed{}).JSON()
	if err == nil {
		err = c.ctl.send(wire.AppendJSON(nil, text), timeout)
	}
	if err != nil {
		return result, closedError(stateResults, err)
	}
	theirs, failure := w.next(stateResults, 0)
	if failure != nil {
		return result, failure
	}
	far, err := wire.ParseResults(theirs)
	if err == nil {
		err = merge(&result, far)
	}
	if err != nil {
		return result, &Error{
			State: stateResults, Code: int(wire.CodeRecvResults), Err: err,
			Text: fmt.Sprintf("the server's results make no sense: %v", err),
		}
	}
	// Both accounts are here: whatever goes wrong with the goodbye changes nothing.
	if _, failure := w.next(stateDisplay, wire.DisplayResults); failure == nil {
		c.ctl.goodbye(wire.Done)
	}
	return result, nil
}

// endWait waits for the server after TEST_END, under one deadline for all of it.
type endWait struct {
	ctx     context.Context
	c       *Client
	timeout time.Duration
	timer   *time.Timer
	drop    *time.Ticker // looks whether the data connections can be reset
}

// next waits for a state, or for JSON when want is 0, which it returns.
func (w *endWait) next(state string, want wire.State) ([]byte, *Error) {
	stopped := w.c.stopped
	if w.timeout == stopTimeout {
		stopped = nil
	}
	for {
		select {
		case m := <-w.c.ctl.messages:
			if m.err == nil && m.state == want && (want != 0 || m.json != nil) {
				return m.json, nil
			}
			return nil, unexpected(state, m)
		case <-stopped:
			stopped = nil
			w.timeout = stopTimeout
			w.timer.Reset(stopTimeout)
		case <-w.drop.C:
			// Not before the server has TEST_END: a reset while it still believes in the
			// test is an error to it.
			if yes, known := delivered(w.c.ctl.conn); yes && known {
				w.c.traffic.close()
				w.drop.Stop()
			}
		case <-w.timer.C:
			return nil, silentError(state, w.timeout)
		case <-w.ctx.Done():
			return nil, interruptedError(state, context.Cause(w.ctx))
		}
	}
}
