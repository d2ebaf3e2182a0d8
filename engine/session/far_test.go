package session_test

import (
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"linerate/engine"
	"linerate/engine/diagnose"
	"linerate/engine/session"
	"linerate/engine/session/sessiontest"
	"linerate/probes"
)

// linerateServer sends and receives 1 Gbit/s per stream; what sends loses 40 segments/s.
func linerateServer(far sessiontest.FarEnd) *sessiontest.Server {
	far.Host, far.NIC = "faraway", "eth9"
	return &sessiontest.Server{
		Agent: "linerate 0.1", Far: &far,
		Retransmits: func(engine.Spec, engine.Conn, time.Duration) float64 { return 40 },
	}
}

func download(streams int) engine.Spec {
	s := endless(streams)
	s.Direction = engine.Download
	return s
}

// farLoad has the far thread of the first stream fill core 1.
func farLoad(time.Duration) ([]probes.CoreLoad, []probes.ThreadLoad) {
	return []probes.CoreLoad{{Core: 0, Idle: 1}, {Core: 1, System: 1}, {Core: 2, Idle: 1}, {Core: 3, Idle: 1}},
		[]probes.ThreadLoad{{TID: 4720, Name: "lr-tx-1", User: 0.02, System: 0.97, Core: 1}}
}

// TestFarSender: in a download the far sockets say what is lost, as the local ones do in
// an upload.
func TestFarSender(t *testing.T) {
	for _, brief := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			run := begin(t, linerateServer(sessiontest.FarEnd{Delay: 20 * time.Millisecond, Brief: brief}), download(2))
			run.Sleep(300 * time.Millisecond)
			if s := run.Snapshot(); s.Streams[0].Retransmits.Known() || s.Streams[0].Retransmits.Why() != "only the sender, the far end, knows" {
				t.Errorf("before the first sample: %+v", s.Streams[0].Retransmits)
			}
			run.Sleep(9700 * time.Millisecond)
			s := run.Snapshot()
			for _, st := range s.Streams {
				if !near(float64(st.Retransmits.Value), 380, 0.06) || !near(st.RetransRate.Value, 40, 0.03) {
					t.Errorf("stream %d: %+v lost, %+v per second", st.ID, st.Retransmits, st.RetransRate)
				}
				if st.Cwnd.Value == 0 || st.RTT != probes.Got(200*time.Microsecond) || st.TCPAge < 0 || st.TCPAge > 700*time.Millisecond {
					t.Errorf("stream %d: cwnd %+v, RTT %+v, %v old", st.ID, st.Cwnd, st.RTT, st.TCPAge)
				}
				if sends := st.TCP.Value.TotalRetrans > 0; sends == brief {
					t.Errorf("stream %d: brief %v, TCP_INFO %+v", st.ID, brief, st.TCP.Value)
				}
			}
			sum := s.Sum(engine.Download)
			if !near(float64(sum.Retransmits.Value), 760, 0.06) || !near(sum.RetransRate.Value, 80, 0.03) {
				t.Errorf("sum: %+v, %+v", sum.Retransmits, sum.RetransRate)
			}
			for what, series := range map[string]engine.Series{"retransmits": s.History.Retrans, "cwnd": s.History.Cwnd, "RTT": s.History.RTT} {
				points := make([]engine.Point, 1)
				series.Columns(5*time.Second, 9*time.Second, points)
				if points[0].Gap() || points[0].Mean <= 0 || what == "retransmits" && !near(float64(points[0].Mean), 80, 0.05) {
					t.Errorf("history of %s: %+v", what, points[0])
				}
			}
			run.Quit()
		})
	}
}

// TestFarSenderChained: the count goes on when a test of the step follows another.
func TestFarSenderChained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := linerateServer(sessiontest.FarEnd{})
		server.Lasts = 5 * time.Second
		run := begin(t, server, download(1))
		run.Sleep(14 * time.Second)
		s := run.Snapshot()
		// The last half second of each test is not told.
		if n := s.Streams[0].Retransmits.Value; len(server.Tests()) != 3 || n < 500 || n > 560 {
			t.Errorf("%d tests, %d segments, want 3 and about 540", len(server.Tests()), n)
		}
		run.Quit()
	})
}

// TestFarHost: what the screen shows of the far computer.
func TestFarHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := linerateServer(sessiontest.FarEnd{Delay: 80 * time.Millisecond, Load: farLoad, NIC: "eth9",
			Vitals: func(age time.Duration) probes.Vitals {
				return probes.Vitals{Link: probes.Got(probes.Counters{"rx_missed_errors": uint64(10 * age.Seconds())})}
			}})
		run := begin(t, server, endless(1))
		run.Sleep(200 * time.Millisecond)
		s := run.Snapshot()
		if !s.Peer.Linerate || s.Peer.Agent != "linerate 0.1" || s.Peer.HostInfo.Value.Name.Value != "faraway" {
			t.Errorf("peer %+v", s.Peer)
		}
		if s.Peer.Load.Known() || s.Peer.Load.Why() != "the far end has not told yet" {
			t.Errorf("load before the first sample: %+v", s.Peer.Load)
		}
		run.Sleep(4800 * time.Millisecond)
		s = run.Snapshot()
		if cores := s.Peer.Load.Value.Cores.Value; len(cores) != 4 || cores[1].System != 1 {
			t.Errorf("load %+v", s.Peer.Load)
		}
		if s.Peer.LoadAge < 80*time.Millisecond || s.Peer.LoadAge > 700*time.Millisecond {
			t.Errorf("load is %v old", s.Peer.LoadAge)
		}
		if nic := s.Peer.Route.Value.NIC.Value.Name; nic != "eth9" || s.Peer.FactsAge < 4*time.Second {
			t.Errorf("far interface %q, %v old", nic, s.Peer.FactsAge)
		}
		if n := s.Peer.Drops.Value.RxMissed; n < 40 || n > 50 || s.Peer.DropsAge < 80*time.Millisecond || s.Peer.DropsAge > 700*time.Millisecond {
			t.Errorf("the far end missed %d packets, %v ago, want 40 to 50", n, s.Peer.DropsAge)
		}
		if s.Streams[0].TCP.Value.BytesAcked == 0 || s.Streams[0].TCPAge > 200*time.Millisecond {
			t.Errorf("an upload shows the far socket: %v old, %+v", s.Streams[0].TCPAge, s.Streams[0].TCP.Value)
		}
		run.Do(engine.AddStreams{Delta: 1})
		run.Sleep(500 * time.Millisecond)
		if s = run.Snapshot(); !s.Peer.Load.Known() || !s.Peer.HostInfo.Known() {
			t.Errorf("right after a change: %+v", s.Peer)
		}
		run.Quit()
	})
}

// TestFarEvidence: the rules get the far end as they get this one.
func TestFarEvidence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := linerateServer(sessiontest.FarEnd{
			Load: farLoad,
			Vitals: func(age time.Duration) probes.Vitals {
				return probes.Vitals{TCP: probes.Got(probes.Counters{"TcpExt.TCPTimeouts": uint64(10 * age.Seconds())})}
			},
		})
		run := begin(t, server, download(1))
		run.Sleep(8 * time.Second)
		verdict := run.Snapshot().Verdicts[0]
		run.Quit()
		e, ok := run.Evidence()
		if !ok {
			t.Fatal("no evidence")
		}
		end := &e.Ends[engine.Far]
		if len(end.Cores.Value) != 4 || len(end.Threads.Value) != 1 || end.Age > time.Second || end.Window < time.Second {
			t.Errorf("cores %+v, threads %+v over %v, %v old", end.Cores, end.Threads, end.Window, end.Age)
		}
		if th := end.Threads.Value[0]; !th.Sends || th.Dir != engine.Download || !near(th.Busy(), 0.99, 0.01) {
			t.Errorf("thread %+v", th)
		}
		if end.NIC.Value.Name != "eth9" || end.Adapter.Device != "eth9" || end.Host.Value.Name.Value != "faraway" || end.Firewall.Kind.Known() {
			t.Errorf("host %+v, NIC %+v, adapter %q, firewall %+v", end.Host.Value.Name, end.NIC.Value.Name, end.Adapter.Device, end.Firewall)
		}
		if n := end.Vitals.TCP.Value["TcpExt.TCPTimeouts"]; end.Vitals.Window < time.Second || !near(float64(n), 10*end.Vitals.Window.Seconds(), 0.1) {
			t.Errorf("%d timeouts in %v", n, end.Vitals.Window)
		}
		flow := &e.Flows[engine.Download]
		if len(flow.Sender.Value) != 1 || len(flow.Receiver.Value) != 1 {
			t.Fatalf("sender %+v, receiver %+v", flow.Sender, flow.Receiver)
		}
		w := &flow.Sender.Value[0]
		if lost := w.Now.TotalRetrans - w.Before.TotalRetrans; !near(float64(lost), 40*w.Span.Seconds(), 0.1) || !near(w.Rate(true), 1e9, 0.02) {
			t.Errorf("%d segments lost in %v at %v", lost, w.Span, w.Rate(true))
		}
		if verdict.Main.Code != diagnose.SenderCore || verdict.Main.Side != engine.Far {
			t.Errorf("verdict %s of side %v, want %s of the far one", verdict.Main.Code, verdict.Main.Side, diagnose.SenderCore)
		}
	})
}

// TestFarFallsSilent: what is old is shown as such and then not at all, and the reason is
// in the log.
func TestFarFallsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := begin(t, linerateServer(sessiontest.FarEnd{Load: farLoad, EndsAt: 4 * time.Second}), download(1))
		run.Sleep(8 * time.Second)
		s := run.Snapshot()
		if !strings.Contains(text(s), "tells no more about itself: a sample without sense") {
			t.Errorf("log:\n%s", text(s))
		}
		if strings.Count(text(s), "tells no more") != 1 {
			t.Errorf("it is said more than once:\n%s", text(s))
		}
		if s.Peer.LoadAge < 4*time.Second || !s.Streams[0].RTT.Known() {
			t.Errorf("4 s later: load %v old, RTT %+v", s.Peer.LoadAge, s.Streams[0].RTT)
		}
		run.Sleep(8 * time.Second)
		s = run.Snapshot()
		if s.Streams[0].RTT.Known() || s.Streams[0].RetransRate.Known() || !s.Streams[0].Retransmits.Known() {
			t.Errorf("12 s later: RTT %+v, %+v per second, %+v", s.Streams[0].RTT, s.Streams[0].RetransRate, s.Streams[0].Retransmits)
		}
		if s.Phase != engine.Running {
			t.Errorf("phase %v", s.Phase)
		}
		run.Quit()
		e, _ := run.Evidence()
		if e.Ends[engine.Far].Cores.Known() || e.Flows[engine.Download].Sender.Known() || !strings.Contains(e.Ends[engine.Far].Cores.Why(), "without sense") {
			t.Errorf("the rules still see cores %+v, sender %+v", e.Ends[engine.Far].Cores, e.Flows[engine.Download].Sender)
		}
	})
}

// TestFarRare: samples of a slow test come seconds apart; the rate is over what they span.
func TestFarRare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := begin(t, linerateServer(sessiontest.FarEnd{Every: 4 * time.Second}), download(1))
		run.Sleep(15 * time.Second)
		st := run.Snapshot().Streams[0]
		if !near(st.RetransRate.Value, 40, 0.05) || st.TCPAge < 2*time.Second || st.TCPAge > 4*time.Second {
			t.Errorf("%+v per second, %v old", st.RetransRate, st.TCPAge)
		}
		run.Quit()
	})
}

// TestFarOnThisComputer: the screen shows the cores once; the far sockets are seen.
func TestFarOnThisComputer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := linerateServer(sessiontest.FarEnd{Load: farLoad})
		server.Addr = netip.MustParseAddrPort("127.0.0.1:5201")
		run := begin(t, server, download(1), func(c *session.Config) { c.Label = "demo" })
		run.Sleep(5 * time.Second)
		s := run.Snapshot()
		if !s.Peer.Loopback || !near(s.Streams[0].RetransRate.Value, 40, 0.05) || !s.Streams[0].Cwnd.Known() {
			t.Errorf("loopback %v, %+v per second", s.Peer.Loopback, s.Streams[0].RetransRate)
		}
		run.Quit()
		e, _ := run.Evidence()
		if th := e.Ends[engine.Far].Threads.Value; len(th) != 1 || th[0].Name != "lr-tx-1" || !e.Flows[engine.Download].Sender.Known() {
			t.Errorf("far threads %+v", th)
		}
	})
}
