package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"linerate/engine"
	"linerate/engine/report"
)

// open gives the writer of the report: standard output, or the file of --logfile, which
// then gets the errors too. run closes it.
func (a *app) open(o *options) (io.Writer, error) {
	if o.output.logfile == "" {
		return a.out, nil
	}
	f, err := os.OpenFile(o.output.logfile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, failure(fmt.Errorf("opening the log file: %w", err), "")
	}
	a.log = f
	a.err = io.MultiWriter(a.err, f)
	return f, nil
}

// printer is a sink that remembers whether all could be written.
type printer interface {
	engine.Sink
	Err() error
}

// clientReport makes the sink of a client's test.
func (o *options) clientReport(w io.Writer) printer {
	switch {
	case o.wantsJSON() && o.spelling == iperf3:
		return likeIperf3{o.jsonReport(w)}
	case o.wantsJSON():
		return o.jsonReport(w)
	}
	t := report.NewText(w, o.textOptions())
	t.Greet()
	return t
}

// jsonReport makes the sink for the JSON form that was asked for.
func (o *options) jsonReport(w io.Writer) printer {
	opt := report.JSONOptions{Version: agent(), System: system()}
	if o.output.stream || o.output.full {
		return report.NewJSONStream(w, o.output.full, opt)
	}
	return report.NewJSON(w, opt)
}

// likeIperf3 gives a report iperf3's words for what went wrong, and nothing that iperf3
// does not say.
type likeIperf3 struct{ printer }

func (l likeIperf3) End(r engine.Result) {
	r.Findings = nil
	if r.Err != nil {
		if words := testProblem(r.Err).iperf3; words != "" {
			r.Err = errors.New(words)
		}
	}
	l.printer.End(r)
}

func (o *options) wantsJSON() bool { return o.output.json || o.output.stream || o.output.full }

func (o *options) textOptions() report.TextOptions {
	t := report.TextOptions{
		Format:  o.output.unit,
		Verbose: o.output.verbose,
		Title:   o.spec.Title,
		Version: agent(),
		System:  system(),
		OneOff:  o.oneOff,
		Verdict: o.spelling == ours,
	}
	if o.output.timestamps {
		t.Timestamps = o.output.stampLayout
	}
	return t
}

// goSystem is what Go knows where the system has no uname.
func goSystem() string {
	name, _ := os.Hostname()
	return runtime.GOOS + " " + name + " " + runtime.GOARCH
}
