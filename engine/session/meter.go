package session

import (
	"slices"
	"time"

	"linerate/engine"
	"linerate/probes"
)

const (
	// ringLen bounds what a stream remembers for its sliding window: at the default of
	// 1 s every tick, at 60 s every tenth.
	ringLen = 64
	// settleRead is how long a sending stream counts nothing while its socket has not
	// been read yet. Then it counts accepted bytes instead of acknowledged ones.
	settleRead = 500 * time.Millisecond
	// shortest is the least time between two readings that makes a rate of them: bytes
	// move in bursts of up to 4 MB.
	shortest = 40 * time.Millisecond
	// stalledAfter is how long nothing may move before the step is called stalled.
	stalledAfter = 2 * time.Second
)

// mark is one stream at one moment of the session.
type mark struct {
	at      time.Duration
	bytes   uint64 // payload that arrived: acknowledged (sender) or read (receiver)
	retrans uint64 // segments
}

// stream is one data connection as the meter follows it.
type stream struct {
	engine.Counters // as sampled last
	now             mark
	inst            mark    // where the rate of the last tick begins
	tick            float64 // bits/s since the tick before
	tickRetrans     float64 // segments/s likewise
	base            mark    // end of the omitted part; the begin until then
	ring            []mark  // at least one window of marks, oldest first, in a circle
	oldest, held    int
	trail           *engine.Recorder
	shown           engine.Series // trail up to the last whole second
	carried         uint64        // bytes of earlier tests of the same step
	carriedRetrans  uint64
	far             farSocket // of a stream that the far end sends
}

// retransKnown reports whether the local end counts this stream's retransmissions.
func (s *stream) retransKnown() bool {
	return s.Sender && s.TCP.Known() && s.TCP.Value.Has(engine.InfoBase)
}

// mover follows one direction over all its streams.
type mover struct {
	bytes    uint64        // sum of the streams' marks
	seen     uint64        // sum of what the counters say, to tell a stall
	movedAt  time.Duration // when seen grew last
	base     uint64        // bytes at the end of the omitted part
	secAt    time.Duration // begin of the second that is being averaged
	secBytes uint64
	secs     int     // whole seconds since the omitted part
	min, max float64 // of their rates, bits/s
}

// meter turns the counters of one test into rates. A new test has a new meter, so that
// nothing of an older one can be counted in it. Times are the session's.
type meter struct {
	begin    time.Duration // TEST_RUNNING of the step's first test
	window   time.Duration // rates are averaged over
	stride   int           // ticks per mark in the rings
	ticks    int
	omit     time.Duration // left out of the averages, from begin
	settled  bool          // the omitted part is over and base is set
	scratch  []engine.Counters
	streams  []stream // upload first, in order of ID
	dirs     [2]mover // by direction
	lastTick time.Duration
}

// newMeter starts to follow a test that runs since session time at. before is the meter
// of the test that this one continues in the same step; nil for a new step.
func newMeter(at time.Duration, conns []engine.Conn, window, omit time.Duration, before *meter) *meter {
	m := &meter{begin: at, window: window, omit: omit, lastTick: at}
	m.stride = int((window-1)/(tick*(ringLen-4))) + 1
	m.streams = make([]stream, len(conns))
	marks := make([]mark, len(conns)*ringLen)
	conns = slices.Clone(conns)
	slices.SortStableFunc(conns, func(a, b engine.Conn) int {
		return 1000*(int(a.Dir)-int(b.Dir)) + a.ID - b.ID
	})
	for i := range m.streams {
		s := &m.streams[i]
		s.Conn = conns[i]
		s.ring = marks[i*ringLen : (i+1)*ringLen]
		s.trail = engine.NewRecorder(engine.ShortHistory)
		s.now = mark{at: at}
	}
	for d := range m.dirs {
		m.dirs[d].movedAt, m.dirs[d].secAt = at, at
	}
	if before != nil {
		m.follow(before)
	}
	for i := range m.streams {
		s := &m.streams[i]
		s.inst = s.now
		if before == nil {
			s.base = s.now
		}
		s.push()
	}
	return m
}

// follow takes over the totals of the step's test before, whose streams are the same.
func (m *meter) follow(before *meter) {
	m.begin, m.settled, m.dirs = before.begin, before.settled, before.dirs
	for i := range m.streams {
		if i >= len(before.streams) {
			return
		}
		s, old := &m.streams[i], &before.streams[i]
		s.carried, s.carriedRetrans = old.now.bytes, old.now.retrans
		s.now.bytes, s.now.retrans = s.carried, s.carriedRetrans
		s.base, s.trail, s.shown = old.base, old.trail, old.shown
		s.far.follow(&old.far)
	}
	for d := range m.dirs {
		m.dirs[d].seen = 0
		m.dirs[d].movedAt = m.lastTick
	}
}

func (s *stream) push() {
	if s.held == len(s.ring) {
		s.oldest = (s.oldest + 1) % len(s.ring)
		s.held--
	}
	s.ring[(s.oldest+s.held)%len(s.ring)] = s.now
	s.held++
}

// tail is the mark at which the sliding window begins: the newest that is a whole
// window old, or the oldest there is.
func (s *stream) tail(window time.Duration) mark {
	for s.held > 1 && s.ring[(s.oldest+1)%len(s.ring)].at <= s.now.at-window {
		s.oldest = (s.oldest + 1) % len(s.ring)
		s.held--
	}
	return s.ring[s.oldest]
}

func per(n uint64, over time.Duration) float64 {
	if over <= 0 {
		return 0
	}
	return float64(n) / over.Seconds()
}

// rate is bits/s over the sliding window.
func (s *stream) rate(window time.Duration) float64 {
	t := s.tail(window)
	if s.now.at-t.at < shortest {
		return s.tick
	}
	return 8 * per(s.now.bytes-t.bytes, s.now.at-t.at)
}

func (s *stream) retransRate(window time.Duration) float64 {
	t := s.tail(window)
	return per(s.now.retrans-t.retrans, s.now.at-t.at)
}

// sample reads the counters of a test at session time now; wall is the same moment.
func (m *meter) sample(t Test, now time.Duration, wall time.Time) {
	m.scratch = t.Sample(m.scratch[:0])
	m.ticks++
	var bytes, seen [2]uint64
	for i := range m.scratch {
		c := &m.scratch[i]
		s := m.find(i, c.Conn)
		if s == nil {
			continue
		}
		s.take(c, m, now, wall)
		bytes[s.Dir&1] += s.now.bytes
		seen[s.Dir&1] += c.Bytes + s.now.bytes
		s.trail.Add(now, s.tick)
		if now/time.Second != m.lastTick/time.Second {
			s.shown = s.trail.Series()
		}
		if m.ticks%m.stride == 0 {
			s.push()
		}
	}
	for d := range m.dirs {
		v := &m.dirs[d]
		v.bytes = bytes[d]
		if seen[d] != v.seen {
			v.seen, v.movedAt = seen[d], now
		}
	}
	m.settle(now)
	m.lastTick = now
}

// find gives the stream of a connection, which is usually at position i.
func (m *meter) find(i int, c engine.Conn) *stream {
	if i < len(m.streams) && m.streams[i].ID == c.ID && m.streams[i].Dir == c.Dir {
		return &m.streams[i]
	}
	for j := range m.streams {
		if m.streams[j].ID == c.ID && m.streams[j].Dir == c.Dir {
			return &m.streams[j]
		}
	}
	return nil
}

// take moves the stream's newest mark on to what the counters say.
func (s *stream) take(c *engine.Counters, m *meter, now time.Duration, wall time.Time) {
	s.Counters = *c
	next := mark{at: now, bytes: c.Bytes}
	if c.Sender {
		switch info, known := c.TCP.Get(); {
		case known && info.Has(engine.InfoBytesAcked):
			next.bytes = info.BytesAcked - min(info.BytesAcked, c.BaseAcked)
			// The socket was read by another thread, up to a tick ago.
			next.at = now - max(0, wall.Sub(c.TCPAt))
		case !known && c.TCP.Status == probes.NotRead && now < m.begin+settleRead:
			next.bytes = 0
		}
		if s.retransKnown() {
			next.retrans = uint64(c.TCP.Value.TotalRetrans)
		}
	}
	// Never backwards: neither in time, nor when acknowledged bytes take over from
	// accepted ones.
	s.now.at = max(s.now.at, next.at)
	s.now.bytes = max(s.now.bytes, s.carried+next.bytes)
	s.now.retrans = max(s.now.retrans, s.carriedRetrans+next.retrans)
	if over := s.now.at - s.inst.at; over >= shortest {
		s.tick = 8 * per(s.now.bytes-s.inst.bytes, over)
		s.tickRetrans = per(s.now.retrans-s.inst.retrans, over)
		s.inst = s.now
	}
}

// settle ends the omitted part when it is time, and keeps the best and the worst second
// after it.
func (m *meter) settle(now time.Duration) {
	if !m.settled {
		if now < m.begin+m.omit {
			return
		}
		m.settled = true
		if m.omit > 0 {
			m.rebase(now)
		}
	}
	for d := range m.dirs {
		v := &m.dirs[d]
		if now-v.secAt < time.Second {
			continue
		}
		r := 8 * per(v.bytes-v.secBytes, now-v.secAt)
		if v.secs == 0 {
			v.min = r
		}
		v.secs++
		v.min, v.max = min(v.min, r), max(v.max, r)
		v.secAt, v.secBytes = now, v.bytes
	}
}

func (m *meter) rebase(now time.Duration) {
	for i := range m.streams {
		m.streams[i].base = m.streams[i].now
	}
	for d := range m.dirs {
		v := &m.dirs[d]
		v.base, v.secAt, v.secBytes = v.bytes, now, v.bytes
	}
}

// account replaces what this end has sent in the test by what the far end has received
// of it, which is the truth and lacks nothing: sockets were read up to a tick before the
// end. A count that cannot be true is left alone. omitted says that the far end has left
// out the omitted part.
func (m *meter) account(results []engine.StreamResult, omitted bool) {
	for i := range results {
		r := &results[i]
		received, ok := r.Received.Get()
		s := m.find(i, r.Conn)
		if !ok || s == nil || !s.Sender || received.Bytes > s.Bytes {
			continue
		}
		bytes := s.carried + received.Bytes
		if omitted {
			bytes = s.base.bytes + received.Bytes
		}
		v := &m.dirs[s.Dir&1]
		v.bytes = v.bytes - s.now.bytes + bytes
		s.now.bytes, s.now.at = bytes, m.lastTick
	}
}

// mean is the average rate of one direction since the end of the omitted part, bits/s;
// before that end, since the begin.
func (m *meter) mean(dir engine.Direction) (sum float64) {
	for i := range m.streams {
		if s := &m.streams[i]; s.Dir == dir {
			sum += 8 * per(s.now.bytes-s.base.bytes, s.now.at-s.base.at)
		}
	}
	return sum
}

// moved is the payload of both directions, the omitted part included.
func (m *meter) moved() uint64 { return m.dirs[0].bytes + m.dirs[1].bytes }
