package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/spf13/cobra"

	"linerate/engine"
	"linerate/engine/iperf"
	"linerate/engine/report"
	"linerate/probes/host"
)

// serve is linerate serve and linerate -s.
func (a *app) serve(cmd *cobra.Command, o *options, args []string) error {
	switch {
	case len(args) > 0:
		return usage("unexpected "+quote(args[0]), "a server has no host; -B binds it to an address")
	case o.daemon:
		return usage("running in the background (-D) is not built yet", "use systemd, or: nohup linerate -s >log 2>&1 &")
	}
	spec := o.spec
	if err := o.family(&spec); err != nil {
		return err
	}
	spec = spec.Defaults()
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
	server := &iperf.Server{
		MaxTests: o.max, OneOff: o.oneOff, Affinity: spec.Affinity, Host: source, Path: source, Agent: agent(),
		Interval: spec.Interval, RcvTimeout: spec.RcvTimeout, SndTimeout: spec.SndTimeout,
	}
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	ln, err := server.Listen(ctx, spec)
	if err != nil {
		return listenProblem(err)
	}
	stop := listen(ctx, func(context.Context) { cancel() }, cancel)
	defer stop.release()
	if o.spelling == iperf3 {
		return a.serveLikeIperf3(ctx, o, w, server, ln)
	}
	return a.serveWithLog(ctx, cancel, o, server, ln)
}

// listenProblem explains why the port could not be opened.
func listenProblem(err error) *problem {
	p := testProblem(err)
	var e *iperf.Error
	if errors.As(err, &e) && e.Code == 102 {
		p.iperf3 = "unable to start listener for connections: " + e.Text
	}
	return p
}

// reportLimit is how long the output may take to be written once the server has ended.
const reportLimit = 2 * time.Second

// serveLikeIperf3 prints what iperf3 -s prints.
func (a *app) serveLikeIperf3(ctx context.Context, o *options, w io.Writer, server *iperf.Server, ln net.Listener) error {
	lines := newBacklog()
	written := make(chan struct{})
	go func() {
		defer close(written)
		lines.copyTo(w)
	}()
	if o.wantsJSON() {
		server.NewSink = func(engine.TestInfo) engine.Sink { return o.jsonReport(lines) }
	} else {
		text := report.NewServerText(lines, port(ln), o.textOptions())
		text.Listening()
		server.NewSink = text.Sink
	}
	err := server.Serve(ctx, ln)
	lines.close()
	select {
	case <-written:
	case <-time.After(reportLimit):
	}
	if err != nil {
		return failure(fmt.Errorf("serving: %w", err), "")
	}
	if ctx.Err() != nil {
		fmt.Fprintln(a.err, "iperf3: interrupt - the server has terminated")
	}
	return nil
}

func port(ln net.Listener) int { return ln.Addr().(*net.TCPAddr).Port }

// serveWithLog prints a line for what happens and, on a terminal, a table of the running
// tests below the lines.
func (a *app) serveWithLog(ctx context.Context, end context.CancelFunc, o *options, server *iperf.Server, ln net.Listener) error {
	lines := newBacklog()
	layout := time.DateTime
	b := a.board(o, server, end)
	if b != nil {
		layout = time.TimeOnly
	}
	say := func(at time.Time, text string) { fmt.Fprintf(lines, "%s  %s\n", at.Format(layout), text) }
	server.Log = func(e engine.ServerEvent) {
		// A client that comes is told of with its test, or with why it had none.
		if e.Kind != engine.ClientAccepted {
			say(e.Time, e.Text)
		}
	}
	say(time.Now(), listening(ln, o, b != nil && b.keys != nil))
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		if b != nil {
			b.run(lines)
			return
		}
		lines.copyTo(a.out)
	}()
	err := server.Serve(ctx, ln)
	lines.close()
	select {
	case <-printed:
	case <-time.After(reportLimit):
	}
	if b != nil {
		b.close()
	}
	if err != nil {
		return failure(fmt.Errorf("serving: %w", err), "")
	}
	return nil
}

// listening is the first line of the log.
func listening(ln net.Listener, o *options, keys bool) string {
	text := fmt.Sprintf("listening on %v for iperf3 and linerate clients (TCP)", ln.Addr())
	switch {
	case o.oneOff:
		text += ", for one test"
	case keys:
		text += "; q ends"
	}
	return text
}
