package diagnose

import (
	"strconv"
	"strings"

	"linerate/engine"
	"linerate/probes"
)

// counted gives how far one counter of one end has come in the window of its vitals.
func counted(set probes.Reading[probes.Counters], name string) probes.Reading[float64] {
	all, ok := set.Get()
	if !ok {
		return probes.Unknown[float64](set.Status, set.Why())
	}
	n, ok := all.Get(name)
	if !ok {
		return probes.Unknown[float64](probes.Absent, "no counter "+name)
	}
	return probes.Got(float64(n))
}

// tcp gives a protocol counter of one end: "TcpExt.TCPLostRetransmit".
func (e *Evidence) tcp(side engine.Side, name string) probes.Reading[float64] {
	return counted(e.end(side).Vitals.TCP, name)
}

// link gives a counter of one end's interface: "rx_missed_errors".
func (e *Evidence) link(side engine.Side, name string) probes.Reading[float64] {
	return counted(e.end(side).Vitals.Link, name)
}

// sum adds up counters; those that this kernel or driver lacks count as nothing, but one
// of them must be there.
func sum(counters ...probes.Reading[float64]) probes.Reading[float64] {
	total := counters[0]
	for _, c := range counters[1:] {
		switch {
		case total.Known() && c.Known():
			total.Value += c.Value
		case c.Known():
			total = c
		}
	}
	return total
}

// perSecond divides a count by the window of one end's vitals.
func (e *Evidence) perSecond(side engine.Side, count probes.Reading[float64]) probes.Reading[float64] {
	span := e.end(side).Vitals.Window.Seconds()
	switch {
	case !count.Known():
		return count
	case span <= 0:
		return probes.Unknown[float64](probes.NotRead, "first reading")
	}
	return probes.Got(count.Value / span)
}

// netRxShare is a core's part of all NET_RX softirqs of one end.
func (e *Evidence) netRxShare(side engine.Side, core int) probes.Reading[float64] {
	r := e.end(side).Vitals.NetRx
	all, ok := r.Get()
	if !ok {
		return probes.Unknown[float64](r.Status, r.Why())
	}
	var total uint64
	for _, n := range all {
		total += n
	}
	if total == 0 || core < 0 || core >= len(all) {
		return probes.Unknown[float64](probes.Absent, "no NET_RX softirq was counted")
	}
	return probes.Got(float64(all[core]) / float64(total))
}

// settingAt gives one number of a kernel setting of several ("4096 131072 33554432").
func (e *Evidence) settingAt(side engine.Side, key string, place int) probes.Reading[float64] {
	r := e.end(side).Settings[key]
	s, ok := r.Get()
	if !ok {
		why := r.Why()
		if host := e.end(side).Host; r.Status == probes.NotRead && !host.Known() {
			why = host.Why()
		}
		return probes.Unknown[float64](r.Status, key+": "+why)
	}
	fields := strings.Fields(s.Value)
	if place >= len(fields) {
		return probes.Unknown[float64](probes.Failed, key+" has only "+strconv.Itoa(len(fields))+" numbers")
	}
	n, err := strconv.ParseFloat(fields[place], 64)
	if err != nil {
		return probes.Unknown[float64](probes.Failed, key+" is not a number")
	}
	return probes.Got(n)
}
