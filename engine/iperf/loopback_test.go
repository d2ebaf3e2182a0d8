package iperf

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"linerate/engine"
	"linerate/engine/internal/wire"
	"linerate/probes"
	"linerate/probes/host"
)

// TestSideLoopback has a server that reads this computer.
func TestSideLoopback(t *testing.T) {
	source := host.New()
	t.Cleanup(source.Close) // after the server, which reads it
	port := realServer(t, &Server{Host: source, Agent: "linerate test"})
	c, err := Dial(t.Context(), realSpec(port, func(s *engine.Spec) { s.Direction, s.Streams, s.Duration = engine.Both, 2, 2600*time.Millisecond }), Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := c.Run(t.Context())
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	far, ok := c.Far()
	if !ok || far.Ended != "" || far.Seq < 2 || far.Agent != "linerate test" || !r.Info.Linerate {
		t.Fatalf("%v, sample %d, agent %q, ended %q", ok, far.Seq, far.Agent, far.Ended)
	}
	if far.Host.OS != runtime.GOOS || far.Host.CPU.Cores != runtime.NumCPU() || far.Host.Name.Known() && far.Host.Name.Value == "" {
		t.Errorf("host %+v", far.Host)
	}
	if d := far.At.Sub(far.Sampled); d < 0 || d > time.Second || far.OffsetErr < 0 || far.OffsetErr > time.Second {
		t.Errorf("sampled %v before it came, error %v", d, far.OffsetErr)
	}
	// One clock here: its time of day was read twice within the error.
	if d := far.Offset.Abs(); d > far.OffsetErr+50*time.Millisecond {
		t.Errorf("offset %v ± %v", far.Offset, far.OffsetErr)
	}
	if len(far.Streams) != 4 {
		t.Fatalf("%d streams", len(far.Streams))
	}
	if runtime.GOOS != "linux" {
		return
	}
	if nic := far.Route.Value.NIC.Value; nic.Name != "lo" || !far.Adapter.Known() || len(far.Settings) == 0 {
		t.Errorf("route %+v, adapter %v, %d settings", far.Route, far.Adapter.Why(), len(far.Settings))
	}
	threads := far.Load.Threads.Value
	if len(threads) != 4 || !far.Load.Cores.Known() || far.Load.Process.Value.Busy() <= 0 {
		t.Errorf("threads %+v, cores %v, process %+v", far.Load.Threads, far.Load.Cores.Why(), far.Load.Process)
	}
	for _, th := range threads {
		if !strings.HasPrefix(th.Name, probes.ThreadPrefix) || th.TID == 0 {
			t.Errorf("thread %+v", th)
		}
	}
	for _, s := range far.Streams {
		if !s.TCP.Known() || s.Sender != s.RTT.Known() || s.Sender != s.Retransmits.Known() || s.Bytes == 0 || far.Sampled.Sub(s.TCPAt) > time.Second {
			t.Errorf("stream %d: sender %v, %+v, %+v, read %v before", s.ID, s.Sender, s.RTT, s.TCP.Why(), far.Sampled.Sub(s.TCPAt))
		}
		if s.Local.Port() != uint16(port) || s.Remote.Port() == 0 {
			t.Errorf("stream %d from %v to %v", s.ID, s.Local, s.Remote)
		}
	}
	if !far.Vitals.TCP.Known() || far.Vitals.TCP.Value["Tcp.OutSegs"] == 0 || !far.Vitals.Softnet.Known() {
		t.Errorf("vitals over %v: %d counters", far.Vitals.Window, len(far.Vitals.TCP.Value))
	}
}

// BenchmarkSample is one sample of eight streams on this computer, written there and read
// here, with and without vitals.
func BenchmarkSample(b *testing.B) {
	source := host.New()
	defer source.Close()
	source.Load()
	spec := engine.Spec{Streams: 8, Direction: engine.Download}
	var links []link
	for range spec.Streams {
		links = append(links, &pipeLink{})
	}
	tr := newTraffic(engine.TestInfo{Role: engine.Server, Spec: spec}, links, pipePlumbing{})
	tr.watch = pipePlumbing{}.watch(links)
	time.Sleep(200 * time.Millisecond)
	load := source.Load()
	for _, with := range []string{"vitals", "no vitals"} {
		b.Run(with, func(b *testing.B) {
			t := &teller{}
			far := newFarEnd(spec)
			far.heard(wire.FrameHello, []byte(goodHello), nil)
			b.ReportAllocs()
			size := 0
			for n := 1; b.Loop(); n++ {
				s := tr.tell(load, time.Now())
				s.Seq, s.Clock, s.Wall = uint64(n), int64(n), int64(n)
				if with == "vitals" {
					v := t.vitals(picked(source.Vitals(b.Context(), "lo")))
					s.Vitals = asJSON(v)
					t.named = [3]bool{true, true, true}
				}
				fit, err := s.Fit(wire.MaxFrame, 0)
				if err != nil {
					b.Fatal(err)
				}
				far.heard(wire.FrameSample, fit.Text, nil)
				size = len(fit.Text)
			}
			if now, _ := far.newest(); now.Ended != "" {
				b.Fatal(now.Ended)
			}
			b.ReportMetric(float64(size), "B/sample")
		})
	}
}
