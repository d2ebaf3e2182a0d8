package host

import (
	"testing"
	"time"
)

// BenchmarkVitals is one call of the medium tier, and one that reads the slow tier too.
func BenchmarkVitals(b *testing.B) {
	for _, bb := range []struct {
		name string
		step time.Duration
	}{{"medium", 0}, {"slow", time.Second}} {
		for _, nic := range []string{"lo", "eth0"} {
			b.Run(bb.name+"/"+nic, func(b *testing.B) {
				s := New()
				defer s.Close()
				var now time.Duration
				s.clock = func() (time.Duration, error) { now += bb.step; return now, nil }
				s.Vitals(b.Context(), nic)
				b.ReportAllocs()
				for b.Loop() {
					s.Vitals(b.Context(), nic)
				}
			})
		}
	}
}
