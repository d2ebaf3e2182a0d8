package diagnose

import (
	"fmt"
	"slices"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
)

const (
	// samePlateau is how near to the ceiling of a slower line speed a rate must lie to be
	// taken for it.
	samePlateau = 0.03
	// damaged is the share of received frames with errors from which the wire is bad:
	// 10GBASE-R promises a bit error rate of 1e-12, about 1e-8 per frame of 1500 bytes.
	damaged = 1e-7
	// bothLossy and lopsided are the loss and the ratio between the two directions that,
	// with damaged frames on one side, speak of a duplex mismatch: surely so up to
	// lastHalfDuplex, bits/s, since faster Ethernet is always full duplex.
	bothLossy, lopsided, lastHalfDuplex = 0.01, 3, 100e6
)

// linkBelow (R01): the link came up slower than the two cards can do, or than the operator
// says it is.
func linkBelow(e *Evidence, dir engine.Direction) ruling {
	v := e.eachComputer(func(side engine.Side) ruling { return e.linkSpeed(dir, side) })
	if v.state == Holds || e.Test.ExpectBps <= 0 {
		return v
	}
	if short := e.eachComputer(func(side engine.Side) ruling { return e.belowExpected(dir, side) }); short.state == Holds {
		return short
	}
	return e.slowPlateau(dir, v)
}

func (e *Evidence) linkSpeed(dir engine.Direction, side engine.Side) ruling {
	nic, ok := e.end(side).NIC.Get()
	if !ok {
		return e.notSeen(side, "interface", e.end(side).NIC.Why())
	}
	if kind, known := nic.Kind.Get(); known && !slices.Contains(wired, kind) {
		return no(fmt.Sprintf("%s is %s: it has no line speed", e.device(side), kind))
	}
	speed, ok := nic.SpeedBps.Get()
	if !ok {
		return e.notSeen(side, "speed of "+e.device(side), nic.SpeedBps.Why())
	}
	a := &e.end(side).Adapter
	can, ok := a.Supported.Get()
	if !ok || len(can) == 0 {
		return e.notSeen(side, "speeds of "+e.device(side), a.Supported.Why())
	}
	best, own := 0.0, slices.Max(can)
	offered, told := a.Advertised.Get()
	for _, s := range can {
		if slices.Contains(offered, s) {
			best = max(best, s)
		}
	}
	forced := a.Autoneg.Known() && !a.Autoneg.Value
	sys := e.system(side)
	f := engine.Finding{
		Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: e.side(side), Core: -1,
		Short: fmt.Sprintf("%slink only %s of %s", e.where(side), unit.Rate(speed), unit.Rate(own)),
		Proof: engine.ProofNone,
		Evidence: e.from(dir, e.fact("line speed", speed, "bit/s", side),
			e.fact("fastest the card can do", own, "bit/s", side)),
		Remedy: sys.linkUp(),
	}
	link := fmt.Sprintf("The link of %s came up at %s", e.device(side), unit.Rate(speed))
	switch {
	case told && speed < best:
		f.Evidence = append(f.Evidence, e.fact("fastest both ends offer", best, "bit/s", side))
		f.Text = fmt.Sprintf("%s; both ends can do %s: cable, SFP or forced mode.", link, unit.Rate(best))
	case forced && speed < own:
		f.Text = fmt.Sprintf("%s with autonegotiation off; the card can do %s: forced mode.", link, unit.Rate(own))
	case speed <= 1e9 && own >= 2.5e9 || speed < 1e9 && own >= 1e9 && !told:
		// That it is too slow is sure even where the cause is not: at 100 Mbit/s the full rate
		// of the link would else be called line rate, and nothing wrong.
		f.Text = fmt.Sprintf("%s; the card can do %s: cable, SFP, or the other end.", link, unit.Rate(own))
		if told {
			f.Text = fmt.Sprintf("%s, the most that the other end of the cable offers; the card can do %s.", link, unit.Rate(own))
			f.Severity, f.Confidence = engine.SeverityLimit, engine.Likely
		}
	default:
		return no(fmt.Sprintf("%s: as fast as both ends of the cable can be", link))
	}
	return holds(f)
}

// linkUp is what can make a link faster.
func (s system) linkUp() []engine.Remedy {
	return []engine.Remedy{
		s.do("Let the two ends negotiate again.", fmt.Sprintf("ethtool -s %s autoneg on; ethtool -r %s", s.card, s.card), s.negotiate()),
		s.say("Try another cable, SFP or switch port."),
	}
}

// negotiate makes autonegotiation last.
func (s system) negotiate() string {
	if s.family == managedLinux {
		return s.nmcli("802-3-ethernet.auto-negotiate yes")
	}
	if s.family == openWrtLinux {
		return "uci: delete options speed, duplex and autoneg from the port's section; uci commit network"
	}
	if s.family == proxmoxLinux {
		return s.atBoot(s.card, "ethtool -s "+s.card+" autoneg on")
	}
	return fmt.Sprintf("/etc/systemd/network/10-%s.link, below [Link]: AutoNegotiation=yes", s.card)
}

// belowExpected compares the wire at one end with the line speed that the operator named.
// Without a host every card is looked at, and one that cannot be so fast is not the one that
// was meant.
func (e *Evidence) belowExpected(dir engine.Direction, side engine.Side) ruling {
	speed, ok := e.wireSpeed(side).Get()
	if !ok {
		return e.notSeen(side, "line speed", e.wireSpeed(side).Why())
	}
	can, most := e.end(side).Adapter.Supported.Value, 0.0
	if len(can) > 0 {
		most = slices.Max(can)
	}
	tooSlow := most > 0 && most < e.Test.ExpectBps // the card itself
	sys := e.system(side)
	text := fmt.Sprintf("The link of %s%s has %s where %s should be", e.where(side), sys.card, unit.Rate(speed), unit.Rate(e.Test.ExpectBps))
	switch {
	case speed >= e.Test.ExpectBps:
		return no(fmt.Sprintf("the link has the %s that should be", unit.Rate(e.Test.ExpectBps)))
	case tooSlow && !e.Path.Dest.IsValid():
		return no(fmt.Sprintf("%s can do no more than %s", sys.card, unit.Rate(most)))
	case tooSlow:
		text += fmt.Sprintf(": the card can do no more than %s.", unit.Rate(most))
	default:
		text += ": cable, SFP, or the port at its other end."
	}
	return holds(engine.Finding{
		Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: e.side(side), Core: -1,
		Text:     text,
		Short:    fmt.Sprintf("%slink only %s of %s", e.where(side), unit.Rate(speed), unit.Rate(e.Test.ExpectBps)),
		Evidence: e.from(dir, e.fact("line speed", speed, "bit/s", side), engine.Evidence{Name: "expected line speed", Value: e.Test.ExpectBps, Unit: "bit/s"}),
		Remedy:   sys.linkUp(),
	})
}

// wireSpeed is the line speed below one end's interface.
func (e *Evidence) wireSpeed(side engine.Side) probes.Reading[float64] {
	nic, ok := e.end(side).NIC.Get()
	if !ok {
		return probes.Unknown[float64](e.end(side).NIC.Status, e.end(side).NIC.Why())
	}
	chain := e.end(side).Adapter.Chain
	if len(chain) == 0 {
		chain = []probes.Layer{{Name: nic.Name, Kind: nic.Kind.Or("physical")}}
	}
	return lineSpeed(nic.SpeedBps, chain)
}

// slowPlateau looks for the rate of a slower line speed than the operator named.
func (e *Evidence) slowPlateau(dir engine.Direction, otherwise ruling) ruling {
	g, ok := e.flow(dir).Rate.Get()
	if !ok {
		return otherwise
	}
	framing := Framing{MTU: 1500, Family: 4, Timestamps: true}
	if c, ok := e.ceiling().Get(); ok {
		framing = c.Framing
	}
	if e.Test.Spec.Bitrate > 0 || e.Test.Spec.FQRate > 0 || e.shaped(dir) != "" {
		return otherwise // what was asked for is no line speed
	}
	confidence := engine.Likely
	if flat, known := e.flow(dir).steady(samePlateau); known && flat {
		confidence = engine.Sure
	}
	for _, speed := range []float64{100e6, 1e9, 2.5e9} {
		c := NewCeiling(speed, framing)
		if speed >= e.Test.ExpectBps || g < (1-samePlateau)*c.Bps || g > (1+samePlateau)*c.Bps {
			continue
		}
		return holds(engine.Finding{
			Severity: engine.SeverityWarning, Confidence: confidence, Side: engine.Path, Core: -1,
			Text: fmt.Sprintf("%s is what a link of %s carries, not one of %s: some hop came up slower.",
				unit.Rate(g), unit.Rate(speed), unit.Rate(e.Test.ExpectBps)),
			Short:    fmt.Sprintf("some hop has only %s", unit.Rate(speed)),
			Evidence: e.from(dir, engine.Evidence{Name: "expected line speed", Value: e.Test.ExpectBps, Unit: "bit/s"}),
			Remedy:   []engine.Remedy{{Text: "Look at the speed of every port between the two hosts."}},
		})
	}
	return otherwise
}

// halfDuplex (R02): only one end may talk at a time, or only one of them knows it.
func halfDuplex(e *Evidence, dir engine.Direction) ruling {
	return e.eachComputer(func(side engine.Side) ruling {
		nic, ok := e.end(side).NIC.Get()
		if !ok {
			return e.notSeen(side, "interface", e.end(side).NIC.Why())
		}
		if nic.Kind.Value == "wifi" {
			return no("Wi-Fi is half duplex by nature")
		}
		sys := e.system(side)
		f := engine.Finding{
			Severity: engine.SeverityFault, Confidence: engine.Sure, Side: e.side(side), Core: -1,
			Proof: engine.ProofReverse,
			Remedy: []engine.Remedy{sys.do("Switch autonegotiation on at both ends of the cable.",
				"ethtool -s "+sys.card+" autoneg on", sys.negotiate())},
		}
		collisions := e.link(side, "collisions")
		late := sum(e.link(side, "tx_window_errors"), e.link(side, "rx_crc_errors"))
		switch {
		case nic.Duplex.Value == "half":
			f.Text = fmt.Sprintf("Half duplex on %s: one direction starves the other.", e.device(side))
			f.Short = clip(e.device(side), 20) + " is half duplex"
			f.Evidence = e.from(dir, e.fact("half duplex", 1, engine.True, side))
		case collisions.Value > 0:
			f.Text = fmt.Sprintf("%s on %s: half duplex somewhere on this cable.", plural(collisions.Value, "collision", "collisions"), e.device(side))
			f.Short = "collisions: half duplex"
			f.Evidence = e.from(dir, e.vital("collisions", collisions.Value, "", side))
		case late.Value > 0 && e.mismatched(dir):
			if speed, ok := nic.SpeedBps.Get(); ok && speed > lastHalfDuplex {
				f.Confidence = engine.Likely
			}
			f.Text = fmt.Sprintf("Damaged frames on %s and directions that differ by far: one end of the cable runs half duplex, the other full.", e.device(side))
			f.Short = "duplex mismatch"
			f.Evidence = e.from(dir, e.vital("damaged or late frames", late.Value, "", side))
		case !nic.Duplex.Known() && !collisions.Known():
			return e.notSeen(side, "duplex", nic.Duplex.Why())
		default:
			return no("full duplex, no collisions")
		}
		return holds(f)
	})
}

// mismatched reports a loss that only a duplex mismatch makes lopsided.
func (e *Evidence) mismatched(dir engine.Direction) bool {
	l, ok := e.loss(dir).Get()
	a, _ := e.flow(dir).Rate.Get()
	b, known := e.other(dir).Get()
	return ok && known && l.p > bothLossy && max(a, b) >= lopsided*min(a, b)
}

// other is the rate of the opposite direction: now, or in the last step that had it.
func (e *Evidence) other(dir engine.Direction) probes.Reading[float64] {
	back := engine.Download - dir
	if e.Test.Spec.Direction == engine.Both {
		return e.flow(back).Rate
	}
	for i := len(e.Steps) - 1; i >= 0; i-- {
		if r := e.Steps[i].Rates[back]; r > 0 {
			return probes.Got(r)
		}
	}
	return probes.Unknown[float64](probes.NotRead, "the other direction was not tested")
}

// damagedFrames (R03): frames arrive damaged, or the link comes and goes.
func damagedFrames(e *Evidence, dir engine.Direction) ruling {
	return e.eachComputer(func(side engine.Side) ruling {
		end := e.end(side)
		name := e.device(side)
		bad := e.damaged(side)
		packets := e.link(side, "rx_packets")
		sys := e.system(side)
		f := engine.Finding{
			Severity: engine.SeverityFault, Confidence: engine.Sure, Side: e.side(side), Core: -1,
			Remedy: []engine.Remedy{
				sys.say("Reseat, clean or replace the cable or the SFP."),
				sys.do("Check the forward error correction of both ends.", "ethtool --show-fec "+sys.card, ""),
			},
		}
		optics, lit := end.Adapter.Optics.Get()
		switch {
		case bad.Value > 0 && bad.Value > damaged*packets.Value:
			rate := e.perSecond(side, bad)
			f.Text = fmt.Sprintf("Frames arrive damaged on %s (%s): cable or SFP.", name, countOrRate(bad.Value, rate))
			f.Short = "damaged frames: cable or SFP"
			f.Evidence = e.from(dir, e.vital("damaged frames", bad.Value, "", side))
			if packets.Known() {
				f.Evidence = append(f.Evidence, e.vital("received packets", packets.Value, "", side))
			} else {
				f.Confidence = engine.Likely
			}
		case lit && optics.RxDBm < optics.LowDBm:
			f.Severity = engine.SeverityWarning
			f.Text = fmt.Sprintf("Too little light reaches %s: %.1f dBm, the vendor warns from %.1f down.", name, optics.RxDBm, optics.LowDBm)
			f.Short = fmt.Sprintf("too little light: %.1f dBm", optics.RxDBm)
			f.Evidence = e.from(dir, e.fact("received light", optics.RxDBm, "dBm", side))
		case end.Vitals.Carrier.Value > 0 && e.eee(side):
			return no("Energy-Efficient Ethernet is why the link comes and goes")
		case end.Vitals.Carrier.Value > 0:
			f.Text = fmt.Sprintf("The link of %s went up or down %s: cable, SFP or its heat.", name, times(float64(end.Vitals.Carrier.Value)))
			f.Short = "the link comes and goes"
			f.Evidence = e.from(dir, e.vital("carrier changes", float64(end.Vitals.Carrier.Value), "", side))
		case !bad.Known():
			return e.notSeen(side, "error counters", bad.Why())
		default:
			return no("no damaged frames")
		}
		return holds(f)
	})
}

// damaged counts received frames with errors, by the link's counters or the driver's own.
func (e *Evidence) damaged(side engine.Side) probes.Reading[float64] {
	n := sum(e.link(side, "rx_crc_errors"), e.link(side, "rx_frame_errors"))
	driver := e.end(side).Vitals.Driver
	for _, name := range []string{"rx_crc_errors", "rx_crc_errors_phy", "rx_fcs_errors"} {
		if alias := counted(driver, name); alias.Known() && (!n.Known() || alias.Value > n.Value) {
			n = alias
		}
	}
	return n
}

// countOrRate prints a count, as a rate where the window is known.
func countOrRate(n float64, rate probes.Reading[float64]) string {
	if r, ok := rate.Get(); ok {
		return unit.Count(r) + "/s"
	}
	return unit.Count(n)
}
