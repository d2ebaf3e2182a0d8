package report

import (
	"encoding/json"
	"io"

	"linerate/engine"
)

// Format is the number of what linerate adds to iperf3's JSON under the key "linerate". It
// grows when a reader of the old form would misread the new one.
const Format = 1

// JSONOptions are the texts in a JSON report that the test does not carry.
type JSONOptions struct {
	Version string // start.version: name and version of this program
	System  string // start.system_info: what uname -a says
}

// JSON is an [engine.Sink] that writes iperf3's -J: one document per test, at its end, in
// one Write. A test that failed before its payload flowed gets one too: End without Begin.
// Not safe for concurrent use: a server makes one per test over a [Locked] writer.
type JSON struct {
	builder
	out *output
}

// NewJSON makes a sink that writes to w.
func NewJSON(w io.Writer, opt JSONOptions) *JSON {
	return &JSON{builder: newBuilder(opt), out: &output{w: w}}
}

// Err gives the first error of a write; nothing was written after it.
func (j *JSON) Err() error { return j.out.err }

// Begin opens the document.
func (j *JSON) Begin(info engine.TestInfo) { j.begin(info) }

// Interval adds one report to the document.
func (j *JSON) Interval(iv engine.Interval) { j.interval(iv) }

// End writes the document.
func (j *JSON) End(r engine.Result) {
	j.end(r)
	j.out.write(j.document())
	j.reset()
}

// builder collects a document. The parts are kept as text, which takes far less memory
// over a long test than the values would.
type builder struct {
	opt  JSONOptions
	info engine.TestInfo
	doc  document
}

func newBuilder(opt JSONOptions) builder {
	b := builder{opt: opt}
	b.reset()
	return b
}

func (b *builder) reset() {
	b.doc = document{Start: b.opt.head(), Intervals: []json.RawMessage{}, End: struct{}{}}
}

func (b *builder) begin(info engine.TestInfo) {
	b.reset()
	b.info = info
	b.doc.Start = b.opt.start(info)
	b.doc.Title, b.doc.ExtraData = info.Spec.Title, info.Spec.ExtraData
}

func (b *builder) interval(iv engine.Interval) []byte {
	text := mustCompact(interval(b.info, iv))
	b.doc.Intervals = append(b.doc.Intervals, text)
	return text
}

func (b *builder) end(r engine.Result) {
	var unknown []unknownField
	b.doc.End, unknown = end(r)
	if len(unknown) > 0 || len(r.Findings) > 0 {
		b.doc.Linerate = &extra{Format: Format, Unknown: unknown, Findings: findings(r.Findings)}
	}
	if r.Err != nil {
		b.doc.Error = r.Err.Error()
	}
	switch {
	case r.PeerOutputJSON && json.Valid([]byte(r.PeerOutput)):
		b.doc.ServerOutputJSON = json.RawMessage(r.PeerOutput)
	case r.PeerOutput != "":
		b.doc.ServerOutputText = r.PeerOutput
	}
}

// document gives the whole as cJSON prints it, with a line's end.
func (b *builder) document() []byte {
	return append(layout(nil, mustCompact(b.doc), true), '\n')
}

// shown reports whether the client asked to see the document.
func (b *builder) shown() bool { return b.info.Role == engine.Server && b.info.Spec.ServerOutput }

// Transcript gives the document as it would be if the test ended with sofar, when its
// client asked for it (see [engine.Transcript]).
func (b *builder) Transcript(sofar engine.Result) (string, bool) {
	if !b.shown() {
		return "", false
	}
	ended := *b
	ended.end(sofar)
	return string(mustCompact(ended.doc)), true
}

// mustCompact marshals the types of schema.go, which cannot fail: their numbers make NaN
// null, and raw parts are checked before they come in.
func mustCompact(v any) []byte {
	b, err := compact(v)
	if err != nil {
		panic(err)
	}
	return b
}
