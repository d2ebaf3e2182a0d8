package link

import (
	"testing"
	"time"

	"linerate/engine"
	"linerate/probes"
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

func TestDropsSayWhoseSumsTheyAre(t *testing.T) {
	with := func(c probes.NICCounters) string {
		text, _ := drops(routed(probes.NIC{Name: "eth0", Counters: probes.Got(c)}))
		return text
	}
	if got, want := with(probes.NICCounters{}), "none on eth0 since it came up"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := with(probes.NICCounters{RxMissed: 214, TxErrors: 1}), "rx missed 214  tx errors 1  (since eth0 came up)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, _ := drops(routed(probes.NIC{Name: "eth0"})); got != "" {
		t.Errorf("unknown counters are shown as %q", got)
	}
}

func TestLimitsAreSharesOfBusyTime(t *testing.T) {
	s := &engine.Snapshot{Streams: []engine.Stream{
		{Conn: engine.Conn{Sender: true}, TCP: probes.Got(engine.TCPInfo{Size: engine.InfoBusyTime, BusyTime: 6 * time.Second, RwndLimited: 3 * time.Second})},
		{Conn: engine.Conn{Sender: true}, TCP: probes.Got(engine.TCPInfo{Size: engine.InfoBusyTime, BusyTime: 4 * time.Second, SndbufLimited: time.Second})},
		{TCP: probes.Got(engine.TCPInfo{Size: engine.InfoBusyTime, BusyTime: time.Hour})}, // receives
	}}
	want := "held by 30 % far window  10 % send buffer  60 % else"
	if got, _ := limits(s); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, _ := limits(&engine.Snapshot{}); got != "" {
		t.Errorf("without senders: %q", got)
	}
}
