package session

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"linerate/engine"
	"linerate/probes"
)

// trial is what a proof changes for a while.
type trial struct {
	spec     engine.Spec
	words    string           // what is tried: "2 streams"
	change   string           // for the list of steps: "1→2 streams"
	from, in engine.Direction // what is measured before, and in the trial
}

// ways are the directions that a proof compares: one now, and one in its trial. Both is
// the sum of the two.
func ways(f *engine.Finding, now engine.Direction) (from, in engine.Direction) {
	alone := f.Dir
	if alone == engine.Both {
		alone = engine.Upload
	}
	switch {
	case f.Proof == engine.ProofReverse && f.Dir != engine.Both:
		return f.Dir, engine.Download - f.Dir
	case f.Proof == engine.ProofReverse || f.Proof == engine.ProofOneWay:
		return alone, alone
	case f.Dir == engine.Both && now != engine.Both:
		return now, now
	}
	return f.Dir, f.Dir
}

// trialOf makes the test that puts a finding to the proof. rate is that of the running
// one in the finding's direction, bits/s. why says what speaks against it.
func (c *conductor) trialOf(f *engine.Finding, rate float64) (t trial, why string) {
	t.spec = c.spec
	switch f.Proof {
	case engine.ProofAddStream:
		why = t.addStream()
	case engine.ProofReverse, engine.ProofOneWay:
		t.turn(f)
	case engine.ProofCongestion:
		why = c.tryCongestion(&t, f.Dir)
	case engine.ProofRate95:
		why = t.slowDown(rate)
	case engine.ProofPin:
		why = c.tryPin(&t, f.Side)
	default:
		why = fmt.Sprintf("this version does not know the proof %q", f.Proof)
	}
	if why == "" && t.spec == c.spec {
		why = "the test is already as the proof would have it"
	}
	return t, why
}

func (t *trial) addStream() (why string) {
	n := t.spec.Streams + 1
	if n > engine.MaxStreams {
		return fmt.Sprintf("iperf3 allows no more than %d streams", engine.MaxStreams)
	}
	t.words, t.change = fmt.Sprintf("%d streams", n), fmt.Sprintf("%d→%d streams", n-1, n)
	t.spec.Streams = n
	return ""
}

// turn lets one direction flow alone, or where only one flows, the other one or both.
func (t *trial) turn(f *engine.Finding) {
	was := t.spec.Direction
	_, in := ways(f, was)
	t.spec.Direction, t.words = in, in.String()+" alone"
	if f.Proof == engine.ProofOneWay && was != engine.Both {
		t.spec.Direction, t.words = engine.Both, engine.Both.String()
	}
	t.change = fmt.Sprintf("%v → %v", was, t.spec.Direction)
}

const (
	cubic = "cubic"
	bbr   = "bbr"
)

// tryCongestion takes BBR, or CUBIC where BBR is in use.
func (c *conductor) tryCongestion(t *trial, dir engine.Direction) (why string) {
	now, other := c.congestion(dir), bbr
	if now == bbr {
		other = cubic
	}
	const available = "net.ipv4.tcp_available_congestion_control"
	if offers, ok := c.sight.statics.settings[available].Get(); ok {
		names := strings.Fields(offers.Value)
		if len(names) > 0 && !slices.Contains(names, other) {
			return fmt.Sprintf("this kernel offers %s, but not %s to compare with (modprobe tcp_%s)",
				strings.Join(names, " and "), other, other)
		}
	}
	t.spec.Congestion = other
	t.words = other + " instead of " + nameOr(now, "the default")
	t.change = nameOr(now, "default") + "→" + other
	return ""
}

// congestion is the congestion control of a direction's sender, "" unknown.
func (c *conductor) congestion(dir engine.Direction) string {
	for i := range c.step.meter.streams {
		if s := &c.step.meter.streams[i]; s.Dir == dir && s.Sender && s.Counters.Congestion != "" {
			return s.Counters.Congestion
		}
	}
	return c.spec.Congestion
}

// slowDown paces the streams to 95 % of what they reached. The kernel spreads out what a
// paced sender writes at once, lest a policer drops that.
func (t *trial) slowDown(rate float64) (why string) {
	each := rate / float64(t.spec.Streams)
	if each < 1 {
		return "nothing moves that could be paced"
	}
	t.spec.Bitrate, t.spec.FQRate = math.Floor(0.95*each), math.Floor(each)
	t.words, t.change = "95 % of the rate", "95 % of the rate"
	return ""
}

const (
	// freeCore is how idle a core must be for payload to move there.
	freeCore = 0.7
	// roomOnCore is how much of it the threads may use, as a share of one core.
	roomOnCore = 0.9
)

// tryPin binds the payload threads of one end to a free core, or, where they are bound,
// lets them run anywhere.
func (c *conductor) tryPin(t *trial, side engine.Side) (why string) {
	if t.spec.Affinity >= 0 || t.spec.SrvAffinity >= 0 {
		t.spec.Affinity, t.spec.SrvAffinity = -1, -1
		t.words, t.change = "threads on any core", "not pinned"
		return ""
	}
	load, near, interrupted := c.sight.load, c.sight.statics.adapter.LocalCores.Or(nil), c.interrupted()
	if side == engine.Far && !c.peer.Loopback {
		far, ok := c.peer.Load.Get()
		if !ok {
			return "no free core can be chosen at the far end: " + c.peer.Load.Why()
		}
		load, near, interrupted = far, nil, nil
	} else if used := c.threadsUse(); used > roomOnCore {
		return fmt.Sprintf("the payload threads use %.0f %% of one core together: they do not fit on a single one", 100*used)
	}
	core, why := pickCore(load.Cores, near, interrupted)
	if why != "" {
		return why
	}
	t.words, t.change = fmt.Sprintf("threads on core %d", core), fmt.Sprintf("pinned to core %d", core)
	if side == engine.Far && !c.peer.Loopback {
		t.words, t.change = "far "+t.words, t.change+" at the far end"
		t.spec.SrvAffinity = core
		return ""
	}
	t.spec.Affinity = core
	return ""
}

// interrupted are the cores that serve the interface of the test.
func (c *conductor) interrupted() (cores []int) {
	if n := len(c.vitals.last); n > 0 {
		for _, q := range c.vitals.last[n-1].Queues.Or(nil) {
			cores = append(cores, q.Core)
		}
	}
	return cores
}

// threadsUse is the share of one core that the threads of this end's streams use.
func (c *conductor) threadsUse() (busy float64) {
	for i := range c.step.meter.streams {
		if t, ok := c.sight.thread(c.step.meter.streams[i].TID).Get(); ok {
			busy += t.Busy()
		}
	}
	return busy
}

// pickCore chooses the most idle core that is free: one near the card before others, one
// without interrupts of the card before those with.
func pickCore(all probes.Reading[[]probes.CoreLoad], near, interrupted []int) (core int, why string) {
	cores, ok := all.Get()
	if !ok || len(cores) == 0 {
		return -1, "no free core can be chosen: " + all.Why()
	}
	rank := func(l probes.CoreLoad) float64 {
		r := l.Idle
		if slices.Contains(near, l.Core) {
			r += 2
		}
		if !slices.Contains(interrupted, l.Core) {
			r++
		}
		return r
	}
	best, idlest := -1, cores[0]
	for i, l := range cores {
		if l.Idle > idlest.Idle {
			idlest = l
		}
		if l.Idle >= freeCore && (best < 0 || rank(l) > rank(cores[best])) {
			best = i
		}
	}
	if best < 0 {
		return -1, fmt.Sprintf("no core is free: the least busy, core %d, is at %.0f %%", idlest.Core, 100*(1-idlest.Idle))
	}
	return cores[best].Core, ""
}
