package host

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/engine"
	"linerate/probes"
	"linerate/probes/host/hosttest"
)

var _ engine.EvidenceSource = (*Source)(nil)

// A card of the second generation with eight lanes, in a slot with one, as half of a bond
// below a VLAN.
func TestAdapterOfFixture(t *testing.T) {
	m := hosttest.N100()
	m.NIC.PCI = "0000:03:00.0"
	m.NIC.Slot = hosttest.Slot{
		Link: hosttest.Link{GTps: 5, Lanes: 8, MaxGTps: 5, MaxLanes: 8},
		Bridges: []hosttest.Bridge{
			{PCI: "0000:00:1c.0", Link: hosttest.Link{GTps: 5, Lanes: 1, MaxGTps: 8, MaxLanes: 4}},
			{PCI: "0000:02:01.0", Link: hosttest.Link{GTps: 5, Lanes: 8, MaxGTps: 5, MaxLanes: 8}},
		},
		L1: true, Near: "0-3",
	}
	m.NIC.Card = probes.Adapter{
		Supported: probes.Got([]float64{1e9, 10e9}), Autoneg: probes.Got(true),
		Rings: probes.Got(probes.Rings{Rx: 512, RxMax: 4096, Tx: 512, TxMax: 4096}),
		EEE:   probes.Unknown[probes.EEE](probes.Denied, "nobody may ask"),
	}
	m.NIC.Stack = []hosttest.Device{
		{Name: "bond0", Kind: "bond", MTU: 9000, Legs: []hosttest.Leg{{Name: "enp9s0", SpeedBps: 10e9}}},
		{Name: "bond0.7", Kind: "vlan", MTU: 9000},
	}
	h := hosttest.New(t, m)
	h.Transfer(1000, 9000)
	h.TransferLeg("enp9s0", 1, 2)
	s := NewAt(h.Root())

	route := s.Route(t.Context(), netip.MustParseAddr("203.0.113.9"))
	if n := route.Value.NIC.Value; n.Name != "bond0.7" || n.Kind.Value != "vlan" || n.SpeedBps != probes.Got(20e9) {
		t.Fatalf("route over %s, kind %+v, speed %+v, want the VLAN and the speed of both legs", n.Name, n.Kind, n.SpeedBps)
	}
	r := s.Adapter(t.Context(), "bond0.7")
	if !r.Known() {
		t.Fatal(r.Why())
	}
	a := r.Value
	want := []probes.Layer{
		{Name: "bond0.7", Kind: "vlan", Overhead: 4, MTU: 9000, SpeedBps: probes.Got(20e9)}, {Name: "bond0", Kind: "bond", MTU: 9000, SpeedBps: probes.Got(20e9)},
		{Name: "enp1s0", Kind: "physical", MTU: 1500, SpeedBps: probes.Got(10e9)},
	}
	if diff := cmp.Diff(want, a.Chain); diff != "" {
		t.Errorf("chain (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(probes.Got([]probes.Member{{Name: "enp1s0", SpeedBps: 10e9, RxBytes: 1000, TxBytes: 9000}, {Name: "enp9s0", SpeedBps: 10e9, RxBytes: 1, TxBytes: 2}}), a.Members); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
	if p := a.PCIe.Value; p.GTps != 5 || p.Lanes != 1 || p.MaxLane != 8 || p.At != "0000:00:1c.0" || p.Usable < 3.35e9 || p.Usable > 3.37e9 {
		t.Errorf("PCIe %+v, %s", p, a.PCIe.Why())
	}
	if a.Device != "enp1s0" || a.Rings.Value.RxMax != 4096 || a.ASPM != probes.Got(true) || len(a.LocalCores.Value) != 4 {
		t.Errorf("hardware: %+v", a)
	}
	if a.EEE.Status != probes.Denied || a.Pause.Status != probes.Absent {
		t.Errorf("EEE %+v, pause %+v, want what the fixture says and what it leaves out", a.EEE, a.Pause)
	}
}

func TestAdapterUnknown(t *testing.T) {
	s := NewAt(hosttest.New(t, hosttest.N100()).Root())
	if r := s.Adapter(t.Context(), "eth9"); r.Status != probes.Absent || r.Reason != `there is no interface "eth9"` {
		t.Errorf("%+v", r)
	}
	r := s.Adapter(t.Context(), "enp1s0")
	if !r.Known() || r.Value.PCIe.Status != probes.Absent || r.Value.Rings.Status != probes.Absent {
		t.Errorf("a fixture that says nothing of its card: %+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := New().Adapter(ctx, "lo"); r.Known() && r.Value.Device != "lo" || !r.Known() && !strings.Contains(r.Why(), "cancel") {
		t.Errorf("with a cancelled context: %+v", r)
	}
}
