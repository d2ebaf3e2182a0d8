package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
)

// SummaryWidth is the widest summary, in columns; below leastWidth its tables would say
// nothing.
const (
	SummaryWidth = 100
	leastWidth   = 60
)

// Summary writes what stays on the normal screen after the dashboard: plain text of at
// most width columns, between 60 and SummaryWidth (but for commands, which stay whole),
// fit to be copied. Per direction
// of the last step it gives the receiver's count, the average and what is possible, then
// the verdicts, all steps, the streams and how it ended. What is unknown is a dash with
// its reason. The error is that of the writer.
func Summary(w io.Writer, s engine.Summary, width int) error {
	t := &summary{last: s.Last, err: s.Err, page: page{width: min(max(width, leastWidth), SummaryWidth)}}
	if t.err == nil && t.last != nil {
		t.err = t.last.Err
	}
	t.write()
	out := output{w: w}
	out.write(t.buf.Bytes())
	return out.err
}

type summary struct {
	page
	last *engine.Snapshot
	err  error
}

func (t *summary) write() {
	switch {
	case t.last == nil || t.last.Segment() == nil:
		t.line("linerate: no test ran")
	default:
		t.heading()
		t.totals()
		t.verdicts()
		t.steps()
		t.streams()
	}
	if t.err != nil {
		t.line("")
		t.wrapped("ended early: ", t.err.Error())
	}
}

// heading names the test: where, what, how long.
func (t *summary) heading() {
	s, seg := t.last, t.last.Segment()
	where := s.Peer.Host
	if s.Peer.Addr.IsValid() {
		addr := plainAddr(s.Peer.Addr.Addr())
		if where != addr {
			where += " " + addr
		}
		where += fmt.Sprintf(" port %d", s.Peer.Addr.Port())
	}
	if s.Peer.Agent != "" {
		where += " (" + s.Peer.Agent + ")"
	}
	parts := []string{where, "TCP " + seg.Spec.Direction.String(), plural(seg.Spec.Streams, "stream")}
	if seg.Spec.Direction == engine.Both {
		parts[2] += " each way"
	}
	if s.Label != "" {
		parts = append(parts, s.Label)
	}
	parts = append(parts, unit.Clock(s.Elapsed), unit.Bytes(s.Moved)+" moved")
	t.phrases("linerate: ", parts)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// totals gives the last step, direction by direction.
func (t *summary) totals() {
	seg := t.last.Segment()
	for _, dir := range seg.Spec.Direction.Dirs() {
		t.line("")
		head := fmt.Sprintf("  %-10s", dir)
		received := segmentReceived(seg, dir)
		if e, ok := received.Get(); ok {
			t.wrapped(head, fmt.Sprintf("%s received: %s in %s by the receiver's count",
				unit.Rate(e.BitsPerSecond()), unit.Bytes(e.Bytes), unit.Duration(elapsed(e.Seconds))))
		} else {
			t.wrapped(head, fmt.Sprintf("%s received (%s)", unit.None, received.Why()))
		}
		t.phrases(strings.Repeat(" ", 12), averages(seg, dir))
	}
	t.cpu(seg)
	t.path()
}

// averages is the line below the headline. The screen leaves the first seconds of a step
// out of its averages; the receiver's count has them.
func averages(seg *engine.Segment, dir engine.Direction) (parts []string) {
	sum := segmentSum(seg, dir)
	if sum != nil && sum.Mean > 0 {
		parts = append(parts, unit.Rate(sum.Mean)+" average without the ramp")
		if c, ok := sum.Ceiling.Get(); ok && c > 0 {
			parts = append(parts, fmt.Sprintf("%.0f %% of the %s possible", 100*sum.Mean/c, unit.Rate(c)))
		}
	}
	retr := segmentRetransmits(seg, dir)
	if n, ok := retr.Get(); ok {
		parts = append(parts, plural(int(n), "retransmit"))
	} else {
		parts = append(parts, fmt.Sprintf("%s retransmits (%s)", unit.None, retr.Why()))
	}
	return parts
}

// cpu tells what the two processes used in the last step, as the ends exchange it.
func (t *summary) cpu(seg *engine.Segment) {
	if seg.Results == nil {
		return
	}
	far := unit.None + " there (" + seg.Results.RemoteCPU.Why() + ")"
	if u, ok := seg.Results.RemoteCPU.Get(); ok {
		far = percent(u.Total) + " there"
	}
	t.line("")
	t.wrapped("  cpu       ", percent(seg.Results.LocalCPU.Total)+" of one core here, "+far)
}

// path tells what probing the way to the server has shown: round trips without load and
// under it, the largest packets that pass, the routers in between.
func (t *summary) path() {
	s := t.last
	if s.Peer.Loopback || !s.Peer.Addr.IsValid() {
		return
	}
	var parts []string
	trip := s.PathRTT
	if idle, ok := trip.Idle.Get(); ok {
		parts = append(parts, "round trip "+unit.Duration(idle)+" idle")
	}
	if loaded, ok := trip.Loaded.Get(); ok {
		parts = append(parts, unit.Duration(loaded)+" under load")
	}
	if added, ok := trip.Added().Get(); ok {
		parts = append(parts, "the queue adds "+unit.Duration(added)+", "+probes.BloatGrade(added))
	}
	for _, way := range []struct {
		name    string
		largest probes.Reading[int]
		hole    bool
	}{{"out", s.PathMTU.Out, s.PathMTU.BlackHole}, {"back", s.PathMTU.In, s.PathMTU.InBlackHole}} {
		n, ok := way.largest.Get()
		switch {
		case ok && way.hole:
			parts = append(parts, fmt.Sprintf("packets above %d bytes vanish on the way %s", n, way.name))
		case ok:
			parts = append(parts, fmt.Sprintf("MTU %d %s", n, way.name))
		}
	}
	if hops, ok := trip.Hops.Get(); ok {
		parts = append(parts, between(hops))
	}
	if len(parts) > 0 {
		t.phrases("  path      ", parts)
	}
}

// between is how many routers stand in the way.
func between(hops int) string {
	if hops == 0 {
		return "no router"
	}
	return plural(hops, "router")
}

// percent prints a percentage with two digits at least.
func percent(p float64) string {
	if p < 10 {
		return fmt.Sprintf("%.1f %%", p)
	}
	return fmt.Sprintf("%.0f %%", p)
}

func elapsed(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

func segmentSum(seg *engine.Segment, dir engine.Direction) *engine.Sum {
	i := slices.IndexFunc(seg.Sums, func(s engine.Sum) bool { return s.Dir == dir })
	if i < 0 {
		return nil
	}
	return &seg.Sums[i]
}

func segmentReceived(seg *engine.Segment, dir engine.Direction) probes.Reading[engine.End] {
	if seg.Results == nil {
		return probes.Unknown[engine.End](probes.NotRead, "the ends have not compared their counts")
	}
	return seg.Results.Received(dir)
}

func segmentRetransmits(seg *engine.Segment, dir engine.Direction) probes.Reading[uint64] {
	if seg.Results != nil {
		if r := seg.Results.Retransmits(dir); r.Known() {
			return r
		}
	}
	if sum := segmentSum(seg, dir); sum != nil {
		return sum.Retransmits
	}
	return probes.Unknown[uint64](probes.NotRead, "nothing was counted")
}

// verdicts gives the sentences of the last step, what else holds, and what can be done.
func (t *summary) verdicts() {
	several := len(t.last.Verdicts) > 1
	for i := range t.last.Verdicts {
		v := &t.last.Verdicts[i]
		t.line("")
		first := rank(&v.Main)
		switch {
		case several && first != "":
			first = v.Dir.String() + ", " + first
		case several:
			first = v.Dir.String() + ": "
		}
		t.wrapped(first, offScreen.Replace(v.Main.Text))
		t.remedies(v.Main.Remedy)
		for j := range v.Also {
			t.wrapped("  also "+rank(&v.Also[j]), v.Also[j].Title)
		}
	}
	if b := t.last.Best; b.Found > 0 {
		t.line("")
		t.wrapped("best stream count: ", fmt.Sprintf("%d (%s); %s", b.Found, unit.Rate(b.Rate), b.Reason))
	}
}
