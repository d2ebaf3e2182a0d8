package host

import (
	"fmt"
	"strings"
	"time"

	"linerate/probes"
)

// minWindow is the shortest window of a load. The kernel counts in ticks of 10 ms, so
// a shorter one would show little but rounding.
const minWindow = 100 * time.Millisecond

// reading is everything at one moment. Each part may have failed on its own.
type reading struct {
	at      time.Duration
	cores   part[[]probes.CoreTimes]
	threads part[[]probes.ThreadTimes]
	process part[probes.ThreadTimes]
}

type part[T any] struct {
	value T
	err   error
	taken bool // somebody tried
}

// Load reads core and thread times and gives the load since the reading before. The first
// call gives it as unknown, and so does the call after a failure. Called again within
// 100 ms, it gives the load of the call before.
//
// A core that came online within the window has no load yet and is left out; a thread
// that was born in it has.
func (s *Source) Load() probes.Load {
	at, err := s.clock()
	if err != nil {
		err = fmt.Errorf("reading the clock: %w", err)
		s.last = reading{}
		s.lastLoad = probes.Load{
			At:      time.Now(),
			Cores:   probes.Unread[[]probes.CoreLoad](err),
			Threads: probes.Unread[[]probes.ThreadLoad](err),
			Process: probes.Unread[probes.ThreadLoad](err),
			Others:  probes.Unread[[]probes.ThreadLoad](err),
		}
		return s.lastLoad
	}
	if s.last.cores.taken && at-s.last.at < minWindow {
		return s.lastLoad
	}
	now := s.read(at)
	s.lastLoad = between(s.last, now)
	s.lastLoad.Others = s.rest.load(at, s.cpu.Others)
	s.last, s.spare = now, s.last
	return s.lastLoad
}

func (s *Source) read(at time.Duration) reading {
	now := reading{at: at}
	cores, err := s.cpu.Times()
	now.cores = part[[]probes.CoreTimes]{cores, err, true}
	threads, err := s.cpu.Threads(s.spare.threads.value[:0])
	now.threads = part[[]probes.ThreadTimes]{threads, err, true}
	process, err := s.cpu.Process()
	now.process = part[probes.ThreadTimes]{process, err, true}
	return now
}

func between(before, now reading) probes.Load {
	window := now.at - before.at
	l := probes.Load{At: time.Now(), Window: window}
	if !before.cores.taken {
		l.Window = 0
	}
	l.Cores = share(before.cores, now.cores, coreLoads)
	l.Threads = share(before.threads, now.threads, func(a, b []probes.ThreadTimes) []probes.ThreadLoad {
		return threadLoads(a, b, window)
	})
	l.Process = share(before.process, now.process, func(a, b probes.ThreadTimes) probes.ThreadLoad {
		return b.Since(a, window)
	})
	return l
}

// share computes a load from two readings of one part, or tells why there is none.
func share[T, L any](before, now part[T], load func(before, now T) L) probes.Reading[L] {
	switch {
	case now.err != nil:
		return probes.Unread[L](now.err)
	case !before.taken:
		return probes.Unknown[L](probes.NotRead, "first reading")
	case before.err != nil:
		return probes.Unknown[L](probes.NotRead, "first reading after a failure")
	}
	return probes.Got(load(before.value, now.value))
}

// coreLoads pairs two readings, both in order of core number.
func coreLoads(before, now []probes.CoreTimes) []probes.CoreLoad {
	loads := make([]probes.CoreLoad, 0, len(now))
	for _, c := range now {
		for len(before) > 0 && before[0].Core < c.Core {
			before = before[1:]
		}
		if len(before) > 0 && before[0].Core == c.Core {
			loads = append(loads, c.Since(before[0]))
		}
	}
	return loads
}

// threadLoads pairs two readings, both in order of TID, and keeps the threads that
// move bytes.
func threadLoads(before, now []probes.ThreadTimes, window time.Duration) []probes.ThreadLoad {
	var loads []probes.ThreadLoad
	for _, t := range now {
		for len(before) > 0 && before[0].TID < t.TID {
			before = before[1:]
		}
		if !strings.HasPrefix(t.Name, probes.ThreadPrefix) {
			continue
		}
		var earlier probes.ThreadTimes
		if len(before) > 0 && before[0].TID == t.TID {
			earlier = before[0]
		}
		loads = append(loads, atMostOne(t.Since(earlier, window)))
	}
	return loads
}

// atMostOne corrects a load above one core, which rounding to ticks gives, and the
// moment that passes between reading the clock and reading the thread.
func atMostOne(l probes.ThreadLoad) probes.ThreadLoad {
	if busy := l.Busy(); busy > 1 {
		l.User /= busy
		l.System /= busy
	}
	return l
}
