//go:build linux

package pathmtu

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/probes"
	"linerate/probes/nstest"
)

// plan is host a, a router m, and host b behind a smaller MTU.
func plan(t *testing.T) (a, m, b *nstest.Host) {
	t.Helper()
	nstest.Need(t, "nft")
	return nstest.Bottleneck(t)
}

// long is for results that must be exact however busy the machine is.
const long = 15 * time.Second

// readIn reads the path from inside a host.
func readIn(t *testing.T, h *nstest.Host, dest string, limit time.Duration) probes.PathMTU {
	t.Helper()
	var got probes.PathMTU
	if err := h.Do(func() error {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		got = Read(ctx, netip.MustParseAddrPort(dest))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return got
}

func limits(out int, blackHole bool, reported, tcp int) probes.PathMTU {
	m := probes.PathMTU{
		Out: probes.Got(out), BlackHole: blackHole, TooBig: probes.Got(out + 1),
		Reported: probes.Unknown[int](probes.Absent, "no router named a limit"), TCP: probes.Got(tcp),
	}
	if reported > 0 {
		m.Reported = probes.Got(reported)
	}
	return m.WithoutBack(probes.NotRead, notAsked)
}

func TestNetnsRouterThatTells(t *testing.T) {
	a, _, b := plan(t)
	for _, dest := range []string{"10.7.2.1:5201", "[fd07:2::1]:5201"} {
		if diff := cmp.Diff(limits(4074, false, 4074, 4074), readIn(t, a, dest, long)); diff != "" {
			t.Errorf("to %s (-want +got):\n%s", dest, diff)
		}
	}
	all := limits(9000, false, 0, 9000)
	all.TooBig = probes.Unknown[int](probes.Absent, "all sizes up to the interface's MTU pass")
	if diff := cmp.Diff(all, readIn(t, a, "10.7.1.254:5201", long)); diff != "" {
		t.Errorf("on the link (-want +got):\n%s", diff)
	}
	// The other way, the router's side of the link takes no more than its MTU and a VLAN tag,
	// and says nothing: a switch that was set up for less than its hosts.
	if diff := cmp.Diff(limits(4078, true, 0, 9000), readIn(t, b, "10.7.1.1:5201", long)); diff != "" {
		t.Errorf("back (-want +got):\n%s", diff)
	}
}

func TestNetnsBlackHole(t *testing.T) {
	a, m, _ := plan(t)
	m.Filter(t, "table inet f {\nchain output {\ntype filter hook output priority 0;\nicmp type destination-unreachable drop;\nicmpv6 type packet-too-big drop;\n}\n}\n")
	for _, dest := range []string{"10.7.2.1:5201", "[fd07:2::1]:5201"} {
		start := time.Now()
		got := readIn(t, a, dest, long)
		if diff := cmp.Diff(limits(4074, true, 0, 9000), got); diff != "" {
			t.Errorf("to %s after %v (-want +got):\n%s", dest, time.Since(start), diff)
		}
	}
}

// A host that drops UDP is pinged. A ping that is lost may be lost on either way.
func TestNetnsPing(t *testing.T) {
	a, m, b := plan(t)
	b.Filter(t, "table inet f {\nchain input {\ntype filter hook input priority 0;\nmeta l4proto udp drop;\n}\n}\n")
	got := readIn(t, a, "10.7.2.1:5201", Patience)
	if got.Out.Status != probes.Failed || got.Out.Reason != "the host answers no probe" || got.BlackHole || got.TCP.Value != 4074 {
		t.Errorf("where nobody may ping: %+v", got)
	}
	a.Sysctl(t, "net.ipv4.ping_group_range", "0 2147483647")
	if diff := cmp.Diff(limits(4074, false, 4074, 4074), readIn(t, a, "10.7.2.1:5201", long)); diff != "" {
		t.Errorf("pinged (-want +got):\n%s", diff)
	}
	m.Filter(t, "table inet g {\nchain output {\ntype filter hook output priority 0;\nicmp type destination-unreachable drop;\n}\n}\n")
	got = readIn(t, a, "10.7.2.1:5201", long)
	if want := "a ping of 4074 bytes is answered and one of 4075 is not: it, or its answer, is lost"; got.Out.Reason != want || got.BlackHole {
		t.Errorf("pinged, with a black hole: %+v, want %q", got, want)
	}
}

func TestNetnsWithoutAnswers(t *testing.T) {
	a, m, _ := plan(t)
	m.Filter(t, "table inet f {\nchain forward {\ntype filter hook forward priority 0;\nudp dport 7 reject with icmpx type admin-prohibited;\nudp dport 8 drop;\n}\n}\n")
	start := time.Now()
	for dest, want := range map[string]string{
		"10.7.2.1:7": "10.7.1.254 turns the probes back", "10.7.2.1:8": "the host answers no probe",
		"10.7.1.99:5201": "the host answers no probe", "192.0.2.1:5201": "network is unreachable",
	} {
		got := readIn(t, a, dest, Patience)
		if got.Out.Status != probes.Failed || !contains(got.Out.Reason, want) || got.BlackHole || got.TooBig.Known() || got.Reported.Known() {
			t.Errorf("%s: %+v, want %q", dest, got, want)
		}
		if got.In.Status != probes.NotRead {
			t.Errorf("%s: the way back: %+v", dest, got.In)
		}
	}
	if took := time.Since(start); took > 4*Patience {
		t.Errorf("four hosts took %v", took)
	}
}
