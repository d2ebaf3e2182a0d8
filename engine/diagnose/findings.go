package diagnose

import (
	"fmt"
	"strings"
	"time"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
)

// from starts the list of a finding's numbers with those every finding about traffic
// rests on.
func (e *Evidence) from(dir engine.Direction, more ...engine.Evidence) []engine.Evidence {
	f := e.flow(dir)
	if g, ok := f.Rate.Get(); ok {
		more = append(more, engine.Evidence{Name: "goodput " + dir.String(), Value: g, Unit: "bit/s", Side: engine.Local, Age: f.Age})
	}
	return more
}

// share is one number of one end.
func (e *Evidence) share(name string, value float64, side engine.Side) engine.Evidence {
	return engine.Evidence{Name: name, Value: value, Unit: "share", Side: side, Age: e.end(side).Age}
}

// notSeen is the answer for a reading of one end that is missing.
func (e *Evidence) notSeen(side engine.Side, what string, why string) ruling {
	if e.side(side) == engine.Far {
		return unseen(fmt.Sprintf("far end not visible: %s: %s", what, why))
	}
	return unseen(what + ": " + why)
}

// fact is one number of one end that hardly changes.
func (e *Evidence) fact(name string, value float64, unit string, side engine.Side) engine.Evidence {
	return engine.Evidence{Name: name, Value: value, Unit: unit, Side: e.side(side), Age: e.end(side).FactsAge}
}

// vital is one number of one end's counters.
func (e *Evidence) vital(name string, value float64, unit string, side engine.Side) engine.Evidence {
	return engine.Evidence{Name: name, Value: value, Unit: unit, Side: e.side(side), Age: e.end(side).VitalsAge}
}

// socket is one number of the sockets of one direction at one end.
func (e *Evidence) socket(dir engine.Direction, name string, value float64, unit string, side engine.Side) engine.Evidence {
	return engine.Evidence{Name: name, Value: value, Unit: unit, Side: e.side(side), Age: e.flow(dir).Age}
}

// kind gives the kind of an end's interface.
func (e *Evidence) kind(side engine.Side) probes.Reading[string] {
	nic := e.end(side).NIC
	if !nic.Known() {
		return probes.Unknown[string](nic.Status, nic.Why())
	}
	return nic.Value.Kind
}

// hardware reports whether an end's interface is a card, or stands on one: only those
// have queues, interrupts and a wire.
func (e *Evidence) hardware(side engine.Side) probes.Reading[bool] {
	kind := e.kind(side)
	k, ok := kind.Get()
	if !ok {
		return probes.Unknown[bool](kind.Status, kind.Why())
	}
	if chain := e.end(side).Adapter.Chain; len(chain) > 0 {
		k = chain[len(chain)-1].Kind
	}
	switch k {
	case "physical", "dsa", "wifi", "vlan", "bond", "team":
		return probes.Got(true)
	}
	return probes.Got(false)
}

// where names a side in front of "core": "" here, "far " there. On one computer
// everything is here.
func (e *Evidence) where(side engine.Side) string {
	if e.side(side) == engine.Far {
		return "far "
	}
	return ""
}

// device names an end's interface in a sentence: "eth0", "far eth0", or "the far card" where
// its name is not known or not one that a terminal should see.
func (e *Evidence) device(side engine.Side) string {
	return e.called(side, safeName(e.end(side).NIC.Value.Name))
}

// card is device with what it is: "the card eth0", "the far card".
func (e *Evidence) card(side engine.Side) string {
	if d := e.device(side); strings.HasPrefix(d, "the ") {
		return d
	}
	return "the card " + e.device(side)
}

// called is device for another interface of the same computer.
func (e *Evidence) called(side engine.Side, name string) string {
	if name == noName {
		return "the " + e.where(side) + "card"
	}
	return e.where(side) + clip(name, 16)
}

// side is the computer that a side's cores belong to.
func (e *Evidence) side(side engine.Side) engine.Side {
	if e.Test.SameHost {
		return engine.Local
	}
	return side
}

// both is added to a sentence about cores that serve the two ends.
func (e *Evidence) both() string {
	if e.Test.SameHost {
		return " Both ends run on this computer."
	}
	return ""
}

// nearCeiling tells how much of the link is used, 0 where that is not known.
func (e *Evidence) nearCeiling(dir engine.Direction) float64 {
	c, ok := e.ceiling().Get()
	g, known := e.flow(dir).Rate.Get()
	if !ok || !known || c.Bps <= 0 {
		return 0
	}
	return g / c.Bps
}

// unpaced reports whether nothing on this computer holds the streams back on purpose.
func (e *Evidence) unpaced() bool {
	return e.Test.Spec.Bitrate <= 0 && e.Test.Spec.FQRate <= 0 && e.Test.LinkBps <= 0
}

// trial is what a change of the stream count did.
type trial struct {
	from, to int     // streams per direction
	gain     float64 // share by which the sum of the direction changed
}

func (t trial) String() string {
	return count(t.to, "stream") + " gave " + gain(t.gain) + " over " + unit.Count(float64(t.from))
}

// moreStreams compares the running step with the last one that had fewer streams and
// was the same otherwise.
func (e *Evidence) moreStreams(dir engine.Direction) (trial, bool) {
	g, ok := e.flow(dir).Rate.Get()
	if !ok {
		return trial{}, false
	}
	for i := len(e.Steps) - 1; i >= 0; i-- {
		s := e.Steps[i]
		fewer := s.Spec
		fewer.Streams = e.Test.Spec.Streams
		if s.Spec.Streams >= e.Test.Spec.Streams || fewer != e.Test.Spec || s.Rates[dir] <= 0 {
			continue
		}
		return trial{from: s.Spec.Streams, to: e.Test.Spec.Streams, gain: g/s.Rates[dir] - 1}, true
	}
	return trial{}, false
}

// helped is the least gain that says another stream is worth it: the stop rule of the
// search for the best stream count.
const helped = 0.05

// peerCPU is the far process of the last finished step with the same direction that the
// filter accepts.
func (e *Evidence) peerCPU(accept func(*Step) bool) (Step, probes.Reading[float64]) {
	for i := len(e.Steps) - 1; i >= 0; i-- {
		s := &e.Steps[i]
		if s.Spec.Direction == e.Test.Spec.Direction && accept(s) {
			return *s, s.PeerCPU
		}
	}
	return Step{}, probes.Unknown[float64](probes.NotRead, "its results come at the end of a step")
}

// total counts a step's streams over both directions.
func (s *Step) total() int { return s.Spec.Streams * len(s.Spec.Direction.Dirs()) }

// seconds prints a span in whole seconds: "4 s".
func seconds(d time.Duration) string {
	return unit.Count(d.Truncate(time.Second).Seconds()) + " s"
}
