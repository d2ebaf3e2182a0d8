package pathrtt

import (
	"context"
	"errors"
	"net/netip"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"linerate/probes"
	"linerate/probes/internal/echo"
)

const ms = time.Millisecond

// script answers each probe after a time of its own; 0 is no answer.
type script struct {
	rtts  []time.Duration
	what  echo.What
	err   error
	sent  int
	owing []time.Time
	rtt   []time.Duration
}

func (s *script) Send(int) error {
	if s.err != nil {
		return s.err
	}
	if s.sent < len(s.rtts) && s.rtts[s.sent] > 0 {
		s.owing, s.rtt = append(s.owing, time.Now().Add(s.rtts[s.sent])), append(s.rtt, s.rtts[s.sent])
	}
	s.sent++
	return nil
}

func (s *script) Wait(ctx context.Context, d time.Duration) (echo.Answer, bool) {
	due := len(s.owing) > 0 && time.Until(s.owing[0]) <= d
	if due {
		d = time.Until(s.owing[0])
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
		return echo.Answer{}, false
	}
	if !due {
		return echo.Answer{}, false
	}
	a := echo.Answer{What: max(s.what, echo.Arrived), RTT: s.rtt[0], TTL: 57, From: netip.MustParseAddr("10.0.0.9")}
	s.owing, s.rtt = s.owing[1:], s.rtt[1:]
	return a, true
}

func TestTake(t *testing.T) {
	tests := []struct {
		name    string
		script  script
		n       int
		median  time.Duration
		answers int
		sent    int
		why     string
		most    time.Duration
	}{
		{"three", script{rtts: []time.Duration{9 * ms, 2 * ms, 4 * ms}}, 3, 4 * ms, 3, 3, "", 40 * ms},
		{"an even number", script{rtts: []time.Duration{2 * ms, 4 * ms}}, 2, 3 * ms, 2, 2, "", 30 * ms},
		{"one", script{rtts: []time.Duration{2 * ms}}, 1, 2 * ms, 1, 1, "", 3 * ms},
		{"the first is lost", script{rtts: []time.Duration{0, 2 * ms, 2 * ms}}, 2, 2 * ms, 2, 3, "", 450 * ms},
		{"the host has six answers", script{rtts: []time.Duration{ms, ms, ms, ms, ms, ms}}, 20, ms, 6, 8, "", 250 * ms},
		{"one lost in between", script{rtts: []time.Duration{ms, 0, ms, ms}}, 3, ms, 3, 4, "", 150 * ms},
		{"by satellite", script{rtts: []time.Duration{600 * ms, 600 * ms}}, 1, 600 * ms, 1, 2, "", 700 * ms},
		{"silent", script{}, 3, 0, 0, 3, "the host answers no probe", 1600 * ms},
		{"a firewall", script{rtts: []time.Duration{ms}, what: echo.Refused}, 3, 0, 0, 1, "10.0.0.9 turns the probes back", 2 * ms},
		{"forbidden", script{err: echo.ErrForbidden}, 3, 0, 0, 0, echo.ErrForbidden.Error(), 0},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			s, err := take(t.Context(), &tt.script, tt.n, 60, waits[echo.UDP])
			if (err == nil) != (tt.why == "") || err != nil && err.Error() != tt.why {
				t.Errorf("%s: %v, want %q", tt.name, err, tt.why)
			}
			if s.median() != tt.median || len(s.rtts) != tt.answers || tt.script.sent != tt.sent {
				t.Errorf("%s: median %v of %d answers to %d probes, want %v, %d, %d", tt.name, s.median(), len(s.rtts), tt.script.sent, tt.median, tt.answers, tt.sent)
			}
			if took := time.Since(start); took > tt.most {
				t.Errorf("%s: took %v, want %v at most", tt.name, took, tt.most)
			}
		})
	}
}

func TestTakeStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
		defer cancel()
		if s, err := take(ctx, &script{rtts: []time.Duration{70 * ms, 70 * ms, 70 * ms}}, 3, 60, waits[echo.UDP]); err != nil || len(s.rtts) != 1 {
			t.Errorf("past the deadline: %+v, %v, want what there is", s, err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		cancel()
		if _, err := take(ctx, &script{}, 3, 60, waits[echo.UDP]); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	})
}

func TestHops(t *testing.T) {
	for ttl, want := range map[int]int{64: 0, 63: 1, 1: 63, 128: 0, 117: 11, 65: 63, 255: 0, 240: 15, 129: 126} {
		if got, err := hops(ttl); got != want || err != nil {
			t.Errorf("TTL %d: %d, %v, want %d", ttl, got, err, want)
		}
	}
	for _, ttl := range []int{0, -1, 256} {
		if n, err := hops(ttl); probes.Unread[int](err).Status != probes.Unsupported {
			t.Errorf("TTL %d: %d, %v", ttl, n, err)
		}
	}
}

func TestLoopback(t *testing.T) {
	for _, dest := range []string{"127.0.0.1:9", "[::1]:9"} {
		r := Read(t.Context(), netip.MustParseAddrPort(dest), 3)
		if !r.Idle.Known() || r.Idle.Value <= 0 || r.Idle.Value > time.Second || r.Loaded.Status != probes.NotRead {
			t.Errorf("%s: %+v", dest, r)
		}
		if runtime.GOOS == "linux" && r.Hops != probes.Got(0) {
			t.Errorf("%s: hops %+v, want none", dest, r.Hops)
		}
	}
	for _, dest := range []netip.AddrPort{{}, netip.MustParseAddrPort("127.0.0.1:0")} {
		if r := Read(t.Context(), dest, 1); r.Idle.Known() || r.Idle.Why() == "" || r.Hops.Known() {
			t.Errorf("%v: %+v", dest, r)
		}
	}
}
