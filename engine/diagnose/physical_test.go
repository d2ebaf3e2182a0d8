package diagnose

import (
	"net/netip"
	"testing"

	"linerate/engine"
	"linerate/probes"
)

const gig = 1e9

// card gives one end's interface a speed and what it and the other end of its cable can do.
func card(side engine.Side, speed float64, supported, advertised []float64) func(*Evidence) {
	return func(e *Evidence) {
		nic(side, func(n *probes.NIC) { n.SpeedBps, n.Duplex = probes.Got(speed), probes.Got("full") })(e)
		a := &e.Ends[side].Adapter
		a.Supported, a.Autoneg = probes.Got(supported), probes.Got(true)
		a.Advertised = probes.Unknown[[]float64](probes.Absent, "the driver does not tell")
		if advertised != nil {
			a.Advertised = probes.Got(advertised)
		}
	}
}

// known gives the far end what the rule needs to be ruled out there.
func known(edits ...func(*Evidence)) func(*Evidence) {
	return func(e *Evidence) {
		quietFar(e)
		for _, edit := range edits {
			edit(e)
		}
	}
}

func slot(side engine.Side, gtps float64, lanes int, usable float64) func(*Evidence) {
	return adapter(side, func(a *probes.Adapter) {
		a.PCIe = probes.Got(probes.PCIe{GTps: gtps, Lanes: lanes, MaxGTps: 8, MaxLane: 8, Usable: usable})
	})
}

func realtek(edits ...func(*Evidence)) Evidence {
	all := []func(*Evidence){direction(down), rateOf(down, 80e6), step(1, up, 930e6, 0),
		nic(local, func(n *probes.NIC) { n.Driver = probes.Got("r8169") }),
		adapter(local, func(a *probes.Adapter) { a.ASPM = probes.Got(true) })}
	return base(append(all, edits...)...)
}

func efficient(active bool) func(*Evidence) {
	return adapter(local, func(a *probes.Adapter) { a.EEE = probes.Got(probes.EEE{Enabled: true, Active: active}) })
}

func noEEE(side engine.Side) func(*Evidence) {
	return adapter(side, func(a *probes.Adapter) { a.EEE = probes.Got(probes.EEE{}) })
}

func legs(side engine.Side, tx ...uint64) func(*Evidence) {
	return vitals(side, func(v *probes.Vitals) {
		all := []probes.Member{}
		for i, n := range tx {
			all = append(all, probes.Member{Name: []string{"eno1", "eno2", "eno3"}[i], SpeedBps: 10 * gig, TxBytes: n, RxBytes: n})
		}
		v.Members = probes.Got(all)
	})
}

// expected is the line speed that the operator has named, to a host.
func expected(bps float64) func(*Evidence) {
	return func(e *Evidence) {
		e.Test.ExpectBps = bps
		e.Path.Dest = netip.MustParseAddr("192.0.2.7")
	}
}

// nowhere takes the host away again.
func nowhere(e *Evidence) { e.Path.Dest = netip.Addr{} }

// over puts the local interface on a card called eth9.
func over(kind string, speed float64) func(*Evidence) {
	return adapter(local, func(a *probes.Adapter) {
		a.Device = "eth9"
		a.Chain = []probes.Layer{{Name: "eth0", Kind: kind, MTU: 1420}, {Name: "eth9", Kind: "physical", MTU: 1500, SpeedBps: probes.Got(speed)}}
	})
}

func physicalRows() []row {
	tenG := []float64{1 * gig, 10 * gig}
	farCard := known(card(farEnd, 10*gig, tenG, tenG))
	unlinked := known(linked(farEnd, probes.Counters{"collisions": 0, "rx_crc_errors": 0, "rx_packets": 9e6}), card(farEnd, 10*gig, tenG, tenG))
	farSlot := known(slot(farEnd, 8, 8, 52.9*gig))
	return []row{
		{LinkBelow, "1 of 10 Gbit/s, both can do 10", base(card(local, gig, tenG, tenG)), up, Holds, "came up at 1.00 Gbit/s; both ends can do 10.0 Gbit/s: cable, SFP or forced mode."},
		{LinkBelow, "forced to 100M", base(card(local, .1*gig, []float64{.1 * gig, gig}, nil), adapter(local, func(a *probes.Adapter) { a.Autoneg = probes.Got(false) })), up, Holds, "autonegotiation off"},
		{LinkBelow, "100M, nothing known of the other end", base(card(local, .1*gig, []float64{.1 * gig, gig}, nil)), up, Holds, "the card can do 1.00 Gbit/s"},
		{LinkBelow, "1G of a 2.5G card at a 1G switch", base(card(local, gig, []float64{gig, 2.5 * gig}, []float64{gig})), up, Holds, "the most that the other end of the cable offers"},
		{LinkBelow, "as fast as both can", base(farCard, card(local, 10*gig, tenG, tenG)), up, RuledOut, "as fast as both ends"},
		{LinkBelow, "1G card", base(farCard, card(local, gig, []float64{.1 * gig, gig}, nil)), up, RuledOut, "as fast as both ends"},
		{LinkBelow, "the far card", base(card(local, 10*gig, tenG, tenG), known(card(farEnd, gig, tenG, tenG))), up, Holds, "The link of far eth0"},
		{LinkBelow, "the plateau of 1G where 10 was named", base(farCard, card(local, 10*gig, tenG, tenG), rateOf(up, 938e6), func(e *Evidence) { e.Test.ExpectBps = 10 * gig }), up, Holds, "some hop came up slower"},
		{LinkBelow, "above that plateau", base(farCard, card(local, 10*gig, tenG, tenG), rateOf(up, 980e6), func(e *Evidence) { e.Test.ExpectBps = 10 * gig }), up, RuledOut, ""},
		{LinkBelow, "1G where 10 was named", base(farCard, card(local, gig, []float64{.1 * gig, gig}, nil), expected(10*gig)), up, Holds, "The link of eth0 has 1.00 Gbit/s where 10.0 Gbit/s should be: the card can do no more than 1.00 Gbit/s."},
		{LinkBelow, "the far link has 1G where 10 was named", base(card(local, 10*gig, tenG, tenG), known(card(farEnd, gig, nil, nil)), expected(10*gig)), up, Holds, "The link of far eth0 has 1.00 Gbit/s where 10.0 Gbit/s should be: cable, SFP, or the port at its other end."},
		{LinkBelow, "WireGuard over 1G where 10 was named", base(farCard, kind(local, "wireguard"), over("wireguard", gig), expected(10*gig)), up, Holds, "The link of eth9 has 1.00 Gbit/s"},
		{LinkBelow, "what was named is there", base(farCard, card(local, 10*gig, tenG, tenG), expected(10*gig)), up, RuledOut, "as fast as both ends"},
		{LinkBelow, "without traffic, 1G where 10 was named", base(idleTest, card(local, gig, []float64{gig}, nil), expected(10*gig)), up, Holds, "The link of eth0 has 1.00 Gbit/s"},
		{LinkBelow, "one of several cards, which cannot do what was named", base(idleTest, farCard, card(local, gig, []float64{gig}, nil), expected(10*gig), nowhere), up, RuledOut, ""},
		{LinkBelow, "one of several cards, which could", base(idleTest, farCard, card(local, 5*gig, []float64{gig, 5 * gig, 10 * gig}, []float64{gig, 5 * gig}), expected(10*gig), nowhere), up, Holds, "The link of eth0 has 5.00 Gbit/s where 10.0 Gbit/s should be"},
		{LinkBelow, "speed unknown", base(), up, Unseen, "speed of eth0"},
		{LinkBelow, "far card unknown", base(card(local, 10*gig, tenG, tenG)), up, Unseen, "far end not visible"},
		{LinkBelow, "without traffic", base(idleTest, card(local, .1*gig, []float64{.1 * gig, gig}, nil)), up, Holds, ""},

		{HalfDuplex, "half", base(nic(local, func(n *probes.NIC) { n.Duplex = probes.Got("half") })), up, Holds, "Half duplex on eth0: one direction starves the other."},
		{HalfDuplex, "one collision", base(card(local, gig, tenG, tenG), linked(local, probes.Counters{"collisions": 1})), up, Holds, "1 collision on eth0"},
		{HalfDuplex, "none", base(unlinked, card(local, gig, tenG, tenG), linked(local, probes.Counters{"collisions": 0})), up, RuledOut, "full duplex"},
		{HalfDuplex, "mismatch", base(card(local, gig, tenG, tenG), rateOf(up, 20e6), step(1, down, 900e6, 0), linked(local, probes.Counters{"collisions": 0, "rx_crc_errors": 40}), sender(up, lost(10000, 101, 0))), up, Holds, "directions that differ by far"},
		{HalfDuplex, "1 % lost", base(unlinked, card(local, gig, tenG, tenG), rateOf(up, 20e6), step(1, down, 900e6, 0), linked(local, probes.Counters{"collisions": 0, "rx_crc_errors": 40}), sender(up, lost(10000, 100, 0))), up, RuledOut, ""},
		{HalfDuplex, "Wi-Fi", base(kind(local, "wifi"), known(kind(farEnd, "wifi"))), up, RuledOut, "by nature"},
		{HalfDuplex, "duplex unknown", base(), up, Unseen, "duplex"},

		{DamagedFrames, "1.2 per 10 million", base(linked(local, probes.Counters{"rx_crc_errors": 12, "rx_frame_errors": 0, "rx_packets": 1e8})), up, Holds, "damaged on eth0 (3/s)"},
		{DamagedFrames, "1 per 10 million", base(unlinked, linked(local, probes.Counters{"rx_crc_errors": 10, "rx_frame_errors": 0, "rx_packets": 1e8})), up, RuledOut, "no damaged"},
		{DamagedFrames, "link went down", base(vitals(local, func(v *probes.Vitals) { v.Carrier = probes.Got(uint64(2)) })), up, Holds, "went up or down twice"},
		{DamagedFrames, "too little light", base(linked(local, probes.Counters{"rx_crc_errors": 0}), adapter(local, func(a *probes.Adapter) { a.Optics = probes.Got(probes.Optics{RxDBm: -14.2, LowDBm: -13.9}) })), up, Holds, "-14.2 dBm"},
		{DamagedFrames, "enough light", base(unlinked, linked(local, probes.Counters{"rx_crc_errors": 0}), adapter(local, func(a *probes.Adapter) { a.Optics = probes.Got(probes.Optics{RxDBm: -13.8, LowDBm: -13.9}) })), up, RuledOut, ""},
		{DamagedFrames, "counters unknown", base(blindVitals(local)), up, Unseen, "no /proc here"},
		{DamagedFrames, "far counters unknown", base(linked(local, probes.Counters{"rx_crc_errors": 0})), up, Unseen, "far end not visible"},

		{BusCeiling, "PCIe 2.0 x4 under 40G", base(farSlot, slot(local, 5, 4, 13.4*gig), rateOf(up, 11*gig), ceiling(40*gig)), up, Holds, "PCIe 2.0 x4: about 13.4 Gbit/s usable, the link wants 37.7 Gbit/s. It could do PCIe 3.0 x8."},
		{BusCeiling, "74 % of it used", base(farSlot, slot(local, 5, 4, 13.4*gig), rateOf(up, 9.9*gig), ceiling(40*gig)), up, RuledOut, "are used"},
		{BusCeiling, "room enough", base(farSlot, slot(local, 5, 4, 13.4*gig)), up, RuledOut, "carries 13.4"},
		{BusCeiling, "a core is full", base(farSlot, slot(local, 5, 4, 13.4*gig), rateOf(up, 11*gig), ceiling(40*gig), cores(local, .1, .96)), up, RuledOut, "CPU first"},
		{BusCeiling, "USB 3 card in a USB 2 port", base(farSlot, ceiling(gig), rateOf(up, 300e6), adapter(local, func(a *probes.Adapter) { a.USB = probes.Got(480e6) })), up, Holds, "The card sits in a USB port of 480 Mbit/s: about 312 Mbit/s usable"},
		{BusCeiling, "without traffic", base(idleTest, slot(local, 5, 1, 3.36*gig)), up, Holds, ""},
		{BusCeiling, "slot unknown", base(), up, Unseen, "PCIe"},
		{BusCeiling, "far slot unknown", base(slot(local, 8, 8, 52.9*gig)), up, Unseen, "far end not visible: PCIe"},

		{SleepyBus, "80 in, 930 out", realtek(), down, Holds, "slows the receive path of eth0 (r8169): 80.0 Mbit/s in, 930 Mbit/s out."},
		{SleepyBus, "a third", realtek(rateOf(down, 310e6)), down, RuledOut, "receives"},
		{SleepyBus, "another driver", realtek(nic(local, func(n *probes.NIC) { n.Driver = probes.Got("ixgbe") })), down, RuledOut, "not known for it"},
		{SleepyBus, "ASPM off", realtek(adapter(local, func(a *probes.Adapter) { a.ASPM = probes.Got(false) })), down, RuledOut, "ASPM is off"},
		{SleepyBus, "busy core", realtek(cores(local, .1, .91)), down, RuledOut, "91 %"},
		{SleepyBus, "ASPM unknown", realtek(adapter(local, func(a *probes.Adapter) { a.ASPM = probes.Unknown[bool](probes.Absent, "no link/l1_aspm") })), down, Unseen, "l1_aspm"},
		{SleepyBus, "other direction not tested", realtek(func(e *Evidence) { e.Steps = nil }), down, Unseen, "not tested"},

		{EnergyEfficient, "0.2 % lost", base(efficient(true), sender(up, lost(10000, 20, 0))), up, Holds, "active on eth0 while 0.20 % of the segments are lost"},
		{EnergyEfficient, "0.1 % lost", base(efficient(true), known(noEEE(farEnd)), sender(up, lost(10000, 10, 0))), up, RuledOut, "only 0.10 %"},
		{EnergyEfficient, "not active", base(efficient(false), known(noEEE(farEnd)), sender(up, lost(10000, 20, 0))), up, RuledOut, "not active"},
		{EnergyEfficient, "link flaps", base(efficient(true), vitals(local, func(v *probes.Vitals) { v.Carrier = probes.Got(uint64(1)) })), up, Holds, "comes and goes"},
		{EnergyEfficient, "EEE unknown", base(sender(up, lost(10000, 20, 0))), up, Unseen, "EEE"},
		{EnergyEfficient, "loss unknown", base(efficient(true)), up, Unseen, "loss: only the other end knows"},

		{Paused, "told to stop", base(driver(local, probes.Counters{"rx_flow_control_xoff": 400})), up, Holds, "The switch pauses eth0 (100/s pause frames)"},
		{Paused, "we tell others", base(direction(down), driver(local, probes.Counters{"tx_pause": 400, "rx_pause": 0})), down, Holds, "The card pauses the switch"},
		{Paused, "mlx5", base(driver(local, probes.Counters{"rx_prio0_pause": 8, "rx_prio0_pause_duration": 900})), up, Holds, "2/s"},
		{Paused, "none", base(driver(local, probes.Counters{"rx_pause": 0}), known(driver(farEnd, probes.Counters{"tx_pause": 0}))), up, RuledOut, "no pause frames"},
		{Paused, "sent by a sender is not our matter", base(driver(local, probes.Counters{"rx_pause": 0, "tx_pause": 50}), known(driver(farEnd, probes.Counters{"tx_pause": 0}))), up, RuledOut, ""},
		{Paused, "counters unknown", base(), up, Unseen, "pause frames"},
		{Paused, "driver has none", base(driver(local, probes.Counters{"rx_packets": 1})), up, Unseen, "does not count them"},

		{OneBondLeg, "86 % on one leg", base(ceiling(20*gig), rateOf(up, 9.3*gig), legs(local, 860, 140)), up, Holds, "one leg of the bond (eno1, 86 % of the bytes): 9.30 of 9.415 Gbit/s it can carry."},
		{OneBondLeg, "85 %", base(ceiling(20*gig), rateOf(up, 9.3*gig), legs(local, 850, 150), known(legs(farEnd))), up, RuledOut, "share the bytes"},
		{OneBondLeg, "leg not full", base(ceiling(20*gig), rateOf(up, 8.4*gig), legs(local, 860, 140), known(legs(farEnd))), up, RuledOut, "not full"},
		{OneBondLeg, "totals only", base(ceiling(20*gig), rateOf(up, 9.3*gig), adapter(local, func(a *probes.Adapter) {
			a.Members = probes.Got([]probes.Member{{Name: "eno1", SpeedBps: 10 * gig, TxBytes: 5}, {Name: "eno2", SpeedBps: 10 * gig, TxBytes: 95}})
		})), up, Holds, "eno2"},
		{OneBondLeg, "no bond", base(legs(local), known(legs(farEnd))), up, RuledOut, "no bond"},
		{OneBondLeg, "legs unknown", base(), up, Unseen, "bond"},
	}
}

// ceiling is that of a link with MTU 1500.
func ceiling(linkBps float64) func(*Evidence) {
	return func(e *Evidence) {
		e.Path.Ceiling = probes.Got(NewCeiling(linkBps, Framing{MTU: 1500, Family: 4, Timestamps: true}))
	}
}

// A stale reading of the line speed must not hide that the link came up slow.
func TestStaleLineSpeed(t *testing.T) {
	e := base(rateOf(up, 30e6), ceiling(10e6), card(local, 10e6, []float64{10e6, 100e6, gig}, nil))
	if v := Verdicts(e)[0]; v.Main.Code != LinkBelow {
		t.Errorf("30 Mbit/s over a link that says 10: got %s, want %s", v.Main.Code, LinkBelow)
	}
}

func TestRXQueueNames(t *testing.T) {
	tests := map[string]int{
		"rx_queue_3_packets": 3, "rx0_packets": 0, "rx-12.packets": 12, "queue_7_rx_cnt": 7, "rx_1_packets": 1,
		"rx_64_byte_packets": -1, "rx_packets": -1, "tx_queue_0_packets": -1, "rx_queue_0_bytes": -1, "": -1, "rx_queue_99999999999999999999_packets": -1,
	}
	for name, want := range tests {
		got, ok := rxQueue(name)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: got %d, %v, want %d", name, got, ok, want)
		}
	}
	if p := allApart(4, 8); p < 0.409 || p > 0.411 {
		t.Errorf("4 streams over 8 queues: %.3f, want 0.41", p)
	}
	if p := allApart(9, 8); p != 0 {
		t.Errorf("9 streams over 8 queues: %v, want 0", p)
	}
}
