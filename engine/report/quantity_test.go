package report

import (
	"testing"
	"time"
)

// The pairs with a full comment are lines of captured iperf3 3.18 output.
func TestQuantities(t *testing.T) {
	for bytes, want := range map[float64]string{
		0: "0.00 Bytes", 999: " 999 Bytes", 1023: "1023 Bytes", 1024: "1.00 KBytes",
		640 << 10: " 640 KBytes", // many.client
		6 << 20:   "6.00 MBytes", // upload.client
		9.99e6:    "9.53 MBytes", 12 << 20: "12.0 MBytes", 1178694: "1.12 MBytes",
		9.994 * 1024: "9.99 KBytes", 9.996 * 1024: "10.0 KBytes", 99.96 * 1024: " 100 KBytes",
		1 << 40: "1.00 TBytes", 5 << 50: "5120 TBytes",
	} {
		if got := amount(bytes); got != want {
			t.Errorf("amount(%v) = %q, want %q", bytes, got, want)
		}
	}
	tests := []struct {
		bytesPerSecond float64
		format         byte
		want           string
	}{
		{0, 0, "0.00 bits/sec"},
		{6 << 20, 0, "50.3 Mbits/sec"},
		{18 << 20, 0, " 151 Mbits/sec"}, // parallel.client
		{6 << 20, 'k', "50332 Kbits/sec"},
		{6 << 20, 'm', "50.3 Mbits/sec"},
		{6 << 20, 'g', "0.05 Gbits/sec"},
		{6 << 20, 't', "0.00 Tbits/sec"},
		{6 << 20, 'K', "6144 KBytes/sec"},
		{6 << 20, 'M', "6.00 MBytes/sec"},
		{6 << 20, 'G', "0.01 GBytes/sec"},
		{6 << 20, 'T', "0.00 TBytes/sec"},
		{1.1767e9, 0, "9.41 Gbits/sec"},
		{124.99e6, 0, "1000 Mbits/sec"}, // 999.92 rounds to four digits, as in C
		{1.25e14, 0, "1000 Tbits/sec"},
	}
	for _, test := range tests {
		if got := rate(test.bytesPerSecond, test.format); got != test.want {
			t.Errorf("rate(%v, %q) = %q, want %q", test.bytesPerSecond, test.format, got, test.want)
		}
	}
}

func TestStrftime(t *testing.T) {
	at := time.Date(2026, 3, 5, 13, 4, 9, 0, time.UTC)
	for format, want := range map[string]string{
		DefaultTimestamps: "Thu Mar  5 13:04:09 2026 ",
		"%F %T":           "2026-03-05 13:04:09",
		"%Y%m%d-%H%M%S|":  "20260305-130409|",
		"%k %l %I%p %P":   "13  1 01PM pm",
		"%a %A %b %B %e":  "Thu Thursday Mar March  5",
		"%j %u %w %G-W%V": "064 4 4 2026-W10",
		"%s %y %C %D %R":  "1772715849 26 20 03/05/26 13:04",
		"%z %Z %% %n%t":   "+0000 UTC % \n\t",
		"%Q %":            "%Q %",
		"100%":            "100%",
		"":                "",
		"%r %X %x %h":     "01:04:09 PM 13:04:09 03/05/26 Mar",
	} {
		if got := strftime(format, at); got != want {
			t.Errorf("strftime(%q) = %q, want %q", format, got, want)
		}
	}
}
