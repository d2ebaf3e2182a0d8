package diagnose

import (
	"time"

	"linerate/engine"
	"linerate/probes"
)

func queueCounts(side engine.Side, n ...uint64) func(*Evidence) {
	names := []string{"rx_queue_0_packets", "rx_queue_1_packets", "rx_queue_2_packets", "rx_queue_3_packets"}
	pairs := probes.Counters{}
	for i, v := range n {
		pairs[names[i]] = v
	}
	return driver(side, pairs)
}

func interrupts(side engine.Side, all ...probes.QueueIRQ) func(*Evidence) {
	return vitals(side, func(v *probes.Vitals) { v.Queues = probes.Got(all) })
}

// chained gives this computer's interface a chain of devices down to the wire.
func chained(kinds ...string) func(*Evidence) {
	return adapter(local, func(a *probes.Adapter) {
		for _, k := range kinds {
			a.Chain = append(a.Chain, probes.Layer{Name: k + "0", Kind: k, MTU: 1500})
		}
	})
}

func channels(side engine.Side, most int) func(*Evidence) {
	return adapter(side, func(a *probes.Adapter) { a.Channels = probes.Got(probes.Channels{Now: 1, Max: most}) })
}

func steeringRows() []row {
	hot := []func(*Evidence){direction(down), cores(local, 0, .1, .2, .1), softirq(local, 0, .94, .04)}
	four := func(edits ...func(*Evidence)) Evidence {
		return base(append([]func(*Evidence){direction(down), streams(4), cores(local, .1, .1, .92, .1),
			interrupts(local, probes.QueueIRQ{IRQ: 30, Name: "eth0-TxRx-2", Core: 2, Count: 10}), queueCounts(local, 100, 50, 700, 150)}, edits...)...)
	}
	return []row{
		{SoftIRQCore, "ksoftirqd", base(direction(down), cores(local, .97, .1, .2, .1), others(local, "ksoftirqd/0", 0, .932)), down, Holds, "Core 0 is full of packet receive (ksoftirqd/0 93 %) while 3 sit idle"},
		{SoftIRQCore, "ksoftirqd at 79 %", base(direction(down), cores(local, .97, .1, .2, .1), others(local, "ksoftirqd/0", 0, .79)), down, RuledOut, ""},
		{SoftIRQCore, "a router's rules", base(append(hot, func(e *Evidence) {
			e.Ends[local].Firewall = probes.Firewall{Rules: probes.Got(300), Router: probes.Got(true)}
		})...), down, RuledOut, "firewall's rules"},

		{SharedCore, "the core serves the interrupts", base(direction(down), softirq(local, 1, .25, .72), thread(local, "lr-rx-1", down, 1, .7), interrupts(local, probes.QueueIRQ{Core: 1})), down, Holds, "fight for core 1"},
		{SharedCore, "another core serves them", base(direction(down), far(.1, .1), virtualFar, softirq(local, 1, .25, .72), thread(local, "lr-rx-1", down, 1, .7), interrupts(local, probes.QueueIRQ{Core: 0})), down, RuledOut, ""},

		{CrowdedCore, "sender and receiver pinned to one core", base(oneHost(1, .1), thread(local, "lr-tx-1", up, 0, .5), thread(farEnd, "lr-rx-1", up, 0, .45)), up, Holds, "Core 0 is full, and the sending thread gets only 50 % of it while 1 sits idle"},
		{CrowdedCore, "94 % busy", base(oneHost(.94, .1), thread(local, "lr-tx-1", up, 0, .5), thread(farEnd, "lr-rx-1", up, 0, .44)), up, RuledOut, ""},
		{CrowdedCore, "no other core free", base(oneHost(1, .6), thread(local, "lr-tx-1", up, 0, .5), thread(farEnd, "lr-rx-1", up, 0, .45)), up, RuledOut, ""},
		{CrowdedCore, "threads unknown", base(blindThreads(local)), up, Unseen, "hidepid"},
		{CrowdedCore, "far threads unknown", base(thread(local, "lr-tx-1", up, 0, .5)), up, Unseen, "far end not visible"},

		{Collision, "70 % on queue 2", four(), down, Holds, "70 % of the packets of 4 streams arrive on one queue (queue 2), whose core 2 is 92 % busy; with 4 streams over 4 queues all meet different ones in 9 % of the tries."},
		{Collision, "60 %", four(queueCounts(local, 100, 150, 600, 150)), down, RuledOut, "60 %"},
		{Collision, "core has time left", four(cores(local, .1, .1, .89, .1)), down, RuledOut, "time left"},
		{Collision, "one stream", four(streams(1)), down, RuledOut, "one stream"},
		{Collision, "by interrupts", base(direction(down), streams(2), cores(local, .95, .1), interrupts(local,
			probes.QueueIRQ{IRQ: 1, Name: "virtio0-input.0", Core: 0, Count: 900}, probes.QueueIRQ{IRQ: 2, Name: "virtio0-output.0", Core: 1, Count: 5000}, probes.QueueIRQ{IRQ: 3, Name: "virtio0-input.1", Core: 1, Count: 100})), down, Holds, "90 %"},
		{Collision, "counters unknown", base(direction(down), streams(2), blindVitals(local)), down, Unseen, "no /proc here"},
		{Collision, "cores unknown", four(blindCores(local)), down, Unseen, "cgo"},

		{SingleQueue, "virtio, its core full", base(append(hot, channels(local, 1), nic(local, func(n *probes.NIC) { n.Driver = probes.Got("virtio_net") }))...), down, Holds, "one receive queue, and its core 0 is full of packet receive"},
		{SingleQueue, "no channels, one queue", base(append(hot, nic(local, func(n *probes.NIC) { n.RxQueues = probes.Got(1) }))...), down, Holds, ""},
		{SingleQueue, "core not full", base(direction(down), channels(local, 1), cores(local, .5)), down, RuledOut, "not full"},
		{SingleQueue, "two queues", base(append(hot, adapter(local, func(a *probes.Adapter) { a.Channels = probes.Got(probes.Channels{Now: 2, Max: 2}) }))...), down, RuledOut, "2 queues"},
		{SingleQueue, "one of eight switched on", base(append(hot, channels(local, 8))...), down, Holds, "one receive queue"},
		{SingleQueue, "veth", base(append(hot, channels(local, 1), kind(local, "veth"))...), down, RuledOut, "no card"},
		{SingleQueue, "VLAN on a card", base(append(hot, channels(local, 1), kind(local, "vlan"), chained("vlan", "physical"))...), down, Holds, ""},
		{SingleQueue, "bridge of a container host", base(append(hot, channels(local, 1), kind(local, "bridge"), chained("bridge"))...), down, RuledOut, "no card"},
		{SingleQueue, "without traffic", base(idleTest, direction(down), channels(local, 1)), down, Holds, "one core takes all packets"},
		{SingleQueue, "queues unknown", base(append(hot, nic(local, func(n *probes.NIC) { n.RxQueues = probes.Unknown[int](probes.Denied, "sysfs is hidden") }))...), down, Unseen, "hidden"},
		{SingleQueue, "cores unknown", base(direction(down), channels(local, 1), blindCores(local)), down, Unseen, "cgo"},
	}
}

func clocked(side engine.Side, governor, driver string, most float64, now ...float64) func(*Evidence) {
	return func(e *Evidence) {
		host(side, func(h *probes.Host) {
			h.CPU.Governor, h.CPU.Driver, h.CPU.MaxHz = probes.Got(governor), probes.Got(driver), probes.Got(most)
		})(e)
		vitals(side, func(v *probes.Vitals) { v.CoreHz = probes.Got(now) })(e)
	}
}

func throttled(side engine.Side, t time.Duration) func(*Evidence) {
	return vitals(side, func(v *probes.Vitals) {
		v.Quota = probes.Quota{Cores: probes.Got(1.0), Throttled: probes.Got(t)}
	})
}

func thermal(side engine.Side, events uint64, t time.Duration) func(*Evidence) {
	return vitals(side, func(v *probes.Vitals) {
		v.Thermal = probes.Thermal{Events: probes.Got(events), Throttled: probes.Got(t), Margin: probes.Got(30.0)}
	})
}

func stolenOf(side engine.Side, shares ...float64) func(*Evidence) {
	return func(e *Evidence) {
		all := []probes.CoreLoad{}
		for i, s := range shares {
			all = append(all, probes.CoreLoad{Core: i, System: .3, Steal: s, Idle: .7 - s})
		}
		e.Ends[side].Cores = probes.Got(all)
	}
}

func withheldRows() []row {
	fast := known(clocked(farEnd, "performance", "acpi-cpufreq", 4e9, 4e9, 4e9, 4e9, 4e9))
	lazy := []func(*Evidence){fast, cores(local, .1, .1, .1, .85)}
	return []row{
		{Steal, "14 % of a core", base(stolenOf(local, 0, .14, 0, 0)), up, Holds, "withholds 14 % of core 1"},
		{Steal, "9 % of one, 5 % of all", base(stolenOf(local, .09, .03, .04, .04)), up, Holds, "5 % of all cores"},
		{Steal, "9 % of one, 4 % of all", base(known(), stolenOf(local, .09, .03, .02, .02)), up, RuledOut, "4 %"},
		{Steal, "far", base(known(stolenOf(farEnd, .1, 0))), up, Holds, "far core 0"},
		{Steal, "cores unknown", base(blindCores(local)), up, Unseen, "cgo"},

		{CPUQuota, "27 %", base(throttled(local, 1080*time.Millisecond)), up, Holds, "CPU limit of 1 core holds this program back for 27 % of the time."},
		{CPUQuota, "4.9 %", base(throttled(local, 196*time.Millisecond), known(throttled(farEnd, 0))), up, RuledOut, "5 % of the time"},
		{CPUQuota, "far", base(throttled(local, 0), known(throttled(farEnd, time.Second))), up, Holds, "The far control group's"},
		{CPUQuota, "no control group", base(blindVitals(local)), up, Unseen, "no /proc here"},

		{SlowClock, "1.4 of 3.8 GHz", base(append(lazy, clocked(local, "powersave", "acpi-cpufreq", 3.8e9, 3e9, 3e9, 3e9, 1.4e9))...), up, Holds, "Core 3 runs at 1.4 of 3.8 GHz under load (powersave)."},
		{SlowClock, "81 % of its clock", base(append(lazy, clocked(local, "powersave", "acpi-cpufreq", 4e9, 3e9, 3e9, 3e9, 3.24e9))...), up, RuledOut, "3.2 of 4.0 GHz"},
		{SlowClock, "core only 79 % busy", base(fast, cores(local, .1, .1, .1, .79), clocked(local, "powersave", "acpi-cpufreq", 4e9, 3e9, 3e9, 3e9, 1.4e9)), up, RuledOut, "79 % busy"},
		{SlowClock, "intel_pstate scales", base(append(lazy, clocked(local, "powersave", "intel_pstate", 3.8e9, 3e9, 3e9, 3e9, 1.4e9))...), up, RuledOut, "powersave"},
		{SlowClock, "schedutil on ARM", base(append(lazy, clocked(local, "schedutil", "cpufreq-dt", 2e9, 1e9, 1e9, 1e9, 1.2e9), host(local, func(h *probes.Host) { h.Arch = "arm64" }))...), up, Holds, "schedutil"},
		{SlowClock, "schedutil on x86", base(append(lazy, clocked(local, "schedutil", "acpi-cpufreq", 2e9, 1e9, 1e9, 1e9, 1.2e9))...), up, RuledOut, ""},
		{SlowClock, "without traffic", base(idleTest, clocked(local, "powersave", "acpi-cpufreq", 3.8e9)), up, Holds, "may stay slow"},
		{SlowClock, "clock unknown", base(append(lazy, clocked(local, "powersave", "acpi-cpufreq", 3.8e9))...), up, Unseen, "no clock of core 3"},
		{SlowClock, "governor unknown", base(host(local, func(h *probes.Host) { h.CPU.Governor = probes.Unknown[string](probes.Absent, "no cpufreq driver") })), up, Unseen, "no cpufreq driver"},
		{SlowClock, "host unknown", base(), up, Unseen, "processor"},

		{Heat, "one event", base(thermal(local, 1, 0)), up, Holds, "throttled by heat"},
		{Heat, "5 % of the time", base(thermal(local, 0, 200*time.Millisecond)), up, Holds, ""},
		{Heat, "4.9 %", base(thermal(local, 0, 196*time.Millisecond), known(thermal(farEnd, 0, 0))), up, RuledOut, ""},
		{Heat, "sags 4 degrees below the trip point", base(cores(local, .9), clocked(local, "performance", "x", 4e9, 3e9), vitals(local, func(v *probes.Vitals) { v.Thermal.Margin = probes.Got(4.0) })), up, Holds, ""},
		{Heat, "sags 6 degrees below", base(known(thermal(farEnd, 0, 0)), cores(local, .9), clocked(local, "performance", "x", 4e9, 3e9), vitals(local, func(v *probes.Vitals) { v.Thermal.Margin = probes.Got(6.0) })), up, RuledOut, ""},
		{Heat, "no sensors", base(blindVitals(local)), up, Unseen, "no /proc here"},
	}
}
