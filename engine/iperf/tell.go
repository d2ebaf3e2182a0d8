package iperf

import (
	"math"
	"time"

	"linerate/engine"
	"linerate/engine/internal/wire"
	"linerate/probes"
)

// tell writes down how busy the computer is and how this end of the streams stands, as of
// now.
func (t *traffic) tell(load probes.Load, now time.Time) wire.Sample {
	s := wire.Sample{
		Congestion: t.congestion,
		CoresWhy:   load.Cores.Why(), ProcessWhy: load.Process.Why(), ThreadsWhy: load.Threads.Why(), OthersWhy: load.Others.Why(),
	}
	if load.Window > 0 {
		s.Window, s.LoadAge = load.Window.Microseconds(), age(load.At)
	}
	cores, ok := load.Cores.Get()
	if ok && len(cores) > wire.MaxCores {
		cores, s.CoresWhy = nil, "more cores than can be told"
	}
	for _, c := range cores {
		s.Cores = append(s.Cores, perMille(c.Core, c.User, c.System, c.IRQ, c.SoftIRQ, c.Steal, c.IOWait))
	}
	if p, ok := load.Process.Get(); ok {
		s.Process = []int{thousandth(p.User), thousandth(p.System)}
	}
	if others, ok := load.Others.Get(); ok {
		s.Others = tellOthers(others)
	}
	threads := make(map[int]probes.ThreadLoad, len(load.Threads.Value))
	for _, th := range load.Threads.Value {
		threads[th.TID] = th
	}
	for i, f := range t.flows {
		st := t.tellStream(i, f)
		if th, ok := threads[f.link.tid()]; ok && th.TID > 0 {
			st.Thread = []int{th.TID, thousandth(th.User), thousandth(th.System), th.Core}
		}
		s.Streams = append(s.Streams, st)
	}
	return s
}

// toldOthers of the busiest other programs are told: a handful explains a full core.
const toldOthers = 8

func tellOthers(busiest []probes.ThreadLoad) []wire.Other {
	list := make([]wire.Other, 0, toldOthers) // not nil when there are none
	for _, p := range busiest[:min(len(busiest), toldOthers)] {
		list = append(list, wire.Other{Name: p.Name, Thread: []int{p.TID, thousandth(p.User), thousandth(p.System), p.Core}})
	}
	return list
}

func (t *traffic) tellStream(i int, f *flow) wire.Stream {
	c := t.counters(i, f)
	st := wire.Stream{ID: f.ID, Bytes: c.Bytes, Base: c.BaseAcked}
	if mem, ok := c.Mem.Get(); ok {
		st.Mem = toNumbers(memFields(&mem))
	}
	info, ok := c.TCP.Get()
	if !ok {
		st.Why = c.TCP.Why()
		return st
	}
	st.Age = age(c.TCPAt)
	st.Info = toNumbers(infoFields(&info))
	if f.Sender && info.Has(engine.InfoBase) {
		st.Brief = []uint64{uint64(info.TotalRetrans), info.CwndBytes(), uint64(max(0, info.RTT.Microseconds()))}
	}
	return st
}

// age is how long ago something was, µs.
func age(at time.Time) int64 { return max(0, time.Since(at).Microseconds()) }

func thousandth(share float64) int { return int(math.Round(1000 * max(0, share))) }

// perMille gives a core's shares, zeros at the end left out.
func perMille(core int, shares ...float64) []int {
	row := []int{core}
	last := 1
	for _, x := range shares {
		row = append(row, thousandth(x))
		if row[len(row)-1] > 0 {
			last = len(row)
		}
	}
	return row[:last]
}
