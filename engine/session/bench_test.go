package session

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"linerate/engine"
	"linerate/engine/iperf"
	"linerate/probes"
)

// steady is a test whose streams all run at one rate; its counters are of the time that
// the benchmark says it is.
type steady struct {
	info  engine.TestInfo
	start time.Time
	now   time.Time
}

func newSteady(start time.Time, streams int) *steady {
	t := &steady{start: start, now: start}
	t.info = engine.TestInfo{Start: start, Control: engine.Conn{Remote: netip.MustParseAddrPort("192.0.2.1:5201")}}
	for i := range streams {
		t.info.Conns = append(t.info.Conns, engine.Conn{ID: i + 1, Dir: engine.Upload, Sender: true})
	}
	return t
}

func (t *steady) Info() engine.TestInfo                 { return t.info }
func (t *steady) Stop()                                 {}
func (t *steady) Run(ctx context.Context) engine.Result { <-ctx.Done(); return engine.Result{} }

func (t *steady) Sample(dst []engine.Counters) []engine.Counters {
	age := t.now.Sub(t.start)
	for i, c := range t.info.Conns {
		n := uint64(age.Seconds()*1e9) + uint64(i)
		dst = append(dst, engine.Counters{
			Conn: c, Bytes: n, TID: 1000 + i, TCPAt: t.now,
			TCP: probes.Got(engine.TCPInfo{Size: engine.InfoRTO, BytesAcked: n, SndMSS: 1448, SndCwnd: 100, RTT: time.Millisecond, Options: 7}),
		})
	}
	return dst
}

// steadyHost has cores and threads that are half busy; its readings cost nothing.
type steadyHost struct{ load probes.Load }

func newSteadyHost(cores, threads int) *steadyHost {
	var c []probes.CoreLoad
	for i := range cores {
		c = append(c, probes.CoreLoad{Core: i, System: 0.5, Idle: 0.5})
	}
	var t []probes.ThreadLoad
	for i := range threads {
		t = append(t, probes.ThreadLoad{TID: 1000 + i, Name: fmt.Sprintf("lr-tx-%d", i), System: 0.5, Core: i % cores})
	}
	return &steadyHost{probes.Load{
		Window: loadEvery, Cores: probes.Got(c), Threads: probes.Got(t),
		Process: probes.Got(probes.ThreadLoad{System: 0.5 * float64(threads)}),
	}}
}

func (h *steadyHost) Host(context.Context) probes.Host { return probes.Host{} }
func (h *steadyHost) Load() probes.Load                { return h.load }
func (h *steadyHost) Route(context.Context, netip.Addr) probes.Reading[probes.Route] {
	return probes.Unknown[probes.Route](probes.Absent, "none")
}

// BenchmarkTick is everything the conductor does in 100 ms of a running test, readings
// of the kernel left out: a fifth of an operation is a reading of the load and the rules,
// two fifths are snapshots. core-% is what ten of them per second cost.
func BenchmarkTick(b *testing.B) {
	for _, streams := range []int{8, 128} {
		for _, cores := range []int{2, 128} {
			b.Run(fmt.Sprintf("streams=%d/cores=%d", streams, cores), func(b *testing.B) {
				b.ReportAllocs()
				start := time.Now()
				test := newSteady(start, streams)
				s := New(Config{
					Spec: engine.Spec{Host: "server", Streams: streams}, Host: newSteadyHost(cores, streams),
					Settle: 2 * time.Second, Hold: true,
					Start: func(context.Context, engine.Spec, iperf.Options) (Test, error) { return test, nil },
				})
				ctx, cancel := context.WithCancel(b.Context())
				c := newConductor(ctx, s)
				c.open(plan{spec: c.spec, change: "start"})
				c.onOpened(<-c.opened)
				c.due.tick, c.due.load, c.due.publish = start.Add(tick), start.Add(tick), start.Add(tick)
				c.due.host = start.Add(1000 * time.Hour)
				now := start
				for b.Loop() {
					now = now.Add(tick)
					test.now = now
					c.meet(now)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)*10/1e9*100, "core-%")
				cancel()
				c.wg.Wait()
			})
		}
	}
}
