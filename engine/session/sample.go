package session

import (
	"slices"
	"time"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
)

// sample reads the counters of the running test.
func (c *conductor) sample(now time.Time) {
	if c.stage != flowing {
		return // what is left of a test that ends is read at its end
	}
	c.punctual(now.Sub(c.due.tick))
	s, at := c.step, c.since(now)
	s.meter.sample(s.test, at, now)
	s.recent.Add(now, s.meter.scratch)
	c.hearFar()
	c.history.add(at, s.meter)
	for _, dir := range s.seg.Spec.Direction.Dirs() {
		c.tellStall(s, dir, at)
	}
	s.gauge.add(at, s.meter)
	c.searchTick(at)
	c.tickProof(at)
}

// sampleLast reads the counters of a test that has ended, as of the end of its payload.
func (c *conductor) sampleLast(r engine.Result) {
	s := c.step
	end := s.info.Start.Add(s.info.Spec.Omit + r.Elapsed)
	if now := time.Now(); end.After(now) {
		end = now
	}
	at := max(c.since(end), s.meter.lastTick)
	c.hearFar()
	s.meter.sample(s.test, at, c.begin.Add(at))
	s.meter.account(r.Streams, s.info.Spec.Omit > 0)
	c.history.add(at, s.meter)
}

func (c *conductor) tellStall(s *step, dir engine.Direction, at time.Duration) {
	stalled := at-s.meter.dirs[dir].movedAt >= patience(s.info.Spec)
	switch {
	case stalled && !s.still[dir]:
		c.event("%v: nothing has moved for %s, the control connection lives", dir, unit.Duration(patience(s.info.Spec)))
	case !stalled && s.still[dir]:
		c.event("%v: payload moves again", dir)
	}
	s.still[dir] = stalled
}

// patience is how long nothing may move before that is worth a word: a slow paced sender
// sends a block now and then.
func patience(spec engine.Spec) time.Duration {
	if spec.Bitrate <= 0 {
		return stalledAfter
	}
	pause := float64(max(1, spec.Burst)*spec.Block()) * 8 / spec.Bitrate
	return max(stalledAfter, time.Duration(3*min(pause, 3600)*float64(time.Second)))
}

// delta compares the mean of the running step with the one before.
func delta(s *step, dir engine.Direction, mean float64) probes.Reading[float64] {
	before, ok := s.before[dir].mean.Get()
	switch {
	case !ok:
		return s.before[dir].mean
	case !s.meter.averaged():
		return probes.Unknown[float64](probes.NotRead, "not averaged yet")
	}
	return probes.Got(mean/before - 1)
}

// sumsNow sums up the running step by direction.
func (c *conductor) sumsNow() []engine.Sum {
	s := c.step
	dirs := s.seg.Spec.Direction.Dirs()
	sums := make([]engine.Sum, 0, len(dirs))
	for _, dir := range dirs {
		v := &s.meter.dirs[dir]
		sum := engine.Sum{
			Dir:     dir,
			Mean:    s.meter.mean(dir),
			Min:     v.min,
			Max:     v.max,
			Bytes:   v.bytes - v.base,
			Ceiling: c.ceiling(),
		}
		sum.Retransmits, sum.RetransRate = s.meter.retransmits(dir)
		sum.Rate, sum.Fairness = s.meter.spread(dir)
		sum.Delta, sum.DeltaTo = delta(s, dir, sum.Mean), s.before[dir].step
		if s.result != nil && !sum.Retransmits.Known() {
			sum.Retransmits = s.result.Retransmits(dir)
		}
		sums = append(sums, sum)
	}
	return sums
}

// streamsNow lists the streams of the running step.
func (c *conductor) streamsNow() []engine.Stream {
	m := c.step.meter
	streams := make([]engine.Stream, len(m.streams))
	for i := range m.streams {
		s := &m.streams[i]
		streams[i] = engine.Stream{
			Conn:   s.Conn,
			Rate:   s.rate(m.window),
			Bytes:  s.now.bytes - s.base.bytes,
			TCP:    s.TCP,
			Thread: c.sight.thread(s.TID),
			Trail:  s.shown,
		}
		c.tcp(&streams[i], s, m)
	}
	return streams
}

// tcp fills in what only the sender's kernel knows. Of a linerate peer that sends it is the
// far one's.
func (c *conductor) tcp(out *engine.Stream, s *stream, m *meter) {
	switch {
	case s.far.told():
		c.farTCP(out, &s.far, m)
		return
	case !s.retransKnown():
		status, why := s.blind()
		out.Retransmits = probes.Unknown[uint64](status, why)
		out.RetransRate = probes.Unknown[float64](status, why)
		out.Cwnd = probes.Unknown[uint64](status, why)
		out.RTT = probes.Unknown[time.Duration](status, why)
		return
	}
	info := &s.TCP.Value
	out.Retransmits = probes.Got(s.now.retrans)
	out.RetransRate = probes.Got(s.retransRate(m.window))
	out.Cwnd = probes.Got(info.CwndBytes())
	out.RTT = probes.Got(info.RTT)
	out.TCPAge = max(0, c.begin.Add(m.lastTick).Sub(s.TCPAt))
}

// farTCP fills in what the far sender has told.
func (c *conductor) farTCP(out *engine.Stream, f *farSocket, m *meter) {
	out.Retransmits = probes.Got(f.total())
	out.RetransRate = probes.Got(f.rate())
	out.Cwnd, out.RTT = f.Cwnd, f.RTT
	if f.TCP.Known() {
		out.TCP = f.TCP
	}
	now := c.begin.Add(m.lastTick)
	out.TCPAge = max(0, now.Sub(f.At))
	if out.TCPAge > farStale {
		why := "nothing new from the far end"
		out.RetransRate = probes.Unknown[float64](probes.Absent, why)
		out.Cwnd = probes.Unknown[uint64](probes.Absent, why)
		out.RTT = probes.Unknown[time.Duration](probes.Absent, why)
	}
}

// blind says why retransmissions and the congestion window of a stream are not known.
func (s *stream) blind() (probes.Status, string) {
	switch {
	case !s.Sender:
		return probes.Absent, "only the sender, the far end, knows"
	case s.TCP.Known():
		return probes.Absent, "this kernel does not tell"
	default:
		return s.TCP.Status, s.TCP.Why()
	}
}

// retransmits sums one direction, unknown when no stream of it knows.
func (m *meter) retransmits(dir engine.Direction) (probes.Reading[uint64], probes.Reading[float64]) {
	var n uint64
	var perSecond float64
	known := false
	status, why := probes.NotRead, ""
	for i := range m.streams {
		s := &m.streams[i]
		switch {
		case s.Dir != dir:
		case s.far.told():
			known = true
			n += s.far.total()
			perSecond += s.far.rate()
		case s.retransKnown():
			known = true
			n += s.now.retrans
			perSecond += s.retransRate(m.window)
		default:
			status, why = s.blind()
		}
	}
	if !known {
		return probes.Unknown[uint64](status, why), probes.Unknown[float64](status, why)
	}
	return probes.Got(n), probes.Got(perSecond)
}

// spread gives the rate of one direction and Jain's index of its streams: 1 when all get
// the same, 1/n when one gets all; 0 for a single stream and when nothing flows.
func (m *meter) spread(dir engine.Direction) (sum, fairness float64) {
	var squares float64
	n := 0
	for i := range m.streams {
		if s := &m.streams[i]; s.Dir == dir {
			r := s.rate(m.window)
			sum += r
			squares += r * r
			n++
		}
	}
	if n < 2 || squares == 0 {
		return sum, 0
	}
	return sum, sum * sum / (float64(n) * squares)
}

// averaged reports whether the means leave out the omitted part and rest on a second at
// least.
func (m *meter) averaged() bool {
	return m.settled && m.lastTick-max(m.begin+m.omit, m.begin) >= time.Second
}

// atMean gives the sums of a step that is over: its rate is its mean.
func atMean(sums []engine.Sum) []engine.Sum {
	sums = slices.Clone(sums)
	for i := range sums {
		sums[i].Rate = sums[i].Mean
	}
	return sums
}

// quiet gives streams and sums of a step whose traffic was stopped: their totals stay,
// their rates are 0.
func quiet(streams []engine.Stream, sums []engine.Sum) ([]engine.Stream, []engine.Sum) {
	streams, sums = slices.Clone(streams), slices.Clone(sums)
	for i := range streams {
		streams[i].Rate = 0
	}
	for i := range sums {
		sums[i].Rate = 0
	}
	return streams, sums
}

// merge adds the result of a chained test to those of its step before.
func merge(all *engine.Result, r engine.Result) *engine.Result {
	if all == nil {
		return &r
	}
	sum := r
	sum.Elapsed += all.Elapsed
	sum.Info = all.Info
	sum.Streams = slices.Clone(r.Streams)
	for i := range sum.Streams {
		if i >= len(all.Streams) {
			break
		}
		s, old := &sum.Streams[i], &all.Streams[i]
		s.Sent, s.Received = addEnds(old.Sent, s.Sent), addEnds(old.Received, s.Received)
		if old.Retransmits.Known() && s.Retransmits.Known() {
			s.Retransmits = probes.Got(old.Retransmits.Value + s.Retransmits.Value)
		}
	}
	return &sum
}

func addEnds(a, b probes.Reading[engine.End]) probes.Reading[engine.End] {
	if !a.Known() {
		return a
	}
	if !b.Known() {
		return b
	}
	return probes.Got(engine.End{Bytes: a.Value.Bytes + b.Value.Bytes, Seconds: a.Value.Seconds + b.Value.Seconds})
}
