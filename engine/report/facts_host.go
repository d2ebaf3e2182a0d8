package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
)

// factsOf says everything about an examination.
func factsOf(x *engine.Examination) *facts {
	f := &facts{}
	if m, ok := x.Machine.Get(); ok {
		f.machine(&m)
	} else {
		f.miss("computer", x.Machine.Status, x.Machine.Why())
	}
	f.load(x)
	for i := range x.Links {
		f.link(&x.Links[i])
	}
	f.subject = ""
	f.group("memory", newer(f, "memory bandwidth", x.Memory, func(bps float64) string { return "at most " + unit.Rate(bps) }))
	f.settings(x.Settings)
	f.firewall(x.Firewall, x.Vitals.Conntrack)
	if x.Target != "" {
		f.path(x)
	}
	return f
}

func (f *facts) machine(m *probes.Host) {
	f.group("computer",
		fact(f, "name", m.Name, same), fact(f, "system", m.Platform, same),
		m.OS+" "+fact(f, "kernel", m.Kernel, same)+" "+m.Arch,
		rare(f, "virtual", m.Virtual, func(s string) string { return "virtual: " + s }))
	f.group("cpu",
		fact(f, "model", m.CPU.Model, same), plural(m.CPU.Cores, "core"),
		fact(f, "clock", m.CPU.FreqHz, func(now []float64) string { return clock(now, m.CPU.MaxHz) }),
		fact(f, "governor", m.CPU.Governor, func(s string) string {
			if driver, ok := m.CPU.Driver.Get(); ok {
				s += " (" + driver + ")"
			}
			return "governor " + s
		}))
}

// clock is the range of the cores' frequencies, and the highest they may have.
func clock(now []float64, most probes.Reading[float64]) string {
	if len(now) == 0 {
		return "clock " + unit.None
	}
	s := gigahertz(slices.Max(now))
	if least := gigahertz(slices.Min(now)); least != s {
		s = least + " to " + s
	}
	if top, ok := most.Get(); ok {
		s += " of " + gigahertz(top)
	}
	return s + " GHz"
}

// load says how busy the computer was, and what held it back.
func (f *facts) load(x *engine.Examination) {
	v := &x.Vitals
	of := func(what, words string, r probes.Reading[time.Duration]) string {
		return fact(f, what, r, func(d time.Duration) string {
			if v.Window <= 0 {
				return ""
			}
			return words + " " + share(d.Seconds()/v.Window.Seconds())
		})
	}
	stalls := v.Pressure
	f.group("load",
		fact(f, "cores", x.Cores, func(cores []probes.CoreLoad) string { return busy(cores, x.Window) }),
		of("pressure cpu", "waiting for cpu", stalls.CPU), of("pressure memory", "memory", stalls.Memory), of("pressure io", "disk", stalls.IO),
		rare(f, "CPU limit", v.Quota.Cores, func(n float64) string {
			return fmt.Sprintf("CPU limit %g cores, held back %s", n, share(v.Quota.Throttled.Value.Seconds()/max(v.Window.Seconds(), 1e-9)))
		}),
		fact(f, "heat", v.Thermal.Events, func(n uint64) string {
			if n == 0 {
				return "not slowed by heat"
			}
			return "slowed by heat " + unit.Count(float64(n)) + " times"
		}),
		rare(f, "trip point", v.Thermal.Margin, func(c float64) string { return fmt.Sprintf("%.0f K below the trip point", c) }))
}

// busy sums up the cores over a window.
func busy(cores []probes.CoreLoad, window time.Duration) string {
	if len(cores) == 0 {
		return "cores " + unit.None
	}
	var sum, stolen float64
	top := cores[0]
	for _, c := range cores {
		sum, stolen = sum+c.Busy(), stolen+c.Steal
		if c.Busy() > top.Busy() {
			top = c
		}
	}
	n := float64(len(cores))
	s := fmt.Sprintf("cores %s busy over %s", share(sum/n), unit.Duration(window))
	if top.Busy() >= 0.1 {
		s += fmt.Sprintf(", core %d %s", top.Core, share(top.Busy()))
	}
	if stolen > 0 {
		s += fmt.Sprintf(", %s taken by the hypervisor", share(stolen/n))
	}
	return s
}

// shownSettings are always told, under these words.
var shownSettings = []struct{ key, words string }{
	{"net.ipv4.tcp_rmem", "tcp_rmem"}, {"net.ipv4.tcp_wmem", "tcp_wmem"},
	{"net.core.rmem_max", "rmem_max"}, {"net.core.wmem_max", "wmem_max"},
	{"net.ipv4.tcp_congestion_control", "congestion control"}, {"net.core.default_qdisc", "new queues"},
	{"net.ipv4.tcp_mtu_probing", "mtu_probing"},
}

// usualSettings are told only where they are not so.
var usualSettings = []struct{ key, value, words string }{
	{"net.ipv4.tcp_window_scaling", "1", "window scaling"}, {"net.ipv4.tcp_sack", "1", "SACK"},
	{"net.ipv4.tcp_timestamps", "1", "timestamps"}, {"net.ipv4.tcp_moderate_rcvbuf", "1", "receive buffer tuning"},
	{"net.ipv4.ip_forward", "0", "forwarding"},
}

func (f *facts) settings(s probes.Settings) {
	var parts []string
	for _, t := range shownSettings {
		parts = append(parts, fact(f, t.words, s[t.key], func(v probes.Setting) string {
			return t.words + " " + strings.Join(strings.Fields(v.Value), " ")
		}))
	}
	for _, e := range usualSettings {
		if v, ok := s[e.key].Get(); ok && v.Value != e.value {
			parts = append(parts, e.words+" "+v.Value)
		}
	}
	f.group("settings", parts...)
}

func (f *facts) firewall(w probes.Firewall, table probes.Reading[probes.Conntrack]) {
	router := ""
	if w.Router.Value {
		router = "forwards for others"
	}
	tracking := rare(f, "tracked connections", table, func(c probes.Conntrack) string {
		s := fmt.Sprintf("%d of %d connections tracked", c.Count, c.Max)
		if c.Failed > 0 {
			s += fmt.Sprintf(", %d failed", c.Failed)
		}
		return s
	})
	rules := fact(f, "rules", w.Rules, func(n int) string { return plural(n, "rule") })
	if w.Kind.Value == "none" {
		rules = ""
	}
	f.group("firewall", fact(f, "firewall", w.Kind, same), rules, tracking, router)
}

// sizes are what packets pass in one direction.
func (f *facts) sizes(what, pass string, largest, tooBig, reported probes.Reading[int], hole bool) []string {
	parts := []string{fact(f, what, largest, func(n int) string { return fmt.Sprintf("packets of %d bytes %s", n, pass) })}
	if n, ok := tooBig.Get(); ok && hole {
		parts = append(parts, fmt.Sprintf("from %d on they vanish", n))
	}
	if n, ok := reported.Get(); ok {
		parts = append(parts, fmt.Sprintf("a router says %d", n))
	}
	return parts
}

func (f *facts) path(x *engine.Examination) {
	f.subject = ""
	where := plainAddr(x.Dest) + " from " + plainAddr(x.Source)
	if x.Gateway.Value {
		where += ", this computer's gateway"
	}
	parts := []string{where,
		newer(f, "listener", x.Listener, func(program string) string { return "served by " + clean(program) }),
		fact(f, "round trip", x.RTT.Idle, func(d time.Duration) string { return "round trip " + unit.Duration(d) }),
		fact(f, "hops", x.RTT.Hops, func(n int) string {
			if n == 0 {
				return "on this link"
			}
			return plural(n, "router") + " on the way"
		}),
	}
	m := &x.MTU
	parts = append(parts, f.sizes("path MTU", "pass", m.Out, m.TooBig, m.Reported, m.BlackHole)...)
	parts = append(parts, f.sizes("path MTU back", "pass back", m.In, m.InTooBig, m.InReported, m.InBlackHole)...)
	if trip, ok := x.RTT.Idle.Get(); ok && len(x.Links) > 0 {
		if ceiling, known := x.Links[0].Ceiling.Get(); known {
			parts = append(parts, unit.Bytes(uint64(ceiling*trip.Seconds()/8))+" in flight fill it")
		}
	}
	f.group("path", parts...)
}
