package sock

import (
	"testing"
	"time"

	"linerate/engine"
)

func TestBatch(t *testing.T) {
	ms := func(f float64) time.Duration { return time.Duration(f * float64(time.Millisecond)) }
	for _, test := range []struct {
		name  string
		from  batch
		took  time.Duration
		full  bool
		after int // blocks
		split int
	}{
		{"quick call doubles", batch{1, 64, 1}, ms(0.2), true, 2, 1},
		{"never beyond the most", batch{64, 64, 1}, ms(0.2), true, 64, 1},
		{"steady between", batch{16, 64, 1}, ms(1.7), true, 16, 1},
		{"slow call halves", batch{16, 64, 1}, ms(5.1), true, 8, 1},
		{"never below one", batch{1, 64, 1}, ms(30), true, 1, 1},
		{"timeout goes back to one", batch{32, 64, 1}, ms(20), false, 1, 1},
		{"a signal changes nothing", batch{32, 64, 1}, ms(0.4), false, 32, 1},
		{"timeout splits a block", batch{1, 64, 1}, ms(20), false, 1, 2},
		{"never beyond the smallest part", batch{1, 64, 8}, ms(20), false, 1, 8},
		{"quick part grows", batch{1, 64, 8}, ms(0.1), true, 1, 4},
		{"slow part stays", batch{1, 64, 8}, ms(12), true, 1, 8},
	} {
		b := test.from
		b.learn(test.took, test.full)
		if b.blocks != test.after || b.split != test.split {
			t.Errorf("%s: %d blocks, split by %d, want %d and %d", test.name, b.blocks, b.split, test.after, test.split)
		}
	}
}

func TestBatchNotAllowed(t *testing.T) {
	b := newBatch(false, maxBlocks)
	for range 10 {
		b.learn(time.Microsecond, true)
		b.learn(20*time.Millisecond, false)
	}
	if b.blocks != 1 || b.split != 1 {
		t.Errorf("%d blocks a call without leave to batch, want 1", b.blocks)
	}
}

// A batch follows the link: on each it settles where a call lasts 1 to 5 ms.
func TestBatchSettles(t *testing.T) {
	for _, test := range []struct {
		gbits  float64
		blocks int
	}{{0.1, 1}, {1, 1}, {10, 16}, {40, 64}, {400, 64}} {
		b := newBatch(true, maxBlocks)
		for range 100 {
			bits := float64(b.blocks) * testBlock * 8
			b.learn(time.Duration(bits/test.gbits), true)
		}
		if b.blocks != test.blocks {
			t.Errorf("%v Gbit/s: %d blocks a call, want %d", test.gbits, b.blocks, test.blocks)
		}
	}
}

const testBlock = engine.DefaultBlockSize
