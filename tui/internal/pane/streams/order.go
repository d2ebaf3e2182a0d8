package streams

import (
	"cmp"
	"math"
	"slices"
	"time"

	"linerate/engine"
)

// Sort is the order of the rows.
type Sort uint8

const (
	Auto Sort = iota // by number while all fit, else the unusual first
	ByID
	ByRate
	ByRetrans
	ByRTT
	ByDeviation

	sorts = iota
)

var sortNames = [...]string{"auto", "id", "rate", "retr/s", "rtt", "off fair share"}

func (s Sort) String() string { return sortNames[min(int(s), len(sortNames)-1)] }

// Next cycles through the orders.
func (s Sort) Next() Sort { return (s + 1) % sorts }

// resolve turns Auto into what it stands for.
func (s Sort) resolve(fits bool) Sort {
	switch {
	case s != Auto:
		return s
	case fits:
		return ByID
	}
	return ByDeviation
}

// sortEvery is how long an order by a changing number stands: rows that change places
// on every frame cannot be read.
const sortEvery = 2 * time.Second

// order sorts p.rows, indices into the snapshot's streams.
func (p *Pane) order(s *engine.Snapshot, by Sort) {
	if age := s.Elapsed - p.sortedAt; by == p.sortedBy && len(p.rows) == len(s.Streams) && age >= 0 && age < sortEvery {
		return
	}
	p.sortedBy, p.sortedAt = by, s.Elapsed
	p.rows = p.rows[:0]
	for i := range s.Streams {
		p.rows = append(p.rows, i)
	}
	key := func(i int) float64 { return 0 }
	st := s.Streams
	switch by {
	case ByRate:
		key = func(i int) float64 { return -st[i].Rate }
	case ByRetrans:
		key = func(i int) float64 { return -st[i].RetransRate.Or(-1) }
	case ByRTT:
		key = func(i int) float64 { return -float64(st[i].RTT.Or(-1)) }
	case ByDeviation:
		key = func(i int) float64 { return -math.Abs(p.deviation(&st[i])) }
	}
	slices.SortStableFunc(p.rows, func(a, b int) int { return cmp.Compare(key(a), key(b)) })
}

// deviation is by which share a stream is off its direction's fair share.
func (p *Pane) deviation(st *engine.Stream) float64 {
	fair := p.fair[st.Dir&1]
	if !(fair > 0) {
		return 0
	}
	return st.Rate/fair - 1
}

// survey computes each direction's fair share and greatest rate.
func (p *Pane) survey(s *engine.Snapshot) {
	p.fair, p.greatest = [2]float64{}, 0
	var n [2]int
	for i := range s.Streams {
		st := &s.Streams[i]
		if rate := st.Rate; rate > 0 && !math.IsInf(rate, 1) {
			p.fair[st.Dir&1] += rate
			p.greatest = max(p.greatest, rate)
		}
		n[st.Dir&1]++
	}
	for d := range p.fair {
		if n[d] > 0 {
			p.fair[d] /= float64(n[d])
		}
	}
}
