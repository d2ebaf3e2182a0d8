package link

import (
	"net/netip"
	"testing"
	"time"

	"linerate/engine"
	"linerate/probes"
	"linerate/tui/internal/grid"
	"linerate/tui/internal/style"
)

func routed(n probes.NIC) *engine.Snapshot {
	return &engine.Snapshot{Route: probes.Got(probes.Route{NIC: probes.Got(n)})}
}

func TestLocal(t *testing.T) {
	for name, test := range map[string]struct {
		snap *engine.Snapshot
		want string
	}{
		"no route": {&engine.Snapshot{Route: probes.Unknown[probes.Route](probes.Denied, "netlink: denied")}, "interface unknown (netlink: denied)"},
		"no interface": {&engine.Snapshot{Route: probes.Got(probes.Route{NIC: probes.Unknown[probes.NIC](probes.Absent, "gone")})},
			"interface unknown (gone)"},
		"physical": {routed(probes.NIC{Name: "eth0", Driver: probes.Got("ixgbe"), SpeedBps: probes.Got(10e9), Duplex: probes.Got("full"),
			MTU: probes.Got(9000), Offloads: probes.Offloads{TSO: probes.Got(true), GRO: probes.Got(false)}}),
			"eth0 ixgbe 10 Gbit/s full mtu 9000 tso gro-off!"},
		"a speed that means nothing": {routed(probes.NIC{Name: "tun0", Kind: probes.Got("tun")}), "tun0 tun speed –"},
		"loopback has none":          {routed(probes.NIC{Name: "lo", Kind: probes.Got("loopback"), MTU: probes.Got(65536)}), "lo loopback mtu 65536"},
	} {
		if got, _ := local(test.snap); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestFarInterfaceWithItsAge(t *testing.T) {
	addr := netip.MustParseAddrPort("192.0.2.7:5201")
	untold := probes.Unknown[probes.Route](probes.Absent, "the far end has not told yet")
	card := probes.Got(probes.Route{NIC: probes.Got(probes.NIC{Name: "eth1", Driver: probes.Got("ixgbe"), SpeedBps: probes.Got(10e9)})})
	used := []engine.Segment{{Index: 1, PeerCPU: probes.Got(engine.CPUUse{Total: 96})}, {Index: 2}}
	for name, test := range map[string]struct {
		snap engine.Snapshot
		want string
	}{
		"linerate":         {engine.Snapshot{Peer: engine.Peer{Addr: addr, Linerate: true, Route: card, FactsAge: 12 * time.Second}, Segments: used}, "eth1 (12 s ago) ixgbe 10 Gbit/s"},
		"has not told":     {engine.Snapshot{Peer: engine.Peer{Addr: addr, Linerate: true, Route: untold}}, "interface unknown (the far end has not told yet)"},
		"stock":            {engine.Snapshot{Peer: engine.Peer{Addr: addr, Route: untold}}, "interface and drops unknown (stock iperf3)"},
		"stock, a step on": {engine.Snapshot{Peer: engine.Peer{Addr: addr}, Segments: used}, "interface and drops unknown (stock iperf3)  its process used 96 % of a core in step 1"},
		"this computer":    {engine.Snapshot{Peer: engine.Peer{Addr: addr, Agent: "iperf 3.18", Loopback: true}}, "iperf 3.18  on this same host"},
		"not connected":    {engine.Snapshot{}, ""},
	} {
		if got, _ := far(&test.snap); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestDropsOfBothEnds(t *testing.T) {
	addr := netip.MustParseAddrPort("192.0.2.7:5201")
	none := probes.Got(engine.Drops{})
	some := probes.Got(engine.Drops{RxMissed: 214, Backlog: 3, TxErrors: 1})
	unread := probes.Unknown[engine.Drops](probes.NotRead, "not read yet")
	for name, test := range map[string]struct {
		snap engine.Snapshot
		want string
		role style.Role
	}{
		"none":     {engine.Snapshot{Drops: none, Peer: engine.Peer{Addr: addr, Linerate: true, Drops: none, DropsAge: 400 * time.Millisecond}}, "here none  far none, 0.4 s ago  in this step", style.Plain},
		"some":     {engine.Snapshot{Drops: none, Peer: engine.Peer{Addr: addr, Linerate: true, Drops: some}}, "here none  far rx missed 214 backlog 3 tx errors 1, now  in this step", style.Warning},
		"here":     {engine.Snapshot{Drops: some, Peer: engine.Peer{Addr: addr}}, "here rx missed 214 backlog 3 tx errors 1  far unknown (stock iperf3)  in this step", style.Warning},
		"loopback": {engine.Snapshot{Drops: none, Peer: engine.Peer{Addr: addr, Loopback: true}}, "none  in this step", style.Plain},
		"not read": {engine.Snapshot{Drops: unread, Peer: engine.Peer{Addr: addr, Linerate: true, Drops: unread}}, "here – (not read yet)  far – (not read yet)  in this step", style.Plain},
	} {
		if got, role := drops(&test.snap); got != test.want || role != test.role {
			t.Errorf("%s: %q, role %d; want %q, role %d", name, got, role, test.want, test.role)
		}
	}
}

// The row that is all there is at 80 columns has both ways; the routers give way first.
func TestSingleRow(t *testing.T) {
	s := reached(probes.PathRTT{Idle: idle(20700 * time.Microsecond), Loaded: idle(307 * ms), Hops: probes.Got(3)},
		probes.PathMTU{Out: probes.Got(1500), In: probes.Got(1492)})
	for w, want := range map[int]string{
		80:  " path   idle 20.7 ms  load 307 ms  +286 ms queue: awful !  mtu ▲1500 ▼1492",
		100: " path   idle 20.7 ms  load 307 ms  +286 ms queue: awful !  mtu ▲1500 ▼1492  hops 3",
	} {
		var g grid.Grid
		g.Reset(w, 1, &style.Block)
		Draw(g.All(), s)
		if got := string(g.AppendTo(nil, style.NewPalette(style.Bare, style.Dark))); got != want {
			t.Errorf("%d columns: %q, want %q", w, got, want)
		}
	}
}

func TestLimitsAreSharesOfBusyTime(t *testing.T) {
	s := &engine.Snapshot{Streams: []engine.Stream{
		{Conn: engine.Conn{Sender: true}, Rate: 1e6, TCP: probes.Got(engine.TCPInfo{Size: engine.InfoBusyTime, BusyTime: 6 * time.Second, RwndLimited: 3 * time.Second})},
		{Conn: engine.Conn{Sender: true}, Rate: 1e6, TCP: probes.Got(engine.TCPInfo{Size: engine.InfoBusyTime, BusyTime: 4 * time.Second, SndbufLimited: time.Second})},
		{Conn: engine.Conn{Sender: true}, TCP: probes.Got(engine.TCPInfo{Size: engine.InfoBusyTime, BusyTime: time.Hour, RwndLimited: time.Hour})}, // moves nothing
		{Rate: 1e6, TCP: probes.Got(engine.TCPInfo{Size: engine.InfoBusyTime, BusyTime: time.Hour})},                                               // receives
	}}
	want := "held by 30 % far window  10 % send buffer  60 % else"
	if got, _ := limits(s); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, _ := limits(&engine.Snapshot{}); got != "" {
		t.Errorf("without senders: %q", got)
	}
}
