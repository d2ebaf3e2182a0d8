package figure

import (
	"math"
	"testing"
	"time"

	"linerate/engine/unit"
	"linerate/probes"
)

func TestShort(t *testing.T) {
	for _, test := range []struct {
		bps              float64
		bits, bytes, iec string
	}{
		{9.41e9, "9.41 G", "1.18 GB", "1.10 GiB"},
		{812, "812", "102 B", "102 B"},
		{0, "0", "0 B", "0 B"},
		{math.NaN(), "–", "–", "–"},
	} {
		for u, want := range map[unit.System]string{unit.BitsSI: test.bits, unit.BytesSI: test.bytes, unit.Binary: test.iec} {
			if got := Short(test.bps, u); got != want {
				t.Errorf("Short(%v, %v) = %q, want %q", test.bps, u, got, want)
			}
		}
	}
}

func TestShares(t *testing.T) {
	for share, want := range map[float64]string{0: "0", 0.005: "1", 0.974: "97", 1: "100", 1.3: "130", -0.1: "–", math.Inf(1): "–"} {
		if got := Percent(share); got != want {
			t.Errorf("Percent(%v) = %q, want %q", share, got, want)
		}
	}
	for share, want := range map[float64]string{0.96: "+96 %", -0.03: "-3 %", 0.001: "±0 %", math.Inf(-1): "–", 3.2: "+320 %"} {
		if got := Delta(share); got != want {
			t.Errorf("Delta(%v) = %q, want %q", share, got, want)
		}
	}
	if got := Percent(math.NaN()); got != "–" {
		t.Errorf("Percent(NaN) = %q", got)
	}
	for share, want := range map[float64]string{0.004: "0.4", 1.25: "125.0", -1: "–"} {
		if got := Tenths(share); got != want {
			t.Errorf("Tenths(%v) = %q, want %q", share, got, want)
		}
	}
	for index, want := range map[float64]string{0: "", 0.987: "0.99", 1: "1.00", math.Inf(1): ""} {
		if got := Fairness(index); got != want {
			t.Errorf("Fairness(%v) = %q, want %q", index, got, want)
		}
	}
}

func TestUnknownIsNeverZero(t *testing.T) {
	why := "only the sender knows"
	for name, got := range map[string]string{
		"count":      Count(probes.Unknown[uint64](probes.Absent, why)),
		"size":       Size(probes.Unknown[uint64](probes.Absent, why)),
		"per second": PerSecond(probes.Unknown[float64](probes.Absent, why)),
		"duration":   Duration(probes.Unknown[time.Duration](probes.Absent, why)),
	} {
		if got != unit.None {
			t.Errorf("unknown %s = %q, want %q", name, got, unit.None)
		}
	}
	if got := Count(probes.Got(uint64(0))); got != "0" {
		t.Errorf("a known zero = %q, want 0", got)
	}
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "now", 90 * time.Microsecond: "now", 113 * time.Millisecond: "0.1 s ago", 9940 * time.Millisecond: "9.9 s ago",
		24300 * time.Millisecond: "24 s ago", 80 * time.Second: "1:20 ago",
	} {
		if got := Age(d); got != want {
			t.Errorf("Age(%v) = %q, want %q", d, got, want)
		}
	}
}
