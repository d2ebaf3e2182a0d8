package iperf

import (
	"time"

	"linerate/engine"
	"linerate/probes"
)

// shortInterval is the part of an interval below which iperf3 leaves out a last one
// without bytes.
const shortInterval = 0.10

// mark is the state of one stream's counters at one moment.
type mark struct {
	bytes   uint64
	retrans probes.Reading[uint64]
}

// account is this end's books of a finished test.
type account struct {
	elapsed time.Duration // without the omitted part
	cpu     engine.CPUUse
	streams []streamAccount // in the order of the flows
}

type streamAccount struct {
	bytes      uint64
	retrans    probes.Reading[uint64]
	extremes   engine.TCPExtremes
	reordering probes.Reading[uint32]
}

// meter cuts the counters into intervals. It alone decides where the omitted part ends,
// so that the intervals after it add up to the account exactly.
type meter struct {
	t       *traffic
	every   time.Duration // ≤ 0: no periodic reports
	planned time.Duration // from start to the stop, 0 unknown

	omitted bool
	origin  time.Time // zero of the interval clock: start, or the end of the omitted part
	lastAt  time.Time // end of the last interval
	last    []mark
	base    []mark // at origin
	rtts    []rttSum

	stop chan time.Time
	done chan struct{}
	acc  account
}

// rttSum collects what iperf3 tells of a sender at the end.
type rttSum struct {
	x   engine.TCPExtremes
	sum time.Duration
}

func newMeter(t *traffic, planned time.Duration) *meter {
	m := &meter{
		t: t, every: t.info.Spec.Interval, planned: planned,
		omitted: t.info.Spec.Omit > 0,
		origin:  t.info.Start, lastAt: t.info.Start,
		rtts: make([]rttSum, len(t.flows)),
		stop: make(chan time.Time, 1), done: make(chan struct{}),
	}
	for _, f := range t.flows {
		m.last = append(m.last, mark{retrans: retransmits(f, probes.Got(f.base))})
	}
	m.base = m.last
	return m
}

// run reports until finish.
func (m *meter) run() {
	defer close(m.done)
	omitEnd := m.t.info.Start.Add(m.t.info.Spec.Omit)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for n := 1; ; {
		var wake <-chan time.Time
		if at, ok := m.next(n, omitEnd); ok {
			timer.Reset(time.Until(at))
			wake = timer.C
		}
		select {
		case end := <-m.stop:
			m.close(end)
			return
		case now := <-wake:
			if m.omitted && !now.Before(omitEnd) {
				m.endOmit(now)
				n = 1
				continue
			}
			m.report(now, m.read(false))
			n = int(now.Sub(m.origin)/m.every) + 1
		}
	}
}

// next gives the time of the next thing to do: the nth report, or the end of the
// omitted part. A report that would fall just before the planned end or onto the end
// of the omitted part is left to it.
func (m *meter) next(n int, omitEnd time.Time) (time.Time, bool) {
	near := time.Duration(float64(m.every) * shortInterval)
	tick := m.origin.Add(time.Duration(n) * m.every)
	switch {
	case m.omitted && (m.every <= 0 || omitEnd.Sub(tick) < near):
		return omitEnd, true
	case m.every <= 0:
		return time.Time{}, false
	case m.planned > 0 && m.planned-tick.Sub(m.t.info.Start) < near:
		return time.Time{}, false
	}
	return tick, true
}

// reading is what all streams say at one moment.
type reading struct {
	marks []mark
	tcp   []probes.Reading[engine.TCPInfo]
}

// read takes the counters and the watcher's last TCP_INFO, or with fresh the socket's
// own: that may wait for the socket's lock, so only once the loops have ended.
func (m *meter) read(fresh bool) reading {
	var r reading
	for i, f := range m.t.flows {
		info, _, err := m.t.watch.read(i)
		if fresh {
			if now, infoErr := f.link.info(); infoErr == nil {
				info, err = now, nil
			}
		}
		tcp := probes.Read(info, err)
		r.tcp = append(r.tcp, tcp)
		r.marks = append(r.marks, mark{bytes: f.link.bytes(), retrans: retransmits(f, tcp)})
	}
	return r
}

// retransmits reads the count of segments sent again since the connection was made.
func retransmits(f *flow, tcp probes.Reading[engine.TCPInfo]) probes.Reading[uint64] {
	switch {
	case !f.Sender:
		return probes.Unknown[uint64](probes.Absent, "only the sending end counts them")
	case !tcp.Known():
		return probes.Unknown[uint64](tcp.Status, tcp.Reason)
	case !tcp.Value.Has(engine.InfoBase):
		return probes.Unknown[uint64](probes.Unsupported, "this system does not count them")
	}
	return probes.Got(uint64(tcp.Value.TotalRetrans))
}

// since gives the segments between two readings. The first reading after the start may
// be missing, the watcher not having come by: the counter then counts from its base.
func (r mark) since(earlier mark) probes.Reading[uint64] {
	if !r.retrans.Known() || !earlier.retrans.Known() {
		return r.retrans
	}
	return probes.Got(r.retrans.Value - min(earlier.retrans.Value, r.retrans.Value))
}

// report closes the interval that ends at now.
func (m *meter) report(now time.Time, r reading) {
	iv := engine.Interval{Start: m.lastAt.Sub(m.origin), End: now.Sub(m.origin), Omitted: m.omitted}
	for i, f := range m.t.flows {
		iv.Streams = append(iv.Streams, engine.StreamInterval{
			Conn:        f.Conn,
			Bytes:       r.marks[i].bytes - m.last[i].bytes,
			Retransmits: r.marks[i].since(m.last[i]),
			TCP:         r.tcp[i],
		})
		if f.Sender && !m.omitted {
			m.rtts[i].add(r.tcp[i])
		}
	}
	m.last, m.lastAt = r.marks, now
	m.t.feed.do(func(s engine.Sink) { s.Interval(iv) })
}

// endOmit closes the omitted part: what is counted from here on is the result, and the
// clock of the intervals starts again.
func (m *meter) endOmit(now time.Time) {
	var r reading
	m.t.startBudgets(func() { r = m.read(false) })
	if m.every > 0 {
		m.report(now, r)
	}
	m.omitted = false
	m.origin, m.lastAt = now, now
	m.base, m.last = r.marks, r.marks
}

// close reports the last interval and makes up the account. A test that ends within
// its omitted part is accounted from its start, as iperf3 does.
func (m *meter) close(end time.Time) {
	if end.Before(m.lastAt) {
		end = m.lastAt // a report that was due slipped in behind the last byte
	}
	r := m.read(true)
	var bytes uint64
	for i := range r.marks {
		bytes += r.marks[i].bytes - m.last[i].bytes
	}
	short := time.Duration(float64(m.every) * shortInterval)
	if bytes > 0 || end.Sub(m.lastAt) >= max(short, 1) {
		m.report(end, r)
	}
	m.acc.elapsed = end.Sub(m.origin)
	for i, f := range m.t.flows {
		a := streamAccount{
			bytes:    r.marks[i].bytes - m.base[i].bytes,
			retrans:  r.marks[i].since(m.base[i]),
			extremes: m.rtts[i].extremes(),
		}
		a.reordering = probes.Unknown[uint32](probes.Absent, "only the sending end sees it")
		if f.Sender {
			a.reordering = probes.Unknown[uint32](r.tcp[i].Status, r.tcp[i].Reason)
			if info, ok := r.tcp[i].Get(); ok {
				a.reordering = probes.Got(info.Reordering)
			}
		}
		m.acc.streams = append(m.acc.streams, a)
	}
}

// finish ends the meter at the given time, the loops having ended, and returns the
// account.
func (m *meter) finish(at time.Time) account {
	m.stop <- at
	<-m.done
	return m.acc
}

func (r *rttSum) add(tcp probes.Reading[engine.TCPInfo]) {
	info, ok := tcp.Get()
	if !ok {
		return
	}
	x := &r.x
	if x.Samples == 0 || info.RTT < x.MinRTT {
		x.MinRTT = info.RTT
	}
	x.Samples++
	x.MaxRTT = max(x.MaxRTT, info.RTT)
	x.MaxCwnd = max(x.MaxCwnd, info.CwndBytes())
	x.MaxSndWnd = max(x.MaxSndWnd, uint64(info.SndWnd))
	r.sum += info.RTT
}

func (r rttSum) extremes() engine.TCPExtremes {
	if r.x.Samples > 0 {
		r.x.MeanRTT = r.sum / time.Duration(r.x.Samples)
	}
	return r.x
}
