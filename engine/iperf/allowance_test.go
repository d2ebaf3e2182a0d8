package iperf

import (
	"fmt"
	"strings"
	"testing"

	"linerate/engine/internal/wire"
)

// TestAllowance sends a plausible sample every half second at many rates, and looks at
// what is left of it. However the rate moves, samples stay below a hundredth.
func TestAllowance(t *testing.T) {
	tests := []struct {
		bps                            float64
		samples, vitals, full, streams int // at least, in a minute: with vitals, with streams in full, streams told
	}{
		{10e9, 120, 60, 120, 960},
		{100e6, 120, 60, 120, 960},
		{10e6, 120, 50, 110, 960},
		{5e6, 120, 20, 20, 960},
		{1e6, 120, 2, 2, 450},
		{200e3, 50, 0, 0, 50}, // fewer streams, then fewer samples
		{50e3, 12, 0, 0, 12},
		{5e3, 1, 0, 0, 1},
		{0, 0, 0, 0, 0},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%g bit/s", test.bps), func(t *testing.T) {
			s := plausibleSample(8)
			var a allowance
			var payload, side, samples, vitals, full, streams, first int
			whole, due := s.Vitals, 0
			for tick := range 120 {
				if s.Vitals = nil; tick >= due {
					s.Vitals = whole
				}
				moved := uint64(test.bps / 8 / 2)
				payload += int(moved)
				a.earn(moved)
				fit, err := a.fit(s, first)
				if err != nil {
					t.Fatal(err)
				}
				if !a.spend(len(fit.Text), 0) {
					continue
				}
				back, err := wire.ParseSample(fit.Text)
				if err != nil {
					t.Fatal(err)
				}
				samples++
				side += len(fit.Text)
				streams += fit.Streams
				first += fit.Streams
				if fit.Vitals {
					due = tick + 2
					vitals++
				}
				if len(back.Streams[0].Info) > 0 {
					full++
				}
				if side > payload/100 {
					t.Fatalf("%d bytes of samples for %d of payload", side, payload)
				}
			}
			t.Logf("%d samples, %d with vitals, %d full, %d streams, %d bytes of %d", samples, vitals, full, streams, side, payload/100)
			if samples < test.samples || vitals < test.vitals || full < test.full || streams < test.streams {
				t.Errorf("want at least %d samples, %d with vitals, %d full, %d streams", test.samples, test.vitals, test.full, test.streams)
			}
		})
	}
}

// TestSavings: a step that stalls is told of for a while, from what was saved before.
func TestSavings(t *testing.T) {
	s := plausibleSample(8)
	var a allowance
	for range 10 {
		a.earn(125e6)
		fit, err := a.fit(s, 0)
		if err != nil || !a.spend(len(fit.Text), 0) || !fit.Vitals {
			t.Fatalf("at 2 Gbit/s: %d bytes, vitals %v, %v", len(fit.Text), fit.Vitals, err)
		}
	}
	var told, side int
	for range 1000 {
		a.earn(0)
		fit, err := a.fit(s, 0)
		if err != nil {
			t.Fatal(err)
		}
		if a.spend(len(fit.Text), 0) {
			told++
			side += len(fit.Text)
		}
	}
	t.Logf("%d samples, %d bytes", told, side)
	if told < 30 || told == 1000 || side > maxSavings+1.25e6 {
		t.Errorf("%d samples of %d bytes after the stall, want 15 s of them and an end", told, side)
	}
}

// TestCredit: what may come before it is earned is paid for afterwards.
func TestCredit(t *testing.T) {
	var a allowance
	if a.spend(pathCredit+1, pathCredit) || !a.spend(1000, pathCredit) {
		t.Fatal("want the credit and no more")
	}
	a.earn(50_000) // 500 B
	if a.spend(1, 0) {
		t.Error("half of it has been earned, and more is spent")
	}
	if a.earn(60_000); a.spend(101, 0) || !a.spend(100, 0) {
		t.Error("1000 B were owed and 1100 have been earned: want 100 to spend")
	}
}

// plausibleSample is what n busy streams on as many cores give.
func plausibleSample(n int) wire.Sample {
	s := wire.Sample{
		Seq: 1, Clock: 1e9, Wall: 1.79e15, Window: 500_000, Process: []int{100, 900}, Congestion: "cubic",
		Vitals: []byte(`{"x":"` + strings.Repeat("x", 3000) + `"}`),
	}
	for i := range toldOthers {
		s.Others = append(s.Others, wire.Other{Name: fmt.Sprintf("kworker/%d:1", i), Thread: []int{12340 + i, 0, 123, i}})
	}
	for i := range n {
		s.Cores = append(s.Cores, []int{i, 123, 456, 0, 78})
		st := wire.Stream{
			ID: streamID(i), Bytes: 123456789012, Age: 54321, Thread: []int{12345, 100, 800, 3}, Brief: []uint64{1234, 567890, 12345},
			Mem: []uint64{1000, 131072, 0, 87040, 2000},
		}
		for j := range 55 {
			st.Info = append(st.Info, uint64(j*j*j))
		}
		s.Streams = append(s.Streams, st)
	}
	return s
}
