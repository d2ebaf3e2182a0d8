package iperf

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"linerate/probes"
)

// maxDriver bounds how many of a driver's counters travel: some have thousands, most of
// them per queue.
const maxDriver = 200

// counterGroups are the kernel's counters that travel whole: those of TCP and UDP. Of the
// others, and of a driver's own, only those that count something that went wrong or was
// held back.
var counterGroups = []string{"TcpExt.", "Tcp.", "Udp.", "Udp6"}

var troubles = []string{
	"err", "drop", "discard", "miss", "fail", "frag", "reasm", "toobig", "unreach", "cepkts", "csum", "crc", "fifo", "over", "oob",
	"no_buf", "no_desc", "no_dma", "out_of_buffer", "ring_full", "alloc", "pause", "xoff", "exceeded", "kick", "stall", "timeout", "restart", "carrier", "collision", "jabber", "flow_control",
}

func troubled(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(troubles, func(part string) bool { return strings.Contains(name, part) })
}

func travels(name string) bool {
	return slices.ContainsFunc(counterGroups, func(g string) bool { return strings.HasPrefix(name, g) }) || troubled(name)
}

// picked gives the vitals with only the counters that travel. The maps are fresh: the ones
// given belong to others.
func picked(v probes.Vitals) probes.Vitals {
	v.TCP = choose(v.TCP, maxNames, travels)
	v.Link = choose(v.Link, maxNames, func(string) bool { return true })
	v.Driver = choose(v.Driver, maxDriver, troubled)
	return v
}

// maxNames is more than the kernel has.
const maxNames = 500

// choose keeps the counters whose name will do, at most so many: the same ones each time.
func choose(set probes.Reading[probes.Counters], most int, will func(name string) bool) probes.Reading[probes.Counters] {
	all, ok := set.Get()
	if !ok {
		return set
	}
	kept := make(probes.Counters, len(all))
	for name, n := range all {
		if will(name) {
			kept[name] = n
		}
	}
	if len(kept) > most {
		names := make([]string, 0, len(kept))
		for name := range kept {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names[most:] {
			delete(kept, name)
		}
	}
	return probes.Got(kept)
}

// moved gives the vitals without the counters that stand at 0, for one who knows their
// names.
func moved(v probes.Vitals) probes.Vitals {
	for _, set := range counterSets(&v) {
		*set = choose(*set, maxNames, func(name string) bool { return set.Value[name] > 0 })
	}
	return v
}

func counterSets(v *probes.Vitals) []*probes.Reading[probes.Counters] {
	return []*probes.Reading[probes.Counters]{&v.TCP, &v.Link, &v.Driver}
}

// counterNames are the counters that a peer has named, by set.
type counterNames [3]map[string]bool

// complete puts back what moved has left out, and remembers what is named for the first
// time.
func (k *counterNames) complete(v *probes.Vitals) error {
	for i, set := range counterSets(v) {
		if !set.Known() {
			continue
		}
		if k[i] == nil {
			k[i] = make(map[string]bool, len(set.Value))
		}
		if set.Value == nil {
			set.Value = make(probes.Counters, len(k[i]))
		}
		for name := range set.Value {
			k[i][name] = true
		}
		if len(k[i]) > 2*tameList {
			return fmt.Errorf("vitals with %d counters", len(k[i]))
		}
		for name := range k[i] {
			if _, ok := set.Value[name]; !ok {
				set.Value[name] = 0
			}
		}
	}
	return nil
}

// rebase brings base, from which the vitals of a test are counted, up to what now is the
// first to know: readings that were still on their way, counters that have appeared or
// have started anew.
func rebase(base *probes.Vitals, now probes.Vitals) {
	sets := counterSets(&now)
	for i, set := range counterSets(base) {
		if late(set, *sets[i]); set.Known() {
			set.Value = maps.Clone(set.Value)
		}
		for name, n := range sets[i].Value {
			if before, ok := set.Value[name]; set.Known() && (!ok || n < before) {
				set.Value[name] = n
			}
		}
	}
	late(&base.Softnet, now.Softnet)
	late(&base.NetRx, now.NetRx)
	late(&base.Qdiscs, now.Qdiscs)
	late(&base.Queues, now.Queues)
	late(&base.Pressure.CPU, now.Pressure.CPU)
	late(&base.Pressure.Memory, now.Pressure.Memory)
	late(&base.Pressure.IO, now.Pressure.IO)
	late(&base.Quota.Throttled, now.Quota.Throttled)
	late(&base.Thermal.Events, now.Thermal.Events)
	late(&base.Thermal.Throttled, now.Thermal.Throttled)
	late(&base.Conntrack, now.Conntrack)
	late(&base.Carrier, now.Carrier)
	late(&base.Disks, now.Disks)
	late(&base.Members, now.Members)
}

func late[T any](base *probes.Reading[T], now probes.Reading[T]) {
	if !base.Known() && now.Known() {
		*base = now
	}
}
