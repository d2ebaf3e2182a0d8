package diagnose

import (
	"math"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// Builders for evidence. base is a client on a 4-core computer that uploads one stream
// to a stock iperf3 over 10G with MTU 1500 at 6 Gbit/s, with nothing full; the rows of
// the tests change what their rule looks at.

func base(edits ...func(*Evidence)) Evidence {
	e := Evidence{
		Test: Test{
			Role: engine.Client,
			Spec: engine.Spec{Streams: 1, Affinity: -1, SrvAffinity: -1}.Defaults(),
			Step: 1,
			Age:  20 * time.Second,
		},
		Path: Path{Ceiling: probes.Got(NewCeiling(10e9, Framing{MTU: 1500, Family: 4, Timestamps: true}))},
	}
	e.Ends[engine.Local] = end(0.10, 0.45, 0.10, 0.05)
	e.Ends[engine.Local].NIC = probes.Got(probes.NIC{Name: "eth0", Kind: probes.Got("physical"), RxQueues: probes.Got(4)})
	e.Ends[engine.Far] = UnknownEnd("stock iperf3")
	e.Flows = [2]Flow{flow(6e9), flow(6e9)}
	for _, edit := range edits {
		edit(&e)
	}
	return e
}

// end has one core per busy share, all of it system time, and no thread.
func end(busy ...float64) End {
	cores := make([]probes.CoreLoad, len(busy))
	for i, b := range busy {
		cores[i] = probes.CoreLoad{Core: i, System: b, Idle: 1 - b}
	}
	return End{
		Cores:   probes.Got(cores),
		Threads: probes.Got([]Thread{}),
		Process: probes.Got(0.3),
		Window:  2 * time.Second,
		Age:     100 * time.Millisecond,
	}
}

// flow is a steady rate.
func flow(bps float64) Flow {
	far := probes.Unknown[[]StreamWindow](probes.Absent, "only the other end knows")
	return Flow{
		Rate: probes.Got(bps), Window: 3 * time.Second,
		Seconds: []float64{bps, bps, bps, bps, bps},
		Idle:    probes.Got(time.Duration(0)),
		Sender:  far, Receiver: far,
	}
}

func direction(dir engine.Direction) func(*Evidence) {
	return func(e *Evidence) { e.Test.Spec.Direction = dir }
}

func streams(n int) func(*Evidence) {
	return func(e *Evidence) { e.Test.Spec.Streams = n }
}

func rateOf(dir engine.Direction, bps float64) func(*Evidence) {
	return func(e *Evidence) { e.Flows[dir] = flow(bps) }
}

func cores(side engine.Side, busy ...float64) func(*Evidence) {
	return func(e *Evidence) { e.Ends[side].Cores = end(busy...).Cores }
}

// thread adds a payload thread to one end.
func thread(side engine.Side, name string, dir engine.Direction, core int, busy float64) func(*Evidence) {
	return func(e *Evidence) {
		end := &e.Ends[side]
		t := Thread{
			ThreadLoad: probes.ThreadLoad{TID: 100 + core, Name: name, System: busy, Core: core},
			Dir:        dir,
			Sends:      e.Sender(dir) == side,
		}
		end.Threads = probes.Got(append(append([]Thread(nil), end.Threads.Value...), t))
	}
}

func softirq(side engine.Side, core int, softirq, system float64) func(*Evidence) {
	return func(e *Evidence) {
		all := append([]probes.CoreLoad(nil), e.Ends[side].Cores.Value...)
		all[core] = probes.CoreLoad{Core: core, SoftIRQ: softirq, System: system, Idle: 1 - softirq - system}
		e.Ends[side].Cores = probes.Got(all)
	}
}

// far makes the other end a visible linerate.
func far(busy ...float64) func(*Evidence) {
	return func(e *Evidence) {
		e.Test.Linerate = true
		e.Ends[engine.Far] = end(busy...)
	}
}

// oneHost puts both ends on a computer with the given cores.
func oneHost(busy ...float64) func(*Evidence) {
	return func(e *Evidence) {
		e.Test.SameHost, e.Test.Linerate = true, true
		e.Ends[engine.Local] = end(busy...)
		e.Ends[engine.Far] = end()
		e.Path.Ceiling = probes.Unknown[Ceiling](probes.Absent, "lo is loopback: it has no line speed")
	}
}

// unread is a receiver whose buffer is full to that share.
func unread(fill float64) StreamWindow {
	const room = 1000
	return StreamWindow{Mem: probes.Got(engine.SockMem{RmemAlloc: uint32(math.Round(fill * room)), RcvBuf: room})}
}

// window is what a healthy sender's TCP_INFO shows over 3 s.
func window() StreamWindow {
	return StreamWindow{
		ID: 1, TID: 101, Span: 3 * time.Second, Bytes: 1 << 30,
		Info:       probes.Got(280),
		AppLimited: probes.Got(1.0),
		Before: engine.TCPInfo{
			Size: 280, SndMSS: 1448, SndCwnd: 1000, SndSSThresh: noThreshold, DataSegsOut: 1000, RTT: 200 * time.Microsecond, MinRTT: 100 * time.Microsecond,
			MaxPacingRate: math.MaxUint64,
		},
		Now: engine.TCPInfo{
			Size: 280, SndMSS: 1448, SndCwnd: 1000, SndSSThresh: noThreshold, DataSegsOut: 101000, RTT: 200 * time.Microsecond, MinRTT: 100 * time.Microsecond,
			MaxPacingRate: math.MaxUint64, BusyTime: 2900 * time.Millisecond, Unacked: 500,
		},
	}
}

func sender(dir engine.Direction, edit func(*StreamWindow)) func(*Evidence) {
	return func(e *Evidence) {
		w := window()
		if edit != nil {
			edit(&w)
		}
		e.Flows[dir].Sender = probes.Got([]StreamWindow{w})
	}
}

func step(n int, dir engine.Direction, bps, peerCPU float64) func(*Evidence) {
	return func(e *Evidence) {
		s := Step{Spec: e.Test.Spec, PeerCPU: probes.Got(peerCPU)}
		if peerCPU <= 0 {
			s.PeerCPU = probes.Unknown[float64](probes.Absent, "the results did not arrive")
		}
		s.Spec.Streams, s.Spec.Direction = n, dir
		for _, d := range dir.Dirs() {
			s.Rates[d] = bps
		}
		e.Steps = append(e.Steps, s)
	}
}

// blindCores takes the cores of one end away.
func blindCores(side engine.Side) func(*Evidence) {
	return func(e *Evidence) {
		e.Ends[side].Cores = probes.Unknown[[]probes.CoreLoad](probes.Unsupported, "no per-core times without cgo")
	}
}

func blindThreads(side engine.Side) func(*Evidence) {
	return func(e *Evidence) {
		e.Ends[side].Threads = probes.Unknown[[]Thread](probes.Denied, "hidepid")
	}
}

func blindRate(dir engine.Direction) func(*Evidence) {
	return func(e *Evidence) {
		e.Flows[dir].Rate = probes.Unknown[float64](probes.NotRead, "measured for less than 1 s")
	}
}
