package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"linerate/engine"
	"linerate/engine/session"
	"linerate/probes/host"
)

// runTest is linerate run HOST and linerate -c HOST.
func (a *app) runTest(cmd *cobra.Command, o *options, args []string) error {
	to, err := o.printTarget(args)
	if err != nil {
		return err
	}
	spec, err := o.test(to, runLasts, cmd.Flags().Changed)
	if err != nil {
		return err
	}
	return a.print(cmd.Context(), o, session.Config{Spec: spec, ExpectBps: o.expect})
}

// printTarget reads the host: HOST:PORT in our spelling, HOST%DEV in iperf3's.
func (o *options) printTarget(args []string) (target, error) {
	if o.spelling != iperf3 {
		return oneTarget(args)
	}
	name, dev := splitDevice(args[0])
	if dev != "" {
		o.spec.BindDev = dev
	}
	return parseTarget(name)
}

// print runs one test and prints it: iperf3's text, or its JSON.
func (a *app) print(ctx context.Context, o *options, cfg session.Config) error {
	if err := placeFor(o.evidence.save); err != nil {
		return err
	}
	pid, err := claimPidfile(o.pidfile)
	if err != nil {
		return err
	}
	defer pid.release()
	w, err := a.open(o)
	if err != nil {
		return err
	}
	source := host.New()
	defer source.Close()
	sink := o.clientReport(w)
	cfg.Host, cfg.Evidence, cfg.Path = source, source, source
	cfg.Agent, cfg.Sink = agent(), sink
	cfg.SinkWait = -1 // the report is the whole point: it is written to its end
	s := session.New(cfg)
	summary, stop, finished := conduct(ctx, s)
	if !finished {
		return a.cutShort(o, stop)
	}
	if started := summary.Last != nil && len(summary.Last.Segments) > 0; !started {
		sink.End(engine.Result{Info: engine.TestInfo{Spec: cfg.Spec}, Err: summary.Err})
	}
	saved := a.saveLast(o, s)
	switch {
	case stop.hard:
		return a.cutShort(o, stop)
	case summary.Err != nil:
		p := testProblem(summary.Err)
		p.told = o.wantsJSON() && o.spelling == iperf3
		return p
	case sink.Err() != nil:
		return failure(sink.Err(), "")
	case stop.first != nil && o.spelling == iperf3:
		fmt.Fprintf(a.err, "iperf3: %s\n", stop.words())
	}
	return saved
}

// cutShort is the end by a second signal.
func (a *app) cutShort(o *options, stop *stopper) error {
	if o.spelling == iperf3 {
		fmt.Fprintf(a.err, "iperf3: %s\n", stop.words())
	}
	return &problem{code: exitInterrupted}
}

// abandonAfter is how long a reader of the report that has stopped reading keeps a session
// from ending once it was told to end at once.
const abandonAfter = 3 * time.Second

// conduct runs a session to its end. The first signal ends it regularly, the second at
// once; finished is false when even that did not work because the report blocks.
func conduct(ctx context.Context, s *session.Session) (summary engine.Summary, stop *stopper, finished bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop = listen(ctx, func(ctx context.Context) { s.Do(ctx, engine.Quit{}) }, cancel)
	defer stop.release()
	over := make(chan engine.Summary, 1)
	go func() { over <- s.Run(ctx) }()
	select {
	case summary = <-over:
		return summary, stop, true
	case <-ctx.Done():
	}
	select {
	case summary = <-over:
		return summary, stop, true
	case <-time.After(abandonAfter):
		return engine.Summary{}, stop, false
	}
}
