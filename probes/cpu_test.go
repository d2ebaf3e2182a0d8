package probes

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestCoreLoadSharesSumToOne(t *testing.T) {
	tests := []struct {
		name         string
		earlier, now CoreTimes
		want         CoreLoad
	}{
		{
			"all columns",
			CoreTimes{Core: 3, User: 10, Nice: 1, System: 5, Idle: 100, IOWait: 2, IRQ: 1, SoftIRQ: 4, Steal: 1},
			CoreTimes{Core: 3, User: 12, Nice: 2, System: 6, Idle: 102, IOWait: 3, IRQ: 2, SoftIRQ: 5, Steal: 2},
			CoreLoad{Core: 3, User: .3, System: .1, IRQ: .1, SoftIRQ: .1, Steal: .1, Idle: .3, IOWait: .1},
		},
		{"no time passed", CoreTimes{Idle: 7}, CoreTimes{Idle: 7}, CoreLoad{Idle: 1}},
		{"iowait ran backwards", CoreTimes{Idle: 7, IOWait: 3}, CoreTimes{User: 1, Idle: 8, IOWait: 1}, CoreLoad{User: .5, Idle: .5}},
	}
	for _, tt := range tests {
		got := tt.now.Since(tt.earlier)
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if sum := got.Busy() + got.Idle; sum < 1-1e-9 || sum > 1+1e-9 {
			t.Errorf("%s: shares sum to %v", tt.name, sum)
		}
	}
}

func TestThreadLoad(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		name         string
		earlier, now ThreadTimes
		want         ThreadLoad
	}{
		{
			"ticks",
			ThreadTimes{TID: 7, User: 100 * ms, System: 500 * ms},
			ThreadTimes{TID: 7, Name: "lr-tx-1", User: 120 * ms, System: 580 * ms, Core: 2},
			ThreadLoad{TID: 7, Name: "lr-tx-1", User: .2, System: .8, Core: 2},
		},
		{
			"ticks divide the exact time",
			ThreadTimes{User: 100 * ms, System: 500 * ms, Run: 604 * ms},
			ThreadTimes{User: 120 * ms, System: 580 * ms, Run: 694 * ms},
			ThreadLoad{User: .18, System: .72},
		},
		{
			"less than a tick is divided as the whole life was",
			ThreadTimes{User: 100 * ms, System: 300 * ms, Run: 401 * ms},
			ThreadTimes{User: 100 * ms, System: 300 * ms, Run: 405 * ms},
			ThreadLoad{User: .01, System: .03},
		},
		{"before its first tick", ThreadTimes{}, ThreadTimes{Run: 5 * ms}, ThreadLoad{System: .05}},
		{"ran backwards", ThreadTimes{User: 9 * ms, Run: 9 * ms}, ThreadTimes{User: 5 * ms, Run: 5 * ms}, ThreadLoad{}},
	}
	for _, tt := range tests {
		got := tt.now.Since(tt.earlier, 100*ms)
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if got := (ThreadTimes{User: ms}).Since(ThreadTimes{}, 0); got.Busy() != 0 {
		t.Errorf("without a window: busy %v, want 0", got.Busy())
	}
}
