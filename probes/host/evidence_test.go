package host

import (
	"net/netip"
	"testing"

	"linerate/probes"
	"linerate/probes/host/hosttest"
)

func TestMemoryOfFixture(t *testing.T) {
	m := hosttest.N100()
	m.Memory = []hosttest.Module{{Place: "ChannelA-DIMM0", MegaRate: 3200, Width: 64}, {Place: "ChannelB-DIMM0", MegaRate: 3200, Width: 64}}
	if got, want := NewAt(hosttest.New(t, m).Root()).Memory(t.Context()), probes.Got(2*3200e6*64.0); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// What a hypervisor's firmware says is not what there is.
	m.NIC.Driver, m.Hz = "virtio_net", 0
	if got := NewAt(hosttest.New(t, m).Root()).Memory(t.Context()); got.Status != probes.Absent || got.Reason != "a virtual machine is not told how fast its memory is" {
		t.Errorf("in a virtual machine: %+v", got)
	}
}

func TestListenerOfFixture(t *testing.T) {
	m := hosttest.N100()
	m.Listeners = map[int]string{5201: "sshd", 8080: "nginx"}
	s := NewAt(hosttest.New(t, m).Root())
	for at, want := range map[string]string{"127.0.0.1:5201": "sshd", "127.0.0.1:8080": "nginx", "0.0.0.0:8080": "nginx"} {
		if p := s.Listener(t.Context(), netip.MustParseAddrPort(at)); p.Value.Name != want || p.Value.PID == 0 {
			t.Errorf("%s: got %+v, want %s", at, p, want)
		}
	}
	if p := s.Listener(t.Context(), netip.MustParseAddrPort("127.0.0.1:22")); p.Status != probes.Absent || p.Reason != "no program here listens on port 22" {
		t.Errorf("a port that nobody has: %+v", p)
	}
}
