package iperf

import (
	"time"

	"linerate/engine"
	"linerate/engine/internal/wire"
	"linerate/probes"
)

// othersFor is how long other programs count as what they were when a sample last told:
// where samples must be small they are the first to be left out, and so come and go.
const othersFor = 5 * time.Second

// others are the busiest programs of the far end's computer that are no test's.
type others struct {
	list probes.Reading[[]probes.ThreadLoad]
	told time.Time // local clock; zero: never
}

// hear takes what a sample says of them and gives what is known now.
func (o *others) hear(s *wire.Sample, sampled time.Time) probes.Reading[[]probes.ThreadLoad] {
	switch {
	case s.Others != nil:
		list := make([]probes.ThreadLoad, 0, len(s.Others))
		for _, p := range s.Others {
			list = append(list, probes.ThreadLoad{
				TID: p.Thread[0], Name: p.Name, User: share(p.Thread[1]), System: share(p.Thread[2]), Core: p.Thread[3],
			})
		}
		o.list, o.told = probes.Got(list), sampled
	case s.OthersWhy != "":
		o.list, o.told = untold[[]probes.ThreadLoad](s.OthersWhy), sampled
	case o.told.IsZero():
		o.list = untold[[]probes.ThreadLoad]("the far end does not tell")
	case sampled.Sub(o.told) > othersFor:
		o.list = untold[[]probes.ThreadLoad](leftOut)
	}
	return o.list
}

// loadOf is how busy the far end's computer, process and threads were. Others are not in it.
func loadOf(s *wire.Sample, streams []engine.FarStream, sampled time.Time) probes.Load {
	l := probes.Load{
		At: sampled.Add(-micro(s.LoadAge)), Window: micro(s.Window),
		Cores:   untold[[]probes.CoreLoad](s.CoresWhy),
		Threads: untold[[]probes.ThreadLoad](s.ThreadsWhy),
		Process: untold[probes.ThreadLoad](s.ProcessWhy),
	}
	if len(s.Cores) > 0 && s.CoresWhy == "" {
		cores := make([]probes.CoreLoad, len(s.Cores))
		for i, row := range s.Cores {
			cores[i] = coreOf(row)
		}
		l.Cores = probes.Got(cores)
	}
	if len(s.Process) > 0 && s.ProcessWhy == "" {
		l.Process = probes.Got(probes.ThreadLoad{User: share(s.Process[0]), System: share(s.Process[1])})
	}
	sends := make(map[int]bool, len(streams))
	for i := range streams {
		sends[streams[i].ID] = streams[i].Sender
	}
	var threads []probes.ThreadLoad
	for i := range s.Streams {
		if t := s.Streams[i].Thread; len(t) > 0 {
			id := s.Streams[i].ID
			threads = append(threads, probes.ThreadLoad{TID: t[0], Name: threadName(sends[id], id), User: share(t[1]), System: share(t[2]), Core: t[3]})
		}
	}
	if len(threads) > 0 && s.ThreadsWhy == "" {
		l.Threads = probes.Got(threads)
	}
	return l
}

func untold[T any](why string) probes.Reading[T] {
	if why == "" {
		why = leftOut
	}
	return probes.Unknown[T](probes.Absent, why)
}

func share(n int) float64 { return float64(n) / 1000 }

// coreOf reads a row of wire.Sample.Cores.
func coreOf(row []int) probes.CoreLoad {
	var full [7]int
	copy(full[:], row)
	c := probes.CoreLoad{
		Core: full[0],
		User: share(full[1]), System: share(full[2]), IRQ: share(full[3]), SoftIRQ: share(full[4]), Steal: share(full[5]),
	}
	c.Idle = max(0, 1-c.Busy())
	c.IOWait = min(share(full[6]), c.Idle)
	return c
}
