package pathmtu

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"linerate/probes/internal/echo"
)

// path is a path on paper, in the fake time of synctest.
type path struct {
	mtu     int  // what passes
	silent  bool // larger ones vanish without a word
	says    int  // what the router names, if not mtu
	device  int  // the interface's MTU; what is larger cannot be sent
	rtt     time.Duration
	limit   bool    // the host answers like Linux: a few at once, one per second then
	spent   int     // answers that it had given just before
	loss    float64 // of packets and of answers, each way
	refuse  bool    // a firewall turns everything back
	dead    bool    // nothing is answered
	rand    *rand.Rand
	tokens  time.Duration
	stamp   time.Time
	coming  []arrival
	sent    int
	answers int
}

type arrival struct {
	at time.Time
	a  echo.Answer
}

var host, router = netip.MustParseAddr("10.7.2.1"), netip.MustParseAddr("10.7.1.254")

func (p *path) Send(size int) error {
	if p.device > 0 && size > p.device {
		return fmt.Errorf("%d bytes: %w", size, echo.ErrSize)
	}
	p.sent++
	lost := func() bool { return p.loss > 0 && p.rand.Float64() < p.loss }
	a := echo.Answer{Size: size, RTT: p.rtt, What: echo.Arrived, From: host}
	switch {
	case p.dead || lost() || lost():
		return nil
	case p.refuse:
		a.What, a.From = echo.Refused, router
	case size > p.mtu && p.silent:
		return nil
	case size > p.mtu:
		a.What, a.From, a.MTU = echo.TooBig, router, p.mtu
		if p.says != 0 {
			a.MTU = p.says
		}
	case !p.token():
		return nil
	}
	p.answers++
	p.coming = append(p.coming, arrival{time.Now().Add(p.rtt), a})
	return nil
}

// token is inet_peer_xrlim_allow of Linux.
func (p *path) token() bool {
	const burst = 6
	if !p.limit {
		return true
	}
	if p.stamp.IsZero() {
		p.tokens = time.Duration(burst-p.spent) * time.Second
	} else {
		p.tokens = min(p.tokens+time.Since(p.stamp), burst*time.Second)
	}
	p.stamp = time.Now()
	if p.tokens < time.Second {
		return false
	}
	p.tokens -= time.Second
	return true
}

func (p *path) Wait(ctx context.Context, d time.Duration) (echo.Answer, bool) {
	due := len(p.coming) > 0 && time.Until(p.coming[0].at) <= d
	if due {
		d = time.Until(p.coming[0].at)
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
		return echo.Answer{}, false
	}
	if !due {
		return echo.Answer{}, false
	}
	a := p.coming[0].a
	p.coming = p.coming[1:]
	return a, true
}

// explore runs a search in fake time.
func explore(t *testing.T, p *path, least, top int, limit time.Duration) (f found, took time.Duration, err error) {
	t.Helper()
	p.rand = rand.New(rand.NewPCG(1, uint64(p.mtu)))
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		start := time.Now()
		f, err = find(ctx, p, least, top)
		took = time.Since(start)
	})
	return f, took, err
}

func TestSearch(t *testing.T) {
	const ms = time.Millisecond
	lan := path{rtt: 300 * time.Microsecond, limit: true}
	with := func(p path, change func(*path)) path { change(&p); return p }
	tests := []struct {
		name      string
		path      path
		mtu, top  int
		reported  int
		blackHole bool
		most      time.Duration // fake time
		answers   int           // at most
	}{
		{"nothing in the way", lan, 1500, 1500, 0, false, 100 * ms, 2},
		{"jumbo all the way", lan, 9000, 9000, 0, false, 100 * ms, 2},
		{"the router says 4074", lan, 4074, 9000, 4074, false, 200 * ms, 6},
		{"PPPoE", with(lan, func(p *path) { p.rtt = 20 * ms }), 1492, 1500, 1492, false, 500 * ms, 6},
		{"the switch swallows 4075 and more", with(lan, func(p *path) { p.silent = true }), 4074, 9000, 0, true, 600 * ms, 6},
		{"a tunnel swallows", with(lan, func(p *path) { p.silent, p.rtt = true, 20*ms }), 1420, 1500, 0, true, 1500 * ms, 6},
		{"across the world", with(lan, func(p *path) { p.silent, p.rtt = true, 280*ms }), 1450, 1500, 0, true, 6 * time.Second, 8},
		{"an unusual limit", with(lan, func(p *path) { p.silent = true }), 5000, 9000, 0, true, 6 * time.Second, 14},
		{"a host without a limit of answers", with(lan, func(p *path) { p.silent, p.limit = true, false }), 5000, 9000, 0, true, time.Second, 40},
		{"hardly more than the least", with(lan, func(p *path) { p.silent = true }), 577, 9000, 0, true, 9 * time.Second, 16},
		{"the least", with(lan, func(p *path) { p.silent = true }), 576, 9000, 0, true, 9 * time.Second, 16},
		{"one less than the interface", with(lan, func(p *path) { p.silent = true }), 8999, 9000, 0, true, 9 * time.Second, 16},
		{"an old router names no limit", with(lan, func(p *path) { p.says = -1 }), 1006, 1500, 0, false, 4 * time.Second, 60},
		{"a router names too much", with(lan, func(p *path) { p.says = 1500 }), 1400, 9000, 1500, false, 4 * time.Second, 60},
		{"a router names nonsense", with(lan, func(p *path) { p.says = 100 }), 1400, 9000, 0, false, 4 * time.Second, 60},
		{"after another search", with(lan, func(p *path) { p.silent, p.spent = true, 6 }), 4074, 9000, 0, true, 9 * time.Second, 8},
		{"after another search, nothing in the way", with(lan, func(p *path) { p.spent = 6 }), 9000, 9000, 0, false, 2 * time.Second, 2},
		{"loopback", lan, 65_535, 65_535, 0, false, 100 * ms, 2},
		{"tiny interface", lan, 576, 576, 0, false, 100 * ms, 1},
	}
	for _, tt := range tests {
		p := tt.path
		p.mtu, p.device = tt.mtu, tt.top
		got, took, err := explore(t, &p, min(576, tt.top), tt.top, 20*time.Second)
		if err != nil || got.pass != tt.mtu || got.fail != tt.mtu+1 || got.reported != tt.reported {
			t.Errorf("%s: %+v, %v, want %d, reported %d", tt.name, got, err, tt.mtu, tt.reported)
		}
		if m := got.pathMTU(tt.top); m.BlackHole != tt.blackHole || m.Out.Value != tt.mtu || m.TooBig.Known() != (tt.mtu < tt.top) || m.Reported.Known() != (tt.reported > 0) {
			t.Errorf("%s: %+v", tt.name, m)
		}
		if took > tt.most || p.answers > tt.answers {
			t.Errorf("%s: took %v and %d answers (%d probes), want %v and %d at most", tt.name, took, p.answers, p.sent, tt.most, tt.answers)
		}
	}
}

// Whatever the path, what is said of it is true when time is short, and exact when it is
// not.
func TestSearchIsNeverWrong(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	exact := 0
	for i := range 300 {
		top := []int{1500, 9000, 9000, 65_535}[i%4]
		p := path{
			mtu: 576 + r.IntN(top-576+1), device: top, silent: i%3 > 0, limit: i%5 > 0, spent: r.IntN(7),
			rtt: time.Duration(1+r.IntN(80_000)) * time.Microsecond, loss: []float64{0, 0, .01, .1}[r.IntN(4)],
		}
		again := p
		short, took, err := explore(t, &p, 576, top, Patience)
		if took > Patience {
			t.Fatalf("%+v: took %v", p, took)
		}
		if err != nil {
			if p.spent < 5 && p.loss < .1 {
				t.Errorf("%+v: %v", p, err)
			}
			continue
		}
		// Three losses in a row at just the limit can fool anybody.
		if short.pass > p.mtu || short.fail <= p.mtu && p.loss < .1 {
			t.Fatalf("%+v: passes %d, fails %d", p, short.pass, short.fail)
		}
		if short.fail == short.pass+1 {
			exact++
		}
		long, _, err := explore(t, &again, 576, top, time.Minute)
		if err == nil && p.loss < .1 && long.pass != p.mtu {
			t.Fatalf("%+v: with a minute %+v", p, long)
		}
	}
	// Most limits here are unusual ones of hosts that answer once a second.
	if exact < 100 {
		t.Errorf("%d of 300 were exact within %v", exact, Patience)
	}
	t.Logf("%d of 300 exact within %v", exact, Patience)
}

func TestSearchWithoutAnswers(t *testing.T) {
	for _, tt := range []struct {
		name string
		path path
		want string
	}{
		{"silent", path{dead: true}, "the host answers no probe"},
		{"a firewall", path{refuse: true, rtt: time.Millisecond}, "10.7.1.254 turns the probes back"},
	} {
		p := tt.path
		f, took, err := explore(t, &p, 576, 1500, Patience)
		if err == nil || err.Error() != tt.want || f.pass != 0 || took > 2*time.Second {
			t.Errorf("%s: %+v, %v after %v, want %q", tt.name, f, err, took, tt.want)
		}
	}
	p := path{dead: true}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := find(ctx, &p, 576, 1500); !errors.Is(err, context.Canceled) {
			t.Errorf("with a cancelled context: %v", err)
		}
	})
	if _, err := find(t.Context(), &path{device: 1400}, 576, 1500); !errors.Is(err, echo.ErrSize) {
		t.Errorf("an interface that takes less than it says: %v", err)
	}
}

// fading is a path whose interface loses its jumbo frames during the search.
type fading struct {
	path
	after int
}

func (f *fading) Send(size int) error {
	if f.sent >= f.after {
		f.device = 4000
	}
	return f.path.Send(size)
}

func TestInterfaceThatShrinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fading{path: path{mtu: 5000, silent: true, rtt: time.Millisecond}, after: 4}
		got, err := find(t.Context(), f, 576, 9000)
		if err != nil || got.pass != 4000 || got.fail != 4001 {
			t.Errorf("%+v, %v, want the new MTU of the interface", got, err)
		}
	})
}

func TestSizes(t *testing.T) {
	if !slices.IsSorted(usual) || len(slices.Compact(slices.Clone(usual))) != len(usual) {
		t.Error("the usual sizes are not ascending")
	}
	for _, n := range []int{1, 2, 7, len(usual), 1000} {
		got := pick(usual, n)
		if len(got) != min(n, len(usual)) || !slices.IsSortedFunc(got, func(a, b int) int { return b - a }) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Errorf("%d of the usual: %v", n, got)
		}
	}
	for _, tt := range []struct {
		low, high, n int
		want         []int
	}{{1, 2, 5, []int{}}, {1, 3, 5, []int{2}}, {0, 10, 1, []int{5}}, {0, 10, 4, []int{8, 6, 4, 2}}, {10, 14, 9, []int{13, 12, 11}}} {
		if got := between(tt.low, tt.high, tt.n); !slices.Equal(got, tt.want) {
			t.Errorf("between %d and %d: %v, want %v", tt.low, tt.high, got, tt.want)
		}
	}
	if got := usualBetween(1450, 1456); !slices.Equal(got, []int{1452, 1454}) {
		t.Errorf("usual between 1450 and 1456: %v", got)
	}
}
