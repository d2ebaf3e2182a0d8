package diagnose

import (
	"fmt"
	"strings"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
)

const (
	// eeeLoss is the loss from which Energy-Efficient Ethernet is suspected, and sameLAN the
	// least round trip time, seconds, above which the loss may as well be farther away.
	eeeLoss, sameLAN = 0.001, 0.002
	// oftenPaused is how many pause frames a second cost speed; a few are nothing.
	oftenPaused = 1.0
	// oneLeg is the share of a bond's bytes on one leg, and legFull the part of that
	// leg's ceiling, from which the hash is the limit.
	oneLeg, legFull = 0.85, 0.9
)

// energyEfficient (R06): Energy-Efficient Ethernet is active and frames get lost.
func energyEfficient(e *Evidence, dir engine.Direction) ruling {
	return e.eachComputer(func(side engine.Side) ruling {
		eee, ok := e.end(side).Adapter.EEE.Get()
		switch {
		case !ok:
			return e.notSeen(side, "EEE", e.end(side).Adapter.EEE.Why())
		case !eee.Enabled || !eee.Active:
			return no("EEE is not active")
		}
		loss := e.loss(dir)
		flaps := e.end(side).Vitals.Carrier
		lost := loss.Value.p * (1 - loss.Value.pd.Value) // without what was sent again in vain
		switch {
		case flaps.Value > 0 || lost > eeeLoss:
		case !loss.Known():
			return unseen("loss: " + loss.Why())
		default:
			return no(fmt.Sprintf("EEE is active, but only %s of the segments are lost", permille(lost)))
		}
		sys := e.system(side)
		name := e.device(side)
		f := engine.Finding{
			Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: e.side(side), Core: -1,
			Short:    "Energy-Efficient Ethernet drops",
			Proof:    engine.ProofNone,
			Evidence: e.from(dir, e.fact("EEE active", 1, engine.True, side)),
			Remedy:   []engine.Remedy{sys.ethtool("Switch Energy-Efficient Ethernet off.", "--set-eee", "eee off", "", "")},
		}
		if flaps.Value == 0 {
			f.Text = fmt.Sprintf("Energy-Efficient Ethernet is active on %s while %s of the segments are lost: it is known to drop on some cards.", name, permille(lost))
			f.Evidence = append(f.Evidence, e.socket(dir, "segments sent again", loss.Value.p, "share", e.Sender(dir)))
			if d, ok := e.delay(dir).Get(); ok && d.least >= sameLAN {
				f.Severity, f.Confidence = engine.SeverityLimit, engine.Likely
			}
		} else {
			f.Text = fmt.Sprintf("Energy-Efficient Ethernet is active on %s and the link comes and goes: it is known to drop on some cards.", name)
			f.Evidence = append(f.Evidence, e.vital("carrier changes", float64(flaps.Value), "", side))
		}
		return holds(f)
	})
}

// eee reports whether Energy-Efficient Ethernet is active at one end.
func (e *Evidence) eee(side engine.Side) bool {
	s, ok := e.end(side).Adapter.EEE.Get()
	return ok && s.Enabled && s.Active
}

// paused (R07): pause frames hold a sender back.
func paused(e *Evidence, dir engine.Direction) ruling {
	sender, receiver := e.Sender(dir), e.Receiver(dir)
	var missing ruling
	for _, way := range []struct {
		side engine.Side
		rx   bool
	}{{sender, true}, {receiver, false}} {
		n := e.pauses(way.side, way.rx)
		if !n.Known() {
			if missing.state != Unseen {
				missing = e.notSeen(way.side, "pause frames", n.Why())
			}
			continue
		}
		if n.Value <= 0 {
			continue
		}
		return holds(e.pausedFinding(dir, way.side, way.rx, n.Value))
	}
	if missing.state == Unseen {
		return missing
	}
	return no("no pause frames")
}

// pauses counts the pause frames of one end's card, by whatever name its driver has.
func (e *Evidence) pauses(side engine.Side, received bool) probes.Reading[float64] {
	set := e.end(side).Vitals.Driver
	all, ok := set.Get()
	if !ok {
		return probes.Unknown[float64](set.Status, set.Why())
	}
	way, total, found := "tx", 0.0, false
	if received {
		way = "rx"
	}
	for name, n := range all {
		low := strings.ToLower(name)
		counts := strings.Contains(low, "pause") || strings.Contains(low, "xoff")
		if counts && strings.Contains(low, way) && !strings.Contains(low, "duration") && !strings.Contains(low, "transition") {
			total, found = total+float64(n), true
		}
	}
	if !found {
		return probes.Unknown[float64](probes.Absent, "this driver does not count them")
	}
	return probes.Got(total)
}

func (e *Evidence) pausedFinding(dir engine.Direction, side engine.Side, received bool, n float64) engine.Finding {
	sys := e.system(side)
	rate := e.perSecond(side, probes.Got(n))
	f := engine.Finding{
		Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: e.side(side), Core: -1,
		Evidence: e.from(dir, e.vital("pause frames", n, "", side)),
	}
	if rate.Known() && rate.Value < oftenPaused {
		f.Severity, f.Confidence = engine.SeverityLimit, engine.Unsure
	}
	many := countOrRate(n, rate)
	if received {
		f.Text = fmt.Sprintf("The switch pauses %s (%s pause frames): the receiver or the uplink is slower than this sender.", e.device(side), many)
		f.Short = "the switch pauses the sender"
		f.Remedy = []engine.Remedy{sys.ethtool("Turn the waiting into visible loss, to see where it comes from.", "-A", "rx off tx off", "RxFlowControl=no", "ethtool.pause-rx off")}
		return f
	}
	f.Text = fmt.Sprintf("The %scard pauses the switch (%s pause frames): its ring drains too slowly.", e.where(side), many)
	f.Short = "the receiver pauses the switch"
	f.Remedy = []engine.Remedy{sys.say("Spread the receive work over more cores.")}
	if r, ok := e.end(side).Adapter.Rings.Get(); ok && r.Rx < r.RxMax {
		f.Remedy = append([]engine.Remedy{sys.ring(r)}, f.Remedy...)
	}
	return f
}

// ring makes the receive ring as long as the card allows.
func (s system) ring(r probes.Rings) engine.Remedy {
	return s.ethtool(fmt.Sprintf("Make the receive ring longer: %d instead of %d descriptors. The link may blink.", r.RxMax, r.Rx),
		"-G", fmt.Sprintf("rx %d", r.RxMax), fmt.Sprintf("RxBufferSize=%d", r.RxMax), fmt.Sprintf("ethtool.ring-rx %d", r.RxMax))
}

// oneBondLeg (R08): all streams hash onto one leg of a bond.
func oneBondLeg(e *Evidence, dir engine.Direction) ruling {
	return e.eachComputer(func(side engine.Side) ruling {
		legs, confidence := e.end(side).Vitals.Members, engine.Sure
		if !legs.Known() && e.end(side).Adapter.Members.Known() {
			// Totals since boot say less than what moved just now.
			legs, confidence = e.end(side).Adapter.Members, engine.Likely
		}
		switch {
		case !legs.Known():
			return e.notSeen(side, "bond", legs.Why())
		case len(legs.Value) < 2:
			return no("no bond of two legs")
		}
		sends := side == e.Sender(dir)
		var all, most float64
		var leg probes.Member
		for _, m := range legs.Value {
			n := float64(m.RxBytes)
			if sends {
				n = float64(m.TxBytes)
			}
			all += n
			if n >= most {
				most, leg = n, m
			}
		}
		g, ok := e.flow(dir).Rate.Get()
		switch {
		case !ok:
			return unseen("rate: " + e.flow(dir).Rate.Why())
		case all <= 0 || most <= oneLeg*all:
			return no("the legs of the bond share the bytes")
		case leg.SpeedBps <= 0:
			return e.notSeen(side, "speed of "+leg.Name, "the driver does not tell")
		}
		c := NewCeiling(leg.SpeedBps, Framing{MTU: e.end(side).NIC.Value.MTU.Or(1500), Family: 4, Timestamps: true})
		if g < legFull*c.Bps || g > aboveCeiling*c.Bps {
			return no(fmt.Sprintf("%s carries %s of the bytes, but is not full: %s", leg.Name, percent(most/all), ofRate(g, c.Bps)))
		}
		sys := e.system(side)
		f := engine.Finding{
			Severity: engine.SeverityLimit, Confidence: confidence, Side: e.side(side), Core: -1,
			Text: fmt.Sprintf("All streams hash onto one leg of the bond (%s%s, %s of the bytes): %s it can carry.",
				e.where(side), leg.Name, percent(most/all), ofRate(g, c.Bps)),
			Short: fmt.Sprintf("one bond leg (%s) carries all", clip(leg.Name, 12)),
			Press: "+", Proof: engine.ProofAddStream,
			Evidence: e.from(dir, e.vital("share of "+leg.Name, most/all, "share", side), e.fact("speed of "+leg.Name, leg.SpeedBps, "bit/s", side)),
			Remedy:   []engine.Remedy{sys.say("Add streams, so that their ports spread over the legs.")},
		}
		if sends {
			f.Remedy = append(f.Remedy, sys.do("Let the hash look at ports too.",
				"echo layer3+4 > /sys/class/net/"+sys.nic+"/bonding/xmit_hash_policy", sys.hashPolicy()))
		} else {
			f.Remedy = append(f.Remedy, sys.say("The switch decides the receiving leg: let its hash look at ports too."))
		}
		return holds(f)
	})
}

func (s system) hashPolicy() string {
	switch s.family {
	case proxmoxLinux:
		return fmt.Sprintf("/etc/network/interfaces, below iface %s: bond-xmit-hash-policy layer3+4", s.nic)
	case netplanLinux:
		return fmt.Sprintf("netplan set bonds.%s.parameters.transmit-hash-policy=layer3+4; netplan apply", s.nic)
	case managedLinux:
		return s.nmcli("+bond.options xmit_hash_policy=layer3+4")
	case openWrtLinux:
		return "uci set network." + s.nic + ".xmit_hash_policy='layer3+4'; uci commit network; service network restart"
	}
	return fmt.Sprintf("/etc/systemd/network/10-%s.netdev, below [Bond]: TransmitHashPolicy=layer3+4", s.nic)
}

// added prints seconds as people read delays: "268 ms".
func added(s float64) string { return unit.Duration(asDuration(s)) }
