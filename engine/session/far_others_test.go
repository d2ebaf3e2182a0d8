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

// TestFarOthers: what keeps the far computer busy beside the test is named from here, when
// it has told.
func TestFarOthers(t *testing.T) {
	allBusy := func(time.Duration) ([]probes.CoreLoad, []probes.ThreadLoad) {
		var cores []probes.CoreLoad
		for i := range 4 {
			cores = append(cores, probes.CoreLoad{Core: i, User: 0.97, System: 0.02, Idle: 0.01})
		}
		return cores, []probes.ThreadLoad{{TID: 4720, Name: "lr-rx-1", System: 0.2, Core: 1}}
	}
	packets := func(time.Duration) ([]probes.CoreLoad, []probes.ThreadLoad) {
		// ksoftirqd counts as system time: the softirq share alone says nothing.
		return []probes.CoreLoad{{Core: 0, System: 0.94, SoftIRQ: 0.05, Idle: 0.01}, {Core: 1, System: 0.2, Idle: 0.8}, {Core: 2, Idle: 1}, {Core: 3, Idle: 1}},
			[]probes.ThreadLoad{{TID: 4720, Name: "lr-rx-1", System: 0.2, Core: 1}}
	}
	tunnel := func(time.Duration) ([]probes.CoreLoad, []probes.ThreadLoad) {
		return []probes.CoreLoad{{Core: 0, System: 0.3, Idle: 0.7}, {Core: 1, System: 0.96, Idle: 0.04}, {Core: 2, Idle: 1}, {Core: 3, Idle: 1}},
			[]probes.ThreadLoad{{TID: 4720, Name: "lr-rx-1", System: 0.2, Core: 0}}
	}
	thread := func(list ...probes.ThreadLoad) func(time.Duration) []probes.ThreadLoad {
		return func(time.Duration) []probes.ThreadLoad { return list }
	}
	for name, test := range map[string]struct {
		far  sessiontest.FarEnd
		code string
		says string
	}{
		"another program": {sessiontest.FarEnd{Load: allBusy, Others: thread(probes.ThreadLoad{TID: 900, Name: "ffmpeg", User: 3.4, Core: 2})},
			diagnose.OtherPrograms, "of the far computer's CPU (top: ffmpeg)"},
		"packet handling": {sessiontest.FarEnd{Load: packets, Others: thread(probes.ThreadLoad{TID: 15, Name: "ksoftirqd/0", System: 0.93})},
			diagnose.SoftIRQCore, "Far core 0 is full of packet receive (ksoftirqd/0 93 %)"},
		"a tunnel's worker": {sessiontest.FarEnd{Load: tunnel, Kind: "wireguard", Others: thread(probes.ThreadLoad{TID: 77, Name: "kworker/1:2-wg-crypt-wg0", System: 0.95, Core: 1})},
			diagnose.TunnelCore, "uses 95 % of it"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				far := test.far
				run := begin(t, linerateServer(far), endless(1))
				run.Sleep(10 * time.Second)
				got := verdict(t, run.Snapshot(), engine.Upload)
				run.Quit()
				if got.Code != test.code || got.Side != engine.Far || !strings.Contains(got.Text, test.says) {
					t.Errorf("%s of side %v: %q, want %s of the far one and %q", got.Code, got.Side, got.Text, test.code, test.says)
				}
			})
			synctest.Test(t, func(t *testing.T) {
				far := test.far
				far.Others = nil
				run := begin(t, linerateServer(far), endless(1))
				run.Sleep(10 * time.Second)
				run.Quit()
				e, _ := run.Evidence()
				if others := e.Ends[engine.Far].Others; others.Known() || others.Why() != "the far end does not tell" {
					t.Errorf("not told, and yet: %+v", others)
				}
			})
		})
	}
}
