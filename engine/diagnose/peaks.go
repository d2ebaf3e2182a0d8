package diagnose

import (
	"math"

	"linerate/engine"
	"linerate/probes"
)

const (
	// keptPeaks is the length of StreamWindow.Peaks, and leastPeaks how many of them tell
	// how alike they are.
	keptPeaks, leastPeaks = 16, 5
	// alike is the coefficient of variation of the windows at which losses came, below
	// which something was full each time: a policer or a queue. CUBIC at policers of
	// 50 Mbit/s with buckets from a quarter of the bandwidth-delay product to twenty of
	// them showed 0.02 to 0.15, at random losses of 0.03 to 1 % over 4 to 40 ms 0.22 to
	// 0.58.
	alike = 0.18
)

// peaks collects the slow start thresholds of one sender. CUBIC and Reno set it to a fixed
// part of the window at every loss.
type peaks struct {
	known   bool   // retrans is
	retrans uint32 // so far
	losing  bool   // the reading before had new retransmissions: its loss is still repaired
	last    uint32
	list    []uint32
}

// add takes the next reading; count says whether losses count yet.
func (p *peaks) add(info *engine.TCPInfo, count bool) {
	lost := p.known && info.TotalRetrans != p.retrans
	fresh := lost && !p.losing || p.known && info.SndSSThresh != p.last
	p.known, p.retrans, p.losing, p.last = true, info.TotalRetrans, lost, info.SndSSThresh
	if fresh && count && info.SndSSThresh > 0 && info.SndSSThresh < noThreshold {
		p.list = lastOf(p.list, keptPeaks, info.SndSSThresh)
	}
}

// notePeaks looks at every sender of one direction.
func (w *way) notePeaks(streams []engine.Counters, dir engine.Direction) {
	for i := range streams {
		c := &streams[i]
		if c.Dir != dir || !c.Sender || !c.TCP.Known() || !c.TCP.Value.Has(engine.InfoBase) {
			continue
		}
		if w.peaks == nil {
			w.peaks = make(map[int]*peaks, len(streams))
		}
		p := w.peaks[c.ID]
		if p == nil {
			p = &peaks{}
			w.peaks[c.ID] = p
		}
		p.add(&c.TCP.Value, len(w.seconds) >= overshoot)
	}
}

// evenness is the coefficient of variation of the windows at which a sender met loss.
func (w *StreamWindow) evenness() probes.Reading[float64] {
	if len(w.Peaks) < leastPeaks {
		return probes.Unknown[float64](probes.NotRead, "too few losses to compare the windows at which they came")
	}
	sum, squares := 0.0, 0.0
	for _, p := range w.Peaks {
		sum += float64(p)
		squares += float64(p) * float64(p)
	}
	n := float64(len(w.Peaks))
	m := sum / n
	if m <= 0 {
		return probes.Unknown[float64](probes.Absent, "no window was set")
	}
	return probes.Got(math.Sqrt(max(0, squares/n-m*m)) / m)
}

// fullEachTime reports whether losses came at the same window each time: then something is
// full, and they are not random. It is known of congestion controls that note the window.
func (e *Evidence) fullEachTime(dir engine.Direction) (full, known bool) {
	if cc := e.congestion(dir); cc != cubic && cc != reno {
		return false, false
	}
	v, ok := median(e.flow(dir).Sender.Value, (*StreamWindow).evenness)
	return ok && v < alike, ok
}
