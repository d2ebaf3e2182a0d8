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
	return func(e *Evidence) {
		f := flow(bps)
		if e.Flows[dir].Window > 0 { // the sockets stay
			f.Sender, f.Receiver = e.Flows[dir].Sender, e.Flows[dir].Receiver
		}
		e.Flows[dir] = f
	}
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

func nic(side engine.Side, edit func(*probes.NIC)) func(*Evidence) {
	return func(e *Evidence) {
		n := probes.NIC{Name: "eth0", Kind: probes.Got("physical"), MTU: probes.Got(1500)}
		if known, ok := e.Ends[side].NIC.Get(); ok {
			n = known
		}
		edit(&n)
		e.Ends[side].NIC = probes.Got(n)
	}
}

func kind(side engine.Side, k string) func(*Evidence) {
	return nic(side, func(n *probes.NIC) { n.Kind = probes.Got(k) })
}

func mtu(side engine.Side, bytes int) func(*Evidence) {
	return nic(side, func(n *probes.NIC) { n.MTU = probes.Got(bytes) })
}

func adapter(side engine.Side, edit func(*probes.Adapter)) func(*Evidence) {
	return func(e *Evidence) { edit(&e.Ends[side].Adapter) }
}

// vitals change the counters of the last 4 s.
func vitals(side engine.Side, edit func(*probes.Vitals)) func(*Evidence) {
	return func(e *Evidence) {
		v := &e.Ends[side].Vitals
		v.Window, e.Ends[side].VitalsAge = 4*time.Second, 200*time.Millisecond
		edit(v)
	}
}

// counting adds to one of the sets of counters.
func counting(set *probes.Reading[probes.Counters], pairs probes.Counters) {
	all := probes.Counters{}
	for k, v := range set.Value {
		all[k] = v
	}
	for k, v := range pairs {
		all[k] = v
	}
	*set = probes.Got(all)
}

func tcp(side engine.Side, pairs probes.Counters) func(*Evidence) {
	return vitals(side, func(v *probes.Vitals) { counting(&v.TCP, pairs) })
}

func linked(side engine.Side, pairs probes.Counters) func(*Evidence) {
	return vitals(side, func(v *probes.Vitals) { counting(&v.Link, pairs) })
}

func driver(side engine.Side, pairs probes.Counters) func(*Evidence) {
	return vitals(side, func(v *probes.Vitals) { counting(&v.Driver, pairs) })
}

func softnet(side engine.Side, rows ...probes.Softnet) func(*Evidence) {
	return vitals(side, func(v *probes.Vitals) { v.Softnet = probes.Got(rows) })
}

func qdiscs(side engine.Side, all ...probes.Qdisc) func(*Evidence) {
	return vitals(side, func(v *probes.Vitals) { v.Qdiscs = probes.Got(all) })
}

func host(side engine.Side, edit func(*probes.Host)) func(*Evidence) {
	return func(e *Evidence) {
		h := probes.Host{Name: probes.Got("box"), OS: "linux", Arch: "amd64", Virtual: probes.Unknown[string](probes.Absent, "bare metal")}
		if known, ok := e.Ends[side].Host.Get(); ok {
			h = known
		}
		edit(&h)
		e.Ends[side].Host = probes.Got(h)
	}
}

func platform(side engine.Side, name string) func(*Evidence) {
	return host(side, func(h *probes.Host) { h.Platform = probes.Got(name) })
}

func setting(side engine.Side, key, value string) func(*Evidence) {
	return func(e *Evidence) {
		all := probes.Settings{}
		for k, v := range e.Ends[side].Settings {
			all[k] = v
		}
		all[key] = probes.Got(probes.Setting{Value: value})
		e.Ends[side].Settings = all
	}
}

func others(side engine.Side, name string, core int, busy float64) func(*Evidence) {
	return func(e *Evidence) {
		t := probes.ThreadLoad{TID: 9000 + core, Name: name, User: busy, Core: core}
		e.Ends[side].Others = probes.Got(append(append([]probes.ThreadLoad(nil), e.Ends[side].Others.Value...), t))
	}
}

func blindVitals(side engine.Side) func(*Evidence) {
	return func(e *Evidence) { e.Ends[side].Vitals = UnknownVitals("no /proc here") }
}

// wide makes a sender's window that of a path of so much delay: least and median round
// trip time.
func wide(least, rtt time.Duration) func(*StreamWindow) {
	return func(w *StreamWindow) {
		for _, i := range []*engine.TCPInfo{&w.Before, &w.Now} {
			i.MinRTT, i.RTT = least, rtt
		}
		w.Queue = probes.Got(rtt - least)
	}
}

// lost is a share of retransmissions, of which some were in vain, spread evenly over ten
// seconds.
func lost(sent, retrans, spurious uint32) func(*StreamWindow) {
	return func(w *StreamWindow) {
		w.Now.DataSegsOut = w.Before.DataSegsOut + sent
		w.Now.TotalRetrans = w.Before.TotalRetrans + retrans
		w.Now.DSACKDups = w.Before.DSACKDups + spurious
		w.Losses = nil
		for i := range uint32(keptSeconds) {
			part := func(n uint32) uint32 { return n*(i+1)/keptSeconds - n*i/keptSeconds }
			w.Losses = append(w.Losses, Loss{part(sent), part(retrans), part(spurious)})
		}
	}
}

// inBursts puts all losses of a window into every fifth second.
func inBursts(w *StreamWindow) {
	var total uint32
	for i := range w.Losses {
		total += w.Losses[i].Retrans
		w.Losses[i].Retrans = 0
	}
	w.Losses[2].Retrans, w.Losses[7].Retrans = total/2, total-total/2
}

func by(congestion string) func(*StreamWindow) {
	return func(w *StreamWindow) { w.Congestion = congestion }
}

// windows makes several edits of a sender's window one.
func windows(edits ...func(*StreamWindow)) func(*StreamWindow) {
	return func(w *StreamWindow) {
		for _, edit := range edits {
			edit(w)
		}
	}
}

// limitedBy sets the shares of the busy time in which the receive window and the send
// buffer were full.
func limitedBy(receive, send float64) func(*StreamWindow) {
	return func(w *StreamWindow) {
		busy := w.Now.BusyTime - w.Before.BusyTime
		w.Now.RwndLimited = w.Before.RwndLimited + time.Duration(receive*float64(busy))
		w.Now.SndbufLimited = w.Before.SndbufLimited + time.Duration(send*float64(busy))
	}
}

// buffers gives a socket its memory, the same at the begin of the window.
func buffers(m engine.SockMem) func(*StreamWindow) {
	return func(w *StreamWindow) { w.Mem, w.MemBefore = probes.Got(m), probes.Got(m) }
}

func receiver(dir engine.Direction, edits ...func(*StreamWindow)) func(*Evidence) {
	return func(e *Evidence) {
		w := StreamWindow{ID: 1, Span: 3 * time.Second, Info: probes.Unknown[int](probes.NotRead, "receivers have no use for it")}
		for _, edit := range edits {
			edit(&w)
		}
		e.Flows[dir].Receiver = probes.Got([]StreamWindow{w})
	}
}

func steps(s ...Step) func(*Evidence) {
	return func(e *Evidence) { e.Steps = append(e.Steps, s...) }
}

// quietFar is a far linerate with nothing to say against it.
func quietFar(e *Evidence) {
	far(.1, .1, .1, .1)(e)
	e.Ends[engine.Far].NIC = probes.Got(probes.NIC{Name: "eth0", Kind: probes.Got("physical"), MTU: probes.Got(1500)})
}

func idleTest(e *Evidence) {
	e.Test.Idle, e.Test.Age = true, 0
	e.Flows = [2]Flow{}
}

func idleFor(d time.Duration) func(*Evidence) {
	return func(e *Evidence) { e.Flows[engine.Upload].Idle = probes.Got(d) }
}

// virtualFar gives the far end an interface that raises no interrupts.
func virtualFar(e *Evidence) {
	e.Ends[engine.Far].NIC = probes.Got(probes.NIC{Name: "eth0", Kind: probes.Got("veth")})
}
