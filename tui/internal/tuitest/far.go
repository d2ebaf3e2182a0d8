package tuitest

import (
	"math/rand/v2"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// FarSender is a download from a linerate server, which tells of its cores, its interface,
// what it drops and its sockets.
func FarSender() *engine.Snapshot {
	s := Make(engine.Download, 2, 2, 40, 3e9)
	s.Peer.Linerate, s.Peer.Agent = true, "linerate 0.1"
	far := Load(rand.New(rand.NewPCG(5, 5)), 2, nil)
	far.Cores.Value[1] = probes.CoreLoad{Core: 1, System: 0.31, SoftIRQ: 0.66}
	s.Peer.Load, s.Peer.LoadAge = probes.Got(far), 340*time.Millisecond
	host := Host(2)
	host.Name = probes.Got("hostB")
	s.Peer.HostInfo = probes.Got(host)
	route := Route()
	route.NIC.Value.Name, route.NIC.Value.Driver, route.NIC.Value.MTU = "enp3s0", probes.Got("igc"), probes.Got(9000)
	s.Peer.Route, s.Peer.FactsAge = probes.Got(route), 12*time.Second
	s.Peer.Drops, s.Peer.DropsAge = probes.Got(engine.Drops{RxMissed: 214, Queue: 3}), 840*time.Millisecond
	s.PathMTU.In = probes.Got(1500)
	for i := range s.Streams {
		st := &s.Streams[i]
		st.Cwnd, st.TCPAge = probes.Got(uint64(1_400_000)), 340*time.Millisecond
		st.Retransmits, st.RetransRate = probes.Got(uint64(310)), probes.Got(12.5)
	}
	s.Sums[0].Retransmits, s.Sums[0].RetransRate = probes.Got(uint64(620)), probes.Got(25.0)
	s.Verdicts = []engine.Verdict{{Dir: engine.Download, Main: engine.Finding{
		Code: "R12", Title: "packet handling fills a core", Severity: engine.SeverityWarning, Confidence: engine.Likely, Side: engine.Far, Core: 1,
		Text: "The far core 1 is full of packet handling (softirq 66 %) while 1 other has time: spread its interrupts over the cores, " +
			"or let RPS do it. More streams here won't help, since all of them end on that core.",
		Short: "far core 1 full of packets", Dir: engine.Download, Proof: engine.ProofDiscard,
	}}}
	return s
}

// Measuring is the first seconds of a test: nothing can be said yet.
func Measuring() *engine.Snapshot {
	s := Make(engine.Upload, 1, 4, 1, 9e8)
	s.Verdicts = []engine.Verdict{{Dir: engine.Upload, Main: engine.Finding{
		Code: "X01", Title: "measuring", Text: "Not enough evidence yet: a verdict takes some 6 s of traffic.", Short: "measuring…", Core: -1,
	}}}
	return s
}
