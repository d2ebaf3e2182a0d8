package host

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/engine"
	"linerate/probes"
	"linerate/probes/host/hosttest"
)

var _ engine.InterfaceSource = (*Source)(nil)

func TestInterfacesOfFixture(t *testing.T) {
	m := hosttest.N100()
	m.NIC.Half = true
	m.NIC.SpeedBps = 100e6
	m.NIC.Stack = []hosttest.Device{{Name: "enp1s0.7", Kind: "vlan", MTU: 1500}}
	r := NewAt(hosttest.New(t, m).Root()).Interfaces(t.Context())
	if !r.Known() {
		t.Fatal(r.Why())
	}
	type line struct {
		Name, Kind, Duplex string
		Bps                float64
	}
	var got []line
	for _, n := range r.Value {
		got = append(got, line{n.Name, n.Kind.Value, n.Duplex.Value, n.SpeedBps.Value})
	}
	want := []line{{"enp1s0", "physical", "half", 100e6}, {"enp1s0.7", "vlan", "half", 100e6}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What cannot be listed is a reading with its reason.
func TestInterfacesOfNothing(t *testing.T) {
	r := NewAt(t.TempDir()).Interfaces(t.Context())
	if r.Status != probes.Absent || r.Why() == "" {
		t.Errorf("got %+v, want absent with a reason", r)
	}
}
