package session_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"linerate/engine"
	"linerate/engine/diagnose"
	"linerate/engine/session"
	"linerate/engine/session/sessiontest"
)

// results is a sink that keeps the ends of tests.
type results struct{ all []engine.Result }

func (r *results) Begin(engine.TestInfo)    {}
func (r *results) Interval(engine.Interval) {}
func (r *results) End(result engine.Result) { r.all = append(r.all, result) }

// codes are those of the findings that came with the i-th result.
func (r *results) codes(t *testing.T, i int) (codes []string) {
	t.Helper()
	if len(r.all) <= i {
		t.Fatalf("%d results, want more than %d", len(r.all), i)
	}
	for _, f := range r.all[i].Findings {
		codes = append(codes, f.Code)
	}
	if len(codes) == 0 {
		t.Fatalf("result %d came without findings", i)
	}
	return codes
}

func TestResultsCarryTheVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, _ := sessiontest.MiniPC(t)
		sink := &results{}
		cfg.Sink, cfg.Hold = sink, false
		cfg.Spec.Duration = 10 * time.Second
		run := sessiontest.Start(t, cfg)
		summary := run.Wait(time.Minute)
		if got := sink.codes(t, 0); got[0] != diagnose.ReceiverCore {
			t.Errorf("findings %v, want %s first", got, diagnose.ReceiverCore)
		}
		if want := engine.Findings(summary.Last.Verdicts); want[0].Text != sink.all[0].Findings[0].Text {
			t.Errorf("the sink got %q, the summary says %q", sink.all[0].Findings[0].Text, want[0].Text)
		}
		e, ok := run.Evidence()
		if !ok || e.Test.Spec.Direction != engine.Both || len(e.Steps) != 1 {
			t.Errorf("evidence %v: %+v", ok, e.Test)
		}
		if v := diagnose.Verdicts(e); v[1].Main.Code != diagnose.ReceiverCore {
			t.Errorf("the evidence alone gives %s, want %s", v[1].Main.Code, diagnose.ReceiverCore)
		}
	})
}

// What the far iperf3 used is told by its results, when the test is over.
func TestTheLastWordIsAboutTheResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &sessiontest.Server{Agent: "iperf 3.12", CPU: func(engine.Spec) float64 { return 0.99 }}
		cfg := session.Config{Spec: endless(4), Start: server.Start, Sink: &results{}}
		cfg.Spec.Duration = 10 * time.Second
		machine, _ := sessiontest.MiniPC(t)
		cfg.Host = machine.Host
		run := sessiontest.Start(t, cfg)
		run.Sleep(9 * time.Second)
		if v := run.Snapshot().Verdicts; v[0].Main.Code == diagnose.FarOneThread {
			t.Errorf("%s before the results", diagnose.FarOneThread)
		}
		summary := run.Wait(time.Minute)
		if got := cfg.Sink.(*results).codes(t, 0); got[0] != diagnose.FarOneThread {
			t.Errorf("findings %v, want %s first", got, diagnose.FarOneThread)
		}
		if seg := summary.Last.Segment(); seg.Verdict != diagnose.FarOneThread {
			t.Errorf("the step says %s, want %s", seg.Verdict, diagnose.FarOneThread)
		}
	})
}

// Every test of a session gets its own answer, those that are stopped and those that fail
// too.
func TestEveryResultHasFindings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &results{}
		server := &sessiontest.Server{Fail: func(n int, _ engine.Spec) (time.Duration, error) {
			if n == 2 {
				return 6 * time.Second, errors.New("the server has gone")
			}
			return 0, nil
		}}
		run := begin(t, server, endless(1), func(c *session.Config) { c.Sink, c.SinkWait = sink, -1 })
		run.Sleep(6 * time.Second)
		run.Do(engine.AddStreams{Delta: 1})
		run.Sleep(6 * time.Second)
		run.Do(engine.AddStreams{Delta: 1})
		run.Sleep(8 * time.Second)
		if _, ok := run.Evidence(); ok {
			t.Error("evidence of a session that still runs")
		}
		run.Quit()
		for i := range 3 {
			sink.codes(t, i)
		}
		if sink.all[2].Err == nil {
			t.Error("the third result has no error")
		}
	})
}

func TestNoEvidenceWithoutATest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &sessiontest.Server{Refuse: func(int, engine.Spec) error { return errors.New("no") }}
		run := begin(t, server, endless(1))
		run.Wait(time.Minute)
		if _, ok := run.Evidence(); ok {
			t.Error("evidence of a test that never began")
		}
	})
}
