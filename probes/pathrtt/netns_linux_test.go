//go:build linux

package pathrtt

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"linerate/probes"
	"linerate/probes/nstest"
)

// An iperf3 server is a TCP listener that must not be disturbed: nothing connects to it,
// and the probes to its port are answered all the same, across two routers.
func TestNetnsIperf3Server(t *testing.T) {
	nstest.Need(t)
	hosts := []*nstest.Host{nstest.New(t), nstest.New(t), nstest.New(t), nstest.New(t)}
	for i := range 3 {
		net := func(n int) []string { return []string{netAddr(i, n) + "/24"} }
		nstest.Join(t, nstest.End{Host: hosts[i], Dev: "next", MTU: 1500, Addr: net(1)}, nstest.End{Host: hosts[i+1], Dev: "prev", MTU: 1500, Addr: net(2)})
	}
	hosts[1].Sysctl(t, "net.ipv4.ip_forward", "1")
	hosts[2].Sysctl(t, "net.ipv4.ip_forward", "1")
	hosts[0].Route(t, "10.8.0.0/16", netAddr(0, 2))
	hosts[1].Route(t, "10.8.2.0/24", netAddr(1, 2))
	hosts[2].Route(t, "10.8.0.0/24", netAddr(1, 1))
	hosts[3].Route(t, "10.8.0.0/16", netAddr(2, 1))

	dest := netip.AddrPortFrom(netip.MustParseAddr(netAddr(2, 2)), 5201)
	var ln *net.TCPListener
	if err := hosts[3].Do(func() (err error) {
		ln, err = net.ListenTCP("tcp", net.TCPAddrFromAddrPort(dest))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	read := func(n int) (r probes.PathRTT) {
		if err := hosts[0].Do(func() error { r = Read(t.Context(), dest, n); return nil }); err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, group := range []string{"1 0", "0 2147483647"} { // without and with pings
		hosts[0].Sysctl(t, "net.ipv4.ping_group_range", group)
		r := read(3)
		if !r.Idle.Known() || r.Idle.Value <= 0 || r.Idle.Value > time.Second || r.Hops != probes.Got(2) {
			t.Errorf("ping group %q: %+v", group, r)
		}
	}
	// More than the host answers at once.
	hosts[0].Sysctl(t, "net.ipv4.ping_group_range", "1 0")
	if r := read(30); !r.Idle.Known() {
		t.Errorf("30 probes: %+v", r)
	}
	ln.SetDeadline(time.Now().Add(50 * time.Millisecond))
	if c, err := ln.Accept(); err == nil {
		t.Errorf("somebody connected to the server: %v", c.RemoteAddr())
	}
}

func netAddr(link, n int) string {
	return netip.AddrFrom4([4]byte{10, 8, byte(link), byte(n)}).String()
}

func TestNetnsSilentHost(t *testing.T) {
	nstest.Need(t)
	a, b := nstest.New(t), nstest.New(t)
	nstest.Join(t, nstest.End{Host: a, Dev: "up", MTU: 1500, Addr: []string{"10.7.1.1/24"}}, nstest.End{Host: b, Dev: "up", MTU: 1500, Addr: []string{"10.7.1.2/24"}})
	if err := a.Do(func() error {
		for dest, want := range map[string]string{"10.7.1.77:5201": "the host answers no probe", "192.0.2.9:5201": "probing 192.0.2.9:5201: network is unreachable"} {
			r := Read(t.Context(), netip.MustParseAddrPort(dest), 3)
			if r.Idle.Status != probes.Failed || r.Idle.Reason != want || r.Hops.Reason != want {
				t.Errorf("%s: %+v, want %q", dest, r, want)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
