package host

import (
	"slices"
	"time"

	"linerate/probes"
)

const (
	// othersEvery is how often other processes are read: that costs 4 µs for each, and a
	// window of 2 s shows 1 % of a core as two ticks.
	othersEvery = 2 * time.Second
	// othersKept of them are given, those that use at least othersLeast of a core.
	othersKept, othersLeast = 8, 0.01
)

// rest is the load of all other processes, read less often than the own.
type rest struct {
	last  part[[]probes.ThreadTimes]
	spare []probes.ThreadTimes
	at    time.Duration // of last
	kept  probes.Reading[[]probes.ThreadLoad]
}

// load gives the busiest ones over the last window, reading them when it is over.
func (r *rest) load(at time.Duration, read func([]probes.ThreadTimes) ([]probes.ThreadTimes, error)) probes.Reading[[]probes.ThreadLoad] {
	if r.last.taken && at-r.at < othersEvery {
		return r.kept
	}
	times, err := read(r.spare[:0])
	now := part[[]probes.ThreadTimes]{times, err, true}
	window := at - r.at
	r.kept = share(r.last, now, func(a, b []probes.ThreadTimes) []probes.ThreadLoad { return busiest(a, b, window) })
	r.last, r.spare, r.at = now, r.last.value, at
	return r.kept
}

// busiest pairs two readings, both in order of PID, and keeps the largest loads. A process
// that was born in between counts from its birth.
func busiest(before, now []probes.ThreadTimes, window time.Duration) []probes.ThreadLoad {
	loads := []probes.ThreadLoad{}
	for _, t := range now {
		for len(before) > 0 && before[0].TID < t.TID {
			before = before[1:]
		}
		var earlier probes.ThreadTimes
		if len(before) > 0 && before[0].TID == t.TID {
			earlier = before[0]
		}
		if l := t.Since(earlier, window); l.Busy() >= othersLeast {
			loads = append(loads, l)
		}
	}
	slices.SortStableFunc(loads, func(a, b probes.ThreadLoad) int {
		switch {
		case a.Busy() > b.Busy():
			return -1
		case a.Busy() < b.Busy():
			return 1
		}
		return 0
	})
	return loads[:min(len(loads), othersKept)]
}
