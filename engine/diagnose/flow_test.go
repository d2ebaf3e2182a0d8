package diagnose

import (
	"math/rand/v2"
	"testing"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// pathModel is a path as a sender's counters show it, a tenth of a second at a time.
type pathModel struct {
	rate        float64 // goodput, bits/s
	least, rtt  time.Duration
	lossOf      func(r *rand.Rand, tenth, sent int) int // segments lost of those sent
	congestion  string
	lostAgain   float64 // of the retransmissions
	timeoutEach int     // seconds between timeouts; 0: none

	// threshold is the slow start threshold that a loss sets, segments; nil: it stays.
	threshold func(r *rand.Rand) uint32
}

// run feeds a sender's counters of so many seconds through Recent and a Tracker, and gives
// the last verdict.
func (m pathModel) run(seed uint64, seconds int, edits ...func(*Evidence)) engine.Verdict {
	r := rand.New(rand.NewPCG(seed, 1))
	recent, tracker := NewRecent(epoch), NewTracker()
	info := engine.TCPInfo{Size: 280, SndMSS: 1448, SndCwnd: 100, Options: 7, SndWnd: 3e6, MinRTT: m.least, MaxPacingRate: 1<<64 - 1}
	var v engine.Verdict
	for tenth := range seconds * 10 {
		at := time.Duration(tenth) * 100 * time.Millisecond
		now := epoch.Add(at)
		sent := int(m.rate / 80 / 1448)
		lost := m.lossOf(r, tenth, sent)
		if tenth < 5 { // slow start overshoots
			lost += sent / 3
		}
		if lost > 0 && m.threshold != nil {
			info.SndSSThresh = m.threshold(r)
		}
		info.DataSegsOut += uint32(sent + lost)
		info.TotalRetrans += uint32(lost)
		info.SegsIn += uint32(sent / 2)
		info.BytesAcked += uint64(sent * 1448)
		info.BusyTime = at
		info.RTT = m.rtt + time.Duration(r.IntN(1000))*time.Microsecond
		if m.timeoutEach > 0 {
			info.TotalRTO = uint16(tenth / 10 / m.timeoutEach)
		}
		c := withInfo(conn(1, engine.Upload, true, info.BytesAcked), now, info)
		c.Congestion = m.congestion
		recent.Add(now, []engine.Counters{c})
		if tenth%5 != 0 {
			continue
		}
		e := base(append([]func(*Evidence){quietFar, noCeiling}, edits...)...)
		e.Test.Age = at
		e.Flows[up] = recent.Flow(now, up, "stock iperf3")
		retrans := uint64(m.rate / 8 / 1448 * 4 * 0.02)
		tcp(local, probes.Counters{"TcpExt.TCPLostRetransmit": uint64(m.lostAgain * float64(retrans)), "TcpExt.TCPTimeouts": uint64(info.TotalRTO), "Tcp.RetransSegs": retrans})(&e)
		v = tracker.Update(at, e)[0]
	}
	return v
}

func atRandom(p float64) func(*rand.Rand, int, int) int {
	return func(r *rand.Rand, _, sent int) (lost int) {
		for range sent {
			if r.Float64() < p {
				lost++
			}
		}
		return lost
	}
}

// scattered and steady are thresholds of losses that come at any window, and always at about
// the same one: what CUBIC showed at random loss and at policers.
func scattered(r *rand.Rand) uint32 { return 15 + r.Uint32N(40) }

func steady(r *rand.Rand) uint32 { return 63 + r.Uint32N(10) }

// Paths as TCP sees them get their verdict, whatever the luck of the losses; rare ones
// take longer.
func TestPathsThroughTheWholePackage(t *testing.T) {
	every := func(tenths, n int) func(*rand.Rand, int, int) int {
		return func(_ *rand.Rand, tenth, _ int) int {
			if tenth%tenths == tenths-1 {
				return n
			}
			return 0
		}
	}
	tests := []struct {
		name    string
		seconds int
		m       pathModel
		want    string
	}{
		{"0.1 % at random over 40 ms", 14, pathModel{rate: 9e6, least: 40 * ms, rtt: 40 * ms, lossOf: atRandom(.001), congestion: cubic}, RandomLoss},
		{"0.01 % at random over 40 ms", 40, pathModel{rate: 33e6, least: 40 * ms, rtt: 40 * ms, lossOf: atRandom(.0001), congestion: cubic}, RandomLoss},
		{"policer of 50 Mbit/s", 10, pathModel{rate: 25e6, least: 20 * ms, rtt: 20500 * time.Microsecond, lossOf: every(5, 25), congestion: cubic, lostAgain: .03, timeoutEach: 2}, Policer},
		{"policer of 50 Mbit/s with a deep bucket", 14, pathModel{rate: 43e6, least: 20 * ms, rtt: 21 * ms, lossOf: every(12, 5), congestion: cubic, threshold: steady}, Policer},
		{"losses like these at any window", 14, pathModel{rate: 20e6, least: 20 * ms, rtt: 21 * ms, lossOf: atRandom(.001), congestion: cubic, threshold: scattered}, RandomLoss},
		{"small queue, met every 1.2 s", 14, pathModel{rate: 48e6, least: 20 * ms, rtt: 27 * ms, lossOf: every(12, 12), congestion: cubic, threshold: steady}, ShallowQueue},
		{"deep queue, sawtooth of 9 s", 10, pathModel{rate: 47e6, least: 20 * ms, rtt: 280 * ms, lossOf: every(90, 60), congestion: cubic}, Bufferbloat},
		{"deep queue, nothing lost", 10, pathModel{rate: 47e6, least: 20 * ms, rtt: 280 * ms, lossOf: every(1000, 0), congestion: cubic}, Bufferbloat},
		{"small queue", 10, pathModel{rate: 48e6, least: 20 * ms, rtt: 27 * ms, lossOf: every(25, 45), congestion: cubic}, ShallowQueue},
		{"nothing wrong", 10, pathModel{rate: 48e6, least: 20 * ms, rtt: 20 * ms, lossOf: every(1000, 0), congestion: cubic}, NoCause},
	}
	for _, tt := range tests {
		for seed := range uint64(20) {
			if v := tt.m.run(seed, tt.seconds); v.Main.Code != tt.want {
				t.Errorf("%s, seed %d: got %s %q, want %s", tt.name, seed, v.Main.Code, v.Main.Text, tt.want)
				break
			}
		}
	}
}
