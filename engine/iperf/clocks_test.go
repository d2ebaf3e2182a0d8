package iperf

import (
	"math/rand/v2"
	"testing"
	"time"
)

const ms = time.Millisecond

func TestClocks(t *testing.T) {
	tests := []struct {
		name         string
		begin        clocks
		heard        [][2]time.Duration // sent, arrived
		guess, wrong time.Duration
	}{
		{"even path: exact", exchanged(0, 1005*ms, 1007*ms, 12*ms), nil, 1000 * ms, 5 * ms},
		{"the far end's own time does not count", exchanged(0, 1005*ms, 1905*ms, 910*ms), nil, 1000 * ms, 5 * ms},
		{"uneven path: within the error", exchanged(0, 1009*ms, 1009*ms, 10*ms), nil, 1004 * ms, 5 * ms},
		{"far clock behind", exchanged(5000*ms, 1010*ms, 1010*ms, 5020*ms), nil, -4000 * ms, 10 * ms},
		{"same computer", exchanged(0, 0, 0, 0), nil, 0, 0},
		// The exchange waited 30 ms on the way back; the sample shows it.
		{"a faster sample", exchanged(0, 1005*ms, 1005*ms, 40*ms), [][2]time.Duration{{1045 * ms, 50 * ms}}, 1005 * ms, 10 * ms},
		{"slow samples change nothing but by drift", exchanged(0, 1005*ms, 1005*ms, 10*ms),
			[][2]time.Duration{{2000 * ms, 1510 * ms}, {11_000 * ms, 10_510 * ms}}, 1000*ms - 1050*time.Microsecond, 7100 * time.Microsecond},
		{"an answer before the question", exchanged(0, 1000*ms, 1000*ms, -5*ms), nil, 1005 * ms, 0},
		{"the far clock jumps ahead", exchanged(0, 1005*ms, 1005*ms, 10*ms), [][2]time.Duration{{61_005 * ms, 20 * ms}}, 60_990 * ms, 5 * ms},
	}
	for _, test := range tests {
		c := test.begin
		for _, h := range test.heard {
			c.heard(h[0], h[1])
		}
		guess, wrong := c.difference()
		if d := guess - test.guess; d < -time.Microsecond || d > time.Microsecond {
			t.Errorf("%s: guess %v, want %v", test.name, guess, test.guess)
		}
		if d := wrong - test.wrong; d < -time.Microsecond || d > time.Microsecond {
			t.Errorf("%s: wrong by at most %v, want %v", test.name, wrong, test.wrong)
		}
	}
}

// TestClocksKeepTheirBound: whatever the delays, the truth is within the stated error.
func TestClocksKeepTheirBound(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		delay := func() time.Duration { return time.Duration(r.ExpFloat64() * float64(20*ms)) }
		offset := time.Duration(r.Int64N(int64(2*time.Hour))) - time.Hour
		rate := 1 + (2*r.Float64()-1)*drift
		far := func(local time.Duration) time.Duration { return offset + time.Duration(float64(local)*rate) }
		received := delay()
		sent := received + delay()
		answered := sent + delay()
		c := exchanged(0, far(received), far(sent), answered)
		for now := answered; now < time.Hour; now += time.Duration(r.Int64N(int64(5 * time.Minute))) {
			c.heard(far(now), now+delay())
			guess, wrong := c.difference()
			if truth := far(c.at) - c.at; truth < guess-wrong-time.Microsecond || truth > guess+wrong+time.Microsecond {
				t.Fatalf("seed %d, at %v: truth %v, guess %v ± %v", seed, now, truth, guess, wrong)
			}
		}
	}
}
