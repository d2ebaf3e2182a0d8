package probes

import (
	"testing"
	"time"
)

func TestBloatGrade(t *testing.T) {
	const ms = time.Millisecond
	for added, want := range map[time.Duration]string{
		0: "great", 5*ms - 1: "great", 5 * ms: "ok", 30*ms - 1: "ok", 30 * ms: "fair", 60*ms - 1: "fair",
		60 * ms: "bad", 200 * ms: "bad", 200*ms + 1: "awful", 268 * ms: "awful",
	} {
		if got := BloatGrade(added); got != want {
			t.Errorf("%v: %q, want %q", added, got, want)
		}
	}
}

func TestAdded(t *testing.T) {
	const ms = time.Millisecond
	no := Unknown[time.Duration](Failed, "the host answers no probe")
	tests := []struct{ idle, loaded, want Reading[time.Duration] }{
		{Got(20 * ms), Got(288 * ms), Got(268 * ms)},
		{Got(20 * ms), Got(19 * ms), Got(time.Duration(0))}, // noise is no negative queue
		{no, Got(288 * ms), no},
		{Got(20 * ms), no, no},
		{PathRTT{}.Idle, PathRTT{}.Loaded, PathRTT{}.Idle},
	}
	for _, tt := range tests {
		if got := (PathRTT{Idle: tt.idle, Loaded: tt.loaded}).Added(); got != tt.want {
			t.Errorf("idle %+v, loaded %+v: added %+v, want %+v", tt.idle, tt.loaded, got, tt.want)
		}
	}
}

func TestPathMTUBack(t *testing.T) {
	out := PathMTU{Out: Got(9000), TCP: Got(9000), In: Unknown[int](NotRead, "?")}
	far := PathMTU{Out: Got(4074), BlackHole: true, TooBig: Got(4075), Reported: Unknown[int](Absent, "none"), TCP: Got(1), In: Got(1)}
	want := PathMTU{
		Out: Got(9000), TCP: Got(9000),
		In: Got(4074), InBlackHole: true, InTooBig: Got(4075), InReported: Unknown[int](Absent, "none"),
	}
	if got := out.WithBack(far); got != want {
		t.Errorf("with what the far end has found: %+v, want %+v", got, want)
	}
	why := Unknown[int](Denied, "why")
	if got := want.WithoutBack(Denied, "why"); got != (PathMTU{Out: Got(9000), TCP: Got(9000), In: why, InTooBig: why, InReported: why}) {
		t.Errorf("without: %+v", got)
	}
	if got := NoPathMTU(Denied, "why"); got != (PathMTU{Out: why, TooBig: why, Reported: why, TCP: why, In: why, InTooBig: why, InReported: why}) {
		t.Errorf("nothing known: %+v", got)
	}
}
