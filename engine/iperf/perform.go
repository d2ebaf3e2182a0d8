package iperf

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"linerate/engine"
	"linerate/engine/internal/wire"
	"linerate/engine/unit"
)

// perform runs the test proper, from TEST_START to the goodbye, and reports its result.
func (v *visit) perform(ctx context.Context, t *traffic) {
	if err := v.ctl.send([]byte{byte(wire.TestStart), byte(wire.TestRunning)}, writeTimeout); err != nil {
		v.log(engine.ClientRefused, fmt.Sprintf("test %d: %s closed the connection", v.id, v.client), func(e *engine.ServerEvent) { e.Err = err })
		return
	}
	var sink engine.Sink
	if v.server.NewSink != nil {
		sink = v.server.NewSink(t.info)
	}
	t.start(sink, 0)
	v.server.mu.Lock()
	v.traffic, v.counted = t, true
	v.server.mu.Unlock()
	v.log(engine.TestStarted, v.startText(t.info), nil)

	if teller := v.teller.Load(); teller != nil {
		teller.begin(t)
	}
	err := v.await(ctx, t)
	v.silence()
	acc := t.halt()
	result := localResult(t, acc, "the client did not tell")
	if err == nil {
		err = v.exchange(ctx, t, sink, &result)
	}
	t.close()
	if err != nil {
		v.server.release(v)
		v.part(err)
		result.Err = err
	}
	t.feed.do(func(s engine.Sink) { s.End(result) })
	t.feed.close()
	v.log(engine.TestEnded, v.endText(result), func(e *engine.ServerEvent) { e.Err, e.Result = result.Err, &result })
}

// await waits while the payload flows. nil means that the client has said TEST_END.
func (v *visit) await(ctx context.Context, t *traffic) error {
	var watchdog <-chan time.Time
	if d := t.info.Spec.Duration; d > 0 {
		timer := time.NewTimer(d + t.info.Spec.Omit + watchdogGrace)
		defer timer.Stop()
		watchdog = timer.C
	}
	stall := newStall(t)
	defer stall.ticker.Stop()
	var broken error
	var blame <-chan time.Time
	for {
		select {
		case m := <-v.ctl.messages:
			if m.state == wire.TestEnd {
				v.silence()
				v.arrive(ctx, t)
				return nil
			}
			if err := v.departed(visitRunning, m); err != nil {
				return err
			}
			return failure(visitRunning, 110, "it sent %v while the test was running", m.state)
		case f := <-t.ended:
			// A receiver at its end is no failure here: clients may close their
			// sending side before they say TEST_END.
			if f.err != nil && broken == nil {
				broken = failure(visitRunning, 206, "stream %d broke while the test was running: %v", f.ID, rootCause(f.err))
				timer := time.NewTimer(replyTimeout)
				defer timer.Stop()
				blame = timer.C
			}
		case <-blame:
			return broken
		case <-watchdog:
			return failure(visitRunning, wire.CodeExpired, "it ran %v longer than planned", watchdogGrace)
		case <-stall.ticker.C:
			if err := stall.check(); err != nil {
				return &visitError{why: err, tell: true}
			}
		case <-ctx.Done():
			return v.terminated(visitRunning)
		}
	}
}

// arrive waits for the last bytes of an upload with a byte goal, as long as they keep
// coming.
func (v *visit) arrive(ctx context.Context, t *traffic) {
	bytes := goal(t.info.Spec)
	if bytes == 0 || t.info.Spec.Omit > 0 || t.info.Spec.Direction != engine.Upload {
		return
	}
	began := time.Now()
	last, since := t.total(), began
	for last < bytes && time.Since(since) < arrivalPause && time.Since(began) < drainTimeout && ctx.Err() == nil {
		time.Sleep(drainPoll)
		if now := t.total(); now > last {
			last, since = now, time.Now()
		}
	}
}

// exchange trades results after TEST_END, the client's first.
func (v *visit) exchange(ctx context.Context, t *traffic, sink engine.Sink, result *engine.Result) error {
	if err := v.ctl.sendState(wire.ExchangeResults); err != nil {
		return lost(visitResults, "the client closed the connection before its results", err)
	}
	// Not earlier: until it has read EXCHANGE_RESULTS a stock client drains its data
	// connections, and takes the reset of one for a failure of the test.
	t.close()
	m, err := v.wait(ctx, visitResults, replyTimeout)
	if err != nil {
		return err
	}
	far, err := wire.ParseResults(m.json)
	if err != nil {
		return failure(visitResults, wire.CodeRecvResults, "its results make no sense: %v", err)
	}
	own := report(*result, v.output(t, sink, *result))
	if err := merge(result, far); err != nil {
		return failure(visitResults, 208, "its results make no sense: %v", err)
	}
	text, err := own.JSON()
	if err != nil {
		return failure(visitResults, 115, "writing results: %v", err)
	}
	text = wire.AppendJSON(nil, text)
	if err := v.ctl.send(wire.DisplayResults.Append(text), writeTimeout); err != nil {
		return lost(visitResults, "the client closed the connection before it had the results", err)
	}
	if !v.server.OneOff { // which would take a second client in the meantime
		v.server.release(v)
	}
	// Its goodbye changes nothing any more, but to close before it comes would cut
	// off what is still under way to a client on a slow path.
	_, _ = v.wait(ctx, visitResults, replyTimeout)
	return nil
}

// maxOutput bounds what --get-server-output sends.
const maxOutput = 32 << 20

// output gets what the sink has printed, if the client wants it and the sink keeps it.
func (v *visit) output(t *traffic, sink engine.Sink, sofar engine.Result) printed {
	transcript, ok := sink.(engine.Transcript)
	if !ok || !v.params.ServerOutput {
		return printed{}
	}
	got := make(chan printed, 1)
	t.feed.do(func(engine.Sink) {
		text, isJSON := transcript.Transcript(sofar)
		got <- printed{text, isJSON}
	})
	timer := time.NewTimer(stopTimeout)
	defer timer.Stop()
	select {
	case out := <-got:
		if len(out.text) > maxOutput {
			return printed{}
		}
		out.json = out.json && json.Valid([]byte(out.text))
		return out
	case <-timer.C: // the sink waits for its terminal; the client does not have to
		return printed{}
	}
}

func (v *visit) startText(info engine.TestInfo) string {
	limit := "until stopped"
	switch {
	case info.Spec.Duration > 0:
		limit = unit.Duration(info.Spec.Duration)
	case goal(info.Spec) > 0:
		limit = unit.Bytes(goal(info.Spec))
	}
	streams := "1 stream"
	if n := len(info.Conns); n > 1 {
		streams = fmt.Sprintf("%d streams", n)
	}
	text := fmt.Sprintf("test %d: %s %s, %s, %s", v.id, v.client, info.Spec.Direction, streams, limit)
	if info.PeerAgent != "" {
		text += ", " + info.PeerAgent
	}
	return text
}

func (v *visit) endText(r engine.Result) string {
	text := fmt.Sprintf("test %d: %s", v.id, v.client)
	for _, dir := range r.Info.Spec.Direction.Dirs() {
		end, word := r.Received(dir), "received"
		if !end.Known() {
			end, word = r.Sent(dir), "sent"
		}
		if e, ok := end.Get(); ok {
			text += fmt.Sprintf(" %s %s %s at %s", dir, word, unit.Bytes(e.Bytes), unit.Rate(e.BitsPerSecond()))
		}
	}
	if r.Err != nil {
		text += ": " + r.Err.Error()
	}
	return text
}
