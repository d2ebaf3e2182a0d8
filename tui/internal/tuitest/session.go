package tuitest

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// Make builds a running session of n streams in a direction, cores local cores, seconds
// long, each stream at about rate bits/s.
func Make(dir engine.Direction, n, cores int, seconds int, rate float64) *engine.Snapshot {
	rng := rand.New(rand.NewPCG(7, uint64(n*1000+cores)))
	elapsed := time.Duration(seconds) * time.Second
	s := &engine.Snapshot{
		Seq: 100, At: start.Add(elapsed), Elapsed: elapsed, Phase: engine.Running,
		Peer: engine.Peer{Host: "10.0.0.2", Addr: netip.MustParseAddrPort("10.0.0.2:5201"), Agent: "iperf 3.18"},
		Spec: engine.Spec{Host: "10.0.0.2", Port: 5201, Streams: n, Direction: dir, Congestion: "cubic"},
		Host: Host(cores), Route: probes.Got(Route()),
		SelfCPU: probes.Got(0.004),
	}
	id := 1
	for _, d := range dir.Dirs() {
		sum := engine.Sum{Dir: d, Fairness: 0.99, Ceiling: probes.Got(9.415e9)}
		retrans, perSecond := uint64(0), 0.0
		for range n {
			st := stream(rng, id, d, rate*(0.85+0.3*rng.Float64()), elapsed)
			s.Streams = append(s.Streams, st)
			sum.Rate += st.Rate
			sum.Bytes += st.Bytes
			retrans += st.Retransmits.Or(0)
			perSecond += st.RetransRate.Or(0)
			if id++; id == 2 {
				id = 3
			}
		}
		sum.Mean, sum.Min, sum.Max = sum.Rate*0.98, sum.Rate*0.6, sum.Rate*1.02
		sum.Retransmits, sum.RetransRate = probes.Got(retrans), probes.Got(perSecond)
		if d == engine.Download {
			sum.Retransmits = probes.Unknown[uint64](probes.Absent, "only the sender knows")
			sum.RetransRate = probes.Unknown[float64](probes.Absent, "only the sender knows")
		}
		s.Sums = append(s.Sums, sum)
		s.Moved += sum.Bytes
	}
	s.PathRTT = probes.PathRTT{Idle: probes.Got(190 * time.Microsecond), Loaded: probes.Got(420 * time.Microsecond), Hops: probes.Got(1)}
	s.PathMTU = probes.PathMTU{Out: probes.Got(1500), In: probes.Unknown[int](probes.NotRead, "only a linerate server can tell the way back")}
	s.Load = Load(rng, cores, s.Streams)
	s.Drops = probes.Got(engine.Drops{})
	s.History = history(rng, s, elapsed)
	s.Segments = []engine.Segment{{Index: 1, Change: "start", Spec: s.Spec, Sums: s.Sums}}
	s.Verdicts = []engine.Verdict{}
	for _, d := range dir.Dirs() {
		s.Verdicts = append(s.Verdicts, engine.Verdict{Dir: d, Main: engine.Finding{
			Code: "R09", Title: "line rate", Text: "Line rate: 9.41 of 9.415 Gbit/s possible with MTU 1500; MTU 9000 would allow 9.90.",
			Short: "line rate: 9.41 of 9.415 Gbit/s", Severity: engine.SeverityOK, Confidence: engine.Sure, Dir: d, Core: -1,
		}})
	}
	s.Events = []engine.Event{
		{Seq: 1, At: 0, Text: "connected to 10.0.0.2 port 5201 (iperf 3.18)"},
		{Seq: 2, At: 3 * time.Second, Text: "verdict: line rate"},
	}
	return s
}

func stream(rng *rand.Rand, id int, dir engine.Direction, rate float64, elapsed time.Duration) engine.Stream {
	sends := dir == engine.Upload
	st := engine.Stream{
		Conn: engine.Conn{ID: id, Socket: 3 + 2*id, Dir: dir, Sender: sends},
		Rate: rate, Bytes: uint64(rate / 8 * elapsed.Seconds()),
		TCPAge: 40 * time.Millisecond,
		Thread: probes.Got(probes.ThreadLoad{TID: 4000 + id, Name: fmt.Sprintf("lr-tx-%d", engine.Conn{ID: id}.Number()), User: 0.02, System: 0.4, Core: id % 4}),
	}
	info := engine.TCPInfo{Size: engine.InfoRTO, SndMSS: 1448, PMTU: 1500, SndCwnd: uint32(900 + rng.IntN(500)),
		RTT: 310*time.Microsecond + time.Duration(rng.IntN(200))*time.Microsecond, MinRTT: 180 * time.Microsecond,
		BusyTime: elapsed, RwndLimited: elapsed / 50, SndbufLimited: elapsed / 90}
	st.TCP = probes.Got(info)
	st.RTT = probes.Got(info.RTT)
	if sends {
		st.Cwnd = probes.Got(info.CwndBytes())
		st.Retransmits = probes.Got(uint64(rng.IntN(40)))
		st.RetransRate = probes.Got(float64(rng.IntN(4)))
	} else {
		why := "only the sender knows"
		st.Cwnd = probes.Unknown[uint64](probes.Absent, why)
		st.Retransmits = probes.Unknown[uint64](probes.Absent, why)
		st.RetransRate = probes.Unknown[float64](probes.Absent, why)
	}
	trail := engine.NewRecorder(engine.ShortHistory)
	for t := time.Duration(0); t < elapsed; t += time.Second {
		trail.Add(t, rate*(0.8+0.3*rng.Float64()))
	}
	st.Trail = trail.Series()
	return st
}

// history is the last minutes of a test: a ramp, a plateau, one dip of 0.3 s.
func history(rng *rand.Rand, s *engine.Snapshot, elapsed time.Duration) engine.History {
	up, down := engine.NewRecorder(engine.FullHistory), engine.NewRecorder(engine.FullHistory)
	retr, rtt, cwnd := engine.NewRecorder(engine.FullHistory), engine.NewRecorder(engine.FullHistory), engine.NewRecorder(engine.FullHistory)
	for t := time.Duration(0); t < elapsed; t += 100 * time.Millisecond {
		shape := min(1, 0.3+t.Seconds()/4) * (0.97 + 0.05*rng.Float64())
		if d := elapsed/2 - t; d > 0 && d <= 300*time.Millisecond {
			shape = 0
		}
		for i := range s.Sums {
			if s.Sums[i].Dir == engine.Upload {
				up.Add(t, s.Sums[i].Rate*shape)
			} else {
				down.Add(t, s.Sums[i].Rate*shape*0.97)
			}
		}
		lost := 0.0
		if rng.IntN(60) == 0 {
			lost = float64(rng.IntN(90))
		}
		retr.Add(t, lost)
		rtt.Add(t, 0.0003+0.0002*rng.Float64())
		cwnd.Add(t, 14e6*shape)
	}
	cores := make([]engine.Series, len(s.Load.Cores.Or(nil)))
	for i, c := range s.Load.Cores.Or(nil) {
		r := engine.NewRecorder(engine.FullHistory)
		for t := time.Duration(0); t < elapsed; t += 500 * time.Millisecond {
			r.Add(t, min(1, c.Busy()*(0.8+0.3*rng.Float64())))
		}
		cores[i] = r.Series()
	}
	return engine.History{Cores: cores, Up: up.Series(), Down: down.Series(), Retrans: retr.Series(), RTT: rtt.Series(), Cwnd: cwnd.Series()}
}

// Host is a computer with n cores.
func Host(n int) probes.Host {
	freq := make([]float64, max(n, 1))
	for i := range freq {
		freq[i] = 3.4e9
	}
	return probes.Host{
		Name: probes.Got("hostA"), OS: "linux", Arch: "amd64", Kernel: probes.Got("6.8.0-40"),
		CPU: probes.CPU{Model: probes.Got("Intel(R) N100"), Cores: n, FreqHz: probes.Got(freq),
			MaxHz: probes.Got(3.4e9), Governor: probes.Got("performance")},
	}
}

// Route leaves by a 10 Gbit/s interface.
func Route() probes.Route {
	return probes.Route{
		Dest: netip.MustParseAddr("10.0.0.2"), Source: netip.MustParseAddr("10.0.0.1"),
		NIC: probes.Got(probes.NIC{
			Name: "eth0", Kind: probes.Got("physical"), Driver: probes.Got("ixgbe"), SpeedBps: probes.Got(10e9),
			Duplex: probes.Got("full"), MTU: probes.Got(1500), Up: probes.Got(true),
			Offloads: probes.Offloads{TSO: probes.Got(true), GSO: probes.Got(true), GRO: probes.Got(true), LRO: probes.Got(false)},
			RxQueues: probes.Got(4), TxQueues: probes.Got(4),
			Counters: probes.Got(probes.NICCounters{RxMissed: 214}),
		}),
	}
}

// Load makes n cores that share out the work of the streams' threads.
func Load(rng *rand.Rand, n int, streams []engine.Stream) probes.Load {
	cores := make([]probes.CoreLoad, n)
	for i := range cores {
		u, sy, so := 0.05+0.1*rng.Float64(), 0.1+0.3*rng.Float64(), 0.1*rng.Float64()
		cores[i] = probes.CoreLoad{Core: i, User: u, System: sy, IRQ: 0.01, SoftIRQ: so, Idle: 1 - u - sy - so - 0.01}
	}
	var threads []probes.ThreadLoad
	for i := range streams {
		if t, ok := streams[i].Thread.Get(); ok && t.Core < n {
			threads = append(threads, t)
		}
	}
	return probes.Load{At: start, Window: time.Second, Cores: probes.Got(cores), Threads: probes.Got(threads),
		Process: probes.Got(probes.ThreadLoad{User: 0.1, System: 1.2})}
}
