package session

import (
	"slices"
	"time"

	"linerate/engine"
	"linerate/probes"
)

const (
	gaugeEvery = 500 * time.Millisecond
	// gaugeKept marks reach over what is left out of a proof's step and what is measured.
	gaugeKept = int((proofSettle+proofTime)/gaugeEvery) + 4
)

// gauge keeps the last seconds of a step, so that it can be compared with another one.
type gauge struct {
	marks []gaugeMark // oldest first
}

// gaugeMark is both directions at one moment of the session.
type gaugeMark struct {
	at    time.Duration
	bytes [2]uint64 // payload, by direction
	tcp   [2]wayTCP
}

// wayTCP adds up the sockets that send in one direction, as far as this computer has them.
type wayTCP struct {
	senders, unseen    int
	segments, repeated uint64        // with data; sent again
	rtt, least         time.Duration // sums over the senders that were read
	why                string        // of one that was not
}

// pace is one direction of a step over some seconds, or both together.
type pace struct {
	rate     float64                       // bits/s
	span     time.Duration                 // it was measured over
	segments float64                       // sent in it; 0 where loss is unknown
	loss     probes.Reading[float64]       // segments sent again as a share of all
	queue    probes.Reading[time.Duration] // mean round trip less the least one
}

// add notes the counters that the meter has taken at session time at.
func (g *gauge) add(at time.Duration, m *meter) {
	if n := len(g.marks); n > 0 && at-g.marks[n-1].at < gaugeEvery-tick/2 {
		return
	}
	mark := gaugeMark{at: at, bytes: [2]uint64{m.dirs[0].bytes, m.dirs[1].bytes}}
	for i := range m.streams {
		mark.tcp[m.streams[i].Dir&1].add(&m.streams[i])
	}
	if len(g.marks) == gaugeKept {
		g.marks = slices.Delete(g.marks, 0, 1)
	}
	g.marks = append(g.marks, mark)
}

func (w *wayTCP) add(s *stream) {
	info, ok := s.sender()
	if !ok || !info.Has(engine.InfoMinRTT) {
		w.unseen++
		_, w.why = s.blind()
		return
	}
	w.senders++
	w.segments += uint64(info.DataSegsOut)
	w.repeated += uint64(info.TotalRetrans)
	w.rtt += info.RTT
	w.least += info.MinRTT
}

// since measures from session time from on; false when nothing of it is there. dir may be
// Both: then the rate is that of the two together, and the rest is unknown.
func (g *gauge) since(from time.Duration, dir engine.Direction) (p pace, ok bool) {
	first := slices.IndexFunc(g.marks, func(m gaugeMark) bool { return m.at >= from })
	if first < 0 || first == len(g.marks)-1 {
		return pace{}, false
	}
	marks := g.marks[first:]
	a, b := &marks[0], &marks[len(marks)-1]
	p.span = b.at - a.at
	for _, d := range dir.Dirs() {
		p.rate += 8 * per(b.bytes[d]-min(a.bytes[d], b.bytes[d]), p.span)
	}
	const both = "of two directions together"
	p.loss = probes.Unknown[float64](probes.Absent, both)
	p.queue = probes.Unknown[time.Duration](probes.Absent, both)
	if dir != engine.Both {
		p.loss, p.segments = lossBetween(&a.tcp[dir], &b.tcp[dir])
		p.queue = queueOver(marks, dir)
	}
	return p, true
}

func lossBetween(a, b *wayTCP) (loss probes.Reading[float64], segments float64) {
	switch {
	case b.senders == 0 || b.unseen > 0 || a.unseen > 0:
		return probes.Unknown[float64](probes.Absent, b.why), 0
	case b.segments <= a.segments:
		return probes.Unknown[float64](probes.Absent, "nothing was sent"), 0
	}
	segments = float64(b.segments - a.segments)
	return probes.Got(float64(b.repeated-min(a.repeated, b.repeated)) / segments), segments
}

func queueOver(marks []gaugeMark, dir engine.Direction) probes.Reading[time.Duration] {
	var sum time.Duration
	n := 0
	for i := range marks {
		if w := &marks[i].tcp[dir]; w.senders > 0 {
			sum += (w.rtt - w.least) / time.Duration(w.senders)
			n++
		}
	}
	if n == 0 {
		return probes.Unknown[time.Duration](probes.Absent, marks[len(marks)-1].tcp[dir].why)
	}
	return probes.Got(max(0, sum/time.Duration(n)))
}
