package sock

import (
	"errors"
	"io"
	"math"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// link is a mover that takes bytes at a rate, as a connection does.
func link(bitsPerSecond float64) mover {
	return func(want int, _ bool) (int, error) {
		time.Sleep(time.Duration(float64(want) * 8e9 / bitsPerSecond))
		return want, nil
	}
}

func newPump(move mover) *pump {
	return &pump{move: move, block: testBlock, batch: newBatch(true, maxBlocks), doing: "sending", nap: time.Sleep, ready: func() bool { return true }}
}

func stopAfter(ctr *Counter, d time.Duration) {
	go func() {
		time.Sleep(d)
		ctr.Stop()
	}()
}

func TestPumpStops(t *testing.T) {
	for name, move := range map[string]mover{
		"fast": link(40e9),
		"slow": link(100e6),
		"stalled": func(int, bool) (int, error) {
			time.Sleep(20 * time.Millisecond)
			return 0, errAgain
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ctr Counter
				stopAfter(&ctr, time.Second)
				start := time.Now()
				if err := newPump(move).run(&ctr); err != nil {
					t.Errorf("stopped: %v, want nil", err)
				}
				if over := time.Since(start) - time.Second; over < 0 || over > 20*time.Millisecond {
					t.Errorf("returned %v after the stop, want within 20 ms", over)
				}
			})
		})
	}
}

func TestPumpPaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ctr Counter
		stopAfter(&ctr, 10*time.Second)
		p := newPump(link(10e9))
		p.pace = newPacer(50e6, testBlock, 0, true)
		if err := p.run(&ctr); err != nil {
			t.Fatal(err)
		}
		if got := float64(ctr.Bytes()) * 8 / 10; math.Abs(got/50e6-1) > 0.01 {
			t.Errorf("paced to %.4g bit/s, want 5e+07", got)
		}
	})
}

// A paced stream that waits minutes for its next block still stops at once.
func TestPumpStopsWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ctr Counter
		stopAfter(&ctr, time.Second)
		p := newPump(link(10e9))
		p.pace = newPacer(1, testBlock, 0, false)
		start := time.Now()
		if err := p.run(&ctr); err != nil {
			t.Fatal(err)
		}
		if over := time.Since(start) - time.Second; over > 20*time.Millisecond {
			t.Errorf("returned %v after the stop, want within 20 ms", over)
		}
	})
}

// Streams of different speeds, calls that move a part, and a goal that is no multiple of
// anything: together they move the goal to the byte, and all return.
func TestPumpBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const goal = 100_000_007
		b := NewBudget(goal)
		b.Start()
		part := func(want int, _ bool) (int, error) {
			time.Sleep(20 * time.Millisecond)
			return min(want, 10_000), errAgain
		}
		ctrs := make([]Counter, 4)
		results := make(chan error)
		for i, move := range []mover{link(10e9), link(1e9), part, part} {
			p := newPump(move)
			p.budget = b
			go func() { results <- p.run(&ctrs[i]) }()
		}
		sum := uint64(0)
		for range ctrs {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		for i := range ctrs {
			sum += ctrs[i].Bytes()
		}
		if sum != goal || !isDone(b) {
			t.Errorf("moved %d of %d bytes, done %v", sum, goal, isDone(b))
		}
	})
}

// A stream that stands still does not keep the rest of the goal from one that moves.
func TestPumpBudgetStandstill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const goal = 300 << 20
		b := NewBudget(goal)
		b.Start()
		stands := newPump(func(_ int, now bool) (int, error) {
			if now {
				t.Error("a call on a stream that is not ready")
			}
			time.Sleep(callTimeout)
			return 0, errAgain
		})
		stands.ready = func() bool {
			time.Sleep(callTimeout)
			return false
		}
		moves := newPump(link(1e9))
		results := make(chan error)
		var ctrs [2]Counter
		start := time.Now()
		for i, p := range []*pump{stands, moves} {
			p.budget = b
			go func() { results <- p.run(&ctrs[i]) }()
		}
		for range ctrs {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		alone := time.Duration(goal * 8) // ns at 1 Gbit/s
		if d := time.Since(start); d > alone+2*callTimeout {
			t.Errorf("took %v, want about the %v of the one that moves", d, alone)
		}
	})
}

func TestPumpEnds(t *testing.T) {
	for _, test := range []struct {
		name    string
		end     error
		stopped bool
		want    error
	}{
		{"the peer has closed", io.EOF, false, nil},
		{"the connection breaks", syscall.ECONNRESET, false, syscall.ECONNRESET},
		{"shut down after the stop", syscall.EPIPE, true, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var ctr Counter
			err := newPump(func(want int, _ bool) (int, error) {
				if ctr.Bytes() == 0 {
					return want, nil
				}
				if test.stopped {
					ctr.Stop()
				}
				return 7, test.end
			}).run(&ctr)
			if !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if got := ctr.Bytes(); got != testBlock+7 {
				t.Errorf("counted %d bytes, want the %d moved", got, testBlock+7)
			}
		})
	}
}
