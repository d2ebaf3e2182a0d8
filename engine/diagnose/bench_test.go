package diagnose

import (
	"testing"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// The rules run twice a second beside a test: what they cost with 128 streams each way.
func BenchmarkTrackerUpdate(b *testing.B) {
	for _, n := range []int{1, 128} {
		b.Run(map[int]string{1: "1 stream", 128: "128 streams"}[n], func(b *testing.B) {
			e := smallWindow(direction(engine.Both), streams(n), qdiscs(local, probes.Qdisc{Kind: "fq_codel"}), softnet(local, probes.Softnet{}))
			one := e.Flows[up].Sender.Value[0]
			lost(11831, 13, 0)(&one)
			all := make([]StreamWindow, n)
			for i := range all {
				all[i] = one
			}
			for dir := range e.Flows {
				e.Flows[dir].Sender, e.Flows[dir].Receiver = probes.Got(all), probes.Got(all)
			}
			tracker := NewTracker()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				tracker.Update(time.Duration(i)*500*time.Millisecond, e)
			}
		})
	}
}
