package session_test

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"linerate/engine"
	"linerate/engine/diagnose"
	"linerate/engine/session"
	"linerate/engine/session/sessiontest"
	"linerate/probes"
	"linerate/probes/host/hosttest"
)

// onMachine runs an endless upload of one stream on a computer out of a fixture tree, for
// long enough that the rules answer, and gives the last snapshot and the evidence.
func onMachine(t *testing.T, m hosttest.Machine, server *sessiontest.Server, busy float64, edit ...func(*session.Config)) (*engine.Snapshot, diagnose.Evidence) {
	t.Helper()
	cores := hosttest.Idle(m.Cores)
	for i := range cores {
		cores[i] = probes.CoreLoad{Core: i, System: busy, Idle: 1 - busy}
	}
	host := sessiontest.NewHost(t, m, server, func(*sessiontest.Test) ([]probes.CoreLoad, []probes.ThreadLoad) { return cores, nil })
	run := begin(t, server, endless(1), append(edit, func(c *session.Config) { c.Host, c.Evidence = host, host })...)
	run.Sleep(10 * time.Second)
	snapshot := run.Snapshot()
	run.Quit()
	host.Close()
	e, ok := run.Evidence()
	if !ok {
		t.Fatal("the rules were never asked")
	}
	return snapshot, e
}

// codesOf lists all findings about one direction, the verdict first.
func codesOf(s *engine.Snapshot, dir engine.Direction) (codes []string) {
	for _, v := range s.Verdicts {
		if v.Dir != dir {
			continue
		}
		codes = append(codes, v.Main.Code)
		for _, f := range v.Also {
			codes = append(codes, f.Code)
		}
	}
	return codes
}

// What diagnosis.md d.3 says of stacks of devices, through the readers of sysfs and
// netlink, with a test and without.
func TestCeilings(t *testing.T) {
	outer4, outer6 := netip.MustParseAddr("198.51.100.9"), netip.MustParseAddr("2001:db8:9::9")
	wireGuard := func(mtu int, outer netip.Addr) []hosttest.Device {
		return []hosttest.Device{{Name: "wg0", Kind: "wireguard", MTU: mtu, Outer: outer}}
	}
	tests := []struct {
		name  string
		speed float64
		stack []hosttest.Device
		dest  string
		want  float64
	}{
		{"IPv4", 1e9, nil, "192.168.10.1", 941.5e6},
		{"IPv6", 1e9, nil, "2001:db8::9", 928.5e6},
		{"VLAN", 10e9, []hosttest.Device{{Name: "enp1s0.7", Kind: "vlan", MTU: 1500}}, "192.168.10.1", 9.390e9},
		{"PPPoE", 1e9, []hosttest.Device{{Name: "ppp0", Kind: "ppp", MTU: 1492}}, "192.168.10.1", 936.3e6},
		{"PPPoE in a VLAN", 1e9, []hosttest.Device{{Name: "enp1s0.7", Kind: "vlan", MTU: 1500}, {Name: "ppp0", Kind: "ppp", MTU: 1492}}, "192.168.10.1", 933.9e6},
		{"WireGuard over IPv4", 1e9, wireGuard(1420, outer4), "192.168.10.1", 901.2e6},
		{"WireGuard over IPv4, as large as it can be", 1e9, wireGuard(1440, outer4), "192.168.10.1", 902.5e6},
		{"WireGuard over IPv6", 1e9, wireGuard(1420, outer6), "192.168.10.1", 889.5e6},
		{"WireGuard over a bond", 1e9, append([]hosttest.Device{{Name: "bond0", Kind: "bond", MTU: 1500, Legs: []hosttest.Leg{{Name: "enp9s0", SpeedBps: 1e9}}}}, wireGuard(1420, outer4)...), "192.168.10.1", 2 * 901.2e6},
	}
	for _, tt := range tests {
		m := tidy()
		m.NIC.SpeedBps, m.NIC.Stack, m.NIC.Source6 = tt.speed, tt.stack, netip.MustParseAddr("2001:db8::2")
		m.NIC.Card = probes.Adapter{}
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &sessiontest.Server{Addr: netip.AddrPortFrom(netip.MustParseAddr(tt.dest), 5201)}
				s, e := onMachine(t, m, server, 0)
				if c := s.Sums[0].Ceiling; !near(c.Value, tt.want, 0.0005) {
					t.Errorf("while a test runs: got %.5g (%s), want %.5g bit/s", c.Value, c.Why(), tt.want)
				}
				if c := e.Path.Ceiling; !near(c.Value.LinkBps, tt.speed, 1e-9) && tt.name != "WireGuard over a bond" {
					t.Errorf("line speed %.4g (%s), want %.4g bit/s", c.Value.LinkBps, c.Why(), tt.speed)
				}
			})
			synctest.Test(t, func(t *testing.T) {
				all, err := examine(t, m, probes.Vitals{}, func(s *session.Subject) { s.Spec = engine.Spec{Host: tt.dest} })
				if err != nil {
					t.Fatal(err)
				}
				if c := all[0].Path.Ceiling; !near(c.Value.Bps, tt.want, 0.0005) {
					t.Errorf("without a test: got %.5g (%s), want %.5g bit/s", c.Value.Bps, c.Why(), tt.want)
				}
			})
		})
	}
}

// A port of this computer that SSH carries on.
func TestListenerOnLoopback(t *testing.T) {
	tests := []struct {
		name, program string
		addr          string
		tunnel        bool
		status        probes.Status
		why           string
	}{
		{"SSH", "sshd", "127.0.0.1:5201", true, probes.OK, ""},
		{"a container's proxy", "docker-proxy", "127.0.0.1:5201", true, probes.OK, ""},
		{"iperf3", "iperf3", "127.0.0.1:5201", false, probes.OK, ""},
		{"nobody that is seen", "iperf3", "127.0.0.1:5202", false, probes.Absent, "no program here listens on port 5202"},
		{"another computer", "sshd", "192.168.10.1:5201", false, probes.Absent, "the host is another computer"},
	}
	for _, tt := range tests {
		m := tidy()
		m.Listeners = map[int]string{5201: tt.program}
		addr := netip.MustParseAddrPort(tt.addr)
		check := func(t *testing.T, l probes.Reading[string], codes []string) {
			t.Helper()
			if l.Status != tt.status || l.Why() != tt.why || l.Known() && l.Value != tt.program {
				t.Errorf("listener %+v, want %q, %v, %q", l, tt.program, tt.status, tt.why)
			}
			if got := slices.Contains(codes, diagnose.ThroughTunnel); got != tt.tunnel {
				t.Errorf("findings %v, want R45c among them: %v", codes, tt.tunnel)
			}
		}
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, e := onMachine(t, m, &sessiontest.Server{Addr: addr}, .1)
				check(t, e.Path.Listener, codesOf(s, engine.Upload))
			})
			synctest.Test(t, func(t *testing.T) {
				all, err := examine(t, m, probes.Vitals{}, func(s *session.Subject) {
					s.Spec = engine.Spec{Host: addr.Addr().String(), Port: int(addr.Port())}
				})
				if err != nil {
					t.Fatal(err)
				}
				var codes []string
				for _, f := range diagnose.Examination(all).Findings {
					codes = append(codes, f.Code)
				}
				check(t, all[0].Path.Listener, codes)
			})
		})
	}
}

// counted is a computer that says how often it was asked who listens.
type counted struct {
	*machine
	mu    sync.Mutex
	asked int
}

func (c *counted) Listener(ctx context.Context, at netip.AddrPort) probes.Reading[probes.Program] {
	c.mu.Lock()
	c.asked++
	c.mu.Unlock()
	return c.machine.Listener(ctx, at)
}

type machine = sessiontest.Host // embedded by its own name, it would hide its method Host

// Every process is looked into for that: once is enough.
func TestListenerIsAskedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tidy()
		m.Listeners = map[int]string{5201: "sshd"}
		server := &sessiontest.Server{Addr: netip.MustParseAddrPort("127.0.0.1:5201")}
		host := &counted{machine: sessiontest.NewHost(t, m, server, func(*sessiontest.Test) ([]probes.CoreLoad, []probes.ThreadLoad) {
			return hosttest.Idle(m.Cores), nil
		})}
		run := begin(t, server, endless(1), func(c *session.Config) { c.Host, c.Evidence = host, host })
		run.Sleep(5 * time.Second)
		run.Do(engine.AddStreams{Delta: 1})
		run.Sleep(70 * time.Second)
		run.Quit()
		host.Close()
		if host.asked != 1 {
			t.Errorf("asked %d times in 75 s and two steps, want once", host.asked)
		}
	})
}

// One channel of DDR4-2400 has 154 Gbit/s, of which an upload of 40 takes 120.
func TestMemoryBandwidthIsTheLimit(t *testing.T) {
	for _, tt := range []struct {
		name    string
		modules []hosttest.Module
		want    bool
	}{
		{"one channel", []hosttest.Module{{Place: "ChannelA-DIMM0", MegaRate: 2400, Width: 64}}, true},
		{"two channels", []hosttest.Module{{Place: "ChannelA-DIMM0", MegaRate: 2400, Width: 64}, {Place: "ChannelB-DIMM0", MegaRate: 2400, Width: 64}}, false},
		{"not told", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := tidy()
				m.Memory, m.NIC.SpeedBps = tt.modules, 100e9
				server := &sessiontest.Server{Rate: func(engine.Spec, engine.Conn, time.Duration) float64 { return 40e9 }}
				s, e := onMachine(t, m, server, .7)
				if codes := codesOf(s, engine.Upload); slices.Contains(codes, diagnose.MemoryBound) != tt.want {
					t.Errorf("findings %v, want R50 among them: %v", codes, tt.want)
				}
				if got := e.Ends[engine.Local].Memory; got.Known() != (tt.modules != nil) || got.Value != 153.6e9*float64(len(tt.modules)) {
					t.Errorf("memory %+v", got)
				}
			})
			synctest.Test(t, func(t *testing.T) {
				m := tidy()
				m.Memory = tt.modules
				all, err := examine(t, m, probes.Vitals{}, toHost)
				if err != nil {
					t.Fatal(err)
				}
				if got := all[0].Ends[engine.Local].Memory; got.Known() != (tt.modules != nil) {
					t.Errorf("without a test: memory %+v", got)
				}
			})
		})
	}
}

// A far receiver moves four bytes for each that arrives: 120 of 154 Gbit/s.
func TestFarMemoryBandwidthIsTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := sessiontest.FarEnd{Memory: 153.6e9, Load: func(time.Duration) ([]probes.CoreLoad, []probes.ThreadLoad) {
			cores := hosttest.Idle(4)
			for i := range cores {
				cores[i] = probes.CoreLoad{Core: i, System: .7, Idle: .3}
			}
			return cores, nil
		}}
		server := &sessiontest.Server{Agent: "linerate 0.1", Far: &far, Rate: func(engine.Spec, engine.Conn, time.Duration) float64 { return 30e9 }}
		run := begin(t, server, endless(1))
		run.Sleep(10 * time.Second)
		s := run.Snapshot()
		run.Quit()
		if codes := codesOf(s, engine.Upload); !slices.Contains(codes, diagnose.MemoryBound) {
			t.Errorf("findings %v, want R50 among them", codes)
		}
	})
}

// A link of 1 Gbit/s where the operator says that there are ten.
func TestExpectedLineSpeed(t *testing.T) {
	one := tidy()
	one.NIC.SpeedBps = 1e9
	one.NIC.Card.Supported, one.NIC.Card.Advertised = probes.Got([]float64{1e9}), probes.Got([]float64{1e9})
	for _, tt := range []struct {
		name    string
		machine hosttest.Machine
		rate    float64
		expect  float64
		want    bool // of a test
		static  bool // of an examination
	}{
		{"the own link has 1G", one, 930e6, 10e9, true, true},
		{"some other link has 1G", tidy(), 938e6, 10e9, true, false},
		{"all is as it should be", tidy(), 9.4e9, 10e9, false, false},
		{"nothing was named", one, 930e6, 0, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &sessiontest.Server{Rate: func(engine.Spec, engine.Conn, time.Duration) float64 { return tt.rate }}
				s, _ := onMachine(t, tt.machine, server, .1, func(c *session.Config) { c.ExpectBps = tt.expect })
				if codes := codesOf(s, engine.Upload); slices.Contains(codes, diagnose.LinkBelow) != tt.want {
					t.Errorf("findings %v, want R01 among them: %v", codes, tt.want)
				}
			})
			synctest.Test(t, func(t *testing.T) {
				all, err := examine(t, tt.machine, probes.Vitals{}, func(s *session.Subject) {
					toHost(s)
					s.ExpectBps = tt.expect
				})
				if err != nil {
					t.Fatal(err)
				}
				got := slices.ContainsFunc(diagnose.Examination(all).Findings, func(f engine.Finding) bool { return f.Code == diagnose.LinkBelow })
				if got != tt.static {
					t.Errorf("without a test: R01 %v, want %v", got, tt.static)
				}
			})
		})
	}
}

// late takes a moment to read its loads.
type late struct{ sessiontest.Plain }

func (l late) Load() probes.Load {
	time.Sleep(700 * time.Microsecond)
	load := l.Plain.Load()
	load.Window = 500 * time.Millisecond
	load.Cores = probes.Got([]probes.CoreLoad{{Core: 0, System: .5, Idle: .5}})
	load.Process = probes.Got(probes.ThreadLoad{System: .4})
	return load
}

// What is read while a tick goes on is not from the future.
func TestNothingIsYoungerThanNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := linerateServer(sessiontest.FarEnd{Load: farLoad})
		run := begin(t, server, endless(1), func(c *session.Config) { c.Host = late{} })
		run.Sleep(6 * time.Second)
		for _, v := range run.Snapshot().Verdicts {
			for _, e := range v.Main.Evidence {
				if e.Age < 0 {
					t.Errorf("%s: %s is %v old", v.Main.Code, e.Name, e.Age)
				}
			}
		}
		run.Quit()
		e, _ := run.Evidence()
		ages := map[string]time.Duration{"upload": e.Flows[engine.Upload].Age, "idle": e.Flows[engine.Upload].Idle.Value}
		for side, end := range e.Ends {
			name := engine.Side(side).String()
			ages[name+" load"], ages[name+" vitals"], ages[name+" facts"] = end.Age, end.VitalsAge, end.FactsAge
		}
		for what, age := range ages {
			if age < 0 {
				t.Errorf("%s: %v old", what, age)
			}
		}
		if e.Ends[engine.Local].Age != 0 || !e.Ends[engine.Local].Cores.Known() {
			t.Errorf("local load: %v old, %+v", e.Ends[engine.Local].Age, e.Ends[engine.Local].Cores)
		}
	})
}
