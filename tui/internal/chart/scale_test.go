package chart

import (
	"math"
	"testing"
	"time"
)

func TestStep(t *testing.T) {
	for _, test := range []struct{ v, base, want float64 }{
		{0, 1000, 1000}, {999, 1000, 1000}, {1001, 1000, 2000}, {9.41e9, 1000, 10e9}, {10e9, 1000, 10e9},
		{10.1e9, 1000, 20e9}, {2.1e6, 1000, 5e6}, {501e6, 1000, 1e9}, {600e3, 1000, 1e6},
		{math.NaN(), 1000, 1000}, {math.Inf(1), 1000, 1e18}, {-5, 1000, 1000},
		{1.10 * (1 << 30), 1024, 2 << 30}, {600 << 20, 1024, 1 << 30}, {1023 << 20, 1024, 1 << 30},
	} {
		if got := Step(test.v, test.base); got != test.want {
			t.Errorf("Step(%v, %v) = %v, want %v", test.v, test.base, got, test.want)
		}
	}
}

func TestScaleGrowsAtOnceAndShrinksLate(t *testing.T) {
	var s Scale
	at := func(sec float64, greatest, want float64) {
		t.Helper()
		if got := s.Fit(greatest, time.Duration(sec*float64(time.Second)), 1000); got != want {
			t.Errorf("at %v s, greatest %v: top %v, want %v", sec, greatest, got, want)
		}
	}
	at(0, 4e9, 5e9)
	at(1, 9e9, 10e9)
	at(2, 1e9, 10e9)  // below half from here
	at(11, 1e9, 10e9) // nine seconds
	at(11.5, 6e9, 10e9)
	at(12, 1e9, 10e9) // begins anew
	at(21, 1e9, 10e9)
	at(22, 1e9, 1e9)
	at(22, 1e9, 1e9)
	at(23, 1.2e9, 2e9)
}

func TestScaleFollowsTheUnits(t *testing.T) {
	var s Scale
	s.Fit(9e9, 0, 1000)
	if got := s.Fit(1.1*(1<<30), time.Second, 1024); got != 2<<30 {
		t.Errorf("after a change to binary units: %v, want 2 GiB at once", got)
	}
}

func TestShortFitsItsColumn(t *testing.T) {
	for _, test := range []struct {
		v    float64
		want string
	}{{0, "0"}, {10e9, "10G"}, {2.5e9, "2.5G"}, {12.5e6, "12.5M"}, {500e3, "500k"}, {999.9, "1k"}, {1e18, "1E"}} {
		if got := Short(test.v, 1000); got != test.want {
			t.Errorf("Short(%v) = %q, want %q", test.v, got, test.want)
		}
	}
	for v := 1.0; v < 1e20; v *= 1.37 {
		for _, base := range []float64{1000, 1024} {
			if got := Short(v, base); len(got) > LabelWidth {
				t.Errorf("Short(%v, %v) = %q, longer than %d", v, base, got, LabelWidth)
			}
		}
	}
}
