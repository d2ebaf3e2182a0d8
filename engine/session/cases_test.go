package session_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"linerate/engine"
	"linerate/engine/diagnose"
	"linerate/engine/session/sessiontest"
	"linerate/probes"
)

// verdict gives the answer about one direction.
func verdict(t *testing.T, s *engine.Snapshot, dir engine.Direction) engine.Finding {
	t.Helper()
	for _, v := range s.Verdicts {
		if v.Dir == dir {
			return v.Main
		}
	}
	t.Fatalf("no verdict for %v among %+v", dir, s.Verdicts)
	return engine.Finding{}
}

func TestMiniPCNamesTheFullCore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, _ := sessiontest.MiniPC(t)
		run := sessiontest.Start(t, cfg)
		run.Sleep(10 * time.Second)

		s := run.Snapshot()
		up, down := s.Sum(engine.Upload), s.Sum(engine.Download)
		if !near(up.Rate, 9.40e9, 0.002) || !near(down.Rate, 6.51e9, 0.002) {
			t.Errorf("TX %v, RX %v, want 9.40 and 6.51 Gbit/s", up.Rate, down.Rate)
		}
		if !near(up.Ceiling.Value, 9.415e9, 0.001) || s.Route.Value.NIC.Value.Name != "enp1s0" {
			t.Errorf("ceiling %+v by %+v", up.Ceiling, s.Route)
		}
		busy := 0.0
		for _, c := range s.Load.Cores.Value {
			busy += c.Busy() / 4
		}
		if !near(busy, 0.30, 0.01) || !near(s.Load.Cores.Value[2].Busy(), 1, 0.001) {
			t.Errorf("all cores %v, core 2 %+v, want 30 %% and 100 %%", busy, s.Load.Cores.Value[2])
		}
		if got := verdict(t, s, engine.Upload); got.Code != diagnose.LineRate {
			t.Errorf("upload: %s %q, want line rate", got.Code, got.Text)
		}
		got := verdict(t, s, engine.Download)
		if got.Code != diagnose.ReceiverCore || got.Core != 2 || !strings.Contains(got.Text, "core 2") || got.Press != "+" {
			t.Errorf("download: %s %q, press %q, want the receiving thread on core 2 and +", got.Code, got.Text, got.Press)
		}
		if th := s.Streams[1].Thread; !near(th.Value.Busy(), 0.98, 0.001) || th.Value.Core != 2 {
			t.Errorf("thread of the download: %+v", th)
		}
		if !near(s.SelfCPU.Or(-1)+1, 1, 0.02) {
			t.Errorf("own CPU beside the data threads: %+v", s.SelfCPU)
		}

		for range 3 {
			run.Do(engine.AddStreams{Delta: 1})
		}
		run.Sleep(10 * time.Second)
		s = run.Snapshot()
		up, down = s.Sum(engine.Upload), s.Sum(engine.Download)
		if len(s.Streams) != 8 || !near(up.Rate, 9.40e9, 0.002) || !near(down.Rate, 9.40e9, 0.002) {
			t.Errorf("%d streams, TX %v, RX %v, want 8 and 9.40 both", len(s.Streams), up.Rate, down.Rate)
		}
		if !near(up.Delta.Value+1, 1, 0.005) || !near(down.Delta.Value, 9.40/6.51-1, 0.01) {
			t.Errorf("Δ up %+v, down %+v, want 0 and +44 %%", up.Delta, down.Delta)
		}
		if !near(down.Fairness, 0.8914, 0.001) {
			t.Errorf("fairness of the download %v", down.Fairness)
		}
		for _, dir := range engine.Both.Dirs() {
			if got := verdict(t, s, dir); got.Code != diagnose.LineRate {
				t.Errorf("%v: %s %q, want line rate", dir, got.Code, got.Text)
			}
		}
		first := s.Segments[0]
		if first.Verdict != diagnose.ReceiverCore || s.Segments[1].Change != "streams 1→4" {
			t.Errorf("first step ended with %q, then %q", first.Verdict, s.Segments[1].Change)
		}
		if s.Segments[1].Gap != 6*time.Millisecond {
			t.Errorf("gap %v, want 6 ms", s.Segments[1].Gap)
		}
		if len(s.History.Cores) != 4 {
			t.Errorf("history of %d cores", len(s.History.Cores))
		}
		run.Quit()
	})
}

func TestWorkstationNamesTheFullCore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, _ := sessiontest.Workstation(t)
		run := sessiontest.Start(t, cfg)
		run.Sleep(8 * time.Second)
		s := run.Snapshot()
		if got := verdict(t, s, engine.Upload); got.Code != diagnose.SenderCore || got.Core != 5 || got.Confidence != engine.Sure {
			t.Errorf("%s %q, %v, want the sending thread on core 5", got.Code, got.Text, got.Confidence)
		}
		run.Do(engine.AddStreams{Delta: 1})
		run.Sleep(8 * time.Second)
		s = run.Snapshot()
		if got := verdict(t, s, engine.Upload); got.Code != diagnose.LineRate {
			t.Errorf("%s %q, want line rate", got.Code, got.Text)
		}
		if d := s.Sum(engine.Upload).Delta; !near(d.Value, 24.7/18.2-1, 0.01) {
			t.Errorf("Δ %+v, want +36 %%", d)
		}
		run.Quit()
	})
}

// One core of four is full, the others have little to do: which one, and with what, is said
// in words, and what to press.
func TestFourCoresNameTheFullOne(t *testing.T) {
	for _, c := range []struct {
		name   string
		dir    engine.Direction
		cores  [4]probes.CoreLoad
		thread probes.ThreadLoad
		want   string
		core   int
		says   string
		press  string
	}{
		{
			"sending thread", engine.Upload,
			[4]probes.CoreLoad{{Core: 0, SoftIRQ: 0.05}, {Core: 1, User: 0.01, System: 0.98}, {Core: 2, SoftIRQ: 0.10}, {Core: 3, User: 0.02}},
			probes.ThreadLoad{Core: 1, User: 0.01, System: 0.96},
			diagnose.SenderCore, 1, "core 1", "+",
		},
		{
			"receiving thread", engine.Download,
			[4]probes.CoreLoad{{Core: 0, SoftIRQ: 0.15}, {Core: 1, User: 0.02}, {Core: 2, User: 0.02}, {Core: 3, User: 0.02, System: 0.97}},
			probes.ThreadLoad{Core: 3, User: 0.02, System: 0.96},
			diagnose.ReceiverCore, 3, "core 3", "+",
		},
		{
			"softirq", engine.Download,
			[4]probes.CoreLoad{{Core: 0, SoftIRQ: 0.99}, {Core: 1, User: 0.02}, {Core: 2, User: 0.02, System: 0.45}, {Core: 3, User: 0.02}},
			probes.ThreadLoad{Core: 2, User: 0.02, System: 0.44},
			diagnose.SoftIRQCore, 0, "Core 0 is full of packet receive", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg, _ := sessiontest.FourCores(t, c.dir, 4.2e9, c.cores, c.thread)
				run := sessiontest.Start(t, cfg)
				run.Sleep(8 * time.Second)
				got := verdict(t, run.Snapshot(), c.dir)
				if got.Code != c.want || got.Core != c.core || got.Side != engine.Local || !strings.Contains(got.Text, c.says) || c.press != "" && got.Press != c.press {
					t.Errorf("%s of core %d (%v, press %q): %s; want %s of core %d, %q", got.Code, got.Core, got.Side, got.Press, got.Text, c.want, c.core, c.says)
				}
				run.Quit()
			})
		})
	}
}
