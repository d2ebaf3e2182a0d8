package pathmtu

import (
	"context"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"linerate/probes"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

func TestLoopback(t *testing.T) {
	got := Read(t.Context(), netip.MustParseAddrPort("127.0.0.1:9"))
	if runtime.GOOS != "linux" {
		if got.Out.Status != probes.Unsupported || !contains(got.Out.Reason, runtime.GOOS) {
			t.Errorf("%+v", got)
		}
		return
	}
	// The interface's 65536 are more than a packet of IPv4 can have.
	if got.Out != probes.Got(65_535) || got.BlackHole || got.TooBig.Status != probes.Absent || !got.TCP.Known() {
		t.Errorf("%+v", got)
	}
}

func TestNoDestination(t *testing.T) {
	for _, dest := range []netip.AddrPort{{}, netip.MustParseAddrPort("127.0.0.1:0")} {
		got := Read(t.Context(), dest)
		if got.Out.Known() || got.Out.Why() == "" || got.TCP.Known() || got.In.Status != probes.NotRead {
			t.Errorf("%v: %+v", dest, got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	start := time.Now()
	if got := Read(ctx, netip.MustParseAddrPort("127.0.0.1:9")); got.Out.Known() || time.Since(start) > time.Second {
		t.Errorf("with a cancelled context: %+v after %v", got, time.Since(start))
	}
}

// What a search found when its time was over before anything was certain.
func TestTimeRanOut(t *testing.T) {
	m := found{pass: 576, fail: 9001, told: never}.pathMTU(9000)
	if m.Out.Value != 576 || m.BlackHole || m.TooBig.Status != probes.Failed {
		t.Errorf("%+v", m)
	}
	m = found{pass: 4470, fail: 8000, told: 9000, reported: 8500}.pathMTU(9000)
	if m.Out.Value != 4470 || !m.BlackHole || m.TooBig != probes.Got(8000) || m.Reported != probes.Got(8500) {
		t.Errorf("%+v", m)
	}
}
