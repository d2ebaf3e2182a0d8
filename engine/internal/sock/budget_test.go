package sock

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
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
			b := NewBudget(test.bytes)
			for i, s := range test.steps {
				if s.start {
					b.Start()
				}
				n, taken := b.reserve(s.want)
				if n != s.grant {
					t.Fatalf("step %d: reserve(%d) = %d, want %d", i, s.want, n, s.grant)
				}
				if n > 0 {
					b.settle(n, taken, s.moved)
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
	n, taken := b.reserve(80)
	b.Start()
	b.settle(n, taken, 80)
	if n, _ := b.reserve(80); n != 20 {
		t.Errorf("after a call of 80 bytes a goal of 100 gives %d, want 20", n)
	}
}

// While others hold the rest, there is nothing to reserve, but the goal is not reached.
func TestBudgetReservedByOthers(t *testing.T) {
	b := NewBudget(10)
	b.Start()
	n, taken := b.reserve(10)
	if m, _ := b.reserve(10); m != 0 || b.reached() {
		t.Errorf("second reserve gives %d, reached %v; want 0, false", m, b.reached())
	}
	b.settle(n, taken, 4)
	if m, _ := b.reserve(10); m != 6 {
		t.Errorf("given back: reserve gives %d, want 6", m)
	}
}

func TestBudgetConcurrent(t *testing.T) {
	const goal = 1<<24 + 12345
	b := NewBudget(goal)
	b.Start()
	var moved atomic.Int64
	var wg sync.WaitGroup
	for seed := range uint64(4) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, 1))
			for !b.reached() {
				n, taken := b.reserve(1 + r.IntN(1<<16))
				if n == 0 {
					continue
				}
				part := r.IntN(n + 1)
				moved.Add(int64(part))
				b.settle(n, taken, part)
			}
		})
	}
	wg.Wait()
	if got := moved.Load(); got != goal || !isDone(b) {
		t.Errorf("moved %d of %d, done %v", got, goal, isDone(b))
	}
}
