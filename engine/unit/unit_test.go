package unit

import (
	"math"
	"testing"
	"time"
)

func TestRate(t *testing.T) {
	tests := []struct {
		bps                float64
		bits, bytes, binar string
	}{
		{0, "0 bit/s", "0 B/s", "0 B/s"},
		{812, "812 bit/s", "102 B/s", "102 B/s"},
		{999.4, "999 bit/s", "125 B/s", "125 B/s"},
		{999.6, "1.00 kbit/s", "125 B/s", "125 B/s"},
		{8123, "8.12 kbit/s", "1.02 kB/s", "1015 B/s"},
		{812_000, "812 kbit/s", "102 kB/s", "99.1 KiB/s"},
		{9_994_000, "9.99 Mbit/s", "1.25 MB/s", "1.19 MiB/s"},
		{9_996_000, "10.0 Mbit/s", "1.25 MB/s", "1.19 MiB/s"},
		{99_960_000, "100 Mbit/s", "12.5 MB/s", "11.9 MiB/s"},
		{50_331_648, "50.3 Mbit/s", "6.29 MB/s", "6.00 MiB/s"},
		{999_600_000, "1.00 Gbit/s", "125 MB/s", "119 MiB/s"},
		{9.414e9, "9.41 Gbit/s", "1.18 GB/s", "1.10 GiB/s"},
		{1.25e14, "125 Tbit/s", "15.6 TB/s", "14.2 TiB/s"},
		{1e18, "1.00 Ebit/s", "125 PB/s", "111 PiB/s"},
		{1e300, "1e+282 Ebit/s", "1.25e+281 EB/s", "1.08e+281 EiB/s"},
		{math.NaN(), "–", "–", "–"},
		{math.Inf(1), "–", "–", "–"},
		{math.Inf(-1), "–", "–", "–"},
		{-1, "–", "–", "–"},
	}
	for _, test := range tests {
		for i, want := range []string{test.bits, test.bytes, test.binar} {
			if got := RateIn(test.bps, System(i)); got != want {
				t.Errorf("RateIn(%v, %v) = %q, want %q", test.bps, System(i), got, want)
			}
		}
		if got := Rate(test.bps); got != test.bits {
			t.Errorf("Rate(%v) = %q, want %q", test.bps, got, test.bits)
		}
	}
}

func TestSystemCycles(t *testing.T) {
	if got := BitsSI.Next().Next().Next(); got != BitsSI {
		t.Errorf("third Next of BitsSI = %v, want it back", got)
	}
}

func TestBytes(t *testing.T) {
	tests := []struct {
		n       uint64
		si, iec string
	}{
		{0, "0 B", "0 B"},
		{999, "999 B", "999 B"},
		{1000, "1.00 kB", "1000 B"},
		{1023, "1.02 kB", "1023 B"},
		{1024, "1.02 kB", "1.00 KiB"},
		{1_500_000_000, "1.50 GB", "1.40 GiB"},
		{1<<30 - 1, "1.07 GB", "1.00 GiB"},
		{1000 << 10, "1.02 MB", "1000 KiB"},
		{math.MaxUint64, "18.4 EB", "16.0 EiB"},
	}
	for _, test := range tests {
		if got := Bytes(test.n); got != test.si {
			t.Errorf("Bytes(%d) = %q, want %q", test.n, got, test.si)
		}
		if got := BytesIEC(test.n); got != test.iec {
			t.Errorf("BytesIEC(%d) = %q, want %q", test.n, got, test.iec)
		}
	}
}

func TestDuration(t *testing.T) {
	tests := []struct {
		d    time.Duration
		want string
	}{
		{0, "0 ms"},
		{812, "812 ns"},
		{3 * time.Microsecond, "3 µs"},
		{10 * time.Microsecond, "0.01 ms"},
		{310 * time.Microsecond, "0.31 ms"},
		{12400 * time.Microsecond, "12.4 ms"},
		{999499 * time.Microsecond, "999 ms"},
		{999500 * time.Microsecond, "1.00 s"},
		{1200 * time.Millisecond, "1.20 s"},
		{59900 * time.Millisecond, "59.9 s"},
		{59960 * time.Millisecond, "1:00"},
		{161 * time.Second, "2:41"},
		{time.Hour + 2*time.Minute + 41*time.Second, "1:02:41"},
		{-1, "–"},
	}
	for _, test := range tests {
		if got := Duration(test.d); got != test.want {
			t.Errorf("Duration(%d ns) = %q, want %q", test.d, got, test.want)
		}
	}
}

func TestClock(t *testing.T) {
	tests := []struct {
		d    time.Duration
		want string
	}{
		{0, "00:00"},
		{83*time.Second + 999*time.Millisecond, "01:23"},
		{time.Hour + 2*time.Minute + 41*time.Second, "1:02:41"},
		{100 * time.Hour, "100:00:00"},
		{-time.Second, "–"},
	}
	for _, test := range tests {
		if got := Clock(test.d); got != test.want {
			t.Errorf("Clock(%v) = %q, want %q", test.d, got, test.want)
		}
	}
}

func TestCount(t *testing.T) {
	tests := []struct {
		n    float64
		want string
	}{
		{0, "0"},
		{0.01, "<0.1"},
		{0.34, "0.3"},
		{9.96, "10"},
		{812, "812"},
		{999.6, "1.0k"},
		{12_400, "12.4k"},
		{124_000, "124k"},
		{3_100_000, "3.1M"},
		{math.NaN(), "–"},
		{-1, "–"},
	}
	for _, test := range tests {
		if got := Count(test.n); got != test.want {
			t.Errorf("Count(%v) = %q, want %q", test.n, got, test.want)
		}
	}
}

// The screen prints a few hundred of these per frame.
func TestPrintersAllocateOnlyTheirResult(t *testing.T) {
	printers := map[string]func() string{
		"Rate":     func() string { return Rate(9.41e9) },
		"RateIn":   func() string { return RateIn(9.41e9, Binary) },
		"Bytes":    func() string { return Bytes(123456789) },
		"Duration": func() string { return Duration(1234567) },
		"Clock":    func() string { return Clock(83 * time.Second) },
		"Count":    func() string { return Count(12400) },
	}
	var sink string
	for name, print := range printers {
		if got := testing.AllocsPerRun(100, func() { sink = print() }); got > 1 {
			t.Errorf("%s allocates %v times, want 1 for its result %q", name, got, sink)
		}
	}
}

func TestValue(t *testing.T) {
	for _, test := range []struct {
		v    float64
		base string
		want string
	}{
		{6.51e9, "bit/s", "6.51 Gbit/s"},
		{4074, "B", "4074 bytes"},
		{9000, "B", "9000 bytes"},
		{4 << 20, "B", "4.19 MB"},
		{-1, "B", "–"},
		{0.00031, "s", "0.31 ms"},
		{math.Inf(1), "s", "–"},
		{1e30, "s", "–"},
		{0.987, "share", "99 %"},
		{math.NaN(), "share", "–"},
		{12, "1/s", "12/s"},
		{3.4e9, "Hz", "3.40 GHz"},
		{-61.25, "dBm", "-61.2 dBm"},
		{1, "true", "yes"},
		{math.NaN(), "K", "–"},
		{3, "", "3"},
		{3, "segments", "3 segments"},
	} {
		if got := Value(test.v, test.base); got != test.want {
			t.Errorf("Value(%v, %q) = %q, want %q", test.v, test.base, got, test.want)
		}
	}
}

func TestShare(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0 %", 0.0007: "0.07 %", 0.00001: "<0.01 %", 0.0123: "1.2 %", 0.00996: "1.0 %", 0.0994: "9.9 %", 0.0996: "10 %",
		0.874: "87 %", 0.9996: "99 %", 1: "100 %", 2.5: "250 %", -0.1: "–", math.Inf(1): "–", 1e9: "1000000 %",
	} {
		if got := Share(v); got != want {
			t.Errorf("Share(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestBelongs(t *testing.T) {
	for _, test := range []struct {
		before, word string
		want         bool
	}{
		{"a queue adds 286", "ms,", true}, {"loss of 0.07", "%", true}, {"63.5", "Mbit/s.", true}, {"(20.5", "ms)", true},
		{"core 0", "is", false}, {"the", "ms", false}, {"", "%", false},
	} {
		if got := Belongs(test.before, test.word); got != test.want {
			t.Errorf("Belongs(%q, %q) = %v", test.before, test.word, got)
		}
	}
}

func TestNamed(t *testing.T) {
	for _, test := range []struct {
		name string
		v    float64
		base string
		want string
	}{
		{"half duplex", 1, "true", "half duplex"},
		{"collisions", 1, "", "collisions 1"},
		{"core 3 busy", 0.99, "share", "core 3 busy 99 %"},
	} {
		if got := Named(test.name, test.v, test.base); got != test.want {
			t.Errorf("Named(%q, %v, %q) = %q, want %q", test.name, test.v, test.base, got, test.want)
		}
	}
}
