package session

import (
	"context"
	"math"
	"testing"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// fed is a Test whose counters are what a test of the meter puts into it.
type fed struct{ counters []engine.Counters }

func (g *fed) Info() engine.TestInfo                        { return engine.TestInfo{} }
func (g *fed) Run(context.Context) engine.Result            { return engine.Result{} }
func (g *fed) Stop()                                        {}
func (g *fed) Sample(d []engine.Counters) []engine.Counters { return append(d, g.counters...) }

func conns(n int, dir engine.Direction) (list []engine.Conn) {
	for i := range n {
		list = append(list, engine.Conn{ID: i + 1, Dir: dir, Sender: dir == engine.Upload})
	}
	return list
}

func counter(c engine.Conn, bytes uint64) engine.Counters {
	return engine.Counters{Conn: c, Bytes: bytes, TCP: probes.Unknown[engine.TCPInfo](probes.Unsupported, "none")}
}

func close1(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 0.001*math.Abs(want)+1e-9 {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// TestMeterDividesByMeasuredTime has ticks that come late and early.
func TestMeterDividesByMeasuredTime(t *testing.T) {
	list := conns(1, engine.Download)
	m := newMeter(0, list, time.Second, 0, nil)
	g := &fed{}
	for _, at := range []time.Duration{90, 230, 301, 450, 500, 610, 700, 950, 1001, 1100, 1250, 1290, 1400} {
		at *= time.Millisecond
		g.counters = []engine.Counters{counter(list[0], uint64(at.Seconds()*1e6))}
		m.sample(g, at, time.Time{}.Add(at))
		close1(t, "rate at "+at.String(), m.streams[0].rate(m.window), 8e6)
		close1(t, "rate of the tick at "+at.String(), m.streams[0].tick, 8e6)
	}
	close1(t, "mean", m.mean(engine.Download), 8e6)
}

// TestMeterWindowSlides steps the rate down and finds the old one gone after a window.
func TestMeterWindowSlides(t *testing.T) {
	for _, window := range []time.Duration{time.Second, 3 * time.Second, 10 * time.Second, time.Minute} {
		list := conns(1, engine.Download)
		m := newMeter(0, list, window, 0, nil)
		g := &fed{}
		var bytes, at = 0.0, time.Duration(0)
		run := func(rate float64, d time.Duration) {
			for end := at + d; at < end; {
				at += tick
				bytes += rate / 8 * tick.Seconds()
				g.counters = []engine.Counters{counter(list[0], uint64(bytes))}
				m.sample(g, at, time.Time{}.Add(at))
			}
		}
		run(8e6, 2*window)
		close1(t, window.String()+": steady", m.streams[0].rate(window), 8e6)
		run(0, window/2)
		if got := m.streams[0].rate(window); got < 3.5e6 || got > 4.6e6 {
			t.Errorf("%v: half a window after the end the rate is %v, want half", window, got)
		}
		run(0, window/2+window/10+2*tick)
		close1(t, window.String()+": a window after the end", m.streams[0].rate(window), 0)
	}
}

// TestMeterSenderCountsAcknowledgedBytes, from the time of the socket's reading, and
// never backwards when the first readings come late.
func TestMeterSenderCountsAcknowledgedBytes(t *testing.T) {
	list := conns(1, engine.Upload)
	m := newMeter(0, list, time.Second, 0, nil)
	var wall time.Time
	c := engine.Counters{Conn: list[0], Bytes: 4 << 20, BaseAcked: 37, TCP: probes.Reading[engine.TCPInfo]{}}
	g := &fed{[]engine.Counters{c}}
	m.sample(g, 100*time.Millisecond, wall.Add(100*time.Millisecond))
	if got := m.moved(); got != 0 {
		t.Errorf("before the socket was read %d bytes count, want 0: they may still be in the send buffer", got)
	}
	for i := 2; i <= 12; i++ {
		at := time.Duration(i) * tick
		read := at - 30*time.Millisecond
		g.counters[0].Bytes += 1 << 20
		g.counters[0].TCP = probes.Got(engine.TCPInfo{Size: engine.InfoRTO, BytesAcked: 37 + uint64(read.Seconds()*1e6), TotalRetrans: uint32(i)})
		g.counters[0].TCPAt = wall.Add(read)
		m.sample(g, at, wall.Add(at))
	}
	close1(t, "rate", m.streams[0].rate(m.window), 8e6)
	if m.streams[0].now.retrans != 12 {
		t.Errorf("%d retransmits, want 12", m.streams[0].now.retrans)
	}
	before := m.streams[0].now
	g.counters[0].TCP.Value.BytesAcked = 0 // a reading that cannot be
	m.sample(g, 1300*time.Millisecond, wall.Add(1300*time.Millisecond))
	if now := m.streams[0].now; now.bytes < before.bytes {
		t.Errorf("bytes went back from %d to %d", before.bytes, now.bytes)
	}
}

// TestMeterWithoutTCPInfo counts accepted bytes once it is clear that no reading comes.
func TestMeterWithoutTCPInfo(t *testing.T) {
	list := conns(1, engine.Upload)
	m := newMeter(0, list, time.Second, 0, nil)
	g := &fed{[]engine.Counters{{Conn: list[0], Bytes: 1000}}}
	m.sample(g, 400*time.Millisecond, time.Time{})
	if m.moved() != 0 {
		t.Errorf("%d bytes before the settling time", m.moved())
	}
	m.sample(g, 600*time.Millisecond, time.Time{})
	if m.moved() != 1000 {
		t.Errorf("%d bytes after it, want the accepted ones", m.moved())
	}
}

func TestMeterOrdersStreams(t *testing.T) {
	list := append(conns(3, engine.Download), conns(2, engine.Upload)...)
	list[3].ID, list[4].ID = 12, 11
	m := newMeter(0, list, time.Second, 0, nil)
	g := &fed{}
	for _, c := range list {
		g.counters = append(g.counters, counter(c, uint64(c.ID)))
	}
	m.sample(g, time.Second, time.Time{}.Add(time.Second))
	want := []int{11, 12, 1, 2, 3}
	for i := range m.streams {
		if s := &m.streams[i]; s.ID != want[i] || s.now.bytes != uint64(want[i]) {
			t.Errorf("place %d holds stream %d with %d bytes, want stream %d", i, s.ID, s.now.bytes, want[i])
		}
	}
}

func TestFairness(t *testing.T) {
	for _, tt := range []struct {
		name  string
		bytes []uint64
		want  float64
	}{
		{"one stream", []uint64{5e6}, 0},
		{"nothing flows", []uint64{0, 0}, 0},
		{"equal", []uint64{5e6, 5e6, 5e6, 5e6}, 1},
		{"one takes all", []uint64{5e6, 0, 0, 0}, 0.25},
		{"reference case 2, download", []uint64{1.58e6, 3.73e6, 2.11e6, 1.98e6}, 0.8914},
	} {
		list := conns(len(tt.bytes), engine.Download)
		m := newMeter(0, list, time.Second, 0, nil)
		g := &fed{}
		for i, n := range tt.bytes {
			g.counters = append(g.counters, counter(list[i], n))
		}
		m.sample(g, time.Second, time.Time{}.Add(time.Second))
		if _, got := m.spread(engine.Download); math.Abs(got-tt.want) > 0.0005 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestMeterTakesTheReceiversAccount at the end: what the far end has read, not what was
// acknowledged at the last reading.
func TestMeterTakesTheReceiversAccount(t *testing.T) {
	list := conns(3, engine.Upload)
	m := newMeter(0, list, time.Second, 0, nil)
	f := &fed{}
	for _, c := range list {
		f.counters = append(f.counters, engine.Counters{
			Conn: c, Bytes: 1000, TCP: probes.Got(engine.TCPInfo{Size: engine.InfoRTO, BytesAcked: 800}), TCPAt: time.Time{}.Add(9 * time.Second),
		})
	}
	m.sample(f, 10*time.Second, time.Time{}.Add(10*time.Second))
	m.account([]engine.StreamResult{
		{Conn: list[0], Received: probes.Got(engine.End{Bytes: 950})},
		{Conn: list[1], Received: probes.Got(engine.End{Bytes: 1001})}, // more than was sent
		{Conn: list[2]}, // never told
	}, false)
	want := []mark{{at: 10 * time.Second, bytes: 950}, {at: 9 * time.Second, bytes: 800}, {at: 9 * time.Second, bytes: 800}}
	for i, w := range want {
		if got := m.streams[i].now; got != w {
			t.Errorf("stream %d: %+v, want %+v", i+1, got, w)
		}
	}
	if m.moved() != 2550 {
		t.Errorf("moved %d, want the sum of the streams, 2550", m.moved())
	}
}
