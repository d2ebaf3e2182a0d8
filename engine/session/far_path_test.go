package session_test

import (
	"context"
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

// openPath carries packets of up to 9000 bytes from here.
type openPath struct{}

func (openPath) RTT(context.Context, netip.AddrPort, int) probes.PathRTT {
	return probes.PathRTT{Idle: probes.Got(time.Millisecond), Hops: probes.Got(1)}
}

func (openPath) MTU(context.Context, netip.AddrPort) probes.PathMTU {
	return allPasses.WithoutBack(probes.NotRead, "only a linerate server can tell the way back")
}

var allPasses = probes.PathMTU{
	Out: probes.Got(9000), TooBig: probes.Unknown[int](probes.Absent, "all sizes pass"),
	Reported: probes.Unknown[int](probes.Absent, "no router named a limit"), TCP: probes.Got(9000),
}

// swallows is what the far end finds where packets above 4074 bytes vanish on their way here.
var swallows = probes.PathMTU{
	Out: probes.Got(4074), BlackHole: true, TooBig: probes.Got(4075),
	Reported: probes.Unknown[int](probes.Absent, "no router named a limit"), TCP: probes.Got(9000),
}

func overOpenPath(c *session.Config) { c.Path = openPath{} }

// TestFarFindsTheBlackHole: one on the way back is named by its size, and stays named when
// the far end has nothing to tell any more.
func TestFarFindsTheBlackHole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := linerateServer(sessiontest.FarEnd{
			Load: farLoad, MTU: 9000, PathMTU: swallows, PathAt: 3 * time.Second, Silent: 4 * time.Second,
			Probed: netip.MustParseAddr("192.168.10.2"),
		})
		server.Rate = func(_ engine.Spec, _ engine.Conn, age time.Duration) float64 {
			if age > time.Second {
				return 0
			}
			return 1e6
		}
		run := begin(t, server, download(1), overOpenPath)
		run.Sleep(2 * time.Second)
		if m := run.Snapshot().PathMTU; m.In.Known() || m.In.Why() != "the far end has not told yet" || m.Out.Value != 9000 {
			t.Errorf("before it has told: %+v", m)
		}
		for _, after := range []time.Duration{8 * time.Second, 20 * time.Second} {
			run.Sleep(after)
			s := run.Snapshot()
			if m := s.PathMTU; m.Out.Value != 9000 || m.BlackHole || m.In.Value != 4074 || !m.InBlackHole || m.InTooBig.Value != 4075 || m.InReported.Known() {
				t.Errorf("%v later: %+v", after, m)
			}
			got := verdict(t, s, engine.Download)
			if got.Code != diagnose.BlackHole || got.Side != engine.Path || !strings.Contains(got.Text, "above 4074 bytes in download (host MTU 9000)") {
				t.Errorf("%v later: %s of side %v: %q", after, got.Code, got.Side, got.Text)
			}
		}
		run.Do(engine.Prove{})
		run.Sleep(time.Second)
		if p := run.Snapshot().Proving; p.Answer != engine.Proven || !strings.Contains(p.Showed, "packets above 4074 bytes vanish in download without a word, as the far end has found") {
			t.Errorf("proof: %v, %q", p.Answer, p.Showed)
		}
		run.Quit()
	})
}

// TestFarPath: what is believed of the far end's sweep, and what is said where there is none.
func TestFarPath(t *testing.T) {
	silent := probes.NoPathMTU(probes.Failed, "the host answers no probe")
	here, nat := netip.MustParseAddr("192.168.10.2"), netip.MustParseAddr("203.0.113.5")
	for name, test := range map[string]struct {
		far  *sessiontest.FarEnd
		in   int // 0: unknown
		why  string
		hole bool
	}{
		"all passes":            {&sessiontest.FarEnd{PathMTU: allPasses, Probed: here}, 9000, "", false},
		"as far as where?":      {&sessiontest.FarEnd{PathMTU: allPasses}, 9000, "", false},
		"a black hole":          {&sessiontest.FarEnd{PathMTU: swallows, Probed: here}, 4074, "", true},
		"as far as a NAT":       {&sessiontest.FarEnd{PathMTU: allPasses, Probed: nat}, 0, "the far end's probes end at 203.0.113.5, before this computer", false},
		"a hole before a NAT":   {&sessiontest.FarEnd{PathMTU: swallows, Probed: nat}, 4074, "", true},
		"no answer":             {&sessiontest.FarEnd{PathMTU: silent, Probed: here}, 0, "far end: the host answers no probe", false},
		"a server without":      {&sessiontest.FarEnd{}, 0, "the far end has not told yet", false},
		"a stock iperf3 server": {nil, 0, "only a linerate server can tell the way back", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				run := begin(t, &sessiontest.Server{Far: test.far}, endless(1), overOpenPath)
				run.Sleep(3 * time.Second)
				m := run.Snapshot().PathMTU
				run.Quit()
				if m.Out.Value != 9000 || m.In.Or(0) != test.in || m.In.Why() != test.why || m.InBlackHole != test.hole || m.BlackHole {
					t.Errorf("got %+v, want %d %q", m, test.in, test.why)
				}
			})
		})
	}
}

// TestFarPathStays: the next step's test has not told yet; what the last one found stays.
func TestFarPathStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := linerateServer(sessiontest.FarEnd{PathMTU: swallows, PathAt: 2 * time.Second})
		run := begin(t, server, endless(1), overOpenPath)
		run.Sleep(4 * time.Second)
		run.Do(engine.AddStreams{Delta: 1})
		run.Sleep(1500 * time.Millisecond)
		if s := run.Snapshot(); len(s.Segments) != 2 || s.PathMTU.In.Value != 4074 {
			t.Errorf("%d steps, %+v", len(s.Segments), s.PathMTU.In)
		}
		run.Quit()
	})
}
