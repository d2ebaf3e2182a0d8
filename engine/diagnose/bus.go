package diagnose

import (
	"fmt"
	"slices"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
)

const (
	// busRoom is how much more than the link a bus must carry not to be the limit, busUsed
	// the part of the bus from which it may be, and busOver that beyond which it is not so
	// narrow: its packets cost less than assumed at a larger payload size (256 bytes, 7 %).
	busRoom, busUsed, busOver = 1.05, 0.75, 1.15
	// busPayload is the part of a PCIe lane's bits, coding taken off, that payload gets at
	// 128 bytes a packet; coded8 and coded128 are what 8b/10b and 128b/130b leave.
	busPayload, coded8, coded128 = 0.84, 0.8, 128.0 / 130
	// usbUsable is the part of a USB port's signalling rate that payload gets: about 300
	// of 480 Mbit/s, and 3.4 of 5 Gbit/s.
	usbUsable = 0.65
	// starvedWay is how many times slower the receiving direction is where PCIe power
	// saving bites.
	starvedWay = 3
	// restingCores is the busiest core's share up to which a computer is otherwise idle.
	restingCores = 0.9
)

// busCeiling (R04): the card sits in a slot that carries less than the link.
func busCeiling(e *Evidence, dir engine.Direction) ruling {
	return e.eachComputer(func(side engine.Side) ruling {
		bus, ok := e.bus(side).Get()
		if !ok {
			return e.notSeen(side, "PCIe", e.bus(side).Why())
		}
		c, ok := e.capacity(side).Get()
		if !ok {
			return e.notSeen(side, "line speed", e.capacity(side).Why())
		}
		if bus.usable <= 0 || bus.usable >= busRoom*c {
			return no(fmt.Sprintf("%s carries %s", bus.name, unit.Rate(bus.usable)))
		}
		f := engine.Finding{
			Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: e.side(side), Core: -1,
			Text: fmt.Sprintf("The %scard sits in %s: about %s usable, the link wants %s.%s",
				e.where(side), bus.name, unit.Rate(bus.usable), unit.Rate(c), bus.could),
			Short:    fmt.Sprintf("%sslot carries only %s", e.where(side), unit.Rate(bus.usable)),
			Proof:    engine.ProofAddStream,
			Evidence: e.from(dir, e.fact(bus.name+" usable", bus.usable, "bit/s", side), e.fact("goodput possible", c, "bit/s", side)),
			Remedy:   []engine.Remedy{e.system(side).say(bus.remedy)},
		}
		if e.Test.Idle {
			f.Confidence = engine.Likely
			return holds(f)
		}
		g, ok := e.flow(dir).Rate.Get()
		switch {
		case !ok:
			return unseen("rate: " + e.flow(dir).Rate.Why())
		case g < busUsed*bus.usable:
			return no(fmt.Sprintf("only %s that %s carries are used", ofRate(g, bus.usable), bus.name))
		case g > busOver*bus.usable: // it was read while the link slept at a lower speed
			return no(fmt.Sprintf("%s flow: what %s is said to carry cannot be true", unit.Rate(g), bus.name))
		}
		cores, ok := e.cores(side).Get()
		if top := spreadOf(cores).top; ok && top.Busy() >= full {
			return no(fmt.Sprintf("%score %d is full: CPU first", e.where(side), top.Core))
		}
		if !ok {
			f.Confidence = engine.Likely
		}
		return holds(f)
	})
}

// bus is what a card hangs on.
type bus struct {
	name   string // "PCIe 2.0 x4", "USB at 480 Mbit/s"
	usable float64
	could  string // sentence about what the card could do elsewhere; may be empty
	remedy string
}

// bus gives the narrowest link between a card and the processor.
func (e *Evidence) bus(side engine.Side) probes.Reading[bus] {
	a := &e.end(side).Adapter
	if usb, ok := a.USB.Get(); ok {
		return probes.Got(bus{
			name:   "a USB port of " + unit.Rate(usb),
			usable: usbUsable * usb,
			remedy: "Plug the card into a faster USB port, without a hub before it.",
		})
	}
	p, ok := a.PCIe.Get()
	if !ok {
		return probes.Unknown[bus](a.PCIe.Status, a.PCIe.Why())
	}
	b := bus{
		name: pcie(p.GTps, p.Lanes), usable: usable(p),
		remedy: "Move the card to a faster slot, or raise the slot's link speed in the firmware set-up. Ports of one card share its slot.",
	}
	if p.MaxLane > p.Lanes || p.MaxGTps > p.GTps {
		b.could = fmt.Sprintf(" It could do %s.", pcie(p.MaxGTps, p.MaxLane))
	}
	return probes.Got(b)
}

// usable is what a PCIe link carries, bits/s: as it was read, or by its speed and width.
func usable(p probes.PCIe) float64 {
	coded := coded128
	if p.GTps <= 5 {
		coded = coded8
	}
	if p.Usable > 0 {
		return p.Usable
	}
	return p.GTps * 1e9 * float64(p.Lanes) * coded * busPayload
}

// generations are PCI Express by its transfers per second and lane, 10^9.
var generations = map[float64]string{2.5: "1.0", 5: "2.0", 8: "3.0", 16: "4.0", 32: "5.0", 64: "6.0"}

// pcie names a slot as people do: "PCIe 2.0 x4".
func pcie(gtps float64, lanes int) string {
	if g, ok := generations[gtps]; ok {
		return fmt.Sprintf("PCIe %s x%d", g, lanes)
	}
	return fmt.Sprintf("PCIe at %s GT/s x%d", digits(gtps, 2), lanes)
}

// capacity is the payload that the link of one end could carry: the path's ceiling, or
// that of the end's own interface.
func (e *Evidence) capacity(side engine.Side) probes.Reading[float64] {
	if c, ok := e.ceiling().Get(); ok {
		return probes.Got(c.Bps)
	}
	nic, ok := e.end(side).NIC.Get()
	if !ok {
		return probes.Unknown[float64](e.end(side).NIC.Status, e.end(side).NIC.Why())
	}
	speed, ok := nic.SpeedBps.Get()
	if !ok {
		return probes.Unknown[float64](nic.SpeedBps.Status, nic.SpeedBps.Why())
	}
	return probes.Got(NewCeiling(speed, Framing{MTU: nic.MTU.Or(1500), Family: 4, Timestamps: true}).Bps)
}

// sleepers are the drivers whose cards are known to lose their receive rate to ASPM.
var sleepers = []string{"r8169", "r8125", "r8168", "igc", "atlantic"}

// sleepyBus (R05): PCIe power saving slows the receive path of a card.
func sleepyBus(e *Evidence, dir engine.Direction) ruling {
	side := e.Receiver(dir)
	nic, ok := e.end(side).NIC.Get()
	if !ok {
		return e.notSeen(side, "interface", e.end(side).NIC.Why())
	}
	driver, ok := nic.Driver.Get()
	switch {
	case !ok:
		return e.notSeen(side, "driver", nic.Driver.Why())
	case !slices.Contains(sleepers, driver):
		return no(driver + " is not known for it")
	}
	aspm, ok := e.end(side).Adapter.ASPM.Get()
	switch {
	case !ok:
		return e.notSeen(side, "ASPM", e.end(side).Adapter.ASPM.Why())
	case !aspm:
		return no("ASPM is off")
	}
	in, ok := e.flow(dir).Rate.Get()
	if !ok {
		return unseen("rate: " + e.flow(dir).Rate.Why())
	}
	out, ok := e.other(dir).Get()
	switch {
	case !ok:
		return unseen("the other direction: " + e.other(dir).Why())
	case out <= starvedWay*in:
		return no(fmt.Sprintf("it receives %s and sends %s", unit.Rate(in), unit.Rate(out)))
	}
	cores, ok := e.cores(side).Get()
	if top := spreadOf(cores).top; ok && top.Busy() >= restingCores {
		return no(fmt.Sprintf("%score %d is %s busy", e.where(side), top.Core, percent(top.Busy())))
	}
	sys := e.system(side)
	f := engine.Finding{
		Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: e.side(side), Core: -1,
		Text: fmt.Sprintf("PCIe power saving (ASPM) slows the receive path of %s (%s): %s in, %s out.",
			e.device(side), driver, unit.Rate(in), unit.Rate(out)),
		Short: "PCIe power saving slows receiving",
		Proof: engine.ProofReverse,
		Evidence: e.from(dir, e.fact("ASPM on", 1, engine.True, side),
			engine.Evidence{Name: "goodput the other way", Value: out, Unit: "bit/s", Side: engine.Local}),
		Remedy: []engine.Remedy{sys.do("Switch ASPM off for this card.",
			fmt.Sprintf("echo 0 > /sys/class/net/%s/device/link/l1_aspm", sys.card), sys.noASPM())},
	}
	if !ok {
		f.Confidence = engine.Likely
	}
	return holds(f)
}

// noASPM keeps PCIe power saving off: OpenWrt has no boot loader whose command line people
// change.
func (s system) noASPM() string {
	if s.family == openWrtLinux {
		return s.atBoot(s.card, fmt.Sprintf("echo 0 > /sys/class/net/%s/device/link/l1_aspm", s.card))
	}
	return "kernel command line: pcie_aspm.policy=performance"
}
