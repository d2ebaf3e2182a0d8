package sock

import (
	"math"
	"testing"
	"time"
)

// drive lets p run for so long on a clock of its own, each call lasting call and each
// wake-up coming late by late, and gives the bytes sent and the longest run without a
// wait.
func drive(p *pacer, d, call, late time.Duration) (sent, burst int64) {
	run := int64(0)
	for now := time.Duration(0); now < d; {
		if wait := p.delay(now); wait > 0 {
			now += wait + late
			run = 0
			continue
		}
		p.spend(p.piece)
		sent += int64(p.piece)
		run += int64(p.piece)
		burst = max(burst, run)
		now += call
	}
	return sent, burst
}

func TestPacerRate(t *testing.T) {
	for _, test := range []struct {
		name    string
		rate    float64
		burst   int
		batched bool
		d       time.Duration
		late    time.Duration
	}{
		{"1 Mbit/s", 1e6, 0, true, 10 * time.Second, 60 * time.Microsecond},
		{"50 Mbit/s", 50e6, 0, true, 10 * time.Second, 60 * time.Microsecond},
		{"1 Gbit/s, own block size", 1e9, 0, false, time.Second, 60 * time.Microsecond},
		{"10 Gbit/s", 10e9, 0, true, time.Second, 60 * time.Microsecond},
		{"10 Gbit/s, woken 4 ms late", 10e9, 0, true, time.Second, 4 * time.Millisecond},
		{"100 Gbit/s", 100e9, 0, true, time.Second, 60 * time.Microsecond},
		{"100 Mbit/s in bursts of 10", 100e6, 10, true, 10 * time.Second, 60 * time.Microsecond},
	} {
		p := newPacer(test.rate, testBlock, test.burst, test.batched)
		sent, _ := drive(p, test.d, 5*time.Microsecond, test.late)
		got := float64(sent) * 8 / test.d.Seconds()
		if math.Abs(got/test.rate-1) > 0.02 {
			t.Errorf("%s: paced to %.4g bit/s", test.name, got)
		}
	}
}

func TestPacerPiece(t *testing.T) {
	for _, test := range []struct {
		name    string
		rate    float64
		batched bool
		want    int
	}{
		{"a block a call where 100 µs are less", 10e9, true, testBlock},
		{"whole blocks in 100 µs", 40e9, true, 3 * testBlock},
		{"no more than a batch", 1e15, true, maxBlocks * testBlock},
		{"10 ms of a slow stream", 50e6, true, 62500},
		{"not less than 1 KiB", 1e3, true, 1024},
		{"the block that the user chose", 1e6, false, testBlock},
	} {
		if got := piece(test.rate, testBlock, test.batched); got != test.want {
			t.Errorf("%s: %d bytes, want %d", test.name, got, test.want)
		}
	}
}

func TestPacerBurst(t *testing.T) {
	p := newPacer(100e6, testBlock, 10, true)
	if _, burst := drive(p, 3*time.Second, time.Microsecond, 0); burst != 10*testBlock {
		t.Errorf("%d bytes back to back, want 10 blocks of %d", burst, testBlock)
	}
}

// A stall longer than the bucket is deep is lost: no burst makes up for it.
func TestPacerNoCatchUp(t *testing.T) {
	const rate = 1e9
	p := newPacer(rate, testBlock, 0, true)
	p.spend(p.piece)
	stalled := 10 * time.Second
	sent := 0
	for p.delay(stalled) == 0 {
		p.spend(p.piece)
		sent += p.piece
	}
	most := int(rate/8*bucketDepth.Seconds()) + 2*testBlock
	if sent > most {
		t.Errorf("%d bytes at once after a stall of %v, want at most %d", sent, stalled, most)
	}
}

// No wait is longer than a stop may take, whatever the rate.
func TestPacerWaitsAreShort(t *testing.T) {
	for _, rate := range []float64{1e-9, 1, 1e3, 1e6} {
		p := newPacer(rate, testBlock, 0, true)
		p.spend(p.piece)
		if got := p.delay(0); got <= 0 || got > maxNap {
			t.Errorf("%v bit/s: wait of %v, want up to %v", rate, got, maxNap)
		}
	}
}
