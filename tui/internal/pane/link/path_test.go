package link

import (
	"net/netip"
	"testing"
	"time"

	"linerate/engine"
	"linerate/probes"
	"linerate/tui/internal/style"
)

const ms = time.Millisecond

func idle(d time.Duration) probes.Reading[time.Duration] { return probes.Got(d) }

// reached is a session with a far end on another computer.
func reached(r probes.PathRTT, m probes.PathMTU, streams ...engine.Stream) *engine.Snapshot {
	return &engine.Snapshot{Peer: engine.Peer{Addr: netip.MustParseAddrPort("192.0.2.7:5201")}, PathRTT: r, PathMTU: m, Streams: streams}
}

func TestTripGradesWhatLoadAdds(t *testing.T) {
	untimed := probes.Unknown[time.Duration](probes.Absent, "the handshake was not timed")
	unloaded := probes.Unknown[time.Duration](probes.NotRead, "no load so far")
	sender := engine.Stream{Conn: engine.Conn{Sender: true}, RTT: probes.Got(25 * ms)}
	receiver := engine.Stream{RTT: probes.Got(999 * ms)}
	for name, test := range map[string]struct {
		snap *engine.Snapshot
		want string
		role style.Role
	}{
		"bad": {reached(probes.PathRTT{Idle: idle(20300 * time.Microsecond), Loaded: idle(100300 * time.Microsecond)}, probes.PathMTU{}),
			"idle 20.3 ms  load 100 ms  +80.0 ms queue: bad !", style.Warning},
		"fair": {reached(probes.PathRTT{Idle: idle(20 * ms), Loaded: idle(55 * ms)}, probes.PathMTU{}),
			"idle 20.0 ms  load 55.0 ms  +35.0 ms queue: fair", style.Limit},
		"great": {reached(probes.PathRTT{Idle: idle(20 * ms), Loaded: idle(21 * ms)}, probes.PathMTU{}),
			"idle 20.0 ms  load 21.0 ms  +1.00 ms queue: great", style.Plain},
		"a sender's sockets stand in": {reached(probes.PathRTT{Idle: idle(20 * ms), Loaded: unloaded}, probes.PathMTU{}, sender, receiver),
			"idle 20.0 ms  load 25.0 ms  +5.00 ms queue: ok", style.Plain},
		"a receiver's do not": {reached(probes.PathRTT{Idle: idle(20 * ms), Loaded: unloaded}, probes.PathMTU{}, receiver),
			"idle 20.0 ms  load – (no load so far)", style.Plain},
		"unknown": {reached(probes.PathRTT{Idle: untimed, Loaded: idle(25 * ms)}, probes.PathMTU{}),
			"idle – (the handshake was not timed)  load 25.0 ms", style.Plain},
		"no path": {&engine.Snapshot{Peer: engine.Peer{Loopback: true, Addr: netip.MustParseAddrPort("127.0.0.1:5201")}}, "", style.Plain},
	} {
		if got, role := trip(test.snap); got != test.want || role != test.role {
			t.Errorf("%s: %q, role %d; want %q, role %d", name, got, role, test.want, test.role)
		}
	}
}

func TestSizesWarnOfABlackHole(t *testing.T) {
	back := probes.Unknown[int](probes.NotRead, "only a linerate server can tell")
	hops := probes.PathRTT{Hops: probes.Got(3)}
	for name, test := range map[string]struct {
		snap *engine.Snapshot
		want string
		role style.Role
	}{
		"stock":                      {reached(hops, probes.PathMTU{Out: probes.Got(1500), In: back}), "out 1500  back – (only a linerate server can tell)  hops 3", style.Plain},
		"both ways":                  {reached(hops, probes.PathMTU{Out: probes.Got(1500), In: probes.Got(1492)}), "out 1500  back 1492  hops 3", style.Plain},
		"black hole":                 {reached(hops, probes.PathMTU{Out: probes.Got(4074), In: probes.Got(9000), BlackHole: true}), "out 4074, larger ones vanish !!  back 9000  hops 3", style.Fault},
		"black hole on the way back": {reached(hops, probes.PathMTU{Out: probes.Got(9000), In: probes.Got(4074), InBlackHole: true}), "out 9000  back 4074, larger ones vanish !!  hops 3", style.Fault},
		"not swept": {reached(probes.PathRTT{Hops: probes.Unknown[int](probes.Failed, "no answer")}, probes.PathMTU{Out: probes.Unknown[int](probes.Failed, "nothing came back"), In: back}),
			"out – (nothing came back)  back – (only a linerate server can tell)  hops – (no answer)", style.Plain},
		"no path": {&engine.Snapshot{}, "", style.Plain},
	} {
		if got, role := sizes(test.snap); got != test.want || role != test.role {
			t.Errorf("%s: %q, role %d; want %q, role %d", name, got, role, test.want, test.role)
		}
	}
}
