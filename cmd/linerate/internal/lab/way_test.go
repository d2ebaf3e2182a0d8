//go:build linux

package lab

import (
	"math/rand/v2"
	"testing"
	"time"
)

// both gives the two lanes of a link whose first direction is way.
func both(way Way) (there, back *lane) {
	there = &lane{Way: way, rng: rand.New(rand.NewPCG(1, 2))}
	back = &lane{rng: rand.New(rand.NewPCG(3, 4))}
	there.other, back.other = back, there
	return there, back
}

// outcome is what became of packets that were offered at a steady rate.
type outcome struct {
	passed, late int
	wait         time.Duration // the longest beyond the delay
}

// offer gives a lane packets of n bytes at rate bit/s for a second, and in the same rhythm
// packets of as many bytes to the other direction where it is to carry load too.
func offer(l *lane, n int, rate float64, alsoBack bool) (o outcome, sent int) {
	now := time.Unix(1, 0)
	step := time.Duration(float64(n) * 8 / rate * float64(time.Second))
	for end := now.Add(time.Second); now.Before(end); now = now.Add(step) {
		if alsoBack {
			l.other.fate(n, now)
		}
		sent++
		due, late, ok := l.fate(n, now)
		if !ok {
			continue
		}
		o.passed++
		if late {
			o.late++
			continue
		}
		o.wait = max(o.wait, due.Sub(now)-l.Delay)
	}
	return o, sent
}

// Each way does to packets what it says, and nothing else.
func TestWay(t *testing.T) {
	const delay = 20 * time.Millisecond
	for _, c := range []struct {
		name        string
		way         Way
		size        int
		rate        float64
		back        bool
		least, most float64 // share that passes
		late        float64 // share of what passes
		waits       time.Duration
	}{
		{name: "nothing is wrong", way: Way{Delay: delay}, size: 1500, rate: 100e6, least: 1, most: 1},
		{name: "deep queue", way: Way{Delay: delay, Rate: 50e6, Queue: 1 << 20}, size: 1500, rate: 100e6, least: .57, most: .60, waits: 168 * time.Millisecond},
		{name: "policer", way: Way{Delay: delay, Police: 50e6, Burst: 100_000}, size: 1500, rate: 100e6, least: .5, most: .52},
		{name: "policer that is wide enough", way: Way{Delay: delay, Police: 101e6, Burst: 100_000}, size: 1500, rate: 100e6, least: 1, most: 1},
		{name: "random loss", way: Way{Delay: delay, Loss: .1}, size: 1500, rate: 100e6, least: .88, most: .92},
		{name: "too large", way: Way{Delay: delay, MaxPacket: 4074}, size: 4075, rate: 100e6},
		{name: "just small enough", way: Way{Delay: delay, MaxPacket: 4074}, size: 4074, rate: 100e6, least: 1, most: 1},
		{name: "overtaken", way: Way{Delay: delay, Late: .05, LateBy: 3 * time.Millisecond}, size: 1500, rate: 100e6, least: 1, most: 1, late: .05},
		{name: "one way", way: Way{Delay: delay, CrossPacket: 2000, CrossLoss: .5}, size: 9000, rate: 100e6, least: 1, most: 1},
		{name: "both ways", way: Way{Delay: delay, CrossPacket: 2000, CrossLoss: .5}, size: 9000, rate: 100e6, back: true, least: .48, most: .60},
		{name: "both ways, small", way: Way{Delay: delay, CrossPacket: 2000, CrossLoss: .5}, size: 1500, rate: 100e6, back: true, least: 1, most: 1},
		{name: "next to nothing the other way", way: Way{Delay: delay, CrossPacket: 2000, CrossLoss: .5}, size: 9000, rate: .5e6, back: true, least: 1, most: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			there, _ := both(c.way)
			got, sent := offer(there, c.size, c.rate, c.back)
			if share := float64(got.passed) / float64(sent); share < c.least || share > c.most {
				t.Errorf("%.3f of the packets pass, want %.2f to %.2f", share, c.least, c.most)
			}
			if late := float64(got.late) / float64(max(1, got.passed)); late < c.late/2 || late > 1.5*c.late {
				t.Errorf("%.3f of the packets are late, want %.3f", late, c.late)
			}
			if got.wait < c.waits*95/100 || got.wait > c.waits {
				t.Errorf("packets wait up to %v, want %v", got.wait, c.waits)
			}
		})
	}
}

// A direction that has fallen silent is no load any more.
func TestWayLoadEnds(t *testing.T) {
	there, back := both(Way{CrossPacket: 2000, CrossLoss: 1})
	offer(there, 9000, 100e6, true)
	later := time.Unix(3, 0)
	back.fate(100, later)
	if _, _, ok := there.fate(9000, later.Add(time.Millisecond)); !ok {
		t.Error("a large packet is lost though the other direction has been silent for a second")
	}
}
