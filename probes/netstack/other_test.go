//go:build !linux

package netstack

import (
	"net/netip"
	"strings"
	"testing"
)

func TestOtherSystems(t *testing.T) {
	r := New()
	for what, got := range map[string]string{"counters": r.Counters().Why(), "softnet": r.Softnet().Why(), "queues": r.Queues([]int{1}, nil).Why()} {
		if !strings.Contains(got, "Linux only") {
			t.Errorf("%s: %q", what, got)
		}
	}
	if _, err := r.Listener(t.Context(), netip.MustParseAddrPort("127.0.0.1:5201")); err == nil || !strings.Contains(err.Error(), "Linux only") {
		t.Errorf("listener: %v", err)
	}
}
