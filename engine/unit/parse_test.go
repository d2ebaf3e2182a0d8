package unit

import (
	"math"
	"strings"
	"testing"
)

func TestParseSize(t *testing.T) {
	good := map[string]uint64{
		"0": 0, "4096": 4096, "128K": 128 << 10, "128k": 128 << 10, "1.5M": 3 << 19,
		"50m": 50 << 20, "2G": 2 << 30, "1T": 1 << 40, ".5K": 512, "1.9": 1,
		"4MB": 4 << 20, "4MiB": 4 << 20, "12 GiB": 12 << 30, "1e3": 1000, "7B": 7,
		"16777215T": 16777215 << 40,
	}
	for s, want := range good {
		if got, err := ParseSize(s); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", " ", "K", "-1", "+1", "1.2.3", "10X", "10MM", "inf", "nan", "0x10", "1_000", "16777216T", "1e400", "10 M B", "5m/s"} {
		if got, err := ParseSize(s); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", s, got)
		}
	}
}

func TestParseRate(t *testing.T) {
	good := map[string]float64{
		"0": 0, "1000": 1000, "1K": 1e3, "1k": 1e3, "100M": 1e8, "2.5G": 2.5e9, "1T": 1e12,
		"9.41 Gbit/s": 9.41e9, "50Mbps": 5e7, "50Mbits/sec": 5e7, "7bit": 7, "1e6": 1e6,
	}
	for s, want := range good {
		if got, err := ParseRate(s); err != nil || got != want {
			t.Errorf("ParseRate(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "M", "-5M", "10MB", "10Mb/s/s", "fast", "1e", "NaN", "Infinity", "1e999"} {
		if got, err := ParseRate(s); err == nil {
			t.Errorf("ParseRate(%q) = %v, want an error", s, got)
		}
	}
}

func TestParseRateBurst(t *testing.T) {
	tests := []struct {
		in    string
		rate  float64
		burst int
		ok    bool
	}{
		{"100M", 1e8, 0, true},
		{"100M/10", 1e8, 10, true},
		{"1Gbit/s", 1e9, 0, true},
		{"1Gbit/s/4", 1e9, 4, true},
		{"0/1000", 0, 1000, true},
		{"100M/0", 0, 0, false},
		{"100M/1001", 0, 0, false},
		{"100M/", 0, 0, false},
		{"100M/x", 0, 0, false},
		{"/10", 0, 0, false},
	}
	for _, test := range tests {
		rate, burst, err := ParseRateBurst(test.in)
		if (err == nil) != test.ok || rate != test.rate || burst != test.burst {
			t.Errorf("ParseRateBurst(%q) = %v, %d, %v, want %v, %d, ok %v", test.in, rate, burst, err, test.rate, test.burst, test.ok)
		}
	}
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"128K", "1.5M", "12 GiB", "1e3", "16777216T", "-1", "."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseSize(s)
		if err != nil {
			if n != 0 {
				t.Errorf("ParseSize(%q) = %d with error %v, want 0", s, n, err)
			}
			return
		}
		if upper, err := ParseSize(strings.ToUpper(s)); err != nil || upper != n {
			t.Errorf("ParseSize(%q) = %d, but upper case gives %d, %v", s, n, upper, err)
		}
	})
}

func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"100M", "2.5G/10", "9.41 Gbit/s", "1e300T", "/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rate, burst, err := ParseRateBurst(s)
		if err != nil {
			return
		}
		if rate < 0 || math.IsNaN(rate) || math.IsInf(rate, 0) || burst < 0 || burst > MaxBurst {
			t.Errorf("ParseRateBurst(%q) = %v, %d, want a finite rate and a burst in range", s, rate, burst)
		}
		// What is printed can be typed back, to the precision printed.
		if rate < 1e15 {
			back, err := ParseRate(Rate(rate))
			if err != nil || math.Abs(back-rate) > 0.006*rate+0.5 {
				t.Errorf("ParseRate(Rate(%v) = %q) = %v, %v", rate, Rate(rate), back, err)
			}
		}
	})
}
