package main

import (
	"context"
	"fmt"

	"linerate/engine"
	"linerate/engine/report"
	"linerate/engine/session"
	"linerate/engine/unit"
	"linerate/probes/host"
)

// printSearch looks for the best stream count without a screen: a line for every count,
// the answer with its reason, and the summary.
func (a *app) printSearch(ctx context.Context, o *options, cfg session.Config) error {
	if err := placeFor(o.evidence.save); err != nil {
		return err
	}
	source := host.New()
	defer source.Close()
	cfg.Host, cfg.Evidence, cfg.Path = source, source, source
	cfg.Agent, cfg.Hold = agent(), true
	cfg.Spec.Duration, cfg.Settle = 0, settle
	s := session.New(cfg)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		a.tellSearch(ctx, s)
	}()
	summary, stop, finished := conduct(ctx, s)
	switch {
	case !finished || stop.hard:
		return &problem{code: exitInterrupted}
	case summary.Err != nil:
		return testProblem(summary.Err)
	}
	<-watched
	report.Summary(a.out, summary, report.SummaryWidth)
	return a.saveLast(o, s)
}

// tellSearch prints what the search does and ends the session when it is over.
func (a *app) tellSearch(ctx context.Context, s *session.Session) {
	trying := 0
	for {
		snap, err := s.Next(ctx)
		if err != nil {
			return
		}
		best := snap.Best
		if best.Active && best.Trying != trying {
			trying = best.Trying
			fmt.Fprintf(a.out, "trying %s\n", streams(trying))
		}
		if best.Found > 0 {
			fmt.Fprintf(a.out, "best: %s, %s: %s\n", streams(best.Found), unit.Rate(best.Rate), best.Reason)
		}
		if best.Found > 0 || snap.Phase == engine.Done || trying > 0 && !best.Active {
			s.Do(ctx, engine.Quit{})
			return
		}
	}
}

func streams(n int) string {
	if n == 1 {
		return "1 stream"
	}
	return fmt.Sprintf("%d streams", n)
}
