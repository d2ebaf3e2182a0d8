package diagnose

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/engine"
	"linerate/probes"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// conn is one stream's counters: bytes so far, and TCP_INFO read lag before at.
func conn(id int, dir engine.Direction, sender bool, bytes uint64) engine.Counters {
	return engine.Counters{
		Conn:  engine.Conn{ID: id, Dir: dir, Sender: sender},
		TID:   100 + id,
		Bytes: bytes,
		TCP:   probes.Unknown[engine.TCPInfo](probes.Unsupported, "no TCP_INFO"),
	}
}

func withInfo(c engine.Counters, at time.Time, info engine.TCPInfo) engine.Counters {
	c.TCP, c.TCPAt = probes.Got(info), at
	return c
}

func near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance*math.Abs(want) }

func TestRecentReceiver(t *testing.T) {
	r := NewRecent(epoch)
	const perSecond = 125_000_000 // 1 Gbit/s
	for ms := 0; ms <= 12_000; ms += 100 {
		bytes := uint64(perSecond * ms / 1000)
		r.Add(epoch.Add(time.Duration(ms)*time.Millisecond), []engine.Counters{
			conn(1, engine.Download, false, bytes), conn(3, engine.Download, false, bytes),
		})
		f := r.Flow(epoch.Add(time.Duration(ms)*time.Millisecond), engine.Download, "stock iperf3")
		if known := f.Rate.Known(); known != (ms >= 1000) {
			t.Fatalf("at %d ms: rate known is %v", ms, known)
		}
		if f.Window > flowWindow+sampleGap+100*time.Millisecond {
			t.Fatalf("at %d ms: window of %v", ms, f.Window)
		}
	}
	f := r.Flow(epoch.Add(12_100*time.Millisecond), engine.Download, "stock iperf3")
	if !near(f.Rate.Value, 2e9, 1e-6) {
		t.Errorf("rate %.4g, want 2e9", f.Rate.Value)
	}
	if f.Window < flowWindow {
		t.Errorf("window %v, want at least %v", f.Window, flowWindow)
	}
	if f.Age != 100*time.Millisecond || f.Idle.Value != 100*time.Millisecond {
		t.Errorf("age %v, idle %v, want 100ms", f.Age, f.Idle.Value)
	}
	if len(f.Seconds) != keptSeconds {
		t.Errorf("%d whole seconds, want %d", len(f.Seconds), keptSeconds)
	}
	for _, s := range f.Seconds {
		if !near(s, 2e9, 1e-6) {
			t.Errorf("a second of %.4g, want 2e9", s)
		}
	}
	if f.Sender.Known() || f.Sender.Why() != "stock iperf3" {
		t.Errorf("sender %+v, want unknown with the reason given", f.Sender)
	}
	if n := len(f.Receiver.Value); n != 2 {
		t.Fatalf("%d receiver windows, want 2", n)
	}
	w := f.Receiver.Value[0]
	if w.ID != 1 || w.TID != 101 || w.Info.Known() || w.Info.Why() != "no TCP_INFO" || w.Busy().Known() {
		t.Errorf("window %+v", w)
	}
	if up := r.Flow(epoch.Add(12*time.Second), engine.Upload, ""); up.Rate.Value != 0 || up.Receiver.Known() {
		t.Errorf("upload does not flow: %+v", up)
	}
}

// A sender's rate is what was acknowledged, by the time at which the kernel was asked:
// bytes accepted into the send buffer have not arrived anywhere.
func TestRecentSender(t *testing.T) {
	r := NewRecent(epoch)
	info := engine.TCPInfo{Size: 280, SndMSS: 1448, SndCwnd: 100, RTT: 300 * time.Microsecond, MinRTT: 100 * time.Microsecond}
	for ms := 0; ms <= 5000; ms += 100 {
		at := epoch.Add(time.Duration(ms) * time.Millisecond)
		// The watcher's reading is up to 90 ms old.
		lag := time.Duration(ms/100%4) * 30 * time.Millisecond
		if ms == 0 {
			lag = 0
		}
		read := at.Add(-lag)
		s := read.Sub(epoch).Seconds()
		info.BytesAcked = 5000 + uint64(s*125e6)
		info.BusyTime = time.Duration(s * 0.8 * 1e9)
		info.RwndLimited = time.Duration(s * 0.2 * 1e9)
		info.SndbufLimited = time.Duration(s * 0.1 * 1e9)
		info.DataSegsOut = uint32(s * 100_000)
		info.TotalRetrans = uint32(s * 100)
		info.DSACKDups = uint32(s * 50)
		info.AppLimited = ms%1000 < 500
		c := conn(1, engine.Upload, true, uint64(125e6*float64(ms)/1000)+4<<20)
		c.BaseAcked = 5000
		r.Add(at, []engine.Counters{withInfo(c, read, info)})
	}
	f := r.Flow(epoch.Add(5*time.Second), engine.Upload, "stock iperf3")
	if !near(f.Rate.Value, 1e9, 1e-4) {
		t.Errorf("rate %.5g, want 1e9", f.Rate.Value)
	}
	for _, s := range f.Seconds {
		if !near(s, 1e9, 1e-4) {
			t.Errorf("a second of %.5g, want 1e9", s)
		}
	}
	if len(f.Sender.Value) != 1 {
		t.Fatalf("%d sender windows, want 1", len(f.Sender.Value))
	}
	w := &f.Sender.Value[0]
	for _, q := range []struct {
		name string
		got  probes.Reading[float64]
		want float64
	}{
		{"fB", w.Busy(), 0.8},
		{"fR", w.RwndLimited(), 0.25},
		{"fS", w.SndbufLimited(), 0.125},
		{"p", w.Retransmitted(), 0.001},
		{"pd", w.Spurious(), 0.5},
		{"app limited", w.AppLimited, 0.5},
	} {
		if !q.got.Known() || !near(q.got.Value, q.want, 0.1) {
			t.Errorf("%s: got %+v, want about %v", q.name, q.got, q.want)
		}
	}
	if q := w.Queueing(); q.Value != 200*time.Microsecond {
		t.Errorf("Q %v, want 200µs", q.Value)
	}
}

func TestStreamWindowUnknown(t *testing.T) {
	before := withInfo(conn(1, engine.Upload, true, 0), epoch, engine.TCPInfo{Size: engine.InfoBase})
	now := withInfo(conn(1, engine.Upload, true, 1000), epoch.Add(time.Second), engine.TCPInfo{Size: engine.InfoBase})
	w := Between(&before, &now, epoch, epoch.Add(2*time.Second))
	for name, q := range map[string]probes.Reading[float64]{
		"fB": w.Busy(), "fR": w.RwndLimited(), "p": w.Retransmitted(), "pd": w.Spurious(), "waiting": w.waiting(),
	} {
		if q.Known() || q.Why() == "" {
			t.Errorf("%s of an old kernel: got %+v, want unknown with a reason", name, q)
		}
	}
	// Without acknowledged bytes the accepted ones must do.
	if got := w.Rate(true); got != 4000 {
		t.Errorf("rate %v, want 4000", got)
	}
	// A share of nothing is unknown, not 0.
	w = window()
	w.Now.BusyTime = 0
	if got := w.RwndLimited(); got.Known() {
		t.Errorf("fR of an idle socket: got %+v, want unknown", got)
	}
	// A watcher that has stopped leaves nothing to compare.
	stuck := now
	w = Between(&now, &stuck, epoch, epoch.Add(time.Second))
	if w.Info.Known() {
		t.Errorf("TCP_INFO that does not advance: %+v, want unknown", w.Info)
	}
}

// Buffers, the congestion control, and what only all samples tell.
func TestRecentSockets(t *testing.T) {
	r := NewRecent(epoch)
	info := engine.TCPInfo{Size: 280, SndMSS: 1448, MinRTT: 10 * time.Millisecond, SndWnd: 1000}
	for tenth := 0; tenth <= 150; tenth++ {
		at := epoch.Add(time.Duration(tenth) * 100 * time.Millisecond)
		// Slow start loses 500 segments in the first second; later one in each second.
		info.DataSegsOut = uint32(tenth * 100)
		info.TotalRetrans = uint32(min(tenth, 10)*50 + tenth/10)
		info.DSACKDups = uint32(tenth / 20)
		info.RTT = time.Duration(10+tenth%5) * time.Millisecond
		info.SndWnd = 1000
		if tenth%4 == 0 {
			info.SndWnd = 0
		}
		c := withInfo(conn(1, engine.Upload, true, uint64(tenth)*1000), at, info)
		c.Mem = probes.Got(engine.SockMem{SndBuf: uint32(1000 + tenth)})
		c.Congestion = "bbr"
		r.Add(at, []engine.Counters{c})
	}
	w := &r.Flow(epoch.Add(15*time.Second), engine.Upload, "").Sender.Value[0]
	if w.Congestion != "bbr" || w.Mem.Value.SndBuf != 1150 || w.MemBefore.Value.SndBuf >= 1125 || !w.MemBefore.Known() {
		t.Errorf("congestion %q, buffers %+v and %+v", w.Congestion, w.MemBefore, w.Mem)
	}
	if len(w.Losses) != 13 {
		t.Fatalf("%d seconds of losses, want 13", len(w.Losses))
	}
	for _, l := range w.Losses {
		if l.Sent != 1000 || l.Retrans != 1 || l.Spurious > 1 {
			t.Errorf("a second %+v, want 1000 sent and 1 again: the first two do not count", l)
		}
	}
	if q := w.Queue.Value; q < time.Millisecond || q > 3*time.Millisecond {
		t.Errorf("median queue %v, want about 2 ms", q)
	}
	if z := w.ZeroWindow.Value; z < 0.1 || z > 0.5 {
		t.Errorf("window closed in %.2f of the samples, want about a quarter", z)
	}
	e := Evidence{}
	e.Flows[engine.Upload].Sender = probes.Got([]StreamWindow{*w})
	if l := e.loss(engine.Upload); !near(l.Value.p, 0.001, 1e-9) {
		t.Errorf("loss %+v, want 0.001", l)
	}
	// A receiver's window says nothing of the peer's.
	if z := StreamWindow(*w); z.Unread().Known() {
		t.Errorf("fill of a socket without receive buffer: %+v, want unknown", z.Unread())
	}
}

func TestRecentStall(t *testing.T) {
	r := NewRecent(epoch)
	for ms := 0; ms <= 6000; ms += 100 {
		bytes := uint64(min(ms, 2000)) * 1000
		r.Add(epoch.Add(time.Duration(ms)*time.Millisecond), []engine.Counters{conn(1, engine.Download, false, bytes)})
	}
	f := r.Flow(epoch.Add(6*time.Second), engine.Download, "")
	if f.Idle.Value != 4*time.Second || f.Rate.Value != 0 {
		t.Errorf("idle %v at %v bit/s, want 4s at 0", f.Idle.Value, f.Rate.Value)
	}
}

func load(at time.Duration, window time.Duration, busy ...float64) probes.Load {
	l := probes.Load{
		At: epoch.Add(at), Window: window,
		Cores:   end(busy...).Cores,
		Threads: probes.Got([]probes.ThreadLoad{{TID: 7, Name: "lr-tx-1", System: busy[0], Core: 0}}),
		Process: probes.Got(probes.ThreadLoad{User: 0.1, System: busy[0]}),
	}
	return l
}

func TestRecentLoad(t *testing.T) {
	r := NewRecent(epoch)
	if l := r.Load(); l.Cores.Known() || l.Threads.Why() == "" || l.Process.Known() {
		t.Errorf("before the first reading: %+v", l)
	}
	why := "first reading"
	r.AddLoad(probes.Load{
		Cores:   probes.Unknown[[]probes.CoreLoad](probes.NotRead, why),
		Threads: probes.Unknown[[]probes.ThreadLoad](probes.NotRead, why),
		Process: probes.Unknown[probes.ThreadLoad](probes.NotRead, why),
	})
	if l := r.Load(); l.Cores.Why() != why {
		t.Errorf("after the first reading: %+v", l)
	}
	const ms = time.Millisecond
	r.AddLoad(load(0, 1000*ms, 0, 0)) // falls out of the 2 s below
	r.AddLoad(load(1000*ms, 1000*ms, 0.8, 0.2))
	r.AddLoad(load(1500*ms, 500*ms, 1, 0))
	r.AddLoad(load(2000*ms, 500*ms, 1, 0))
	l := r.Load()
	if l.Window != 2*time.Second || !l.At.Equal(epoch.Add(2*time.Second)) {
		t.Errorf("window %v ending %v", l.Window, l.At)
	}
	want := end(0.9, 0.1).Cores.Value
	if diff := cmp.Diff(want, l.Cores.Value, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); diff != "" {
		t.Errorf("cores (-want +got):\n%s", diff)
	}
	if got := l.Threads.Value[0].Busy(); !near(got, 0.9, 1e-9) {
		t.Errorf("thread %v, want 0.9", got)
	}
	if got := l.Process.Value.Busy(); !near(got, 1.0, 1e-9) {
		t.Errorf("process %v, want 1", got)
	}
	// A core that was not there before counts only since it came.
	r.AddLoad(load(2500*ms, 500*ms, 1, 0, 0.5))
	if got := r.Load().Cores.Value[2].Busy(); got != 0.5 {
		t.Errorf("new core %v, want 0.5", got)
	}
	// What cannot be read now is unknown, whatever was read before.
	gone := load(3000*ms, 500*ms, 1, 0)
	gone.Threads = probes.Unknown[[]probes.ThreadLoad](probes.Denied, "hidepid")
	r.AddLoad(gone)
	if l := r.Load(); l.Threads.Known() || !l.Cores.Known() {
		t.Errorf("threads %+v, want unknown; cores %+v, want known", l.Threads, l.Cores)
	}
}

func TestNewEnd(t *testing.T) {
	l := probes.Load{
		Cores: end(0.5).Cores,
		Threads: probes.Got([]probes.ThreadLoad{
			{TID: 101, Name: "lr-tx-1", System: .5}, {TID: 103, Name: "lr-rx-3", System: .4},
			{TID: 7, Name: "lr-info", System: .1}, {TID: 201, Name: "lr-rx-1", System: .3},
		}),
		Process: probes.Got(probes.ThreadLoad{System: 1.2}),
	}
	own, other := Split(l, []engine.Counters{conn(1, engine.Upload, true, 0), conn(3, engine.Download, false, 0)})
	client, server := NewEnd(own, engine.Client, time.Second), NewEnd(other, engine.Server, time.Second)
	type row struct {
		TID   int
		Dir   engine.Direction
		Sends bool
	}
	rows := func(e End) (r []row) {
		for _, t := range e.Threads.Value {
			r = append(r, row{t.TID, t.Dir, t.Sends})
		}
		return r
	}
	if diff := cmp.Diff([]row{{101, engine.Upload, true}, {103, engine.Download, false}}, rows(client)); diff != "" {
		t.Errorf("client (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]row{{201, engine.Upload, false}}, rows(server)); diff != "" {
		t.Errorf("server (-want +got):\n%s", diff)
	}
	if client.Process.Value != 1.2 {
		t.Errorf("process %+v, want 1.2", client.Process)
	}
	// Nothing left: the other end is a program of its own.
	l.Threads = probes.Got(l.Threads.Value[:1])
	if _, other := Split(l, []engine.Counters{conn(1, engine.Upload, true, 0)}); other.Threads.Known() || other.Process.Known() {
		t.Errorf("threads of another program: %+v, want unknown", other.Threads)
	}
}
