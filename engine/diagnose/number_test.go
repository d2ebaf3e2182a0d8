package diagnose

import "testing"

func TestNumbers(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{percent(0.98), "98 %"},
		{percent(0.9949), "99 %"},
		{percent(1), "100 %"},
		{percent(1.1), "110 %"},
		{gain(0.123), "+12 %"},
		{gain(-0.031), "−3 %"},
		{gain(0.004), "±0 %"},
		{ofRate(9.41e9, 9.4148e9), "9.41 of 9.415 Gbit/s"},
		{ofRate(94.0e9, 94.148e9), "94.0 of 94.15 Gbit/s"},
		{ofRate(941e6, 941.48e6), "941 of 941.5 Mbit/s"},
		{ofRate(2.35e9, 2.3537e9), "2.35 of 2.354 Gbit/s"},
		{ofRate(9, 12), "9.00 of 12.00 bit/s"},
		{flagRate(1e6), "1M"},
		{flagRate(2.5e9), "2.5G"},
		{flagRate(999), "999"},
		{cpuMask(4), "f"},
		{cpuMask(32), "ffffffff"},
		{cpuMask(40), "ff,ffffffff"},
		{count(1, "core"), "1 core"},
		{sentence("both cores"), "Both cores"},
		{sentence(""), ""},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
	if v, ok := middle([]float64{4, 1, 3, 2}); !ok || v != 2.5 {
		t.Errorf("middle of four: %v", v)
	}
	if _, ok := middle(nil); ok {
		t.Error("middle of nothing is known")
	}
}
