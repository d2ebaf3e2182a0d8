package session

import (
	"slices"
	"time"

	"linerate/engine"
	"linerate/engine/diagnose"
	"linerate/probes"
)

// farStale is how old the newest sample of the far end may be. Beyond it nothing is
// concluded from it any more; on a slow test samples are seconds apart.
const farStale = 10 * time.Second

// farTest is a Test whose far end tells about itself: *iperf.Client.
type farTest interface {
	Far() (engine.FarEnd, bool)
}

// farSight is what the far end of the running test has told.
type farSight struct {
	engine.FarEnd
	known   bool             // it is linerate and has told something
	recent  *diagnose.Recent // its sockets and loads, for the rules
	vitals  vitals           // on the local clock
	scratch []engine.Counters
}

func newFarSight(start time.Time) farSight { return farSight{recent: diagnose.NewRecent(start)} }

// hearFar takes what has come from the far end since the last tick.
func (c *conductor) hearFar() {
	t, ok := c.step.test.(farTest)
	if !ok {
		return
	}
	now, ok := t.Far()
	if !ok {
		return
	}
	f := &c.step.far
	before := f.FarEnd
	f.FarEnd, f.known = now, true
	if !now.FactsAt.Equal(before.FactsAt) {
		c.peer.HostInfo, c.peer.Route, c.changed = probes.Got(now.Host), now.Route, true
	}
	if now.Seq != before.Seq {
		c.hearSample(f, before)
	}
	if c.path.hear(&now, c.step.info.Control.Local.Addr()) {
		c.changed = true
	}
	if now.Ended != before.Ended {
		c.event("the far end tells no more about itself: %s", now.Ended)
	}
}

func (c *conductor) hearSample(f *farSight, before engine.FarEnd) {
	c.step.meter.hear(c.begin, f.Streams)
	f.scratch = f.scratch[:0]
	for i := range f.Streams {
		f.scratch = append(f.scratch, f.Streams[i].Counters)
	}
	f.recent.Add(f.Sampled, f.scratch)
	if !f.Load.At.Equal(before.Load.At) {
		f.recent.AddLoad(f.Load)
		c.peer.Load = probes.Got(f.Load)
	}
	if f.Vitals.At.After(before.Vitals.At) {
		f.vitals.add(f.Vitals)
		c.peer.Drops = engine.DropsOf(f.Vitals)
	}
}

// why is why nothing is known of the far end, or nothing new; "" when it is known.
func (f *farSight) why(linerate bool, now time.Time) string {
	switch {
	case !f.known:
		return farWhy(linerate)
	case f.Ended != "" && now.Sub(f.Sampled) > farStale:
		return "the far end tells no more: " + f.Ended
	case f.Seq == 0:
		return farWhy(true)
	case now.Sub(f.Sampled) > farStale:
		return "nothing new from the far end for " + now.Sub(f.Sampled).Truncate(time.Second).String()
	}
	return ""
}

// flow adds to one direction what the far end's sockets say.
func (f *farSight) flow(near *diagnose.Flow, now time.Time, dir engine.Direction) {
	far := f.recent.Flow(now, dir, "told for less than 1 s")
	if !near.Sender.Known() {
		near.Sender = far.Sender
	}
	if !near.Receiver.Known() {
		near.Receiver = far.Receiver
	}
}

// end is the far computer as it has told of itself. stale is why its samples count for
// nothing; "" when they do. Its facts hardly change, so they count even then: where nothing
// moves there are no samples.
func (f *farSight) end(stale string, began, now time.Time) diagnose.End {
	if stale != "" && (!f.known || f.Ended != "") {
		return diagnose.UnknownEnd(stale)
	}
	e := diagnose.UnknownEnd(stale)
	if stale == "" {
		e = diagnose.UnknownEnd("the far end does not tell")
		load := f.recent.Load()
		busy := diagnose.NewEnd(load, engine.Server, now.Sub(load.At))
		e.Cores, e.Threads, e.Process, e.Window, e.Age = busy.Cores, busy.Threads, busy.Process, busy.Window, busy.Age
		e.Others = busy.Others
		if v, age := f.vitals.recent(began, now); v.Window > 0 {
			e.Vitals, e.VitalsAge = v, age
		}
	}
	e.Host, e.FactsAge = probes.Got(f.Host), now.Sub(f.FactsAt)
	e.NIC = probes.Unknown[probes.NIC](f.Route.Status, f.Route.Why())
	if route, ok := f.Route.Get(); ok {
		e.NIC = route.NIC
	}
	if adapter, ok := f.Adapter.Get(); ok {
		e.Adapter = adapter
	}
	e.Settings, e.Firewall, e.Memory = f.Settings, f.Firewall, f.Memory
	return e
}

// farSocket is what the far end has told of a stream whose bytes this end receives.
type farSocket struct {
	engine.FarStream
	marks   []farMark // what was told within the window, and one before it; oldest first
	carried uint64    // segments of earlier tests of the same step
}

// farMark is the far end's count of segments sent again at one moment of the session.
type farMark struct {
	at      time.Duration
	retrans uint64
}

// hear takes what the far end says of the sockets that send to this end. begin is the
// session's zero.
func (m *meter) hear(begin time.Time, streams []engine.FarStream) {
	for i := range streams {
		told := &streams[i]
		s := m.find(i, told.Conn)
		if s == nil || s.Sender || !told.Retransmits.Known() {
			continue
		}
		at := told.At.Sub(begin)
		if n := len(s.far.marks); n > 0 && at <= s.far.marks[n-1].at {
			continue
		}
		s.far.FarStream = *told
		s.far.mark(at, m.window)
	}
}

func (f *farSocket) mark(at, window time.Duration) {
	f.marks = append(f.marks, farMark{at, f.carried + f.Retransmits.Value})
	keep := 0
	for keep+2 < len(f.marks) && f.marks[keep+1].at <= at-window {
		keep++
	}
	f.marks = slices.Delete(f.marks, 0, keep)
}

// follow continues the count of the step's test before.
func (f *farSocket) follow(before *farSocket) {
	if n := len(before.marks); n > 0 {
		f.carried = before.marks[n-1].retrans
	}
}

// total is the number of segments sent again, rate how many per second over the window.
func (f *farSocket) total() uint64 { return f.marks[len(f.marks)-1].retrans }

func (f *farSocket) rate() float64 {
	first, last := f.marks[0], f.marks[len(f.marks)-1]
	return per(last.retrans-min(first.retrans, last.retrans), last.at-first.at)
}

// told reports whether the far end counts this stream's retransmissions.
func (f *farSocket) told() bool { return len(f.marks) > 0 }

// sender is TCP_INFO of the end that sends, whichever it is, and whether it is known.
func (s *stream) sender() (engine.TCPInfo, bool) {
	if s.Sender {
		return s.TCP.Get()
	}
	return s.far.TCP.Get()
}
