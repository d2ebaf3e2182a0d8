package diagnose

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// These tests write evidence as somebody outside would who knows only what a case tells: from
// an empty document, with the observed numbers and nothing else. Each case is also looked at
// from the other end, in the other direction, over IPv6, with the age and the seconds left
// out, and with its numbers a little off.

// outside is a client that uploads one stream, 20 s old, of which nothing else is known.
func outside(edits ...func(*Evidence)) Evidence {
	e := Evidence{Test: Test{Role: engine.Client, Spec: engine.Spec{Streams: 1, Affinity: -1, SrvAffinity: -1}.Defaults(), Step: 1, Age: 20 * time.Second}}
	for _, edit := range edits {
		edit(&e)
	}
	return e
}

// flows gives a direction a rate and its steady seconds.
func flows(dir engine.Direction, bps float64) func(*Evidence) {
	return func(e *Evidence) {
		f := &e.Flows[dir]
		f.Rate, f.Window, f.Idle = probes.Got(bps), 3*time.Second, probes.Got(time.Duration(0))
		f.Seconds = []float64{bps, 1.003 * bps, .997 * bps, bps, 1.001 * bps, bps}
	}
}

// sockets gives a direction's sender n sockets of the same kind, from what ss prints.
func sockets(dir engine.Direction, n int, edits ...func(*StreamWindow)) func(*Evidence) {
	return func(e *Evidence) {
		all := make([]StreamWindow, n)
		for i := range all {
			w := &all[i]
			w.ID, w.Span, w.Info = 2*i+1, 3*time.Second, probes.Got(280)
			w.Now = engine.TCPInfo{Size: 280, Options: 7, SndMSS: 1448, SndSSThresh: noThreshold, MaxPacingRate: 1<<64 - 1, BusyTime: 2900 * time.Millisecond, DataSegsOut: 10000}
			for _, edit := range edits {
				edit(w)
			}
		}
		e.Flows[dir].Sender = probes.Got(all)
	}
}

// readers gives a direction's receiver n sockets with these buffers.
func readers(dir engine.Direction, n int, m engine.SockMem) func(*Evidence) {
	return func(e *Evidence) {
		all := make([]StreamWindow, n)
		for i := range all {
			all[i] = StreamWindow{ID: 2*i + 1, Span: 3 * time.Second, Mem: probes.Got(m), MemBefore: probes.Got(m)}
		}
		e.Flows[dir].Receiver = probes.Got(all)
	}
}

// trip sets the round trip time and the least one.
func trip(rtt, least time.Duration) func(*StreamWindow) {
	return func(w *StreamWindow) { w.Now.RTT, w.Now.MinRTT = rtt, least }
}

// resent sets the segments sent and those sent again, as totals.
func resent(sent, again uint32) func(*StreamWindow) {
	return func(w *StreamWindow) { w.Now.DataSegsOut, w.Now.TotalRetrans = sent, again }
}

// wire gives an end a card of so many bits/s.
func wire(side engine.Side, bps float64, mtu int) func(*Evidence) {
	return nic(side, func(n *probes.NIC) {
		n.SpeedBps, n.MTU, n.Duplex = probes.Got(bps), probes.Got(mtu), probes.Got("full")
	})
}

// idleCores is n cores that have little to do.
func idleCores(n int) []float64 {
	busy := make([]float64, n)
	for i := range busy {
		busy[i] = .04
	}
	return busy
}

// oneFull is n cores of which one is full.
func oneFull(n, which int) []float64 {
	busy := idleCores(n)
	busy[which] = .99
	return busy
}

// exam is one case.
type exam struct {
	name  string
	e     Evidence
	want  string
	side  engine.Side // of the verdict
	says  []string
	also  []string // codes of warnings that may stand beside it
	fixed bool     // it speaks of this end or this direction only: no mirror images
}

// image is a case seen otherwise.
type image struct {
	name string
	e    Evidence
	flip bool // what was this end is the far one
}

// images are the ways to look at a case.
func (x exam) images() []image {
	all := []image{{name: "as told", e: x.e}}
	if !x.e.Test.Idle && x.e.Test.Age >= rampEnd*time.Second {
		bare := copied(x.e)
		bare.Test.Age = 0
		for dir := range bare.Flows {
			bare.Flows[dir].Seconds = nil
		}
		if x.want != FlowCap { // which rests on the seconds
			all = append(all, image{name: "without age and seconds", e: bare})
		}
	}
	six := copied(x.e)
	six.Test.Spec.Family = 6
	if c, ok := six.Path.Ceiling.Get(); !ok || c.Framing.Family != 6 {
		if x.want != LineRate && x.want != LinkBelow { // whose numbers are IPv4's
			if ok {
				f := c.Framing
				f.Family = 6
				six.Path.Ceiling = probes.Got(NewCeiling(c.LinkBps, f))
			}
			all = append(all, image{name: "IPv6", e: six})
		}
	}
	if x.fixed {
		return all
	}
	// The server's view: it is this end, and the client the far one.
	server := swapped(copied(x.e))
	server.Test.Role = engine.Server
	all = append(all, image{"seen by the server", server, true})
	if x.e.Test.Spec.Direction != engine.Both {
		down := swapped(copied(x.e))
		back := engine.Download - down.Test.Spec.Direction
		down.Flows[0], down.Flows[1] = down.Flows[1], down.Flows[0]
		for i := range down.Steps {
			s := &down.Steps[i]
			s.Rates[0], s.Rates[1] = s.Rates[1], s.Rates[0]
			if s.Spec.Direction != engine.Both {
				s.Spec.Direction = engine.Download - s.Spec.Direction
			}
		}
		for side := range down.Ends {
			for i := range down.Ends[side].Threads.Value {
				t := &down.Ends[side].Threads.Value[i]
				t.Dir = engine.Download - t.Dir
			}
		}
		down.Test.Spec.Direction = back
		all = append(all, image{"the other direction", down, true})
	}
	return all
}

// swapped puts the far end here and this one there.
func swapped(e Evidence) Evidence {
	e.Ends[0], e.Ends[1] = e.Ends[1], e.Ends[0]
	m := &e.Path.MTU
	m.Out, m.In = m.In, m.Out
	m.BlackHole, m.InBlackHole = m.InBlackHole, m.BlackHole
	m.Reported, m.InReported = m.InReported, m.Reported
	m.TooBig, m.InTooBig = m.InTooBig, m.TooBig
	return e
}

// copied sends evidence through a document: what comes out shares nothing with it.
func copied(e Evidence) Evidence {
	var b bytes.Buffer
	if err := Encode(&b, Document{Evidence: e}); err != nil {
		panic(err)
	}
	d, err := Decode(&b)
	if err != nil {
		panic(err)
	}
	return d.Evidence
}

func (x exam) run(t *testing.T) {
	t.Helper()
	for _, i := range x.images() {
		for _, v := range gravest(Verdicts(i.e)) {
			side := x.side
			if i.flip && side != engine.Path {
				side = engine.Far - side
			}
			name := x.name + ", " + i.name
			if v.Main.Code != x.want || v.Main.Side != side {
				t.Errorf("%s: got %s (%v) of the %v side, want %s of the %v: %s\n%s", name, v.Main.Code, v.Main.Confidence, v.Main.Side, x.want, side, v.Main.Text, alsoOf(v))
				continue
			}
			checkFinding(t, name, v.Main)
			for _, part := range x.says {
				if !i.flip && i.name != "IPv6" && !strings.Contains(v.Main.Text, part) {
					t.Errorf("%s: %q does not say %q", name, v.Main.Text, part)
				}
			}
			for _, f := range v.Also {
				checkFinding(t, name, f)
				if f.Severity >= engine.SeverityWarning && !slices.Contains(x.also, f.Code) {
					t.Errorf("%s: also a %v: %s (%v) %s", name, f.Severity, f.Code, f.Confidence, f.Text)
				}
			}
			if i.name == "as told" && testing.Verbose() {
				t.Logf("%s: %s %v %v: %s | %s", x.name, v.Main.Code, v.Main.Severity, v.Main.Confidence, v.Main.Text, v.Main.Short)
				for _, r := range v.Main.Remedy {
					t.Logf("      %s | %s | %s", r.Text, r.Temporary, r.Persistent)
				}
			}
		}
	}
}

// gravest keeps the verdict that is reported first.
func gravest(all []engine.Verdict) []engine.Verdict {
	best := all[:1]
	for i := range all {
		if all[i].Main.Severity > best[0].Main.Severity {
			best = all[i : i+1]
		}
	}
	return best
}

func alsoOf(v engine.Verdict) string {
	var b strings.Builder
	for _, f := range v.Also {
		fmt.Fprintf(&b, "    also %s %v %v: %s\n", f.Code, f.Severity, f.Confidence, f.Text)
	}
	return b.String()
}
