//go:build !linux

package netstack

import (
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
}
