//go:build linux

package echo

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/probes/nstest"
)

// plan is host a, a router m, and host b behind a smaller MTU.
func plan(t *testing.T) (a, m, b *nstest.Host) {
	t.Helper()
	nstest.Need(t)
	return nstest.Bottleneck(t)
}

// ask sends one probe from h and gives the answer to it.
func ask(t *testing.T, h *nstest.Host, kind Kind, dest string, size int) (Answer, bool) {
	t.Helper()
	var a Answer
	var ok bool
	err := h.Do(func() error {
		p := New(kind, netip.MustParseAddrPort(dest))
		defer p.Close()
		if err := p.Send(size); err != nil {
			return err
		}
		a, ok = p.Wait(t.Context(), time.Second)
		return nil
	})
	if err != nil {
		t.Fatalf("probing %s with %d bytes: %v", dest, size, err)
	}
	return a, ok
}

func TestNetnsAnswers(t *testing.T) {
	a, _, _ := plan(t)
	a.Sysctl(t, "net.ipv4.ping_group_range", "0 2147483647")
	addr := netip.MustParseAddr
	const v4, v6 = "10.7.2.1:5201", "[fd07:2::1]:5201"
	tests := []struct {
		kind Kind
		dest string
		size int
		want Answer // RTT is checked apart
	}{
		{UDP, "10.7.1.254:5201", 576, Answer{What: Arrived, From: addr("10.7.1.254"), TTL: 64}},
		{UDP, v4, 576, Answer{What: Arrived, From: addr("10.7.2.1"), TTL: 63}},
		{UDP, v4, 4074, Answer{What: Arrived, From: addr("10.7.2.1"), TTL: 63}},
		{UDP, v4, 4075, Answer{What: TooBig, MTU: 4074, From: addr("10.7.1.254"), TTL: 64}},
		// The kernel has learnt of the limit, and sends at full size all the same.
		{UDP, v4, 9000, Answer{What: TooBig, MTU: 4074, From: addr("10.7.1.254"), TTL: 64}},
		{UDP, v6, 1280, Answer{What: Arrived, From: addr("fd07:2::1"), TTL: 63}},
		{UDP, v6, 4074, Answer{What: Arrived, From: addr("fd07:2::1"), TTL: 63}},
		{UDP, v6, 9000, Answer{What: TooBig, MTU: 4074, From: addr("fd07:1::fe"), TTL: 64}},
		{Ping, v4, 576, Answer{What: Arrived, From: addr("10.7.2.1"), TTL: 63}},
		{Ping, v4, 9000, Answer{What: TooBig, MTU: 4074, From: addr("10.7.1.254"), TTL: 64}},
		{Ping, v6, 1280, Answer{What: Arrived, From: addr("fd07:2::1"), TTL: 63}},
		{UDP, "[::ffff:10.7.2.1]:5201", 1500, Answer{What: Arrived, From: addr("10.7.2.1"), TTL: 63}},
	}
	for _, tt := range tests {
		got, ok := ask(t, a, tt.kind, tt.dest, tt.size)
		if rtt := got.RTT; ok && (rtt <= 0 || rtt > time.Second) {
			t.Errorf("%v to %s, %d bytes: took %v", tt.kind, tt.dest, tt.size, rtt)
		}
		tt.want.Size, tt.want.RTT = tt.size, got.RTT
		if !ok || got != tt.want {
			t.Errorf("%v to %s, %d bytes: %+v, %v, want %+v", tt.kind, tt.dest, tt.size, got, ok, tt.want)
		}
	}
	var mtu int
	if err := a.Do(func() (err error) {
		p := New(UDP, netip.MustParseAddrPort(v4))
		mtu, err = p.RouteMTU()
		return err
	}); err != nil || mtu != 4074 {
		t.Errorf("the kernel believes in %d, %v, want what the router told it", mtu, err)
	}
}

func TestNetnsRefusals(t *testing.T) {
	nstest.Need(t, "nft")
	a, m, b := plan(t)
	m.Filter(t, "table ip f {\nchain forward {\ntype filter hook forward priority 0;\nudp dport 7 reject with icmp type host-unreachable;\nudp dport 8 drop;\n}\n}\n")
	b.Filter(t, "table ip f {\nchain input {\ntype filter hook input priority 0;\nudp dport 9 reject with icmp type admin-prohibited;\n}\n}\n")
	a.Filter(t, "table ip f {\nchain output {\ntype filter hook output priority 0;\nudp dport 10 drop;\n}\n}\n")
	if got, ok := ask(t, a, UDP, "10.7.2.1:7", 576); !ok || got.What != Refused || got.From != netip.MustParseAddr("10.7.1.254") {
		t.Errorf("rejected by the router: %+v, %v", got, ok)
	}
	if got, ok := ask(t, a, UDP, "10.7.2.1:9", 576); !ok || got.What != Arrived {
		t.Errorf("rejected by the host itself: %+v, %v, want it to count as arrived", got, ok)
	}
	err := a.Do(func() error {
		p := New(UDP, netip.MustParseAddrPort("10.7.2.1:8"))
		defer p.Close()
		if err := p.Send(576); err != nil {
			return err
		}
		if got, ok := p.Wait(t.Context(), 50*time.Millisecond); ok {
			return fmt.Errorf("dropped, and yet %+v", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, ok := p.Wait(ctx, time.Hour); ok {
			return errors.New("an answer with a cancelled context")
		}
		if err := p.Send(9001); !errors.Is(err, ErrSize) {
			return fmt.Errorf("beyond the interface's MTU: %w", err)
		}
		own := New(UDP, netip.MustParseAddrPort("10.7.2.1:10"))
		defer own.Close()
		if err := own.Send(576); err == nil || !strings.Contains(err.Error(), "own firewall") {
			return fmt.Errorf("past the own firewall: %w", err)
		}
		nowhere := New(UDP, netip.MustParseAddrPort("192.0.2.1:9"))
		defer nowhere.Close()
		if err := nowhere.Send(576); !errors.Is(err, unix.ENETUNREACH) {
			return fmt.Errorf("without a route: %w", err)
		}
		ping := New(Ping, netip.MustParseAddrPort("10.7.2.1:8"))
		defer ping.Close()
		if err := ping.Send(576); !errors.Is(err, ErrForbidden) {
			return fmt.Errorf("a ping in a namespace where nobody may: %w", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A neighbour that is not there is silent, even when this host gives up asking for it.
func TestNetnsMissingNeighbour(t *testing.T) {
	nstest.Need(t)
	a, b := nstest.New(t), nstest.New(t)
	nstest.Join(t, nstest.End{Host: a, Dev: "up", MTU: 1500, Addr: []string{"10.7.1.1/24"}}, nstest.End{Host: b, Dev: "up", MTU: 1500, Addr: []string{"10.7.1.2/24"}})
	a.Sysctl(t, "net.ipv4.neigh.up.retrans_time_ms", "50")
	err := a.Do(func() error {
		p := New(UDP, netip.MustParseAddrPort("10.7.1.77:5201"))
		defer p.Close()
		if err := p.Send(576); err != nil {
			return err
		}
		if got, ok := p.Wait(t.Context(), 500*time.Millisecond); ok {
			return fmt.Errorf("%+v", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A host that does not limit its answers gets many probes at once; every answer is known
// for whose it is, and no socket is left open.
func TestManyAtOnce(t *testing.T) {
	before := sockets(t)
	p := New(UDP, netip.MustParseAddrPort("127.0.0.1:9"))
	for i := range maxFlights + 10 {
		if err := p.Send(100 + i); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[int]bool{}
	for {
		a, ok := p.Wait(t.Context(), 100*time.Millisecond)
		if !ok {
			break
		}
		if a.What != Arrived || seen[a.Size] || a.Size < 110 || a.Size >= 110+maxFlights {
			t.Errorf("answer %+v", a)
		}
		seen[a.Size] = true
	}
	if len(seen) != maxFlights {
		t.Errorf("%d answers, want %d", len(seen), maxFlights)
	}
	if err := p.Send(200); err != nil {
		t.Fatal(err)
	}
	p.Close()
	if after := sockets(t); after > before {
		t.Errorf("%d sockets are open, before there were %d", after, before)
	}
}

func sockets(t *testing.T) int {
	t.Helper()
	fds, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err == nil && strings.HasPrefix(target, "socket:") {
			n++
		}
	}
	return n
}

func TestSizesThatCannotBe(t *testing.T) {
	for _, dest := range []string{"127.0.0.1:9", "[::1]:9"} {
		ap := netip.MustParseAddrPort(dest)
		p := New(UDP, ap)
		defer p.Close()
		for _, size := range []int{-1, 0, Headers(ap.Addr()) - 1, Most(ap.Addr()) + 1} {
			if err := p.Send(size); !errors.Is(err, ErrSize) {
				t.Errorf("%s, %d bytes: %v", dest, size, err)
			}
		}
	}
}

func FuzzParseControl(f *testing.F) {
	dest := netip.MustParseAddr("10.7.2.1")
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var a Answer
		parseControl(b, dest, &a)
		parseError(b, dest, &a)
		if a.What > Refused || a.MTU != 0 && (a.MTU < 68 || a.MTU > 1<<16) || a.What == Arrived && a.From != dest {
			t.Fatalf("%+v", a)
		}
	})
}
