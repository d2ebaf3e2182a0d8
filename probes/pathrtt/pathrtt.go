package pathrtt

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"linerate/probes"
	"linerate/probes/internal/echo"
)

// Patience is how long Read takes at most when its context has no deadline. A host that
// answers is done with after n round trips.
const Patience = 3 * time.Second

// Read sends n probes to dest, one after the other's answer, and gives the median as the
// idle round trip time: whoever calls it while payload flows has measured the loaded one.
// Three probes leave pathmtu enough answers of a host that is short of them. Where the
// host stops answering, fewer count.
func Read(ctx context.Context, dest netip.AddrPort, n int) probes.PathRTT {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, Patience)
		defer cancel()
	}
	s, err := measure(ctx, dest, max(n, 1))
	r := probes.PathRTT{
		Idle:   probes.Read(s.median(), err),
		Loaded: probes.Unknown[time.Duration](probes.NotRead, "no load so far"),
		Hops:   probes.Read(0, err),
	}
	if err == nil {
		r.Hops = probes.Read(hops(s.ttl))
	}
	return r
}

func measure(ctx context.Context, dest netip.AddrPort, n int) (series, error) {
	if !dest.IsValid() || dest.Port() == 0 {
		return series{}, fmt.Errorf("probing %s: not an address and a port", dest)
	}
	var reason error
	for _, kind := range []echo.Kind{echo.Ping, echo.UDP} {
		p := echo.New(kind, dest)
		s, err := take(ctx, p, n, size(dest.Addr()), waits[kind])
		p.Close()
		if err == nil {
			return s, nil
		}
		reason = err // that of UDP in the end: a ping is often forbidden here or there
	}
	return series{}, reason
}

// size is that of a small probe.
func size(dest netip.Addr) int { return echo.Headers(dest) + 32 }

// waits are how long to wait for the first answer to each try, of a host perhaps across a
// satellite. The last try of UDP comes when a host that had spent its answers has one again.
var waits = map[echo.Kind][]time.Duration{
	echo.Ping: {700 * time.Millisecond},
	echo.UDP:  {400 * time.Millisecond, 700 * time.Millisecond, 400 * time.Millisecond},
}

// prober is echo.Prober, or a path in a test.
type prober interface {
	Send(size int) error
	Wait(ctx context.Context, d time.Duration) (echo.Answer, bool)
}

// series is what came back.
type series struct {
	rtts []time.Duration
	ttl  int // of the last answer
}

func (s series) median() time.Duration {
	if len(s.rtts) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s.rtts))
	mid := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[mid]
	}
	return (sorted[mid-1] + sorted[mid]) / 2
}

const (
	// pause between probes lets a queue that the last one met drain.
	pause = 10 * time.Millisecond
	// leastWait is for answers that come at once: it covers a busy machine.
	leastWait = 60 * time.Millisecond
	// maxMisses in a row is a host that has no answers left.
	maxMisses = 2
)

var errSilent = errors.New("the host answers no probe")

// take gathers n answers. The error tells why there is none at all.
func take(ctx context.Context, p prober, n, size int, first []time.Duration) (series, error) {
	var s series
	for misses := 0; len(s.rtts) < n && ctx.Err() == nil; {
		wait := max(leastWait, 3*s.median())
		if len(s.rtts) == 0 {
			if misses == len(first) {
				break
			}
			wait = first[misses]
		} else if misses == maxMisses {
			break
		}
		if err := p.Send(size); err != nil {
			return s, err
		}
		a, ok := p.Wait(ctx, wait)
		switch {
		case !ok:
			misses++
			continue
		case a.What != echo.Arrived:
			return s, fmt.Errorf("%s turns the probes back", a.From)
		}
		misses = 0
		s.rtts, s.ttl = append(s.rtts, a.RTT), a.TTL
		if len(s.rtts) < n {
			rest(ctx)
		}
	}
	switch {
	case len(s.rtts) > 0:
		return s, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return s, ctx.Err()
	}
	return s, errSilent
}

func rest(ctx context.Context) {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}

// hops counts the routers that an answer has passed, by what its time to live must have
// been at first: 64 on Unix, 128 on Windows, 255 on routers.
func hops(ttl int) (int, error) {
	if ttl <= 0 || ttl > 255 {
		return 0, probes.Missing{Status: probes.Unsupported, Reason: "the system does not tell the time to live of an answer"}
	}
	for _, first := range []int{64, 128} {
		if ttl <= first {
			return first - ttl, nil
		}
	}
	return 255 - ttl, nil
}
