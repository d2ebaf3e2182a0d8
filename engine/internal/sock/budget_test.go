package sock

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
)

func isDone(b *Budget) bool {
	select {
	case <-b.Done():
		return true
	default:
		return false
	}
}

func TestBudget(t *testing.T) {
	type step struct {
		start              bool
		want, grant, moved int // reserve(want) gives grant, of which moved are moved
		done               bool
	}
	for _, test := range []struct {
		name  string
		bytes uint64
		steps []step
	}{
		{"exact", 100, []step{{start: true, want: 60, grant: 60, moved: 60}, {want: 60, grant: 40, moved: 40, done: true}}},
		{"given back", 100, []step{{start: true, want: 100, grant: 100, moved: 30}, {want: 100, grant: 70, moved: 0}, {want: 100, grant: 70, moved: 70, done: true}}},
		{"uncounted before start", 100, []step{{want: 500, grant: 500, moved: 500}, {start: true, want: 500, grant: 100, moved: 100, done: true}}},
		{"nothing to move", 0, []step{{start: true, want: 10, grant: 0, done: true}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var ctr Counter
			b := NewBudget(test.bytes)
			for i, s := range test.steps {
				if s.start {
					b.Start()
				}
				n := b.reserve(s.want)
				if n != s.grant {
					t.Fatalf("step %d: reserve(%d) = %d, want %d", i, s.want, n, s.grant)
				}
				if n > 0 {
					b.book(&ctr, n, s.moved)
				}
				if got := isDone(b); got != s.done || b.reached() != s.done {
					t.Fatalf("step %d: done %v, reached %v, want %v", i, got, b.reached(), s.done)
				}
			}
		})
	}
}

// A call that is under way when the count starts is counted whole.
func TestBudgetStartDuringCall(t *testing.T) {
	b := NewBudget(100)
	var ctr Counter
	n := b.reserve(80)
	b.Start()
	if n := b.reserve(80); n != 20 {
		t.Errorf("during a call of 80 bytes a goal of 100 gives %d, want 20", n)
	} else {
		b.book(&ctr, n, 0)
	}
	b.book(&ctr, n, 80)
	if n := b.reserve(80); n != 20 {
		t.Errorf("after a call of 80 bytes a goal of 100 gives %d, want 20", n)
	}
}

// While others hold the rest, there is nothing to reserve, but the goal is not reached.
func TestBudgetReservedByOthers(t *testing.T) {
	b := NewBudget(10)
	b.Start()
	var ctr Counter
	n := b.reserve(10)
	if m := b.reserve(10); m != 0 || b.reached() {
		t.Errorf("second reserve gives %d, reached %v; want 0, false", m, b.reached())
	}
	b.book(&ctr, n, 4)
	if m := b.reserve(10); m != 6 {
		t.Errorf("given back: reserve gives %d, want 6", m)
	}
}

func TestBudgetConcurrent(t *testing.T) {
	const goal = 1<<24 + 12345
	b := NewBudget(goal)
	b.Start()
	var ctr Counter
	var wg sync.WaitGroup
	for seed := range uint64(4) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, 1))
			for !b.reached() {
				if n := b.reserve(1 + r.IntN(1<<16)); n > 0 {
					b.book(&ctr, n, r.IntN(n+1))
				}
			}
		})
	}
	wg.Wait()
	if got := ctr.Bytes(); got != goal || !isDone(b) {
		t.Errorf("moved %d of %d, done %v", got, goal, isDone(b))
	}
}

// However the start falls among the calls, what is moved after the snapshot is the goal.
func TestBudgetStartWith(t *testing.T) {
	const goal = 1 << 22
	for seed := range uint64(50) {
		b := NewBudget(goal)
		ctrs := make([]Counter, 3)
		sum := func() (n uint64) {
			for i := range ctrs {
				n += ctrs[i].Bytes()
			}
			return n
		}
		var wg sync.WaitGroup
		for i := range ctrs {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(seed, uint64(i)))
				for !b.reached() {
					if n := b.reserve(1 + r.IntN(1<<12)); n > 0 {
						b.book(&ctrs[i], n, r.IntN(n+1))
					}
				}
			})
		}
		for sum() < 1<<16 { // the omitted part
			runtime.Gosched()
		}
		var from uint64
		b.StartWith(func() { from = sum() })
		wg.Wait()
		if got := sum() - from; got != goal {
			t.Fatalf("seed %d: moved %d bytes after the start, want %d", seed, got, goal)
		}
	}
}
