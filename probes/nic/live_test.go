package nic

import (
	"net/netip"
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

func TestInterfaceThatIsNotThere(t *testing.T) {
	for _, name := range []string{"linerate-none", strings.Repeat("x", 200), "", "../lo"} {
		n := New().Read(t.Context(), name)
		if n.MTU.Known() || n.Up.Known() || n.MTU.Why() == "" {
			t.Errorf("%q: %+v", name, n)
		}
	}
}
