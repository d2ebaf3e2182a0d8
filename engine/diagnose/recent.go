package diagnose

import (
	"time"

	"linerate/engine"
	"linerate/probes"
)

// What Recent keeps.
const (
	// flowWindow is W of the rules. TCP's chronometers tick in jiffies of up to 10 ms, so
	// windows below 1 s say little.
	flowWindow = 3 * time.Second
	leastSpan  = time.Second
	// sampleGap is the least time between two kept samples: 3 s of them are enough for
	// the share of app-limited ones.
	sampleGap = 250 * time.Millisecond
	// loadWindow is the time over which a core must be full: /proc/stat counts in ticks
	// of 10 ms, and a window of 1 s is still off by up to 3 %.
	loadWindow = 2 * time.Second
	// overshoot is how many seconds at the begin of a step do not count for losses: slow
	// start fills every queue until it overflows, and repairs that for a while.
	overshoot = 2
	// keptSeconds is the length of Flow.Seconds, the longest ramp a rule looks at, and
	// keptLosses that of StreamWindow.Losses: one loss in 10 000 segments at 30 Mbit/s comes
	// every four seconds.
	keptSeconds, keptLosses = 10, 30
)

// Recent keeps the last seconds of one step and makes Flows and loads of them. It reads
// nothing by itself: whoever owns it adds what was read. It belongs to one goroutine; a
// new step takes a new one.
type Recent struct {
	start   time.Time
	samples []sample // oldest first; the newest is replaced until sampleGap has passed
	loads   []probes.Load
	ways    [2]way
	delays  []float64 // scratch of overSamples
}

// sample is all streams at one moment.
type sample struct {
	at      time.Time
	streams []engine.Counters
}

// way is what is remembered of one direction beyond the window.
type way struct {
	bytes   uint64 // payload so far
	moved   time.Time
	mark    sample // where the running second began
	seconds []float64
	losses  map[int][]Loss // by connection, without the first seconds
	peaks   map[int]*peaks // by connection
	windows []StreamWindow // given out with the last Flow
}

// NewRecent begins a step whose payload flows since start.
func NewRecent(start time.Time) *Recent {
	return &Recent{start: start, ways: [2]way{{moved: start}, {moved: start}}}
}

// Add takes the counters of time at. They are copied.
func (r *Recent) Add(at time.Time, streams []engine.Counters) {
	if n := len(r.samples); n > 0 && !at.After(r.samples[n-1].at) {
		return
	}
	for dir := range r.ways {
		r.ways[dir].add(at, streams, engine.Direction(dir))
	}
	// The newest sample is always the current one; it stays once it is sampleGap away
	// from the one before.
	if n := len(r.samples); n >= 2 && r.samples[n-1].at.Sub(r.samples[n-2].at) < sampleGap {
		r.samples[n-1].set(at, streams)
		return
	}
	// The oldest is dropped when the one after it is old enough, and its memory reused.
	var next sample
	if len(r.samples) >= 2 && at.Sub(r.samples[1].at) >= flowWindow {
		next = r.samples[0]
		r.samples = append(r.samples[:0], r.samples[1:]...)
	}
	next.set(at, streams)
	r.samples = append(r.samples, next)
}

func (s *sample) set(at time.Time, streams []engine.Counters) {
	s.at = at
	s.streams = append(s.streams[:0], streams...)
}

func (w *way) add(at time.Time, streams []engine.Counters, dir engine.Direction) {
	var bytes uint64
	for i := range streams {
		if streams[i].Dir == dir {
			bytes += payload(&streams[i])
		}
	}
	if bytes > w.bytes {
		w.bytes, w.moved = bytes, at
	}
	w.notePeaks(streams, dir)
	if w.mark.streams == nil {
		w.mark.set(at, streams)
		return
	}
	if at.Sub(w.mark.at) < time.Second {
		return
	}
	if len(w.seconds) >= overshoot {
		w.count(streams, dir)
	}
	w.seconds = lastOf(w.seconds, keptSeconds, rate(&w.mark, &sample{at, streams}, dir))
	w.mark.set(at, streams)
}

// count notes what each sender of one direction has lost since the running second began.
func (w *way) count(streams []engine.Counters, dir engine.Direction) {
	for i := range streams {
		c := &streams[i]
		b := w.mark.find(c.ID, i)
		now, ok := c.TCP.Get()
		if c.Dir != dir || !c.Sender || b == nil || !ok || !b.TCP.Known() || !now.Has(engine.InfoBytesSent) {
			continue
		}
		if w.losses == nil {
			w.losses = make(map[int][]Loss, len(streams))
		}
		before := &b.TCP.Value
		w.losses[c.ID] = lastOf(w.losses[c.ID], keptLosses, Loss{
			Sent:     now.DataSegsOut - before.DataSegsOut,
			Retrans:  now.TotalRetrans - before.TotalRetrans,
			Spurious: now.DSACKDups - before.DSACKDups,
		})
	}
}

// lastOf appends to a list that keeps its last elements.
func lastOf[T any](list []T, keep int, next T) []T {
	if len(list) == keep {
		list = append(list[:0], list[1:]...)
	}
	return append(list, next)
}

// payload is what of a stream has certainly arrived: acknowledged bytes at a sender whose
// kernel tells, read bytes at a receiver.
func payload(c *engine.Counters) uint64 {
	if info, ok := c.TCP.Get(); ok && c.Sender && info.Has(engine.InfoBytesAcked) {
		return info.BytesAcked - min(c.BaseAcked, info.BytesAcked)
	}
	return c.Bytes
}

// rate sums one direction between two samples, bits/s. Each stream is divided by the
// time between its own readings.
func rate(before, now *sample, dir engine.Direction) (sum float64) {
	for i := range now.streams {
		c := &now.streams[i]
		if c.Dir != dir {
			continue
		}
		if b := before.find(c.ID, i); b != nil {
			w := Between(b, c, before.at, now.at)
			sum += w.Rate(c.Sender)
		}
	}
	return sum
}

// find gives the stream with the ID, which usually stands at the same place.
func (s *sample) find(id, place int) *engine.Counters {
	if place < len(s.streams) && s.streams[place].ID == id {
		return &s.streams[place]
	}
	for i := range s.streams {
		if s.streams[i].ID == id {
			return &s.streams[i]
		}
	}
	return nil
}

// Flow sums up one direction at time now. What the other end sees is left unknown with
// the given reason. The stream windows are overwritten by the next call for the same
// direction.
func (r *Recent) Flow(now time.Time, dir engine.Direction, farWhy string) Flow {
	far := probes.Unknown[[]StreamWindow](probes.Absent, farWhy)
	f := Flow{
		Rate:   probes.Unknown[float64](probes.NotRead, "measured for less than 1 s"),
		Idle:   probes.Unknown[time.Duration](probes.NotRead, "no counters yet"),
		Sender: far, Receiver: far,
	}
	if len(r.samples) == 0 {
		return f
	}
	w := &r.ways[dir]
	last := &r.samples[len(r.samples)-1]
	f.Age = now.Sub(last.at)
	f.Seconds = append([]float64(nil), w.seconds...)
	f.Idle = probes.Got(now.Sub(w.moved))
	first := &r.samples[0]
	f.Window = last.at.Sub(first.at)
	if f.Window < leastSpan {
		return f
	}
	f.Rate = probes.Got(rate(first, last, dir))
	if streams, sender := r.windows(dir); sender {
		f.Sender = probes.Got(streams)
	} else if len(streams) > 0 {
		f.Receiver = probes.Got(streams)
	}
	return f
}

// windows compares the oldest and the newest sample of each stream of one direction,
// and tells whether this end sends them.
func (r *Recent) windows(dir engine.Direction) (streams []StreamWindow, sender bool) {
	first, last := &r.samples[0], &r.samples[len(r.samples)-1]
	streams = r.ways[dir].windows[:0]
	for i := range last.streams {
		c := &last.streams[i]
		b := first.find(c.ID, i)
		if c.Dir != dir || b == nil {
			continue
		}
		w := Between(b, c, first.at, last.at)
		w.AppLimited, w.ZeroWindow, w.Queue = r.overSamples(c.ID, i)
		w.Losses = append([]Loss(nil), r.ways[dir].losses[c.ID]...)
		if p := r.ways[dir].peaks[c.ID]; p != nil {
			w.Peaks = append([]uint32(nil), p.list...)
		}
		streams = append(streams, w)
		sender = c.Sender
	}
	r.ways[dir].windows = streams
	return streams, sender
}

// overSamples gives what only all samples of the window tell of one stream: the share of
// them in which it is app-limited, that in which the peer's window is closed, and the
// median of its queueing delay.
func (r *Recent) overSamples(id, place int) (limited, closed probes.Reading[float64], queue probes.Reading[time.Duration]) {
	why := "the kernel does not tell"
	limited = probes.Unknown[float64](probes.Absent, why)
	closed, queue = limited, probes.Unknown[time.Duration](probes.Absent, why)
	var app, shut, asked, shown float64
	r.delays = r.delays[:0]
	for i := range r.samples {
		c := r.samples[i].find(id, place)
		if c == nil || !c.TCP.Known() {
			continue
		}
		info := &c.TCP.Value
		if info.Has(engine.InfoMinRTT) {
			r.delays = append(r.delays, float64(max(0, info.RTT-info.MinRTT)))
		}
		if info.Has(engine.InfoDelivery) {
			asked++
			app += one(info.AppLimited)
		}
		if info.Has(engine.InfoSndWnd) && c.Sender {
			shown++
			shut += one(info.SndWnd == 0)
		}
	}
	if asked > 0 {
		limited = probes.Got(app / asked)
	}
	if shown > 0 {
		closed = probes.Got(shut / shown)
	}
	if delay, ok := middle(r.delays); ok {
		queue = probes.Got(time.Duration(delay))
	}
	return limited, closed, queue
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
