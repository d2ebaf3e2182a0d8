//go:build !linux

package sysctl

import (
	"strings"
	"testing"

	"linerate/probes"
)

func TestOtherSystems(t *testing.T) {
	for name, s := range New().Read() {
		if s.Status != probes.Unsupported || !strings.Contains(s.Reason, "Linux only") {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
