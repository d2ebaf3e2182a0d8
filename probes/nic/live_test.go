package nic

import (
	"net/netip"
	"runtime"
	"strings"
	"testing"

	"linerate/probes"
)

// Every system has a loopback interface, and a route to it.
func TestRouteToLoopback(t *testing.T) {
	r := New()
	for _, dest := range []string{"127.0.0.1", "::ffff:127.0.0.1", "::1"} {
		addr := netip.MustParseAddr(dest)
		route, err := r.Route(t.Context(), addr)
		if err != nil && addr.Is6() && !addr.Is4In6() {
			t.Logf("no IPv6 here: %v", err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if route.Source != addr.Unmap() || route.Gateway.IsValid() || route.Dest != addr {
			t.Errorf("%s: source %v, gateway %v, want itself and none", dest, route.Source, route.Gateway)
		}
		n := route.NIC.Value
		if n.Kind.Value != "loopback" && n.Kind.Status != probes.Unsupported {
			t.Errorf("%s: kind %+v of %s, want loopback", dest, n.Kind, n.Name)
		}
		if n.SpeedBps.Known() || n.SpeedBps.Why() == "" {
			t.Errorf("%s: speed %+v, want unknown with a reason", dest, n.SpeedBps)
		}
		if n.MTU.Value < 1280 || !n.Up.Value {
			t.Errorf("%s: MTU %v, up %v", dest, n.MTU, n.Up)
		}
	}
}

func TestTrafficOfLoopback(t *testing.T) {
	r := New()
	name := ""
	for _, lo := range []string{"lo", "lo0"} {
		if r.Read(t.Context(), lo).MTU.Known() {
			name = lo
		}
	}
	got := r.Traffic(t.Context(), r.Way(t.Context(), name))
	if runtime.GOOS != "linux" {
		if got.Link.Status != probes.Unsupported || got.Qdiscs.Status != probes.Unsupported || !strings.Contains(got.Link.Why(), "Linux only") {
			t.Errorf("%q: %+v, want it unsupported", name, got)
		}
		return
	}
	if _, ok := got.Link.Value["rx_missed_errors"]; !ok || !got.Carrier.Known() || !got.Qdiscs.Known() {
		t.Errorf("%q: %+v", name, got)
	}
	if irqs, err := r.Interrupts(t.Context(), name); err == nil {
		t.Errorf("%q has interrupts: %+v", name, irqs)
	}
}

func TestInterfaceThatIsNotThere(t *testing.T) {
	for _, name := range []string{"linerate-none", strings.Repeat("x", 200), "", "../lo"} {
		n := New().Read(t.Context(), name)
		if n.MTU.Known() || n.Up.Known() || n.MTU.Why() == "" {
			t.Errorf("%q: %+v", name, n)
		}
	}
}
