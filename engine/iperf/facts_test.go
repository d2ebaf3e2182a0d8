package iperf

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"linerate/engine"
)

// TestFacts: slow facts hold up no handshake; they come later. Those of a client come
// again every half minute.
func TestFacts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &fakeHost{slow: time.Minute}
		f := newFiles(host)
		about := func(addr string) (facts, string, time.Duration) {
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), factsWithin)
			defer cancel()
			h, nic := f.about(ctx, netip.MustParseAddr(addr))
			took := time.Since(began)
			x, err := factsOf(h)
			if err != nil {
				t.Error(err)
			}
			return x, nic, took
		}
		x, _, took := about("192.0.2.1")
		if x.host.Name.Known() || took != factsWithin {
			t.Errorf("took %v: %+v", took, x.host.Name)
		}
		host.slow = 50 * time.Millisecond
		x, nic, took := about("192.0.2.1")
		if x.host.OS != "linux" || took != host.slow || nic != "eth7" || x.route.Value.NIC.Value.Name != "eth7" || x.adapter.Value.Device != "eth7" {
			t.Errorf("took %v: %+v", took, x)
		}
		if x, _, took = about("192.0.2.2"); x.host.OS != "linux" || took != 0 || x.route.Value.Dest.String() != "192.0.2.2" {
			t.Errorf("for a second client: took %v: %+v", took, x.route)
		}
		time.Sleep(factsEvery)
		if _, _, took = about("192.0.2.1"); took != host.slow {
			t.Errorf("half a minute later: took %v", took)
		}
		for i := range 3 * keptFacts {
			about(fmt.Sprintf("192.0.2.%d", i))
		}
		if len(f.paths) > keptFacts {
			t.Errorf("%d routes are kept", len(f.paths))
		}
	})
}

// TestFactsAgain: a long test hears the facts again.
func TestFactsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &fakeHost{}
		v := serve(t, &Server{Host: host})
		c, err := dialPipe(t.Context(), t, v.ln, testSpec(func(s *engine.Spec) { s.Duration = 40 * time.Second }), Options{})
		if err != nil {
			t.Fatal(err)
		}
		first, _ := c.Far()
		if r := c.Run(t.Context()); r.Err != nil {
			t.Fatal(r.Err)
		}
		far, _ := c.Far()
		if again := far.FactsAt.Sub(first.FactsAt); again < factsEvery || again > factsEvery+2*sideEvery {
			t.Errorf("facts came again after %v", again)
		}
		if host.hosts.Load() != 2 {
			t.Errorf("facts were read %d times", host.hosts.Load())
		}
		v.stop(t)
	})
}
