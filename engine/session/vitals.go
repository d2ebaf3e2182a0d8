package session

import (
	"context"
	"slices"
	"time"

	"linerate/engine"
	"linerate/engine/diagnose"
	"linerate/probes"
)

const (
	vitalsEvery = time.Second
	// vitalsKept readings span 3 s: the window that diagnose's thresholds are made for.
	vitalsKept = 4
)

// vitals are the last readings of this computer's counters.
type vitals struct {
	busy  bool            // a goroutine is reading
	last  []probes.Vitals // oldest first
	first probes.Vitals   // of the step whose drops were asked for last
}

// readVitals reads the counters in the background: a driver may be slow to answer.
func (c *conductor) readVitals() {
	src := c.cfg.Evidence
	if src == nil || c.vitals.busy {
		return
	}
	c.vitals.busy = true
	nic := c.sight.nic()
	c.wg.Go(func() {
		v := src.Vitals(c.ctx, nic)
		select {
		case c.newVitals <- v:
		case <-c.ctx.Done():
		}
	})
}

func (c *conductor) onVitals(v probes.Vitals) {
	c.vitals.busy = false
	c.vitals.add(v)
}

func (v *vitals) add(r probes.Vitals) {
	v.last = append(v.last, r)
	if n := len(v.last); n > vitalsKept {
		v.last = slices.Delete(v.last, 0, n-vitalsKept)
	}
}

// recent is what happened between the oldest reading of the running step and the
// newest; its age is that of the newest. Readings from before the step count for nothing.
func (v *vitals) recent(began, now time.Time) (happened probes.Vitals, age time.Duration) {
	from := slices.IndexFunc(v.last, func(r probes.Vitals) bool { return !r.At.Before(began) })
	if from < 0 || from == len(v.last)-1 {
		return probes.Vitals{}, 0 // every reading in it is "not read"
	}
	newest := v.last[len(v.last)-1]
	return newest.Since(v.last[from]), now.Sub(newest.At)
}

// lost is what the computer has lost from the first reading of a running step to the
// newest. It is asked for at every tick: the first is then among those kept.
func (v *vitals) lost(began time.Time) probes.Reading[engine.Drops] {
	if v.first.At.Before(began) {
		from := slices.IndexFunc(v.last, func(r probes.Vitals) bool { return !r.At.Before(began) })
		if from < 0 {
			return probes.Unknown[engine.Drops](probes.NotRead, "not read yet")
		}
		v.first = v.last[from]
	}
	return engine.DropsOf(v.last[len(v.last)-1].Since(v.first))
}

// statics are the facts that rules want to know beyond what the screen shows.
type statics struct {
	at       time.Time
	adapter  probes.Adapter
	settings probes.Settings
	firewall probes.Firewall
	memory   probes.Reading[float64]
}

// readStatics reads them for the interface called nic, "" none.
func readStatics(ctx context.Context, src engine.EvidenceSource, nic string) (s statics) {
	if src == nil {
		return s
	}
	s.settings = src.Settings(ctx)
	s.firewall = src.Firewall(ctx)
	s.memory = src.Memory(ctx)
	if nic != "" {
		s.adapter = src.Adapter(ctx, nic).Value
	}
	s.at = time.Now()
	return s
}

// nic is the interface that packets to the server leave by, "" while it is unknown.
func (s *sight) nic() string { return s.route.Value.NIC.Value.Name }

// sharpen adds to an end of this computer what its counters and settings tell.
func (c *conductor) sharpen(end *diagnose.End, began, now time.Time) {
	end.Vitals, end.VitalsAge = c.vitals.recent(began, now)
	s := &c.sight.statics
	if s.at.IsZero() {
		return
	}
	end.FactsAge = now.Sub(s.at)
	end.Adapter, end.Settings, end.Firewall, end.Memory = s.adapter, s.settings, s.firewall, s.memory
}
