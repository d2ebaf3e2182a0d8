package report

import (
	"encoding/json"
	"io"

	"linerate/engine"
)

// JSONStream is an [engine.Sink] that writes iperf3's --json-stream: one event per line as
// it happens, so that what was measured survives whatever comes. With full the document
// of [JSON] follows the last event. Not safe for concurrent use, like JSON.
type JSONStream struct {
	builder
	out  *output
	full bool
}

// NewJSONStream makes a sink that writes to w.
func NewJSONStream(w io.Writer, full bool, opt JSONOptions) *JSONStream {
	return &JSONStream{builder: newBuilder(opt), out: &output{w: w}, full: full}
}

// Err gives the first error of a write; nothing was written after it.
func (j *JSONStream) Err() error { return j.out.err }

// Begin writes the event "start".
func (j *JSONStream) Begin(info engine.TestInfo) {
	j.begin(info)
	j.event("start", j.doc.Start)
}

// Interval writes the event "interval".
func (j *JSONStream) Interval(iv engine.Interval) {
	j.event("interval", json.RawMessage(j.interval(iv)))
	if !j.full && !j.shown() {
		j.doc.Intervals = j.doc.Intervals[:0]
	}
}

// End writes the events "error" and "server_output_…" where there are such, and "end";
// what linerate adds comes before it: "linerate" with the places that are not known, and
// "linerate_findings" with what the rules say.
func (j *JSONStream) End(r engine.Result) {
	j.end(r)
	if j.doc.Error != "" {
		j.event("error", j.doc.Error)
	}
	switch {
	case j.doc.ServerOutputJSON != nil:
		j.event("server_output_json", j.doc.ServerOutputJSON)
	case j.doc.ServerOutputText != "":
		j.event("server_output_text", j.doc.ServerOutputText)
	}
	if l := j.doc.Linerate; l != nil && len(l.Unknown) > 0 {
		j.event("linerate", extra{Format: l.Format, Unknown: l.Unknown})
	}
	if l := j.doc.Linerate; l != nil && len(l.Findings) > 0 {
		j.event("linerate_findings", l.Findings)
	}
	j.event("end", j.doc.End)
	if j.full {
		j.out.write(j.document())
	}
	j.reset()
}

func (j *JSONStream) event(name string, data any) {
	j.out.write(append(layout(nil, mustCompact(event{name, data}), false), '\n'))
}
