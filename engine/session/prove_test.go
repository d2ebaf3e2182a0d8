package session_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"linerate/engine"
	"linerate/engine/diagnose"
	"linerate/engine/iperf"
	"linerate/engine/session"
	"linerate/engine/session/sessiontest"
	"linerate/probes"
	"linerate/probes/host/hosttest"
)

// proofTakes is longer than any proof of a step that has run for a while.
const proofTakes = 10 * time.Second

// stepsOf are the changes of all steps.
func stepsOf(s *engine.Snapshot) (words []string) {
	for _, seg := range s.Segments {
		words = append(words, seg.Change)
	}
	return words
}

// wantProof fails the test unless the last proof gave this answer, in these words, and the
// test of before runs again.
func wantProof(t *testing.T, run *sessiontest.Running, code string, answer engine.ProofAnswer, showed string, spec engine.Spec) {
	t.Helper()
	s := run.Snapshot()
	p := s.Proving
	if p.Phase != engine.ProofOver || p.Code != code || p.Answer != answer || p.Showed != showed {
		t.Errorf("proof of %s is %v: %v, %q\nwant %s: %v, %q", p.Code, p.Phase, p.Answer, p.Showed, code, answer, showed)
	}
	if s.Phase != engine.Running || s.Spec != spec || s.Asked != nil || s.Err != nil {
		t.Errorf("afterwards: %v, %+v, asked %v, error %v", s.Phase, s.Spec, s.Asked, s.Err)
	}
	if !strings.Contains(text(s), "proof: "+showed) {
		t.Errorf("the log does not tell:\n%s", text(s))
	}
}

func TestProofByAnotherStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, server := sessiontest.Workstation(t)
		run := sessiontest.Start(t, cfg)
		run.Sleep(12 * time.Second)
		if got := run.Snapshot().Verdicts[0].Main; got.Code != diagnose.SenderCore || got.Proof != engine.ProofAddStream {
			t.Fatalf("the verdict is %s with the proof %q", got.Code, got.Proof)
		}
		spec := run.Snapshot().Spec
		run.Do(engine.Prove{})
		run.Sleep(2 * time.Second)
		s := run.Snapshot()
		if p := s.Proving; p.Phase != engine.ProofTrying || p.Trying != "2 streams" || p.Left < 5*time.Second || p.Left > 7*time.Second {
			t.Errorf("after 2 s: %+v", p)
		}
		if s.Spec.Streams != 2 || s.Segments[1].Change != "proof: 1→2 streams" || !s.Segments[1].Proof {
			t.Errorf("after 2 s: %d streams, step %+v", s.Spec.Streams, s.Segments[1])
		}
		run.Sleep(proofTakes)
		wantProof(t, run, diagnose.SenderCore, engine.Proven, "2 streams gave 24.7 Gbit/s, +36 %: the limit is per stream: proven", spec)
		if got, want := stepsOf(run.Snapshot()), []string{"start", "proof: 1→2 streams", "back from the proof"}; !slices.Equal(got, want) {
			t.Errorf("steps %q, want %q", got, want)
		}
		if got := streamCounts(server.Asked()); !slices.Equal(got, []int{1, 2, 1}) {
			t.Errorf("tests with %v streams were asked for, want 1, 2, 1", got)
		}
		seg := run.Snapshot().Segments[1]
		if d := seg.End - seg.Start; d < 8*time.Second || d > 8500*time.Millisecond {
			t.Errorf("the step of the proof lasted %v, want 2 s to settle and 6 to measure", d)
		}
		run.Quit()
	})
}

// One stream more that changes nothing makes the verdict doubtful. Here the path carries
// what one thread happens to reach.
func TestDoubtfulVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, server := sessiontest.Workstation(t)
		server.Rate = func(spec engine.Spec, _ engine.Conn, _ time.Duration) float64 { return 18.2e9 / float64(spec.Streams) }
		run := sessiontest.Start(t, cfg)
		run.Sleep(12 * time.Second)
		spec := run.Snapshot().Spec
		run.Do(engine.Prove{})
		run.Sleep(proofTakes)
		wantProof(t, run, diagnose.SenderCore, engine.Doubtful,
			"2 streams gave 18.2 Gbit/s, ±0 %: not a per-stream limit: the verdict is doubtful", spec)
		run.Quit()
	})
}

// A step that has just begun runs on until there is enough of it to compare with.
func TestProofWaitsForEnoughToCompare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, server := sessiontest.Workstation(t)
		run := sessiontest.Start(t, cfg)
		run.Sleep(4200 * time.Millisecond)
		run.Do(engine.Prove{})
		if p := run.Snapshot().Proving; p.Phase != engine.ProofWaiting || p.Left <= 0 || len(server.Asked()) != 1 {
			t.Errorf("%+v, %d tests", p, len(server.Asked()))
		}
		run.Sleep(2 * time.Second)
		if p := run.Snapshot().Proving; p.Phase != engine.ProofTrying {
			t.Errorf("after 5.5 s it is %v", p.Phase)
		}
		run.Quit()
	})
}

func TestKeysCancelAProof(t *testing.T) {
	for name, test := range map[string]struct {
		command engine.Command
		streams []int // of the tests that are asked for
		step    string
	}{
		"p again":     {engine.Prove{}, []int{1, 2, 1}, "back from the proof"},
		"+":           {engine.AddStreams{Delta: 3}, []int{1, 2, 4}, "streams 2→4"},
		"undo":        {engine.Undo{}, []int{1, 2, 1}, "back from the proof"},
		"d":           {engine.SetDirection{Dir: engine.Download}, []int{1, 2, 1}, "streams 2→1, upload → download"},
		"best":        {engine.FindBest{}, []int{1, 2, 1}, "streams 2→1"},
		"a bad value": {engine.SetStreams{N: 500}, []int{1, 2, 1}, "back from the proof"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg, server := sessiontest.Workstation(t)
				run := sessiontest.Start(t, cfg)
				run.Sleep(12 * time.Second)
				run.Do(engine.Prove{})
				run.Sleep(4 * time.Second)
				run.Session.Do(t.Context(), test.command)
				run.Sleep(2 * time.Second)
				s := run.Snapshot()
				if got := streamCounts(server.Asked()); !slices.Equal(got, test.streams) {
					t.Errorf("tests with %v streams were asked for, want %v", got, test.streams)
				}
				if p := s.Proving; p.Phase != engine.ProofOver || p.Showed != "cancelled" || p.Answer != engine.Undecided {
					t.Errorf("proof %+v", p)
				}
				if got := s.Segment().Change; got != test.step || s.Segment().Proof {
					t.Errorf("the last step is %q, proof %v; want %q", got, s.Segment().Proof, test.step)
				}
				run.Quit()
			})
		})
	}
}

// What is undone after a proof is the change before it.
func TestUndoSkipsProofs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, _ := sessiontest.Workstation(t)
		cfg.Spec.NoDelay = true
		run := sessiontest.Start(t, cfg)
		run.Sleep(4 * time.Second)
		spec := run.Snapshot().Spec
		spec.NoDelay = false
		run.Do(engine.SetSpec{Spec: spec})
		run.Sleep(12 * time.Second)
		run.Do(engine.Prove{})
		run.Sleep(proofTakes)
		run.Do(engine.Undo{})
		run.Sleep(2 * time.Second)
		if s := run.Snapshot(); s.Spec.Streams != 1 || !s.Spec.NoDelay {
			t.Errorf("undone to %d streams, -N %v; want the step before the proof's", s.Spec.Streams, s.Spec.NoDelay)
		}
		run.Quit()
	})
}

func TestStopAndQuitDuringAProof(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, server := sessiontest.Workstation(t)
		run := sessiontest.Start(t, cfg)
		run.Sleep(12 * time.Second)
		run.Do(engine.Prove{})
		run.Sleep(4 * time.Second)
		run.Do(engine.StopTraffic{})
		run.Sleep(2 * time.Second)
		if s := run.Snapshot(); s.Phase != engine.Stopped || s.Proving.Active() || server.Current() != nil {
			t.Errorf("stopped: %v, proof %v", s.Phase, s.Proving.Phase)
		}
		run.Do(engine.StartTraffic{})
		run.Sleep(8 * time.Second)
		if s := run.Snapshot(); s.Phase != engine.Running || s.Spec.Streams != 1 {
			t.Errorf("started again: %v with %d streams, want those before the proof", s.Phase, s.Spec.Streams)
		}
		run.Do(engine.Prove{})
		run.Sleep(4 * time.Second)
		if got := run.Quit(); got.Err != nil || got.Last.Proving.Active() || got.Last.Segment().Change != "proof: 1→2 streams" {
			t.Errorf("quit: error %v, proof %v, last step %q", got.Err, got.Last.Proving.Phase, got.Last.Segment().Change)
		}
	})
}

func TestProofWhoseStepFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, server := sessiontest.Workstation(t)
		server.Refuse = func(_ int, spec engine.Spec) error {
			if spec.Streams == 2 {
				return errors.New("the server is full")
			}
			return nil
		}
		run := sessiontest.Start(t, cfg)
		run.Sleep(12 * time.Second)
		spec := run.Snapshot().Spec
		run.Do(engine.Prove{})
		run.Sleep(2 * time.Second)
		wantProof(t, run, diagnose.SenderCore, engine.Undecided, "2 streams could not be tried: the server is full", spec)
		run.Quit()
	})
	synctest.Test(t, func(t *testing.T) {
		cfg, server := sessiontest.Workstation(t)
		server.Fail = func(_ int, spec engine.Spec) (time.Duration, error) {
			if spec.Streams == 2 {
				return 3 * time.Second, errors.New("the server has died")
			}
			return 0, nil
		}
		run := sessiontest.Start(t, cfg)
		run.Sleep(12 * time.Second)
		run.Do(engine.Prove{})
		run.Sleep(6 * time.Second)
		s := run.Snapshot()
		if s.Phase != engine.Done || s.Err == nil || s.Proving.Showed != "the test failed before it showed anything" {
			t.Errorf("%v, error %v, proof %+v", s.Phase, s.Err, s.Proving)
		}
		run.Do(engine.StartTraffic{})
		run.Sleep(2 * time.Second)
		if s := run.Snapshot(); s.Phase != engine.Running || s.Spec.Streams != 1 {
			t.Errorf("started again: %v with %d streams, want those before the proof", s.Phase, s.Spec.Streams)
		}
		run.Quit()
	})
}

// A way back that is refused leaves a session that says so, with the answer told.
func TestProofWhoseWayBackFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, server := sessiontest.Workstation(t)
		server.Refuse = func(n int, _ engine.Spec) error {
			if n == 2 {
				return &iperf.Error{Text: "the server is busy", Err: iperf.ErrBusy}
			}
			return nil
		}
		run := sessiontest.Start(t, cfg)
		run.Sleep(12 * time.Second)
		run.Do(engine.Prove{})
		run.Sleep(proofTakes)
		s := run.Snapshot()
		if s.Phase != engine.Done || !errors.Is(s.Err, iperf.ErrBusy) || s.Proving.Answer != engine.Proven {
			t.Errorf("%v, error %v, proof %+v", s.Phase, s.Err, s.Proving)
		}
		run.Do(engine.StartTraffic{})
		run.Sleep(time.Second)
		if s := run.Snapshot(); s.Phase != engine.Running || s.Spec.Streams != 1 {
			t.Errorf("started again: %v with %d streams, want those before the proof", s.Phase, s.Spec.Streams)
		}
		run.Quit()
	})
}

func TestProofsThatCannotBegin(t *testing.T) {
	want := func(t *testing.T, run *sessiontest.Running, part string) {
		t.Helper()
		if err := run.Session.Do(t.Context(), engine.Prove{}); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want one with %q", err, part)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		cfg, _ := sessiontest.Workstation(t)
		run := sessiontest.Start(t, cfg)
		want(t, run, "wait until traffic flows")
		run.Sleep(100 * time.Millisecond)
		want(t, run, "no verdict to prove")
		run.Sleep(time.Second)
		want(t, run, "no proof action") // it is still measuring
		run.Sleep(11 * time.Second)
		run.Do(engine.AddStreams{Delta: 1})
		want(t, run, "wait until traffic flows") // a change is being collected
		run.Sleep(time.Second)
		run.Do(engine.StopTraffic{})
		run.Sleep(time.Second)
		want(t, run, "traffic is stopped")
		run.Quit()
	})
	synctest.Test(t, func(t *testing.T) {
		cfg, _ := sessiontest.Workstation(t)
		cfg.Spec.Duration = time.Minute
		run := sessiontest.Start(t, cfg)
		run.Sleep(12 * time.Second)
		want(t, run, "without -t, -n or -k")
		run.Quit()
	})
}

func TestProofByTheOtherDirection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &sessiontest.Server{Rate: func(_ engine.Spec, conn engine.Conn, age time.Duration) float64 {
			if conn.Dir == engine.Upload && age > 4*time.Second {
				return 0
			}
			return 940e6
		}}
		run := begin(t, server, endless(1))
		run.Sleep(18 * time.Second)
		spec := run.Snapshot().Spec
		run.Do(engine.Prove{})
		run.Sleep(proofTakes)
		wantProof(t, run, diagnose.StandStill, engine.Proven, "download alone gave 940 Mbit/s: only upload stands still: proven", spec)
		if got := stepsOf(run.Snapshot())[1]; got != "proof: upload → download" {
			t.Errorf("step %q", got)
		}
		run.Quit()
	})
}

// Acknowledgements of an upload queue behind a slow download: alone, the upload is fast.
func TestProofByOneWayAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &sessiontest.Server{RTT: 270 * time.Millisecond, MinRTT: 21 * time.Millisecond,
			Rate: func(spec engine.Spec, conn engine.Conn, _ time.Duration) float64 {
				switch {
				case spec.Direction != engine.Both:
					return 90e6
				case conn.Dir == engine.Upload:
					return 31e6
				}
				return 0.5e6
			}}
		spec := endless(1)
		spec.Direction = engine.Both
		run := begin(t, server, spec)
		run.Sleep(15 * time.Second)
		spec = run.Snapshot().Spec
		run.Do(engine.Prove{})
		run.Sleep(proofTakes)
		wantProof(t, run, diagnose.AckCongestion, engine.Proven,
			"upload alone gave 90.0 Mbit/s, with both ways 31.0 Mbit/s: the two hinder each other: proven", spec)
		run.Quit()
	})
}

// lossyRate is what a path with 0.1 % of random loss carries: little with CUBIC, all with
// BBR.
func lossyRate(spec engine.Spec, _ engine.Conn, _ time.Duration) float64 {
	if spec.Congestion == "bbr" {
		return 900e6
	}
	return min(64e6, orInf(spec.Bitrate))
}

func orInf(rate float64) float64 {
	if rate == 0 {
		return 1e300
	}
	return rate
}

// share gives a Retransmits that repeats a share of the segments.
func share(of func(engine.Spec) float64, rate func(engine.Spec, engine.Conn, time.Duration) float64) func(engine.Spec, engine.Conn, time.Duration) float64 {
	return func(spec engine.Spec, conn engine.Conn, age time.Duration) float64 {
		return of(spec) * rate(spec, conn, age) / 8 / 1448
	}
}

// offers is a kernel with these congestion controls.
type offers struct {
	engine.EvidenceSource
	names string
}

func (o offers) Settings(context.Context) probes.Settings {
	return probes.Settings{"net.ipv4.tcp_available_congestion_control": probes.Got(probes.Setting{Value: o.names})}
}
func (offers) Firewall(context.Context) probes.Firewall       { return probes.Firewall{} }
func (offers) Memory(context.Context) probes.Reading[float64] { return probes.Reading[float64]{} }
func (offers) Vitals(context.Context, string) probes.Vitals   { return probes.Vitals{At: time.Now()} }
func (offers) Adapter(context.Context, string) probes.Reading[probes.Adapter] {
	return probes.Reading[probes.Adapter]{}
}

func TestProofByAnotherCongestionControl(t *testing.T) {
	lossy := func() (*sessiontest.Server, engine.Spec) {
		spec := endless(1)
		spec.Congestion = "cubic"
		return &sessiontest.Server{RTT: 7 * time.Millisecond, MinRTT: 6 * time.Millisecond, Rate: lossyRate,
			Retransmits: share(func(engine.Spec) float64 { return 1e-3 }, lossyRate)}, spec
	}
	for name, test := range map[string]struct {
		kernel string
		answer engine.ProofAnswer
		showed string
		steps  int
	}{
		"bbr is there": {"reno cubic bbr", engine.Proven,
			"bbr instead of cubic gave 900 Mbit/s, 14 times as much: single losses held it back: proven", 3},
		"bbr is not there": {"reno cubic", engine.Undecided,
			"this kernel offers reno and cubic, but not bbr to compare with (modprobe tcp_bbr)", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, spec := lossy()
				run := begin(t, server, spec, func(cfg *session.Config) { cfg.Evidence = offers{names: test.kernel} })
				run.Sleep(20 * time.Second)
				spec = run.Snapshot().Spec
				run.Do(engine.Prove{})
				run.Sleep(proofTakes)
				wantProof(t, run, diagnose.RandomLoss, test.answer, test.showed, spec)
				if s := run.Snapshot(); len(s.Segments) != test.steps || test.steps > 1 && s.Segments[1].Change != "proof: cubic→bbr" {
					t.Errorf("steps %q", stepsOf(s))
				}
				run.Quit()
			})
		})
	}
}

// A policer drops what exceeds its rate and nothing below it.
func TestProofJustBelowTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rate := func(spec engine.Spec, _ engine.Conn, _ time.Duration) float64 { return min(47e6, orInf(spec.Bitrate)) }
		server := &sessiontest.Server{RTT: 21 * time.Millisecond, MinRTT: 20 * time.Millisecond, Rate: rate,
			Retransmits: share(func(spec engine.Spec) float64 {
				if spec.Bitrate > 0 {
					return 0
				}
				return 0.07
			}, rate)}
		spec := endless(2)
		spec.Congestion = "bbr"
		run := begin(t, server, spec)
		run.Sleep(20 * time.Second)
		spec = run.Snapshot().Spec
		run.Do(engine.Prove{})
		run.Sleep(proofTakes)
		wantProof(t, run, diagnose.Policer, engine.Proven,
			"at 89.3 Mbit/s, 95 % of the rate, loss is none instead of 6.5 %: it depends on the rate: proven", spec)
		asked := server.Asked()[1]
		if !near(asked.Bitrate, 0.95*47e6, 0.02) || !near(asked.FQRate, 47e6, 0.02) {
			t.Errorf("asked for -b %v and --fq-rate %v per stream, want 95 %% of 47 Mbit/s and 47", asked.Bitrate, asked.FQRate)
		}
		run.Quit()
	})
}

// The reader shares core 2 with the interrupts; on core 3, say, it does more.
func TestProofByAnotherCore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &sessiontest.Server{Rate: func(spec engine.Spec, _ engine.Conn, _ time.Duration) float64 {
			if spec.Affinity >= 0 && spec.Affinity != 2 {
				return 900e6
			}
			return 700e6
		}}
		load := func(test *sessiontest.Test) ([]probes.CoreLoad, []probes.ThreadLoad) {
			cores := hosttest.Idle(4)
			if test == nil {
				return cores, nil
			}
			core := 2
			if a := test.Spec().Affinity; a >= 0 {
				core = a
			}
			cores[2].SoftIRQ += 0.32
			cores[core].System += 0.66
			return cores, []probes.ThreadLoad{{TID: 4720, Name: probes.ThreadPrefix + "rx-1", System: 0.66, Core: core}}
		}
		spec := endless(1)
		spec.Direction, spec.Affinity, spec.SrvAffinity = engine.Download, -1, -1
		run := begin(t, server, spec, func(cfg *session.Config) { cfg.Host = sessiontest.NewHost(t, hosttest.N100(), server, load) })
		run.Sleep(12 * time.Second)
		spec = run.Snapshot().Spec
		run.Do(engine.Prove{})
		run.Sleep(proofTakes)
		core := server.Asked()[1].Affinity
		if core < 0 || core == 2 {
			t.Errorf("pinned to core %d, want a free one", core)
		}
		wantProof(t, run, diagnose.SharedCore, engine.Proven,
			"threads on core 0 gave 900 Mbit/s, +29 %: the core was the limit: proven", spec)
		run.Quit()
	})
}

// narrow is a path that carries packets of at most 4074 bytes and tells nobody.
type narrow struct{ sweeps int }

func (n *narrow) RTT(context.Context, netip.AddrPort, int) probes.PathRTT {
	return probes.PathRTT{Idle: probes.Got(time.Millisecond), Hops: probes.Got(1)}
}

func (n *narrow) MTU(context.Context, netip.AddrPort) probes.PathMTU {
	time.Sleep(time.Second)
	n.sweeps++
	return probes.PathMTU{Out: probes.Got(4074), TooBig: probes.Got(4075), BlackHole: true,
		In: probes.Unknown[int](probes.Absent, "needs linerate there"), Reported: probes.Unknown[int](probes.Absent, "none did")}
}

func TestProofBySweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, server := sessiontest.Workstation(t) // MTU 9000
		server.Rate = func(_ engine.Spec, _ engine.Conn, age time.Duration) float64 {
			if age > time.Second {
				return 0
			}
			return 1e9
		}
		idle := func(*sessiontest.Test) ([]probes.CoreLoad, []probes.ThreadLoad) { return hosttest.Idle(16), nil }
		path := &narrow{}
		cfg.Host, cfg.Path = sessiontest.NewHost(t, hosttest.Workstation(), server, idle), path
		run := sessiontest.Start(t, cfg)
		run.Sleep(12 * time.Second)
		spec, before := run.Snapshot().Spec, path.sweeps
		run.Do(engine.Prove{})
		run.Sleep(500 * time.Millisecond)
		if p := run.Snapshot().Proving; p.Phase != engine.ProofTrying || p.Trying != "a sweep of packet sizes" {
			t.Errorf("after half a second: %+v", p)
		}
		run.Sleep(3 * time.Second)
		wantProof(t, run, diagnose.BlackHole, engine.Proven, "packets above 4074 bytes vanish in upload without a word: proven", spec)
		if n := len(run.Snapshot().Segments); n != 1 || path.sweeps != before+1 {
			t.Errorf("%d steps and %d new sweeps, want the test to go on and one sweep", n, path.sweeps-before)
		}
		run.Quit()
	})
}

func TestChecksBesideTheVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, _ := sessiontest.MiniPC(t)
		run := sessiontest.Start(t, cfg)
		run.Sleep(12 * time.Second)
		for _, v := range run.Snapshot().Verdicts {
			states := map[engine.CheckState]int{}
			for _, check := range v.Checked {
				states[check.State]++
				if check.Dir != v.Dir || check.Why == "" || check.Title == "" {
					t.Errorf("%v: %+v", v.Dir, check)
				}
			}
			if states[engine.RuledOut] < 10 || states[engine.Unseen] < 10 || states[engine.Holds] < 1 {
				t.Errorf("%v: %v of %d rules", v.Dir, states, len(v.Checked))
			}
			main := slices.IndexFunc(v.Checked, func(c engine.Check) bool { return c.Code == v.Main.Code && c.State == engine.Holds })
			if main < 0 {
				t.Errorf("%v: the verdict %s is not among what holds", v.Dir, v.Main.Code)
			}
		}
		run.Quit()
	})
}
