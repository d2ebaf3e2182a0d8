package host

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lane[string]
		if l.busy() || l.late() {
			t.Error("a lane that has run nothing is busy")
		}
		stuck := make(chan string)
		runs := 0
		probe := func(context.Context) string {
			runs++
			return <-stuck
		}
		l.begin(t.Context(), probe)
		start := time.Now()
		if _, err := l.wait(t.Context(), 50*time.Millisecond); !errors.Is(err, errLate) || time.Since(start) != 50*time.Millisecond {
			t.Errorf("of a stuck probe: %v after %v", err, time.Since(start))
		}
		l.begin(t.Context(), probe) // no second one beside it
		if _, err := l.wait(t.Context(), -time.Second); !errors.Is(err, errLate) {
			t.Errorf("without time to wait: %v", err)
		}
		if l.late() {
			t.Error("late before its time")
		}
		time.Sleep(patience)
		if !l.late() {
			t.Errorf("not late after %v", time.Since(start))
		}
		stuck <- "at last"
		synctest.Wait()
		done, cancel := context.WithCancel(t.Context())
		cancel()
		if v, err := l.wait(done, time.Second); v != "at last" || err != nil {
			t.Errorf("an answer that is there: %q, %v", v, err)
		}
		if l.busy() || runs != 1 {
			t.Errorf("busy %v after %d runs", l.busy(), runs)
		}

		l.begin(t.Context(), probe)
		if _, err := l.wait(done, time.Second); !errors.Is(err, context.Canceled) {
			t.Errorf("of a caller that has gone: %v", err)
		}
		stuck <- "for nobody"
		synctest.Wait()
		l.begin(t.Context(), func(context.Context) string { return "new" })
		if v, err := l.wait(t.Context(), time.Second); v != "new" || err != nil {
			t.Errorf("after an answer for nobody: %q, %v", v, err)
		}
	})
}

func TestLaneProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lane[error]
		l.begin(t.Context(), func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		start := time.Now()
		if v, err := l.wait(t.Context(), time.Minute); !errors.Is(v, context.DeadlineExceeded) || err != nil || time.Since(start) != patience {
			t.Errorf("a probe's time: %v, %v after %v, want %v", v, err, time.Since(start), patience)
		}
		l.begin(t.Context(), func(context.Context) error { panic("broken file") })
		if _, err := l.wait(t.Context(), time.Minute); err == nil || !strings.Contains(err.Error(), "the probe broke: broken file") {
			t.Errorf("a panic: %v", err)
		}
	})
}
