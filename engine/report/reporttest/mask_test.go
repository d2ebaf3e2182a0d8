package reporttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMask(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{
			"sender's interval",
			"[  5]   0.00-1.00   sec  6.00 MBytes  50.3 Mbits/sec    0   1.12 MBytes       (omitted)",
			"[  5] <start>-<end> sec  <bytes>  <rate> bits/sec  <n>   <bytes>       (omitted)",
		},
		{
			"sum with role",
			"[SUM][TX-C]  10.00-11.00  sec  1023 KBytes   151 Mbits/sec   13             ",
			"[SUM][TX-C] <start>-<end> sec  <bytes>  <rate> bits/sec  <n>             ",
		},
		{
			"receiver",
			"[  7] 100.00-101.00 sec  0.00 Bytes  0.00 bits/sec                  receiver",
			"[  7] <start>-<end> sec  <bytes>  <rate> bits/sec                  receiver",
		},
		{"fixed unit", "[  5]   0.00-1.00   sec  6.00 MBytes  50247 Kbits/sec    1            sender",
			"[  5] <start>-<end> sec  <bytes>  <rate> bits/sec  <n>            sender"},
		{"column too narrow stays", "[  5]  0.00-1.00   sec  6.0 MBytes", "[  5]  0.00-1.00   sec  6.0 MBytes"},
		{"json", "\"start\":\t0.5,\"socket\":\t5,\"omit\":1,\"bytes\":1e+20}", "\"start\":\t<n>,\"socket\":\t5,\"omit\":1,\"bytes\":<n>}"},
		{"string keeps its words", `"remote_host":"10.0.0.1","title":"bytes 7"`, `"remote_host":"10.0.0.1","title":"bytes 7"`},
	}
	for _, test := range tests {
		if got := Mask(test.in); got != test.want {
			t.Errorf("%s: Mask(%q)\n got %q\nwant %q", test.name, test.in, got, test.want)
		}
	}
}

// A mask that left a table's numbers, or ate its words, would hide or invent differences.
func TestMaskCoversCaptures(t *testing.T) {
	files, err := filepath.Glob("../testdata/iperf3-3.18/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no captured output found: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(Mask(string(b))) {
			if strings.Contains(line, "its/sec") && !strings.Contains(line, "<start>-<end> sec  <bytes>  <rate> ") && !strings.Contains(line, `\n`) {
				t.Errorf("%s: a table's line is not masked: %q", filepath.Base(file), line)
			}
		}
	}
}
