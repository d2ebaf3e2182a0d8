package host

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// lane runs probes of one kind apart from their caller, one at a time. The kernel may hold
// up a read for seconds (a driver that resets its card keeps everybody from asking about
// interfaces) and nothing can interrupt it. The caller then goes on without an answer,
// and no second read is sent after the first. Not safe for concurrent use.
type lane[T any] struct {
	answer chan result[T] // nil when idle
	since  time.Time
}

var errLate = errors.New("no answer in time")

// begin starts probe, unless an earlier one is still running. An answer that nobody waited
// for is dropped. The probe's context ends after patience.
func (l *lane[T]) begin(ctx context.Context, probe func(context.Context) T) {
	select {
	case <-l.answer:
		l.answer = nil
	default:
	}
	if l.answer != nil {
		return
	}
	answer := make(chan result[T], 1)
	l.answer, l.since = answer, time.Now()
	go func() {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		defer func() {
			if v := recover(); v != nil {
				answer <- result[T]{err: fmt.Errorf("the probe broke: %v", v)}
			}
		}()
		answer <- result[T]{value: probe(ctx)}
	}()
}

// busy tells whether a probe is running or has an answer that nobody has taken.
func (l *lane[T]) busy() bool { return l.answer != nil }

// late tells that the running probe has taken longer than any should.
func (l *lane[T]) late() bool { return l.busy() && time.Since(l.since) > patience }

// wait takes the answer if it is there or comes within limit; errLate says that it did not.
func (l *lane[T]) wait(ctx context.Context, limit time.Duration) (value T, err error) {
	select { // an answer that is there counts, whatever the context says
	case r := <-l.answer:
		l.answer = nil
		return r.value, r.err
	default:
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case r := <-l.answer:
		l.answer = nil
		return r.value, r.err
	case <-timer.C:
		return value, errLate
	case <-ctx.Done():
		return value, ctx.Err()
	}
}
