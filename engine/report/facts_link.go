package report

import (
	"fmt"
	"strings"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
)

// link says what is known of one interface.
func (f *facts) link(l *engine.Link) {
	n, ok := l.NIC.Get()
	if !ok {
		f.subject = ""
		f.miss("interface", l.NIC.Status, l.NIC.Why())
		f.group("interface", unit.None)
		return
	}
	f.subject = clean(n.Name)
	down := ""
	if n.Up.Known() && !n.Up.Value {
		down = "down"
	}
	f.group(f.subject, fact(f, "kind", n.Kind, same), down, fact(f, "driver", n.Driver, same),
		fact(f, "speed", n.SpeedBps, speedName),
		fact(f, "duplex", n.Duplex, func(s string) string { return s + " duplex" }),
		fact(f, "MTU", n.MTU, func(n int) string { return fmt.Sprintf("MTU %d", n) }),
		fact(f, "goodput", l.Ceiling, func(bps float64) string { return "at most " + unit.Rate(bps) + " of TCP payload" }))
	a := &l.Adapter
	f.group("  cable",
		fact(f, "speeds", a.Supported, func(all []float64) string { return "can " + speedNames(all) }),
		rare(f, "offer", a.Offered, func(all []float64) string { return offer(all, a.Supported) }),
		fact(f, "other end", a.Advertised, func(all []float64) string { return "the other end offers " + speedNames(all) }),
		rare(f, "autonegotiation", a.Autoneg, func(on bool) string { return "autonegotiation " + onOff(on) }),
		fact(f, "pause", a.Pause, pause), fact(f, "EEE", a.EEE, eee),
		rare(f, "light", a.Optics, func(o probes.Optics) string {
			return fmt.Sprintf("light %.1f dBm, warned of from %.1f", o.RxDBm, o.LowDBm)
		}))
	f.group("  radio", rare(f, "radio", a.WiFi, radio))
	f.group("  offloads", f.offload("TSO", n.Offloads.TSO, a), f.offload("GSO", n.Offloads.GSO, a),
		f.offload("GRO", n.Offloads.GRO, a), f.offload("LRO", n.Offloads.LRO, a))
	f.group("  queues", f.queues(&n, a),
		fact(f, "rings", a.Rings, func(r probes.Rings) string {
			return fmt.Sprintf("rings of %d in, %d out (of %d, %d)", r.Rx, r.Tx, r.RxMax, r.TxMax)
		}),
		f.steering(&n, a), fact(f, "qdisc", l.Qdiscs, qdiscs))
	f.group("  bus", fact(f, "PCIe", a.PCIe, pcie),
		rare(f, "USB", a.USB, func(bps float64) string { return "USB port of " + speedName(bps) }),
		rare(f, "ASPM", a.ASPM, func(on bool) string { return "power saving (L1) " + onOff(on) }),
		rare(f, "NUMA", a.NUMA, func(n int) string { return fmt.Sprintf("memory node %d", n) }))
	f.group("  chain", chain(a.Chain), rare(f, "members", a.Members, members))
}

// offer names what the card offers where that is less than it can do.
func offer(offered []float64, can probes.Reading[[]float64]) string {
	if len(offered) == len(can.Value) {
		return ""
	}
	return "offers " + speedNames(offered)
}

func pause(p probes.Pause) string {
	if p.Rx == p.Tx {
		return "pause frames " + onOff(p.Rx)
	}
	return "pause frames in " + onOff(p.Rx) + ", out " + onOff(p.Tx)
}

func eee(e probes.EEE) string {
	switch {
	case e.Active:
		return "EEE active"
	case e.Enabled:
		return "EEE on, not in use"
	}
	return "EEE off"
}

func radio(w probes.WiFi) string {
	s := fmt.Sprintf("%s out, %s in, signal %d dBm", unit.Rate(w.TxBps), unit.Rate(w.RxBps), w.SignalDBm)
	if saves, ok := w.PowerSave.Get(); ok {
		s += ", power save " + onOff(saves)
	}
	if again, ok := w.Retries.Get(); ok {
		s += ", " + share(again) + " sent again"
	}
	return s
}

func (f *facts) offload(name string, r probes.Reading[bool], a *probes.Adapter) string {
	return fact(f, name, r, func(on bool) string {
		for _, fixed := range a.Fixed {
			if strings.EqualFold(fixed, name) {
				return name + " " + onOff(on) + " (fixed)"
			}
		}
		return name + " " + onOff(on)
	})
}

// queues is how many there are and may be.
func (f *facts) queues(n *probes.NIC, a *probes.Adapter) string {
	if c, ok := a.Channels.Get(); ok {
		return fmt.Sprintf("%s of %d", plural(c.Now, "queue"), c.Max)
	}
	return fact(f, "queues", n.RxQueues, func(rx int) string {
		return fmt.Sprintf("%s in, %d out", plural(rx, "queue"), n.TxQueues.Value)
	})
}

// steering says whether the kernel spreads what the queues receive; where there are
// several the card does.
func (f *facts) steering(n *probes.NIC, a *probes.Adapter) string {
	if !a.RPS.Value && n.RxQueues.Value > 1 {
		return ""
	}
	return rare(f, "RPS", a.RPS, func(on bool) string { return "RPS " + onOff(on) })
}

// qdiscs names the queueing disciplines, each kind once, with the rate of those that shape.
func qdiscs(all []probes.Qdisc) string {
	var names []string
	seen := map[string]bool{}
	for _, q := range all {
		name := q.Kind
		if q.RateBps > 0 {
			name += " at " + unit.Rate(q.RateBps)
		}
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "no qdisc"
	}
	return "qdisc " + strings.Join(names, ", ")
}

func pcie(p probes.PCIe) string {
	s := fmt.Sprintf("PCIe %g GT/s x%d: %s usable", p.GTps, p.Lanes, unit.Rate(p.Usable))
	if p.MaxGTps > p.GTps || p.MaxLane > p.Lanes {
		s += fmt.Sprintf(" (the card can %g GT/s x%d)", p.MaxGTps, p.MaxLane)
	}
	return s
}

// chain names the devices from the route's down to the wire, where there are several.
func chain(all []probes.Layer) string {
	if len(all) < 2 {
		return ""
	}
	var parts []string
	for _, l := range all {
		s := l.Name
		if l.Kind != "" {
			s += " (" + l.Kind + ")"
		}
		if l.Overhead > 0 {
			s += fmt.Sprintf(" +%d B", l.Overhead)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " → ")
}

func members(all []probes.Member) string {
	var parts []string
	for _, m := range all {
		s := m.Name
		if m.SpeedBps > 0 {
			s += " " + speedName(m.SpeedBps)
		}
		parts = append(parts, s)
	}
	return "members " + strings.Join(parts, ", ")
}
