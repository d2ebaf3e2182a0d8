package session_test

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"linerate/engine"
	"linerate/engine/iperf"
	"linerate/engine/session"
	"linerate/engine/session/sessiontest"
)

// endless is a spec without a limit.
func endless(streams int) engine.Spec {
	return engine.Spec{Host: "server", Streams: streams}.Defaults()
}

// begin starts a session against a scripted server, as the dashboard does.
func begin(t *testing.T, server *sessiontest.Server, spec engine.Spec, more ...func(*session.Config)) *sessiontest.Running {
	t.Helper()
	cfg := session.Config{Spec: spec, Host: sessiontest.Plain{Name: "here"}, Start: server.Start, Hold: true, Settle: 2 * time.Second}
	for _, change := range more {
		change(&cfg)
	}
	return sessiontest.Start(t, cfg)
}

func near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance*math.Abs(want) }

// text gives the log as one string.
func text(s *engine.Snapshot) string {
	var lines []string
	for _, e := range s.Events {
		lines = append(lines, e.Text)
	}
	return strings.Join(lines, "\n")
}

func streamCounts(specs []engine.Spec) (counts []int) {
	for _, s := range specs {
		counts = append(counts, s.Streams)
	}
	return counts
}

func TestFirstStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &sessiontest.Server{Handshake: 30 * time.Millisecond, Agent: "iperf 3.18"}
		run := begin(t, server, endless(3))
		if got := run.Snapshot(); got.Phase != engine.Connecting || got.Asked != nil {
			t.Errorf("before the connection: phase %v, asked %v", got.Phase, got.Asked)
		}
		run.Sleep(5 * time.Second)
		s := run.Snapshot()
		if s.Phase != engine.Running || s.Peer.Agent != "iperf 3.18" || s.Peer.Addr.Port() != 5201 {
			t.Errorf("phase %v, peer %+v", s.Phase, s.Peer)
		}
		if len(s.Streams) != 3 || len(s.Sums) != 1 || len(s.Segments) != 1 {
			t.Fatalf("%d streams, %d sums, %d segments, want 3, 1, 1", len(s.Streams), len(s.Sums), len(s.Segments))
		}
		for _, st := range s.Streams {
			if !near(st.Rate, 1e9, 0.01) || st.Retransmits.Value != 0 || !st.Cwnd.Known() || st.RTT.Value != 200*time.Microsecond {
				t.Errorf("stream %d: rate %v, retransmits %+v, cwnd %+v, rtt %+v", st.ID, st.Rate, st.Retransmits, st.Cwnd, st.RTT)
			}
		}
		sum := s.Sum(engine.Upload)
		if !near(sum.Rate, 3e9, 0.01) || !near(sum.Mean, 3e9, 0.01) || !near(sum.Min, 3e9, 0.05) || !near(sum.Fairness, 1, 0.001) {
			t.Errorf("sum %+v", *sum)
		}
		if flowed := s.Elapsed - 30*time.Millisecond; !near(float64(s.Moved), 3e9/8*flowed.Seconds(), 0.03) {
			t.Errorf("moved %d bytes, want %v of 3 Gbit/s", s.Moved, flowed)
		}
		if got := s.Segments[0]; got.Change != "start" || got.Gap != 0 || got.End != 0 || got.Start != 30*time.Millisecond {
			t.Errorf("segment %+v", got)
		}
		points := make([]engine.Point, 3)
		s.History.Up.Columns(time.Second, 4*time.Second, points)
		for i, p := range points {
			if p.Gap() || !near(float64(p.Mean), 3e9, 0.02) {
				t.Errorf("second %d of the history: %+v", i+1, p)
			}
		}
		sum1 := run.Quit()
		if sum1.Err != nil || sum1.Last.Phase != engine.Done {
			t.Errorf("summary: %v, phase %v", sum1.Err, sum1.Last.Phase)
		}
		if _, err := run.Next(t.Context()); err != nil {
			t.Errorf("the last snapshot: %v", err)
		}
		if _, err := run.Next(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("after the last snapshot: %v, want io.EOF", err)
		}
	})
}

func TestFiveKeysAreOneChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &sessiontest.Server{Handshake: 5 * time.Millisecond, Exchange: 3 * time.Millisecond}
		run := begin(t, server, endless(1))
		run.Sleep(4 * time.Second)
		var last time.Time
		for i := range 5 {
			last = time.Now()
			run.Do(engine.AddStreams{Delta: 1})
			s := run.Snapshot()
			if s.Asked == nil || s.Asked.Streams != i+2 || s.Spec.Streams != 1 || s.Phase != engine.Running {
				t.Fatalf("after key %d: asked %+v, confirmed %d, phase %v", i+1, s.Asked, s.Spec.Streams, s.Phase)
			}
			run.Sleep(100 * time.Millisecond)
		}
		run.Sleep(time.Second)
		if got := streamCounts(server.Asked()); len(got) != 2 || got[1] != 6 {
			t.Fatalf("tests with %v streams were asked for, want 1 and 6", got)
		}
		s := run.Snapshot()
		if s.Asked != nil || s.Spec.Streams != 6 || len(s.Streams) != 6 {
			t.Errorf("asked %v, confirmed %d, %d streams", s.Asked, s.Spec.Streams, len(s.Streams))
		}
		ended := server.Tests()[0].Ended()
		if got := ended.Sub(last); got != 300*time.Millisecond {
			t.Errorf("the change was sent %v after the last key, want 300 ms", got)
		}
		seg := s.Segments[1]
		if seg.Change != "streams 1→6" || seg.Gap != 8*time.Millisecond {
			t.Errorf("change %q with a gap of %v, want streams 1→6 and 8 ms", seg.Change, seg.Gap)
		}
		if first := s.Segments[0]; first.End == 0 || first.End+seg.Gap != seg.Start || first.Results == nil {
			t.Errorf("first segment ends at %v, the second begins at %v; results %v", first.End, seg.Start, first.Results)
		}
		opt := server.Options()
		if opt[0].Addr.IsValid() || opt[0].Retry != 0 {
			t.Errorf("the first connection is bound to %v, retries for %v", opt[0].Addr, opt[0].Retry)
		}
		if opt[1].Addr != s.Peer.Addr || opt[1].Retry != 3*time.Second {
			t.Errorf("the second connection goes to %v, retries for %v", opt[1].Addr, opt[1].Retry)
		}
		run.Quit()
	})
}

func TestKeysThatCancelEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &sessiontest.Server{}
		run := begin(t, server, endless(2))
		run.Sleep(time.Second)
		run.Do(engine.AddStreams{Delta: 1})
		run.Do(engine.AddStreams{Delta: -1})
		if s := run.Snapshot(); s.Asked != nil {
			t.Errorf("asked %+v, want nothing", s.Asked)
		}
		run.Sleep(time.Second)
		if got := len(server.Tests()); got != 1 {
			t.Errorf("%d tests were opened, want 1", got)
		}
		run.Quit()
	})
}

func TestChangeWaitsForTheOneBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &sessiontest.Server{Handshake: time.Second, Exchange: time.Second}
		run := begin(t, server, endless(1))
		run.Sleep(3 * time.Second)
		run.Do(engine.SetStreams{N: 2})
		run.Sleep(400 * time.Millisecond) // it is being sent
		for n := 3; n <= 5; n++ {
			run.Do(engine.SetStreams{N: n})
			run.Sleep(350 * time.Millisecond)
		}
		run.Do(engine.SetDirection{Dir: engine.Both})
		run.Sleep(10 * time.Second)
		if got := streamCounts(server.Asked()); len(got) != 3 || got[1] != 2 || got[2] != 5 {
			t.Fatalf("tests with %v streams were asked for, want 1, 2, 5: what is newest when the change before is confirmed", got)
		}
		s := run.Snapshot()
		if s.Spec.Direction != engine.Both || len(s.Streams) != 10 || len(s.Sums) != 2 || s.Asked != nil {
			t.Errorf("%v, %d streams, %d sums, asked %v", s.Spec.Direction, len(s.Streams), len(s.Sums), s.Asked)
		}
		if got := s.Segments[2].Change; got != "streams 2→5, upload → both ways" {
			t.Errorf("change %q", got)
		}
		run.Quit()
	})
}

func TestNoByteOfTheOldStepInTheNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// 1 stream moves 8 Gbit/s, 2 move 80 kbit/s together: any byte too many shows.
		server := &sessiontest.Server{
			Handshake: 5 * time.Millisecond, Exchange: 700 * time.Millisecond,
			Rate: func(spec engine.Spec, _ engine.Conn, _ time.Duration) float64 {
				return map[int]float64{1: 8e9, 2: 40e3}[spec.Streams]
			},
		}
		run := begin(t, server, endless(1))
		run.Sleep(4 * time.Second)
		run.Do(engine.AddStreams{Delta: 1})
		run.Sleep(4 * time.Second)
		s := run.Snapshot()
		if got := s.Sum(engine.Upload); got.Max > 90e3 || got.Rate > 90e3 || got.Mean > 90e3 {
			t.Errorf("the new step has rate %v, mean %v, max %v, want 80 kbit/s", got.Rate, got.Mean, got.Max)
		}
		points := make([]engine.Point, 20)
		from := s.Segments[1].Start.Truncate(100*time.Millisecond) + 100*time.Millisecond
		s.History.Up.Columns(from, from+2*time.Second, points)
		for i, p := range points {
			if p.Max > 100e3 {
				t.Errorf("slot %d after the change holds %v bit/s", i, p.Max)
			}
		}
		var ended uint64
		for _, st := range s.Segments[0].Results.Streams {
			ended += st.Received.Value.Bytes
		}
		now := float64(s.Moved - min(s.Moved, ended))
		if s.Moved > ended+50e3 {
			t.Errorf("moved %d, of which the first step %d: %v too many", s.Moved, ended, now)
		}
		run.Quit()
	})
}

func TestAveragesLeaveOutTheBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The first 2 s of every test run at a tenth.
		server := &sessiontest.Server{Rate: func(spec engine.Spec, _ engine.Conn, age time.Duration) float64 {
			if age < 2*time.Second {
				return 1e8
			}
			return 1e9
		}}
		run := begin(t, server, endless(1))
		run.Sleep(1500 * time.Millisecond)
		if got := run.Snapshot().Sum(engine.Upload); !near(got.Mean, 1e8, 0.02) {
			t.Errorf("during the settling time the mean is %v, want what there is: 100 Mbit/s", got.Mean)
		}
		run.Sleep(4500 * time.Millisecond)
		got := run.Snapshot().Sum(engine.Upload)
		if !near(got.Mean, 1e9, 0.005) || !near(got.Min, 1e9, 0.01) || !near(got.Max, 1e9, 0.01) {
			t.Errorf("mean %v, min %v, max %v, want 1 Gbit/s each", got.Mean, got.Min, got.Max)
		}
		if !near(float64(got.Bytes), 1e9/8*4, 0.03) {
			t.Errorf("%d bytes, want those of 4 s", got.Bytes)
		}
		if got.Delta.Known() {
			t.Errorf("first step has Δ %v", got.Delta)
		}
		run.Do(engine.AddStreams{Delta: 1})
		run.Sleep(1500 * time.Millisecond)
		if d := run.Snapshot().Sum(engine.Upload).Delta; d.Known() {
			t.Errorf("Δ is %v before the step has settled", d.Value)
		}
		run.Sleep(3 * time.Second)
		if d := run.Snapshot().Sum(engine.Upload).Delta; !near(d.Value, 1, 0.02) {
			t.Errorf("Δ = %+v after doubling, want +100 %%", d)
		}
		last := run.Quit().Last
		if seg := last.Segments[0]; !near(seg.Sums[0].Mean, 1e9, 0.005) || seg.Sums[0].Rate != seg.Sums[0].Mean {
			t.Errorf("the first segment ended with %+v", seg.Sums[0])
		}
	})
}

func TestRefusedChangeGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &sessiontest.Server{Refuse: func(n int, spec engine.Spec) error {
			if spec.Streams > 4 {
				return &iperf.Error{State: "x", Text: "the server ended the test: too many streams", Code: 6}
			}
			return nil
		}}
		run := begin(t, server, endless(2))
		run.Sleep(3 * time.Second)
		run.Do(engine.SetStreams{N: 8})
		run.Sleep(2 * time.Second)
		s := run.Snapshot()
		if s.Phase != engine.Running || s.Spec.Streams != 2 || s.Asked != nil || s.Err != nil {
			t.Errorf("phase %v, %d streams, asked %v, error %v", s.Phase, s.Spec.Streams, s.Asked, s.Err)
		}
		if len(s.Segments) != 3 {
			t.Fatalf("%d segments, want start, the refused one, back", len(s.Segments))
		}
		if got := s.Segments[1]; !strings.Contains(got.Err, "too many streams") || got.Change != "streams 2→8" || got.End == 0 {
			t.Errorf("refused segment %+v", got)
		}
		if got := s.Segments[2]; got.Change != "back: streams 8→2" || got.Err != "" {
			t.Errorf("last segment %+v", got)
		}
		if !strings.Contains(text(s), "too many streams; going back") {
			t.Errorf("log:\n%s", text(s))
		}
		run.Quit()
	})
}

func TestServerGoneForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := &iperf.Error{Text: "server refused", Err: iperf.ErrRefused}
		server := &sessiontest.Server{Refuse: func(n int, _ engine.Spec) error {
			if n == 1 || n == 2 {
				return gone
			}
			return nil
		}}
		run := begin(t, server, endless(2))
		run.Sleep(3 * time.Second)
		run.Do(engine.AddStreams{Delta: 1})
		run.Sleep(2 * time.Second)
		s := run.Snapshot()
		if s.Phase != engine.Done || !errors.Is(s.Err, iperf.ErrRefused) || len(server.Asked()) != 3 {
			t.Errorf("phase %v, error %v, %d attempts, want 1 good and 2 refused", s.Phase, s.Err, len(server.Asked()))
		}
		if len(s.Streams) != 2 {
			t.Errorf("%d streams are shown, want those of the step that ran", len(s.Streams))
		}
		run.Do(engine.SetStreams{N: 1}) // a key tries again
		run.Sleep(2 * time.Second)
		if s := run.Snapshot(); s.Phase != engine.Running || s.Err != nil || s.Spec.Streams != 1 {
			t.Errorf("after a key: phase %v, error %v, %d streams", s.Phase, s.Err, s.Spec.Streams)
		}
		if got := run.Quit(); got.Err != nil {
			t.Errorf("summary: %v", got.Err)
		}
	})
}

func TestFirstConnectionFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &sessiontest.Server{Refuse: func(int, engine.Spec) error {
			return &iperf.Error{Text: "server is busy", Err: iperf.ErrBusy}
		}}
		run := begin(t, server, endless(1))
		got := run.Wait(time.Second)
		if !errors.Is(got.Err, iperf.ErrBusy) || got.Last == nil || got.Last.Phase != engine.Done {
			t.Errorf("summary %+v", got)
		}
		if err := run.Session.Do(t.Context(), engine.AddStreams{Delta: 1}); err == nil {
			t.Error("a command is accepted after the end")
		}
	})
}

func TestPeerDiesInTheMiddle(t *testing.T) {
	died := &iperf.Error{State: "running the test", Text: "the server has gone"}
	server := func() *sessiontest.Server {
		return &sessiontest.Server{Fail: func(n int, _ engine.Spec) (time.Duration, error) {
			if n == 0 {
				return 5 * time.Second, died
			}
			return 0, nil
		}}
	}
	t.Run("held", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			run := begin(t, server(), endless(2))
			run.Sleep(20 * time.Second)
			s := run.Snapshot()
			if s.Phase != engine.Done || !errors.Is(s.Err, died) {
				t.Fatalf("phase %v, error %v", s.Phase, s.Err)
			}
			seg := s.Segments[0]
			if seg.Err != died.Text || !near(seg.Sums[0].Mean, 2e9, 0.02) || seg.End != 5*time.Second {
				t.Errorf("partial result %+v", seg)
			}
			run.Do(engine.StartTraffic{})
			run.Sleep(time.Second)
			if s := run.Snapshot(); s.Phase != engine.Running || s.Err != nil || len(s.Segments) != 2 {
				t.Errorf("after a new start: phase %v, error %v, %d segments", s.Phase, s.Err, len(s.Segments))
			}
			run.Quit()
		})
	})
	t.Run("quit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			run := begin(t, server(), endless(2))
			run.Sleep(20 * time.Second)
			if got := run.Quit(); !errors.Is(got.Err, died) {
				t.Errorf("summary error %v, want the failure", got.Err)
			}
		})
	})
	t.Run("not held", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			run := begin(t, server(), endless(2), func(c *session.Config) { c.Hold = false })
			if got := run.Wait(6 * time.Second); !errors.Is(got.Err, died) || len(got.Last.Segments) != 1 {
				t.Errorf("summary error %v, %d segments", got.Err, len(got.Last.Segments))
			}
		})
	})
}

func TestLimitedTest(t *testing.T) {
	spec := endless(1)
	spec.Duration = 4 * time.Second
	t.Run("run", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			run := begin(t, &sessiontest.Server{}, spec, func(c *session.Config) { c.Hold, c.Settle = false, 0 })
			got := run.Wait(5 * time.Second)
			if got.Err != nil || len(got.Last.Segments) != 1 || !near(got.Last.Segments[0].Sums[0].Mean, 1e9, 0.01) {
				t.Errorf("summary %v, %+v", got.Err, got.Last.Segments)
			}
		})
	})
	t.Run("dashboard", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server := &sessiontest.Server{}
			run := begin(t, server, spec)
			run.Sleep(10 * time.Second)
			s := run.Snapshot()
			if s.Phase != engine.Done || s.Err != nil || len(s.Streams) != 1 || !near(s.Sums[0].Rate, 1e9, 0.01) {
				t.Errorf("phase %v, error %v, %d streams, sums %+v: want the result, frozen", s.Phase, s.Err, len(s.Streams), s.Sums)
			}
			run.Do(engine.AddStreams{Delta: 1})
			run.Sleep(time.Second)
			if got := len(server.Tests()); got != 2 {
				t.Errorf("%d tests after a key, want 2", got)
			}
			run.Quit()
		})
	})
}

func TestServerThatRefusesEndlessTests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tooLong := &iperf.Error{Text: "the server ended the test: duration above its maximum", Code: 37}
		server := &sessiontest.Server{
			Handshake: 10 * time.Millisecond, Exchange: 10 * time.Millisecond,
			Refuse: func(_ int, spec engine.Spec) error {
				if spec.Duration == 0 || spec.Duration > time.Minute {
					return tooLong
				}
				return nil
			},
		}
		run := begin(t, server, endless(2))
		run.Sleep(150 * time.Second)
		s := run.Snapshot()
		if s.Phase != engine.Running || len(s.Segments) != 1 || s.Spec.Duration != 0 {
			t.Fatalf("phase %v, %d segments, confirmed duration %v", s.Phase, len(s.Segments), s.Spec.Duration)
		}
		if got := len(server.Tests()); got != 3 {
			t.Errorf("%d tests in 150 s, want 3 of a minute", got)
		}
		sum := s.Sum(engine.Upload)
		if !near(sum.Mean, 2e9, 0.01) || !near(float64(sum.Bytes), 2e9/8*148, 0.01) || !near(float64(s.Moved), 2e9/8*150, 0.01) {
			t.Errorf("over the chain: mean %v, %d bytes, %d moved", sum.Mean, sum.Bytes, s.Moved)
		}
		if strings.Count(text(s), "chained") != 1 {
			t.Errorf("log:\n%s", text(s))
		}
		run.Do(engine.AddStreams{Delta: 1})
		run.Sleep(5 * time.Second)
		s = run.Snapshot()
		if got := s.Segments[0].Results; got == nil || !near(float64(got.Streams[0].Received.Value.Bytes), 1e9/8*150, 0.01) {
			t.Errorf("results of the chain: %+v", got)
		}
		if asked := server.Asked(); asked[len(asked)-1].Duration != time.Minute {
			t.Errorf("the next step asks for %v, want what the server accepts", asked[len(asked)-1].Duration)
		}
		run.Quit()
	})
}

func TestServerThatEndsEveryTestAtOnce(t *testing.T) {
	for _, lasts := range []time.Duration{1, 10 * time.Millisecond} {
		t.Run(lasts.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &sessiontest.Server{Lasts: lasts}
				run := begin(t, server, endless(1))
				run.Sleep(5 * time.Second)
				if got := len(server.Tests()); got != 1 {
					t.Errorf("%d tests were opened in a circle, want 1", got)
				}
				if s := run.Snapshot(); s.Phase != engine.Done || s.Err == nil {
					t.Errorf("phase %v, error %v", s.Phase, s.Err)
				}
				run.Quit()
			})
		})
	}
}

// TestCommandsWhileTheFirstTestIsOpened: what is asked meanwhile follows at once.
func TestCommandsWhileTheFirstTestIsOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &sessiontest.Server{Handshake: time.Second}
		run := begin(t, server, endless(1))
		run.Do(engine.SetStreams{N: 4})
		run.Sleep(3 * time.Second)
		if s := run.Snapshot(); s.Spec.Streams != 4 || s.Phase != engine.Running || len(s.Segments) != 2 {
			t.Errorf("%d streams, %v, %d segments", s.Spec.Streams, s.Phase, len(s.Segments))
		}
		run.Quit()
	})
}

func TestStopWhileAChangeIsOnItsWay(t *testing.T) {
	for name, at := range map[string]time.Duration{"ending the old test": 400 * time.Millisecond, "opening the new one": 1400 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &sessiontest.Server{Handshake: time.Second, Exchange: time.Second}
				run := begin(t, server, endless(1))
				run.Sleep(4 * time.Second)
				run.Do(engine.SetStreams{N: 4})
				run.Sleep(at)
				run.Do(engine.StopTraffic{})
				run.Sleep(5 * time.Second)
				s := run.Snapshot()
				if s.Phase != engine.Stopped || s.Err != nil || server.Current() != nil || s.Segments[0].Err != "" {
					t.Errorf("phase %v, error %v, a test runs: %v, segments %+v", s.Phase, s.Err, server.Current() != nil, s.Segments)
				}
				run.Do(engine.StartTraffic{})
				run.Sleep(3 * time.Second)
				if s := run.Snapshot(); s.Phase != engine.Running || s.Spec.Streams != 4 {
					t.Errorf("after the start: %v, %d streams, want what was asked last", s.Phase, s.Spec.Streams)
				}
				run.Quit()
			})
		})
	}
}

func TestQuitBetweenChainedTests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &sessiontest.Server{Lasts: 5 * time.Second, Handshake: time.Second}
		run := begin(t, server, endless(1))
		run.Sleep(6500 * time.Millisecond)
		if s := run.Snapshot(); s.Phase != engine.Running {
			t.Errorf("between chained tests the phase is %v", s.Phase)
		}
		got := run.Quit()
		if got.Err != nil || len(got.Last.Segments) != 1 || got.Last.Segments[0].Err != "" {
			t.Errorf("summary %v, segments %+v", got.Err, got.Last.Segments)
		}
	})
}

func TestSetSpecInWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := begin(t, &sessiontest.Server{}, endless(1))
		run.Sleep(2 * time.Second)
		spec := endless(1)
		spec.Congestion = "bbr"
		run.Do(engine.SetSpec{Spec: spec, Change: "cubic→bbr"})
		run.Sleep(2 * time.Second)
		run.Do(engine.AddStreams{Delta: 1})
		run.Sleep(2 * time.Second)
		s := run.Snapshot()
		if a, b := s.Segments[1].Change, s.Segments[2].Change; a != "cubic→bbr" || b != "streams 1→2" || s.Spec.Congestion != "bbr" {
			t.Errorf("changes %q and %q, congestion %q", a, b, s.Spec.Congestion)
		}
		run.Quit()
	})
}

func TestSlowPacedSenderIsNoStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// A block of 128 KiB every 3 s.
		server := &sessiontest.Server{Rate: func(_ engine.Spec, _ engine.Conn, age time.Duration) float64 {
			if age%(3*time.Second) < 10*time.Millisecond {
				return 128 << 10 * 8 * 100
			}
			return 0
		}}
		spec := endless(1)
		spec.Bitrate = 128 << 10 * 8 / 3
		run := begin(t, server, spec)
		run.Sleep(20 * time.Second)
		if s := run.Snapshot(); strings.Contains(text(s), "nothing has moved") {
			t.Errorf("log:\n%s", text(s))
		}
		run.Quit()
	})
}

func TestQuitWaitsThreeSecondsAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &sessiontest.Server{Exchange: time.Hour}
		run := begin(t, server, endless(1))
		run.Sleep(5 * time.Second)
		began := time.Now()
		run.Do(engine.Quit{})
		if s := run.Snapshot(); s.Phase != engine.Ending || !strings.Contains(s.Note, "3 s left") {
			t.Errorf("phase %v, note %q", s.Phase, s.Note)
		}
		run.Sleep(1500 * time.Millisecond)
		if s := run.Snapshot(); !strings.Contains(s.Note, "2 s left") {
			t.Errorf("after 1.5 s the note is %q", s.Note)
		}
		if err := run.Session.Do(t.Context(), engine.AddStreams{Delta: 1}); err == nil {
			t.Error("a change is accepted while the session ends")
		}
		got := run.Wait(4 * time.Second)
		if d := time.Since(began); d != 3*time.Second {
			t.Errorf("quitting took %v, want 3 s", d)
		}
		if got.Err == nil || errors.Is(got.Err, iperf.ErrInterrupted) {
			t.Errorf("summary error %v, want that the server sent no results", got.Err)
		}
		if seg := got.Last.Segments[0]; !near(seg.Sums[0].Mean, 1e9, 0.01) || seg.End != 5*time.Second {
			t.Errorf("local results are lost: %+v", seg)
		}
	})
}

func TestSecondQuitEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := begin(t, &sessiontest.Server{Exchange: time.Hour}, endless(1))
		run.Sleep(5 * time.Second)
		run.Do(engine.Quit{})
		run.Sleep(100 * time.Millisecond)
		run.Do(engine.Quit{})
		got := run.Wait(time.Millisecond)
		if !errors.Is(got.Err, iperf.ErrInterrupted) {
			t.Errorf("summary error %v, want ErrInterrupted", got.Err)
		}
	})
}

func TestCancelEndsAtOnce(t *testing.T) {
	for name, after := range map[string]time.Duration{"connecting": 0, "running": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				run := begin(t, &sessiontest.Server{Handshake: time.Second, Exchange: time.Hour}, endless(1))
				run.Sleep(after)
				run.Cancel()
				if got := run.Wait(time.Millisecond); !errors.Is(got.Err, iperf.ErrInterrupted) {
					t.Errorf("summary error %v, want ErrInterrupted", got.Err)
				}
			})
		})
	}
}

func TestQuitWhileConnecting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := begin(t, &sessiontest.Server{Handshake: time.Hour}, endless(1))
		run.Sleep(time.Second)
		run.Do(engine.Quit{})
		if got := run.Wait(time.Millisecond); got.Err != nil {
			t.Errorf("summary error %v", got.Err)
		}
	})
}

func TestStopAndStartTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &sessiontest.Server{}
		run := begin(t, server, endless(2))
		run.Sleep(4 * time.Second)
		run.Do(engine.StopTraffic{})
		run.Sleep(2 * time.Second)
		s := run.Snapshot()
		if s.Phase != engine.Stopped || s.Sums[0].Rate != 0 || !near(s.Sums[0].Mean, 2e9, 0.01) || s.Segments[0].End == 0 {
			t.Errorf("phase %v, sums %+v", s.Phase, s.Sums)
		}
		if err := run.Session.Do(t.Context(), engine.StopTraffic{}); err == nil {
			t.Error("traffic can be stopped twice")
		}
		run.Do(engine.AddStreams{Delta: 1})
		run.Sleep(time.Second)
		if s := run.Snapshot(); s.Phase != engine.Stopped || s.Asked == nil || s.Asked.Streams != 3 {
			t.Errorf("a key while stopped: phase %v, asked %v", s.Phase, s.Asked)
		}
		run.Do(engine.StartTraffic{})
		run.Sleep(time.Second)
		s = run.Snapshot()
		if s.Phase != engine.Running || s.Spec.Streams != 3 || s.Segments[1].Gap != 3*time.Second {
			t.Errorf("phase %v, %d streams, gap %v", s.Phase, s.Spec.Streams, s.Segments[1].Gap)
		}
		if err := run.Session.Do(t.Context(), engine.StartTraffic{}); err == nil {
			t.Error("traffic can be started twice")
		}
		run.Quit()
	})
}

func TestUndo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := begin(t, &sessiontest.Server{}, endless(1))
		run.Sleep(2 * time.Second)
		if err := run.Session.Do(t.Context(), engine.Undo{}); err == nil {
			t.Error("the first step can be undone")
		}
		run.Do(engine.SetDirection{Dir: engine.Download})
		run.Sleep(2 * time.Second)
		run.Do(engine.Undo{})
		run.Sleep(2 * time.Second)
		s := run.Snapshot()
		if s.Spec.Direction != engine.Upload || s.Segments[2].Change != "download → upload" {
			t.Errorf("%v, %q", s.Spec.Direction, s.Segments[2].Change)
		}
		run.Quit()
	})
}

func TestBadCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := begin(t, &sessiontest.Server{}, endless(1))
		run.Sleep(time.Second)
		bad := endless(1)
		bad.BlockSize = 1 << 30
		for _, c := range []engine.Command{
			engine.AddStreams{Delta: -1}, engine.SetStreams{N: 129}, engine.SetStreams{}, engine.SetDirection{Dir: 7}, engine.SetSpec{Spec: bad},
		} {
			var field *engine.FieldError
			if err := run.Session.Do(t.Context(), c); !errors.As(err, &field) {
				t.Errorf("%#v: error %v, want a FieldError", c, err)
			}
		}
		run.Do(engine.Note{Text: "jumbo on port 7"})
		if s := run.Snapshot(); !strings.Contains(text(s), "jumbo on port 7") || s.Asked != nil {
			t.Errorf("log %q, asked %v", text(s), s.Asked)
		}
		run.Quit()
	})
}

func TestStallIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &sessiontest.Server{Rate: func(_ engine.Spec, c engine.Conn, age time.Duration) float64 {
			if age > 3*time.Second && age < 7*time.Second {
				return 0
			}
			return 1e9
		}}
		run := begin(t, server, endless(1))
		run.Sleep(4100 * time.Millisecond)
		if s := run.Snapshot(); s.Sums[0].Rate > 0.01*1e9 {
			t.Errorf("1.1 s into a stall the rate is %v", s.Sums[0].Rate)
		}
		run.Sleep(1500 * time.Millisecond)
		if s := run.Snapshot(); s.Phase != engine.Running || !strings.Contains(text(s), "nothing has moved") {
			t.Errorf("phase %v, log:\n%s", s.Phase, text(s))
		}
		run.Sleep(3 * time.Second)
		if s := run.Snapshot(); !strings.Contains(text(s), "moves again") {
			t.Errorf("log:\n%s", text(s))
		}
		run.Quit()
	})
}

func TestUnknownTCPInfo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := begin(t, &sessiontest.Server{Blind: true}, endless(2))
		run.Sleep(5 * time.Second)
		s := run.Snapshot()
		st := s.Streams[0]
		if !near(st.Rate, 1e9, 0.01) || st.Retransmits.Known() || st.Cwnd.Known() || st.RTT.Known() || st.Retransmits.Why() == "" {
			t.Errorf("stream %+v", st)
		}
		if s.Sums[0].Retransmits.Known() {
			t.Errorf("retransmits %+v, want unknown", s.Sums[0].Retransmits)
		}
		run.Quit()
	})
}

func TestSimulatedLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The server gives every stream what -b allows.
		server := &sessiontest.Server{Rate: func(spec engine.Spec, _ engine.Conn, _ time.Duration) float64 { return spec.Bitrate }}
		run := begin(t, server, endless(1), func(c *session.Config) {
			c.LinkBps, c.Shape, c.Label = 10e9, session.SimulatedLink(10e9, 2.5e9), "simulated link 10G"
		})
		want := []float64{2.5e9, 5e9, 7.5e9, 9.415e9, 9.415e9}
		for i, rate := range want {
			run.Sleep(6 * time.Second)
			s := run.Snapshot()
			sum := s.Sum(engine.Upload)
			if !near(sum.Rate, rate, 0.002) || !near(sum.Ceiling.Value, 9.415e9, 0.001) || s.Spec.Bitrate != 0 {
				t.Errorf("%d streams: %v of %v, confirmed -b %v, want %v of 9.415e9 and none", i+1, sum.Rate, sum.Ceiling.Value, s.Spec.Bitrate, rate)
			}
			if s.Label != "simulated link 10G" {
				t.Errorf("label %q", s.Label)
			}
			run.Do(engine.AddStreams{Delta: 1})
		}
		run.Quit()
	})
}

func TestFindBest(t *testing.T) {
	knee := func(most float64) *sessiontest.Server {
		return &sessiontest.Server{Handshake: 10 * time.Millisecond, Rate: func(spec engine.Spec, _ engine.Conn, age time.Duration) float64 {
			if age < time.Second {
				return 1e6 // slow start must not count
			}
			return min(2.5e9, most/float64(spec.Streams))
		}}
	}
	t.Run("stops where more do not help", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server := knee(9.4e9)
			run := begin(t, server, endless(3))
			run.Sleep(2 * time.Second)
			run.Do(engine.FindBest{})
			if s := run.Snapshot(); !s.Best.Active || s.Best.Trying != 1 {
				t.Errorf("%+v", s.Best)
			}
			run.Sleep(30 * time.Second)
			s := run.Snapshot()
			if s.Best.Active || s.Best.Found != 4 || !near(s.Best.Rate, 9.4e9, 0.01) || s.Best.Reason != "8 streams gave +0 % over 4" {
				t.Errorf("%+v, want 4 streams", s.Best)
			}
			want := []int{3, 1, 2, 4, 8, 4}
			got := streamCounts(server.Asked())
			if len(got) != len(want) {
				t.Fatalf("tried %v, want %v", got, want)
			}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("tried %v, want %v", got, want)
				}
			}
			if s.Spec.Streams != 4 || s.Phase != engine.Running {
				t.Errorf("now %d streams, %v", s.Spec.Streams, s.Phase)
			}
			run.Quit()
		})
	})
	t.Run("by itself", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server := knee(2.5e9)
			run := begin(t, server, endless(1), func(c *session.Config) { c.Auto, c.BestStep = true, 3*time.Second })
			run.Sleep(10 * time.Second)
			if s := run.Snapshot(); s.Best.Found != 1 || s.Spec.Streams != 1 || len(server.Asked()) != 3 {
				t.Errorf("%+v, %d streams, %d tests", s.Best, s.Spec.Streams, len(server.Asked()))
			}
			run.Quit()
		})
	})
	t.Run("cancelled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for _, by := range []engine.Command{engine.FindBest{}, engine.AddStreams{Delta: 1}, engine.StopTraffic{}} {
				server := knee(100e9)
				run := begin(t, server, endless(1))
				run.Sleep(2 * time.Second)
				run.Do(engine.FindBest{})
				run.Sleep(5 * time.Second)
				run.Do(by)
				run.Sleep(20 * time.Second)
				if s := run.Snapshot(); s.Best.Active || s.Best.Found != 0 || len(server.Asked()) > 3 {
					t.Errorf("after %T: %+v, %d tests", by, s.Best, len(server.Asked()))
				}
				run.Quit()
			}
		})
	})
	t.Run("refused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server := knee(100e9)
			server.Refuse = func(_ int, spec engine.Spec) error {
				if spec.Streams > 4 {
					return &iperf.Error{Text: "too many", Code: 6}
				}
				return nil
			}
			run := begin(t, server, endless(1))
			run.Sleep(2 * time.Second)
			run.Do(engine.FindBest{})
			run.Sleep(30 * time.Second)
			if s := run.Snapshot(); s.Best.Found != 4 || s.Spec.Streams != 4 || s.Phase != engine.Running {
				t.Errorf("%+v, %d streams, %v", s.Best, s.Spec.Streams, s.Phase)
			}
			run.Quit()
		})
	})
	t.Run("limited", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			spec := endless(1)
			spec.Duration = time.Minute
			run := begin(t, &sessiontest.Server{}, spec)
			run.Sleep(time.Second)
			if err := run.Session.Do(t.Context(), engine.FindBest{}); err == nil {
				t.Error("a limited test accepts FindBest")
			}
			run.Quit()
		})
	})
}

// record is a sink that notes what it gets, slowly.
type record struct {
	delay time.Duration
	calls []string
}

func (r *record) note(what string)         { time.Sleep(r.delay); r.calls = append(r.calls, what) }
func (r *record) Begin(engine.TestInfo)    { r.note("begin") }
func (r *record) Interval(engine.Interval) { r.note("interval") }
func (r *record) End(engine.Result)        { r.note("end") }

func TestSinkGetsEverythingInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &record{delay: 700 * time.Millisecond}
		run := begin(t, &sessiontest.Server{}, endless(1), func(c *session.Config) { c.Sink, c.SinkWait = sink, -1 })
		run.Sleep(3500 * time.Millisecond)
		run.Do(engine.AddStreams{Delta: 1})
		run.Sleep(3 * time.Second)
		run.Do(engine.Quit{})
		run.Wait(time.Minute)
		got := strings.Join(sink.calls, " ")
		want := "begin interval interval interval end begin interval interval end"
		if got != want {
			t.Errorf("the sink got %q, want %q", got, want)
		}
	})
}

func TestTicksAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := begin(t, &sessiontest.Server{}, endless(1))
		run.Sleep(10050 * time.Millisecond)
		if got := run.Stats(); got.Ticks != 100 || got.Late != 0 {
			t.Errorf("%+v, want 100 ticks in 10 s, none late", got)
		}
		seq := run.Snapshot().Seq
		run.Sleep(10 * time.Second)
		if got := run.Snapshot().Seq - seq; got < 40 || got > 42 {
			t.Errorf("%d snapshots in 10 s, want 4 per second", got)
		}
		run.Quit()
	})
}
