package session_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/engine"
	"linerate/engine/diagnose"
	"linerate/engine/iperf"
	"linerate/engine/session"
	"linerate/probes"
	"linerate/probes/host"
	"linerate/probes/host/hosttest"
)

// tidy is the mini-PC with nothing wrong: four queues, all offloads, a slot with room.
func tidy() hosttest.Machine {
	m := hosttest.N100()
	both := []float64{1e9, 2.5e9, 5e9, 10e9}
	m.NIC.Card = probes.Adapter{
		Supported: probes.Got(both), Offered: probes.Got(both), Advertised: probes.Got(both), Autoneg: probes.Got(true),
		Rings: probes.Got(probes.Rings{Rx: 4096, RxMax: 4096, Tx: 4096, TxMax: 4096}), Channels: probes.Got(probes.Channels{Now: 4, Max: 8}),
		Pause: probes.Got(probes.Pause{}), EEE: probes.Got(probes.EEE{}),
	}
	m.NIC.Slot = hosttest.Slot{Link: hosttest.Link{GTps: 8, Lanes: 4, MaxGTps: 8, MaxLanes: 4}, Near: "0-3"}
	return m
}

// foundPath is a path of which everything is known already.
type foundPath struct {
	mtu probes.PathMTU
}

func (p foundPath) RTT(context.Context, netip.AddrPort, int) probes.PathRTT {
	return probes.PathRTT{Idle: probes.Got(40 * time.Millisecond), Hops: probes.Got(7)}
}

func (p foundPath) MTU(context.Context, netip.AddrPort) probes.PathMTU { return p.mtu }

// examine looks at a machine while what happens on it happens.
func examine(t *testing.T, m hosttest.Machine, happens probes.Vitals, edit func(*session.Subject)) ([]diagnose.Evidence, error) {
	t.Helper()
	tree := hosttest.New(t, m)
	src := host.NewAt(tree.Root())
	s := session.Subject{Host: src, Evidence: src, Interfaces: src}
	if edit != nil {
		edit(&s)
	}
	later := time.AfterFunc(time.Second, func() {
		tree.Happen(happens)
		tree.Advance(2*time.Second, hosttest.Idle(m.Cores), nil)
	})
	all, err := session.Examine(t.Context(), s)
	later.Stop()
	src.Close()
	synctest.Wait()
	return all, err
}

func toHost(s *session.Subject) {
	s.Spec = engine.Spec{Host: "203.0.113.9"}
	s.Path = foundPath{probes.PathMTU{Out: probes.Got(1500), Reported: probes.Unknown[int](probes.Absent, "no router named a limit")}}
}

// What is wrong with a computer before any traffic, through the readers of /proc, /sys,
// netlink and ethtool.
func TestExamineFinds(t *testing.T) {
	tests := []struct {
		name    string
		machine func(*hosttest.Machine)
		happens probes.Vitals
		subject func(*session.Subject)
		want    []string
		text    string
	}{
		{"nothing", nil, probes.Vitals{}, nil, []string{"X03"}, "Nothing that can be seen"},
		{"nothing on the way to a host", nil, probes.Vitals{}, toHost, []string{"X03"}, ""},
		{"a link of 100 Mbit/s", func(m *hosttest.Machine) {
			m.NIC.SpeedBps = 100e6
			m.NIC.Card.Supported, m.NIC.Card.Advertised = probes.Got([]float64{100e6, 1e9}), probes.Got([]float64{100e6, 1e9})
		}, probes.Vitals{}, nil, []string{"R01"}, "came up at 100 Mbit/s; both ends can do 1.00 Gbit/s"},
		{"half duplex", func(m *hosttest.Machine) { m.NIC.Half = true }, probes.Vitals{}, toHost, []string{"R02"}, "Half duplex on enp1s0"},
		{"a slot of one lane", func(m *hosttest.Machine) {
			m.NIC.Slot.Link = hosttest.Link{GTps: 5, Lanes: 1, MaxGTps: 5, MaxLanes: 8}
		}, probes.Vitals{}, nil, []string{"R04"}, "PCIe 2.0 x1: about 3."},
		{"a narrow bridge before a good slot", func(m *hosttest.Machine) {
			m.NIC.Slot.Bridges = []hosttest.Bridge{{PCI: "0000:00:1c.0", Link: hosttest.Link{GTps: 5, Lanes: 1, MaxGTps: 8, MaxLanes: 4}}}
		}, probes.Vitals{}, nil, []string{"R04"}, "PCIe 2.0 x1"},
		{"powersave", func(m *hosttest.Machine) { m.Scaling = "acpi-cpufreq" }, probes.Vitals{}, nil, []string{"R18"}, "powersave"},
		{"one queue", func(m *hosttest.Machine) {
			m.NIC.Queues, m.NIC.Card.Channels = 1, probes.Got(probes.Channels{Now: 1, Max: 1})
		}, probes.Vitals{}, nil, []string{"R15"}, "one receive queue"},
		{"half a core", func(m *hosttest.Machine) { m.Quota = 0.5 }, probes.Vitals{}, nil, []string{"R17"}, "0.5 of 4 cores"},
		{"LRO where packets are forwarded", func(m *hosttest.Machine) {
			m.NIC.LRO, m.Settings = true, map[string]string{"net.ipv4.ip_forward": "1"}
		}, probes.Vitals{}, nil, []string{"R26"}, "LRO of enp1s0"},
		{"a table that is full", nil, probes.Vitals{Conntrack: probes.Got(probes.Conntrack{Count: 257000, Max: 262144})}, nil, []string{"R48"}, "98 % full"},
		{"damaged frames", nil, probes.Vitals{Link: probes.Got(probes.Counters{"rx_crc_errors": 12})}, nil, []string{"R03"}, "damaged on enp1s0"},
		{"a black hole", func(m *hosttest.Machine) { m.NIC.MTU = 9000 }, probes.Vitals{}, func(s *session.Subject) {
			toHost(s)
			s.Path = foundPath{probes.PathMTU{Out: probes.Got(4074), TooBig: probes.Got(4075), BlackHole: true, Reported: probes.Unknown[int](probes.Absent, "no router named a limit")}}
		}, []string{"R43"}, "4074"},
		{"the gateway itself", func(m *hosttest.Machine) { m.NIC.Gateway = netip.MustParseAddr("192.168.10.1") }, probes.Vitals{}, func(s *session.Subject) {
			toHost(s)
			s.Spec.Host = "192.168.10.1"
		}, []string{"R45b"}, "router"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := tidy()
				if tt.machine != nil {
					tt.machine(&m)
				}
				all, err := examine(t, m, tt.happens, tt.subject)
				if err != nil {
					t.Fatal(err)
				}
				x := diagnose.Examination(all)
				var codes []string
				for _, f := range x.Findings {
					codes = append(codes, f.Code)
				}
				if diff := cmp.Diff(tt.want, codes); diff != "" {
					t.Fatalf("findings (-want +got):\n%s%+v", diff, x.Findings)
				}
				if !strings.Contains(x.Findings[0].Text, tt.text) {
					t.Errorf("got %q, want %q in it", x.Findings[0].Text, tt.text)
				}
			})
		})
	}
}

func TestExamineTheWayToAHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tidy()
		m.NIC.Stack = []hosttest.Device{{Name: "enp1s0.7", Kind: "vlan", MTU: 1500}}
		began := time.Now()
		all, err := examine(t, m, probes.Vitals{}, toHost)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("took %v, want 5 s at most", took)
		}
		if len(all) != 1 {
			t.Fatalf("%d interfaces, want the one of the route", len(all))
		}
		e := all[0]
		if near := e.Ends[engine.Local]; near.NIC.Value.Name != "enp1s0.7" || near.Vitals.Window != 2*time.Second || !near.Cores.Known() {
			t.Errorf("interface %s, window %v, cores %+v", near.NIC.Value.Name, near.Vitals.Window, near.Cores)
		}
		if e.Path.Dest != netip.MustParseAddr("203.0.113.9") || e.Path.Source != m.NIC.Source || e.Path.Gateway != probes.Got(false) {
			t.Errorf("path %+v", e.Path)
		}
		if e.Path.RTT.Idle.Value != 40*time.Millisecond || e.Path.MTU.Out.Value != 1500 {
			t.Errorf("round trip %+v, MTU %+v", e.Path.RTT, e.Path.MTU)
		}
		// 10 Gbit/s through a tag and an MTU of 1500: 1448 of 1542 bytes.
		if c := e.Path.Ceiling.Value; c.Bps < 9.38e9 || c.Bps > 9.40e9 {
			t.Errorf("ceiling %v bit/s, want 9.39e9", c.Bps)
		}
		if !e.Test.Idle || e.Test.SameHost || e.Test.Spec.Port != 5201 {
			t.Errorf("test %+v", e.Test)
		}
	})
}

// This very computer is no path.
func TestExamineItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, err := examine(t, tidy(), probes.Vitals{}, func(s *session.Subject) {
			toHost(s)
			s.Spec.Host = "127.0.0.1"
		})
		if err != nil {
			t.Fatal(err)
		}
		e := all[0]
		if !e.Test.SameHost || e.Path.MTU.Out.Status != probes.Absent || e.Path.RTT.Idle.Why() != "the host is this computer" {
			t.Errorf("same host %v, path %+v", e.Test.SameHost, e.Path)
		}
	})
}

// Without a host: the interface of the default route, and all hardware that is up and not
// below it.
func TestExamineInterfaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tidy()
		m.NIC.Stack = []hosttest.Device{{Name: "bond0", Kind: "bond", MTU: 1500, Legs: []hosttest.Leg{{Name: "enp9s0", SpeedBps: 1e9}}}}
		all, err := examine(t, m, probes.Vitals{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range all {
			names = append(names, e.Ends[engine.Local].NIC.Value.Name)
		}
		if want := []string{"bond0", "enp9s0"}; !slices.Equal(names, want) {
			t.Errorf("looked at %v, want %v", names, want)
		}
		if c := all[1].Path.Ceiling; c.Value.LinkBps != 1e9 {
			t.Errorf("ceiling of the second: %+v", c)
		}
	})
}

// nowhere is a computer without any interface but loopback.
type nowhere struct {
	engine.HostSource
	engine.EvidenceSource
}

func (nowhere) Route(context.Context, netip.Addr) probes.Reading[probes.Route] {
	return probes.Unknown[probes.Route](probes.Failed, "network is unreachable")
}

func (nowhere) Interfaces(context.Context) probes.Reading[[]probes.NIC] {
	return probes.Got([]probes.NIC{})
}

func TestExamineWithoutNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unplug := func(s *session.Subject) {
			alone := nowhere{s.Host, s.Evidence}
			s.Host, s.Evidence, s.Interfaces = alone, alone, alone
		}
		all, err := examine(t, tidy(), probes.Vitals{}, unplug)
		if err != nil || len(all) != 1 || all[0].Ends[engine.Local].NIC.Why() != "no interface but loopback is up" {
			t.Errorf("error %v, evidence %+v", err, all)
		}
		_, err = examine(t, tidy(), probes.Vitals{}, func(s *session.Subject) {
			toHost(s)
			unplug(s)
		})
		var e *iperf.Error
		if !errors.As(err, &e) || !strings.Contains(e.Text, "no route leads to 203.0.113.9: network is unreachable") || e.Hint == "" {
			t.Errorf("error %v, want that no route leads there", err)
		}
	})
}

// Whoever has asked may leave at any time.
func TestExamineInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(500*time.Millisecond, cancel)
		src := host.NewAt(hosttest.New(t, tidy()).Root())
		began := time.Now()
		_, err := session.Examine(ctx, session.Subject{Host: src, Evidence: src, Interfaces: src})
		if took := time.Since(began); !errors.Is(err, context.Canceled) || took > 600*time.Millisecond {
			t.Errorf("error %v after %v, want context.Canceled after 500 ms", err, took)
		}
		src.Close()
	})
}
