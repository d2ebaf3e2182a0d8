package session

import (
	"time"

	"linerate/engine"
	"linerate/probes"
)

// coreHistory is FullHistory but for its finest step: the cores are read twice a second,
// and empty slots between would be drawn as gaps.
var coreHistory = []engine.Resolution{
	{Step: loadEvery, Keep: 10 * time.Minute},
	{Step: time.Second, Keep: 2 * time.Hour},
	{Step: 10 * time.Second, Keep: 24 * time.Hour},
}

// history records what the graphs draw.
type history struct {
	rates         [2]*engine.Recorder // by direction
	retrans       *engine.Recorder
	rtt, cwnd     *engine.Recorder
	cores         map[int]*engine.Recorder // by core number: cores come and go
	coreSeries    []engine.Series          // in the order of the last reading; replaced, never written
	shown         engine.History
	shownAt, last time.Duration
}

func newHistory() *history {
	full := func() *engine.Recorder { return engine.NewRecorder(engine.FullHistory) }
	return &history{
		rates:   [2]*engine.Recorder{full(), full()},
		retrans: full(),
		rtt:     full(),
		cwnd:    full(),
		cores:   map[int]*engine.Recorder{},
		shownAt: -1,
	}
}

// add records a tick of a running test.
func (h *history) add(now time.Duration, m *meter) {
	var rate [2]float64
	var flows [2]bool
	var retrans, rtt, cwnd float64
	senders, timed := 0, 0
	for i := range m.streams {
		s := &m.streams[i]
		rate[s.Dir&1] += s.tick
		flows[s.Dir&1] = true
		var took time.Duration
		switch {
		case s.far.told():
			retrans += s.far.rate()
			cwnd += float64(s.far.Cwnd.Value)
			took = s.far.RTT.Value
		case s.retransKnown():
			retrans += s.tickRetrans
			cwnd += float64(s.TCP.Value.CwndBytes())
			took = s.TCP.Value.RTT
		default:
			continue
		}
		senders++
		if took > 0 {
			rtt += took.Seconds()
			timed++
		}
	}
	for d, flows := range flows {
		if flows {
			h.rates[d].Add(now, rate[d])
		}
	}
	if senders > 0 {
		h.retrans.Add(now, retrans)
		h.cwnd.Add(now, cwnd)
	}
	if timed > 0 {
		h.rtt.Add(now, rtt/float64(timed))
	}
	h.last = now
}

// addCores records a reading of the cores.
func (h *history) addCores(now time.Duration, cores []probes.CoreLoad) {
	series := make([]engine.Series, len(cores))
	for i := range cores {
		r := h.cores[cores[i].Core]
		if r == nil {
			r = engine.NewRecorder(coreHistory)
			h.cores[cores[i].Core] = r
		}
		r.Add(now, cores[i].Busy())
		series[i] = r.Series()
	}
	h.coreSeries = series
}

// view gives the history so far. It makes new series only when a slot has been filled.
func (h *history) view() engine.History {
	if h.shownAt != h.last {
		h.shownAt = h.last
		h.shown = engine.History{
			Up:      h.rates[engine.Upload].Series(),
			Down:    h.rates[engine.Download].Series(),
			Retrans: h.retrans.Series(),
			RTT:     h.rtt.Series(),
			Cwnd:    h.cwnd.Series(),
		}
	}
	h.shown.Cores = h.coreSeries
	return h.shown
}
