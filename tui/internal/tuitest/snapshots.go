package tuitest

import (
	"errors"
	"math"
	"math/rand/v2"
	"net/netip"
	"strings"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// Case is a named snapshot.
type Case struct {
	Name string
	Snap *engine.Snapshot
}

// Cases are all canned states.
func Cases() []Case {
	return []Case{
		{"upload8", Upload()}, {"bothways4", BothWays()}, {"many", Many(64, 32)}, {"n100", N100()},
		{"demo", Demo()}, {"changing", Changing()}, {"stopped", Stopped()}, {"finding", Finding()},
		{"ssh", SSH()}, {"connecting", Connecting()}, {"nodata", NoData()}, {"unknown", UnknownFar()},
		{"failed", Failed()}, {"hostile", Hostile()}, {"notfinite", NotFinite()},
		{"proving", Proving()}, {"proved", Proved()}, {"blackhole", BlackHole()},
		{"farsender", FarSender()}, {"measuring", Measuring()},
	}
}

// start is the wall clock of every canned session.
var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// Upload is eight streams at line rate after two changes.
func Upload() *engine.Snapshot {
	s := Make(engine.Upload, 8, 8, 161, 1.17e9)
	steps(s,
		step{"start", 1, 39 * time.Second, 3.8e9, "R10", "one sending thread fills a core"},
		step{"streams 1→4", 4, 105 * time.Second, 7.81e9, "R37", "still ramping"},
		step{"streams 4→8", 8, 0, 0, "R09", "line rate"})
	return s
}

type step struct {
	change  string
	streams int
	end     time.Duration
	mean    float64
	code    string
	title   string
}

// steps gives a session a past; the last step runs on with the session's sums.
func steps(s *engine.Snapshot, past ...step) {
	s.Segments = nil
	from := time.Duration(0)
	before := 0.0
	for i, p := range past {
		spec := s.Spec
		spec.Streams = p.streams
		seg := engine.Segment{Index: i + 1, Change: p.change, Spec: spec, Start: from, End: p.end, Verdict: p.code, Title: p.title}
		if i > 0 {
			seg.Gap = 7 * time.Millisecond
		}
		if p.end > 0 {
			seg.Sums = []engine.Sum{{Dir: s.Sums[0].Dir, Rate: p.mean, Mean: p.mean, Min: p.mean * 0.9, Max: p.mean * 1.05,
				Retransmits: probes.Got(uint64(12)), RetransRate: probes.Got(0.0)}}
			if before > 0 {
				seg.Sums[0].Delta, seg.Sums[0].DeltaTo = probes.Got(p.mean/before-1), i
			}
			seg.PeerCPU = probes.Got(engine.CPUUse{Total: 62})
			before = p.mean
		} else {
			if before > 0 {
				s.Sums[0].Delta, s.Sums[0].DeltaTo = probes.Got(s.Sums[0].Mean/before-1), i
			}
			seg.Sums = s.Sums
		}
		s.Segments = append(s.Segments, seg)
		from = p.end
	}
}

// BothWays is four streams each way, one verdict per direction.
func BothWays() *engine.Snapshot {
	s := Make(engine.Both, 4, 4, 72, 2.3e9)
	s.Verdicts[1].Main = engine.Finding{
		Code: "R12", Title: "softirq fills a core", Severity: engine.SeverityWarning, Confidence: engine.Sure,
		Dir: engine.Download, Core: 3, Side: engine.Local,
		Text:  "Core 3 is saturated by packet receive (softirq 94 %) while 2 cores idle: spread its queues; more streams here won't help.",
		Short: "core 3 full of packet receive (94 %)",
	}
	cores := s.Load.Cores.Value
	cores[3] = probes.CoreLoad{Core: 3, User: 0.01, System: 0.02, SoftIRQ: 0.94, Idle: 0.03}
	return s
}

// Many has more streams and cores than any screen has rows, at both ends.
func Many(streams, cores int) *engine.Snapshot {
	s := Make(engine.Upload, streams, cores, 60, 9.4e9/float64(max(1, streams)))
	for i := range s.Streams {
		if i%17 == 16 {
			s.Streams[i].Rate /= 5
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	far := Load(rng, cores, nil)
	s.Peer.Linerate, s.Peer.Agent = true, "linerate 0.1"
	s.Peer.Load, s.Peer.LoadAge = probes.Got(far), 180*time.Millisecond
	host := Host(cores)
	host.Name = probes.Got("hostB")
	s.Peer.HostInfo = probes.Got(host)
	return s
}

// N100 is case 2 of the reference results: a mini-PC with four cores, both ways with one
// stream each, the whole system at 30 %, one core full.
func N100() *engine.Snapshot {
	s := Make(engine.Both, 1, 4, 45, 9.4e9)
	s.Sums[1].Rate, s.Sums[1].Mean = 6.51e9, 6.51e9
	s.Streams[1].Rate = 6.51e9
	for i := range s.Sums {
		s.Sums[i].Fairness = 0
	}
	s.Load.Cores = probes.Got([]probes.CoreLoad{
		{Core: 0, User: 0.01, System: 0.04, SoftIRQ: 0.02, Idle: 0.93},
		{Core: 1, User: 0.01, System: 0.03, Idle: 0.96},
		{Core: 2, User: 0.03, System: 0.70, SoftIRQ: 0.26, Idle: 0.01},
		{Core: 3, User: 0.02, System: 0.05, IRQ: 0.01, SoftIRQ: 0.03, Idle: 0.89},
	})
	thread := probes.ThreadLoad{TID: 4100, Name: "lr-rx-3", User: 0.03, System: 0.95, Core: 2}
	s.Load.Threads = probes.Got([]probes.ThreadLoad{thread, {TID: 4101, Name: "lr-tx-1", System: 0.31, Core: 0}})
	s.Streams[1].Thread = probes.Got(thread)
	s.Verdicts[1].Main = engine.Finding{
		Code: "R11", Title: "one receiving thread fills a core", Severity: engine.SeverityLimit, Confidence: engine.Sure,
		Side: engine.Local, Dir: engine.Download, Core: 2, Press: "+", Proof: "+",
		Text:  "Core 2 is full of the receiving thread (98 %) while 3 others idle: press + for another stream.",
		Short: "core 2 full of the receiving thread: press +",
		Evidence: []engine.Evidence{
			{Name: "core 2 busy", Value: 0.99, Unit: "share", Side: engine.Local, Age: 200 * time.Millisecond},
			{Name: "thread lr-rx-3", Value: 0.98, Unit: "share", Side: engine.Local, Age: 200 * time.Millisecond},
			{Name: "goodput", Value: 6.51e9, Unit: "bit/s", Side: engine.Local},
		},
		Remedy: []engine.Remedy{{Text: "Use more streams: each has its own thread.", Temporary: "linerate HOST -P 4"}},
	}
	s.Verdicts[0].Checked = Checks(engine.Upload)
	s.Verdicts[1].Checked = Checks(engine.Download)
	return s
}

// Checks are some of the rules' answers about one direction.
func Checks(dir engine.Direction) (all []engine.Check) {
	const stock = "far end not visible: far cores unknown (stock iperf3)"
	add := func(code, title string, state engine.CheckState, why string) {
		all = append(all, engine.Check{Code: code, Title: title, Dir: dir, State: state, Why: why})
	}
	add("R01", "the link came up too slow", engine.RuledOut, "eth0 runs at 10 Gbit/s, the most both ends can do")
	add("R02", "half duplex", engine.RuledOut, "full duplex, no collisions")
	add("R03", "frames are damaged on the wire", engine.RuledOut, "no damaged frames in 3 s")
	add("R04", "the card's slot is the ceiling", engine.Unseen, "PCIe: no PCI device behind eth0")
	if dir == engine.Upload {
		add("R09", "line rate reached", engine.Holds, "Line rate: 9.41 of 9.415 Gbit/s possible with MTU 1500; MTU 9000 would allow 9.90.")
		add("R10", "one sending thread fills a core", engine.RuledOut, "the sending thread uses 31 % of a core")
		add("R11", "one receiving thread fills a core", engine.Unseen, stock)
	} else {
		add("R09", "line rate reached", engine.RuledOut, "6.51 of 9.415 Gbit/s possible")
		add("R10", "one sending thread fills a core", engine.Unseen, stock)
		add("R11", "one receiving thread fills a core", engine.Holds, "Core 2 is full of the receiving thread (98 %) while 3 others idle: press + for another stream.")
		add("R31", "the receiver does not read fast enough", engine.Holds, "The receiver does not read fast enough: its buffer is 92 % full.")
	}
	add("R12", "packet handling fills a core", engine.RuledOut, "core 2 spends 26 % in softirq")
	add("R16", "the hypervisor withholds CPU", engine.RuledOut, "no core is short of time")
	add("R38", "random loss on the path", engine.RuledOut, "0.0002 % of the segments are sent again")
	add("R48", "firewall and connection tracking", engine.Unseen, "firewall: listing its rules needs CAP_NET_ADMIN")
	add("R49", "thread and card on different processors", engine.Unseen, stock)
	return all
}

// Proving puts the verdict of N100 to the proof: a second stream runs.
func Proving() *engine.Snapshot {
	s := N100()
	f := &s.Verdicts[1].Main
	s.Proving = engine.Proving{Code: f.Code, Title: f.Title, Dir: f.Dir, Action: f.Proof, Phase: engine.ProofTrying,
		Trying: "2 streams", Left: 4300 * time.Millisecond, Back: s.Spec}
	s.Segments = append(s.Segments, engine.Segment{Index: 2, Change: "proof: 1→2 streams", Start: 41 * time.Second,
		Gap: 6 * time.Millisecond, Spec: s.Spec, Sums: s.Sums, Proof: true})
	return s
}

// Proved has gone back, with the answer.
func Proved() *engine.Snapshot {
	s := Proving()
	s.Proving.Phase, s.Proving.Left, s.Proving.Answer, s.Proving.At = engine.ProofOver, 0, engine.Proven, 43*time.Second
	s.Proving.Showed = "2 streams gave 9.40 Gbit/s download, +44 %: the limit is per stream: proven"
	s.Segments[1].End = 43 * time.Second
	s.Segments = append(s.Segments, engine.Segment{Index: 3, Change: "back from the proof", Start: 43 * time.Second,
		Gap: 6 * time.Millisecond, Spec: s.Spec, Sums: s.Sums})
	s.Events = append(s.Events, engine.Event{Seq: 3, At: 43 * time.Second, Text: "proof: " + s.Proving.Showed})
	return s
}

// BlackHole is a path that swallows large packets, and queues the others.
func BlackHole() *engine.Snapshot {
	s := Upload()
	s.PathRTT = probes.PathRTT{Idle: probes.Got(20300 * time.Microsecond), Loaded: probes.Got(288 * time.Millisecond), Hops: probes.Got(3)}
	s.PathMTU = probes.PathMTU{Out: probes.Got(4074), In: probes.Got(9000), BlackHole: true, TooBig: probes.Got(4075)}
	s.Verdicts[0].Main = engine.Finding{
		Code: "R43", Title: "large packets vanish", Severity: engine.SeverityFault, Confidence: engine.Sure,
		Dir: engine.Upload, Side: engine.Path, Core: -1, Proof: engine.ProofMTU,
		Text:  "The path drops packets above 4074 bytes in upload (host MTU 9000).",
		Short: "packets above 4074 bytes vanish",
	}
	return s
}

// Demo is a session on loopback.
func Demo() *engine.Snapshot {
	s := Make(engine.Upload, 2, 2, 20, 24e9)
	s.Peer = engine.Peer{Host: "127.0.0.1", Addr: netip.MustParseAddrPort("127.0.0.1:40123"), Linerate: true, Loopback: true, Agent: "linerate 0.1"}
	s.Spec.Port = 40123
	s.Label = "simulated link 10 Gbit/s"
	s.Route = probes.Got(probes.Route{Dest: netip.MustParseAddr("127.0.0.1"), Source: netip.MustParseAddr("127.0.0.1"),
		NIC: probes.Got(probes.NIC{Name: "lo", Kind: probes.Got("loopback"), MTU: probes.Got(65536)})})
	s.Sums[0].Ceiling = probes.Unknown[float64](probes.Absent, "lo has no line speed")
	steps(s, step{"start", 1, 8 * time.Second, 12e9, "R10", "one sending thread fills a core"},
		step{"streams 1→2", 2, 0, 0, "", "both cores busy"})
	return s
}

// Changing has a step on its way.
func Changing() *engine.Snapshot {
	s := Upload()
	asked := s.Spec
	asked.Streams, asked.Direction = 3, engine.Both
	s.Asked, s.Phase, s.Note = &asked, engine.Changing, "opening streams 8→3, upload → both ways"
	return s
}

// Stopped has no traffic.
func Stopped() *engine.Snapshot {
	s := Upload()
	s.Phase, s.Verdicts = engine.Stopped, nil
	return s
}

// Finding is a search for the best stream count.
func Finding() *engine.Snapshot {
	s := Upload()
	s.Best = engine.Best{Active: true, Trying: 8}
	return s
}

// SSH is a thin line that carries the operator's session too.
func SSH() *engine.Snapshot {
	s := Make(engine.Upload, 1, 2, 33, 4.6e6)
	s.SSHLink = true
	s.Sums[0].Ceiling = probes.Unknown[float64](probes.Absent, "tun0 is tun: it has no line speed")
	s.Verdicts[0].Main.Text = "Not enough evidence for a cause."
	return s
}

// Connecting is the first moment.
func Connecting() *engine.Snapshot {
	return &engine.Snapshot{
		Seq: 1, At: start, Phase: engine.Connecting, Note: "connecting to 10.0.0.2 port 5201",
		Peer: engine.Peer{Host: "10.0.0.2"}, Spec: engine.Spec{Host: "10.0.0.2", Port: 5201, Streams: 4},
	}
}

// NoData has connected and seen nothing yet.
func NoData() *engine.Snapshot {
	s := Connecting()
	s.Phase, s.Note = engine.Running, ""
	s.Peer.Addr = netip.MustParseAddrPort("10.0.0.2:5201")
	s.Segments = []engine.Segment{{Index: 1, Change: "start", Spec: s.Spec}}
	s.Load.Cores = probes.Unknown[[]probes.CoreLoad](probes.NotRead, "first reading")
	s.Route = probes.Unknown[probes.Route](probes.Unsupported, "not on this system")
	return s
}

// UnknownFar is a test whose own cores cannot be read either.
func UnknownFar() *engine.Snapshot {
	s := Make(engine.Download, 2, 0, 12, 4e8)
	s.Load = probes.Load{Cores: probes.Unknown[[]probes.CoreLoad](probes.Unsupported, "not without cgo on this system")}
	s.Host = probes.Host{}
	s.Peer.Agent = ""
	s.Route = probes.Unknown[probes.Route](probes.Denied, "netlink: operation not permitted")
	s.SelfCPU = probes.Unknown[float64](probes.Unsupported, "no thread times")
	return s
}

// Failed has ended with an error after a while.
func Failed() *engine.Snapshot {
	s := Upload()
	s.Phase = engine.Done
	s.Err = errors.New("the server closed the connection while the test ran")
	s.Segments[2].Err = s.Err.Error()
	return s
}

// Hostile is a peer that sends what a terminal must not get.
func Hostile() *engine.Snapshot {
	s := Make(engine.Upload, 2, 2, 10, 1e9)
	evil := "\x1b[31mred\x1b]0;title\x07\r\n\x9b2J\u202e漢字👍e\u0301\x00" + strings.Repeat("A", 300)
	s.Peer.Host, s.Peer.Agent, s.Label = evil, evil, "\x1b[2J\tlabel"
	s.Peer.Addr = netip.AddrPort{}
	s.Verdicts[0].Main.Text, s.Verdicts[0].Main.Short, s.Verdicts[0].Main.Title = evil, evil, evil
	s.Verdicts[0].Also = []engine.Finding{{Title: evil}}
	s.Segments[0].Change, s.Segments[0].Title = evil, evil
	s.Segments = append(s.Segments, engine.Segment{Index: 2, Change: evil, Start: 5 * time.Second, Spec: s.Spec, Sums: s.Sums, Err: evil})
	s.Events = append(s.Events, engine.Event{Seq: 9, Text: evil})
	s.Note, s.Best.Reason = evil, evil
	s.Host.Name = probes.Got(evil)
	s.Load.Threads = probes.Got([]probes.ThreadLoad{{Name: evil, System: 1, Core: 1}})
	return s
}

// NotFinite has what arithmetic may leave behind.
func NotFinite() *engine.Snapshot {
	s := Make(engine.Both, 3, 3, 10, 1e9)
	bad := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1}
	for i := range s.Streams {
		v := bad[i%len(bad)]
		s.Streams[i].Rate = v
		s.Streams[i].RetransRate = probes.Got(v)
		s.Streams[i].RTT = probes.Got(time.Duration(-1))
	}
	for i := range s.Sums {
		v := bad[i]
		s.Sums[i].Rate, s.Sums[i].Mean, s.Sums[i].Max, s.Sums[i].Min, s.Sums[i].Fairness = v, v, v, v, v
		s.Sums[i].Ceiling, s.Sums[i].Delta = probes.Got(v), probes.Got(v)
	}
	s.Load.Cores.Value[0] = probes.CoreLoad{User: math.NaN(), System: math.Inf(1), Idle: math.Inf(-1)}
	s.Load.Cores.Value[1] = probes.CoreLoad{Core: -5, User: -1}
	s.Load.Cores.Value[2] = probes.CoreLoad{Core: math.MaxInt, User: 40}
	s.SelfCPU = probes.Got(math.NaN())
	s.Elapsed = -time.Second
	up := engine.NewRecorder(engine.FullHistory)
	for i := range 100 {
		up.Add(time.Duration(i)*100*time.Millisecond, bad[i%len(bad)])
	}
	s.History.Up = up.Series()
	s.Verdicts[0].Main.Evidence = []engine.Evidence{{Name: "x", Value: math.Inf(1), Unit: "s"}, {Name: "y", Value: math.NaN(), Unit: "share"}}
	return s
}
