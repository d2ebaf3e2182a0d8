package diagnose

import (
	"fmt"
	"math"

	"linerate/engine"
	"linerate/probes"
)

// Loss statistics need more than one window: at one loss in 100 000 segments a window of
// 3 s holds a single one. Where a sender's seconds are known, they are used.
const (
	leastSeconds  = 3 // to prefer them to the window
	leastBins     = 5 // to say how losses are spread
	leastLosses   = 4 // likewise
	clusteredFrom = 3 // index of dispersion: Poisson has 1, bursts at the peaks of a sawtooth 5 and more
)

// lossOf sums up the retransmissions of one direction.
type lossOf struct {
	sent, retrans float64
	p             float64                 // share of the data segments that were sent again
	recent        float64                 // the same in the window alone; p where that is not known
	pd            probes.Reading[float64] // share of these that were in vain
	// dispersion is variance over mean of the losses per second: 1 for losses that come
	// at random.
	dispersion probes.Reading[float64]
}

// loss gives the retransmissions of one direction over all its streams.
func (e *Evidence) loss(dir engine.Direction) probes.Reading[lossOf] {
	r := &e.flow(dir).Sender
	streams, ok := r.Get()
	switch {
	case !ok:
		return probes.Unknown[lossOf](r.Status, r.Why())
	case len(streams) == 0:
		return probes.Unknown[lossOf](probes.Absent, "no stream")
	}
	bins := make([]float64, 0, keptLosses)
	sum, dsack, told := lossOf{}, 0.0, true
	var sent, retrans float64 // in the window
	for i := range streams {
		w := &streams[i]
		sent += float64(w.Now.DataSegsOut - w.Before.DataSegsOut)
		retrans += float64(w.Now.TotalRetrans - w.Before.TotalRetrans)
		if len(w.Losses) >= leastSeconds {
			for place, l := range w.Losses {
				if place == len(bins) {
					bins = append(bins, 0)
				}
				bins[place] += float64(l.Retrans)
				sum.sent, sum.retrans, dsack = sum.sent+float64(l.Sent), sum.retrans+float64(l.Retrans), dsack+float64(l.Spurious)
			}
			continue
		}
		if has := w.share(engine.InfoMinRTT, 0, 1); !has.Known() {
			return probes.Unknown[lossOf](has.Status, has.Why())
		}
		told = told && w.Info.Value >= engine.InfoBytesSent
		sum.sent += float64(w.Now.DataSegsOut - w.Before.DataSegsOut)
		sum.retrans += float64(w.Now.TotalRetrans - w.Before.TotalRetrans)
		dsack += float64(w.Now.DSACKDups - w.Before.DSACKDups)
	}
	if sum.sent <= 0 {
		return probes.Unknown[lossOf](probes.Absent, "nothing was sent")
	}
	sum.p = sum.retrans / sum.sent
	sum.recent = sum.p
	if sent > 0 {
		sum.recent = retrans / sent
	}
	switch {
	case !told:
		sum.pd = probes.Unknown[float64](probes.Absent, "this kernel does not count duplicates that the peer reports")
	case sum.retrans > 0:
		sum.pd = probes.Got(min(1, dsack/sum.retrans))
	default:
		sum.pd = probes.Got(0.0)
	}
	sum.dispersion = dispersion(bins)
	return probes.Got(sum)
}

func dispersion(bins []float64) probes.Reading[float64] {
	total := 0.0
	for _, b := range bins {
		total += b
	}
	if len(bins) < leastBins || total < leastLosses {
		return probes.Unknown[float64](probes.NotRead, "too few losses to say how they are spread")
	}
	m, variance := total/float64(len(bins)), 0.0
	for _, b := range bins {
		variance += (b - m) * (b - m)
	}
	return probes.Got(variance / float64(len(bins)-1) / m)
}

// mathis is the rate, bits/s, that Reno reaches at a random loss of p over a round trip
// of rtt seconds (Mathis 1997, without delayed acknowledgements). CUBIC is never slower
// and beats it where windows are large: RFC 9438's 1.054·(RTT/p)^¾ packets per round trip.
func mathis(mss, rtt, p float64, congestion string) float64 {
	if rtt <= 0 || p <= 0 {
		return math.Inf(1)
	}
	window := 1.22 / math.Sqrt(p)
	if congestion == "" || congestion == cubic {
		window = max(window, 1.054*math.Pow(rtt/p, 0.75))
	}
	return window * mss * 8 / rtt
}

// Congestion controls that rules tell apart. BBR models the path and does not slow down
// for single losses.
const (
	cubic = "cubic"
	reno  = "reno"
	bbr   = "bbr"
)

// congestion is the congestion control of a direction's sender, "" unknown.
func (e *Evidence) congestion(dir engine.Direction) string {
	for _, w := range e.flow(dir).Sender.Value {
		if w.Congestion != "" {
			return w.Congestion
		}
	}
	return e.Test.Spec.Congestion
}

// lossAllows is the rate that all streams of a direction together reach at a random loss
// of p.
func (e *Evidence) lossAllows(dir engine.Direction, p float64) (bps float64) {
	cc := e.congestion(dir)
	for i := range e.flow(dir).Sender.Value {
		w := &e.flow(dir).Sender.Value[i]
		bps += mathis(e.segmentOf(w), w.Now.RTT.Seconds(), p, cc)
	}
	return bps
}

// delays are the round trip times of one direction, medians over its streams, seconds.
type delays struct {
	rtt, least float64
	queue      float64 // median over the window of what lies above the least
}

// delay gives the round trip times of one direction as its sender sees them.
func (e *Evidence) delay(dir engine.Direction) probes.Reading[delays] {
	r := &e.flow(dir).Sender
	streams, ok := r.Get()
	if !ok {
		return probes.Unknown[delays](r.Status, r.Why())
	}
	rtt, ok := median(streams, (*StreamWindow).rtt)
	if !ok {
		return probes.Unknown[delays](probes.Absent, "no round trip time")
	}
	least, _ := median(streams, (*StreamWindow).leastRTT)
	queue, _ := median(streams, (*StreamWindow).queue)
	return probes.Got(delays{rtt, least, queue})
}

func (w *StreamWindow) rtt() probes.Reading[float64] {
	return w.share(engine.InfoMinRTT, w.Now.RTT.Seconds(), 1)
}

func (w *StreamWindow) leastRTT() probes.Reading[float64] {
	return w.share(engine.InfoMinRTT, w.Now.MinRTT.Seconds(), 1)
}

// queue is the median queueing delay, or that of the last reading, seconds.
func (w *StreamWindow) queue() probes.Reading[float64] {
	if q, ok := w.Queue.Get(); ok {
		return probes.Got(q.Seconds())
	}
	q := w.Queueing()
	if !q.Known() {
		return probes.Unknown[float64](q.Status, q.Why())
	}
	return probes.Got(q.Value.Seconds())
}

// steady reports whether the whole seconds of a direction vary by no more than a share of
// their mean, and whether there are enough to tell.
func (f *Flow) steady(spread float64) (flat, known bool) {
	n := len(f.Seconds)
	if n < leastSeconds {
		return false, false
	}
	last := f.Seconds[max(0, n-5):]
	m, variance := mean(last), 0.0
	for _, s := range last {
		variance += (s - m) * (s - m)
	}
	return m > 0 && math.Sqrt(variance/float64(len(last))) <= spread*m, true
}

// partOfIt is the part of what is sent again that a receive ring must have missed to be why:
// counts over windows that differ are compared.
const partOfIt = 0.25

// lostAtEnd says so where an end loses the packets itself: its Energy-Efficient Ethernet, or
// a receive ring that overflows, even one that is as long as it gets.
func (e *Evidence) lostAtEnd(dir engine.Direction) string {
	if v := energyEfficient(e, dir); v.state == Holds && v.finding.Confidence == engine.Sure {
		return "Energy-Efficient Ethernet explains the loss"
	}
	side := e.Receiver(dir)
	missed, packets := e.missed(side), e.link(side, "rx_packets")
	l, ok := e.loss(dir).Get()
	if ok && l.recent > 0 && packets.Value > 0 && missed.Value >= partOfIt*l.recent*packets.Value {
		return fmt.Sprintf("the receive ring of %s%s overflows", e.where(side), e.system(side).nic)
	}
	return ""
}
