package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"time"

	"linerate/engine"
)

// TextOptions say how iperf3's text looks; the zero value is iperf3 without flags.
type TextOptions struct {
	Format     byte   // -f: one of k m g t K M G T; 0: adaptive bits
	Verbose    bool   // -V
	Title      string // -T: begins every line; a server has none
	Timestamps string // --timestamps: a strftime format that begins every line; "" none
	Version    string // first line of -V: name and version of this program
	System     string // second line of -V: what uname -a says
	OneOff     bool   // -1: a ServerText announces no further test
	Verdict    bool   // what the rules say follows the results, which iperf3 has not
}

// Text is an [engine.Sink] that writes iperf3's text, as client or as server according
// to the role of the test. It writes whole lines, one Write per call of the Sink, and
// takes any number of tests one after the other. Errors of a test are not printed: they
// belong on stderr. Not safe for concurrent use; see [ServerText].
type Text struct {
	out *output
	opt TextOptions

	buf        bytes.Buffer // lines of the running call
	info       engine.TestInfo
	greeted    bool
	intervals  int           // printed in this test
	transcript *bytes.Buffer // what the client asked to see; nil when it did not
}

// NewText makes a sink that writes to w.
func NewText(w io.Writer, opt TextOptions) *Text {
	return &Text{out: &output{w: w}, opt: opt}
}

// Err gives the first error of a write; nothing was written after it.
func (t *Text) Err() error { return t.out.err }

// Transcript gives what has been written about the running test and what End would add,
// when its client asked for it (see [engine.Transcript]).
func (t *Text) Transcript(sofar engine.Result) (string, bool) {
	if t.transcript == nil {
		return "", false
	}
	t.ending(sofar)
	t.transcript.Write(t.buf.Bytes())
	t.buf.Reset()
	output := t.transcript.String()
	t.transcript = nil
	return output, false
}

// Greet writes the two lines that iperf3 -V begins with, before it connects; Begin and
// End do it when nobody has. A server greets with every [ServerText.Listening].
func (t *Text) Greet() {
	t.greet()
	t.flush()
}

func (t *Text) greet() {
	if t.greeted || !t.opt.Verbose {
		return
	}
	t.greeted = true
	t.line("%s", t.opt.Version)
	// iperf3 begins this line twice, the first time with nothing to say.
	t.buf.WriteString(t.stamp())
	t.line("%s", t.opt.System)
}

// Begin writes the lines up to the first interval's header.
func (t *Text) Begin(info engine.TestInfo) {
	t.info, t.intervals, t.transcript = info, 0, nil
	if info.Role == engine.Server {
		if info.Spec.ServerOutput {
			t.transcript = new(bytes.Buffer)
		}
		t.beginServer()
	} else {
		t.greet()
		t.beginClient()
	}
	for _, c := range info.Conns {
		t.line("%s", connectedLine(c))
	}
	if t.opt.Verbose {
		t.line("%s", startLine(info.Spec))
	}
	t.flush()
}

func (t *Text) beginClient() {
	if t.opt.Verbose {
		// iperf3 prints this line past its own printer: no timestamp, no title.
		fmt.Fprintf(&t.buf, "Control connection MSS %d\n", t.info.MSS)
		t.line("Time: %s", httpTime(t.info.Start))
	}
	spec := t.info.Spec
	t.line("Connecting to host %s, port %d", spec.Host, spec.Port)
	if spec.Direction == engine.Download {
		t.line("Reverse mode, remote host %s is sending", spec.Host)
	}
	t.agreed()
}

func (t *Text) beginServer() {
	if t.opt.Verbose {
		t.line("Time: %s", httpTime(t.info.Start))
	}
	peer := t.info.Control.Remote
	t.line("Accepted connection from %s, port %d", plainAddr(peer.Addr()), peer.Port())
	t.agreed()
}

func (t *Text) agreed() {
	if !t.opt.Verbose {
		return
	}
	t.line("      Cookie: %s", t.info.Cookie)
	if mss := t.info.Spec.MSS; mss > 0 {
		t.line("      TCP MSS: %d", mss)
	} else {
		t.line("      TCP MSS: %d (default)", t.info.MSS)
	}
	if b := t.info.Spec.Bitrate; b > 0 {
		t.line("      Target Bitrate: %.0f", b)
	}
}

// Interval writes the lines of one reporting interval, under a header when it is the
// test's first.
func (t *Text) Interval(iv engine.Interval) {
	spec := t.info.Spec
	switch {
	case t.intervals == 0:
		t.line("%s", header(spec.Direction == engine.Both, knowsRetransmits(iv), true))
	case spec.Streams > 1:
		t.line("%s", separator)
	}
	t.intervals++
	for _, dir := range spec.Direction.Dirs() {
		t.intervalOf(iv, dir)
	}
	t.flush()
}

// knowsRetransmits reports whether this end sends and can count what it sends again.
func knowsRetransmits(iv engine.Interval) bool {
	for _, s := range iv.Streams {
		if s.Sender && counts(s.Retransmits) {
			return true
		}
	}
	return false
}

func (t *Text) intervalOf(iv engine.Interval, dir engine.Direction) {
	m := measure{start: iv.Start.Seconds(), end: iv.End.Seconds()}
	tag := ""
	if iv.Omitted {
		tag = "(omitted)"
	}
	sender := false
	for _, s := range iv.Streams {
		if s.Dir != dir {
			continue
		}
		sender = s.Sender
		m.id, m.bytes = streamID(s.Socket)+t.role(s.Sender), s.Bytes
		t.line("%s%s", m.prefix(t.opt.Format), intervalTail(s, tag))
	}
	if t.info.Spec.Streams > 1 {
		m.id, m.bytes = "[SUM]"+t.role(sender), iv.Bytes(dir)
		t.line("%s%s", m.prefix(t.opt.Format), sumTail(sender, iv.Retransmits(dir), tag))
	}
}

func (t *Text) role(sender bool) string {
	if t.info.Spec.Direction != engine.Both {
		return ""
	}
	return roleTag(t.info.Role, sender)
}

// End writes the final table and what follows it. A test that failed before its payload
// flowed leaves nothing to write.
func (t *Text) End(r engine.Result) {
	t.ending(r)
	t.flush()
	t.transcript = nil
}

func (t *Text) ending(r engine.Result) {
	if t.info.Role == engine.Client {
		t.greet()
	}
	if len(r.Streams) > 0 {
		t.final(r)
	}
	if r.Err == nil && t.info.Role == engine.Client {
		t.peerOutput(r)
		t.line("")
		t.line("iperf Done.")
	}
	t.verdict(r)
}

// verdict writes what the rules say. A test that failed has had no time for some answers:
// those that name no cause are left out.
func (t *Text) verdict(r engine.Result) {
	said := r.Findings
	if r.Err != nil {
		said = slices.DeleteFunc(slices.Clone(said), func(f engine.Finding) bool { return f.Severity == engine.SeverityOK })
	}
	if !t.opt.Verdict || len(said) == 0 {
		return
	}
	t.line("")
	for _, l := range verdicts(said) {
		t.line("%s", l)
	}
}

// peerOutput writes what --get-server-output brought. Its lines are the server's: they
// get no timestamp and no title here.
func (t *Text) peerOutput(r engine.Result) {
	if r.PeerOutput == "" {
		return
	}
	t.line("")
	name := "Server output:"
	if r.PeerOutputJSON {
		name = "Server JSON output:"
	}
	fmt.Fprintf(&t.buf, "%s\n%s\n", name, cleanBlock(r.PeerOutput))
}

// line appends one line, cleaned, behind the timestamp and the title.
func (t *Text) line(format string, args ...any) {
	t.buf.WriteString(t.stamp())
	t.buf.WriteString(clean(fmt.Sprintf(format, args...)))
	t.buf.WriteByte('\n')
}

func (t *Text) stamp() string {
	s := ""
	if t.opt.Timestamps != "" {
		s = cleanBlock(strftime(t.opt.Timestamps, time.Now()))
	}
	if t.opt.Title != "" {
		s += clean(t.opt.Title) + ":  "
	}
	return s
}

func (t *Text) flush() {
	t.out.write(t.buf.Bytes())
	if t.transcript != nil {
		t.transcript.Write(t.buf.Bytes())
	}
	t.buf.Reset()
}
