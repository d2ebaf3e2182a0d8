package diagnose

import (
	"strings"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// AddLoad takes one reading of the host's load. Readings without a window (the first
// one) replace all before, since they say why nothing is known.
func (r *Recent) AddLoad(l probes.Load) {
	if !l.Cores.Known() && !l.Threads.Known() && !l.Process.Known() {
		r.loads = append(r.loads[:0], l)
		return
	}
	if len(r.loads) == 1 && r.loads[0].Window <= 0 {
		r.loads = r.loads[:0]
	}
	span := l.Window
	for i := len(r.loads) - 1; i >= 0; i-- {
		if span >= loadWindow {
			r.loads = append(r.loads[:0], r.loads[i+1:]...)
			break
		}
		span += r.loads[i].Window
	}
	r.loads = append(r.loads, l)
}

// Load is the mean of the last 2 s of what AddLoad took: each core, each thread and the
// process, weighted by time. What the newest reading does not know stays unknown.
func (r *Recent) Load() probes.Load {
	if len(r.loads) == 0 {
		why := "not read yet"
		return probes.Load{
			Cores:   probes.Unknown[[]probes.CoreLoad](probes.NotRead, why),
			Threads: probes.Unknown[[]probes.ThreadLoad](probes.NotRead, why),
			Process: probes.Unknown[probes.ThreadLoad](probes.NotRead, why),
			Others:  probes.Unknown[[]probes.ThreadLoad](probes.NotRead, why),
		}
	}
	last := &r.loads[len(r.loads)-1]
	mean := probes.Load{At: last.At, Cores: last.Cores, Threads: last.Threads, Process: last.Process, Others: last.Others}
	for i := range r.loads {
		mean.Window += r.loads[i].Window
	}
	if last.Cores.Known() {
		mean.Cores = probes.Got(r.meanCores(last.Cores.Value))
	}
	if last.Threads.Known() {
		mean.Threads = probes.Got(r.meanThreads(last.Threads.Value))
	}
	if last.Process.Known() {
		mean.Process = probes.Got(r.meanProcess(last.Process.Value))
	}
	return mean
}

func (r *Recent) meanCores(now []probes.CoreLoad) []probes.CoreLoad {
	means := make([]probes.CoreLoad, len(now))
	for place, c := range now {
		sum, span := probes.CoreLoad{Core: c.Core}, 0.0
		for i := range r.loads {
			t := r.loads[i].Window.Seconds()
			for _, l := range at(r.loads[i].Cores.Value, place) {
				if l.Core != c.Core {
					continue
				}
				span += t
				sum.User += t * l.User
				sum.System += t * l.System
				sum.IRQ += t * l.IRQ
				sum.SoftIRQ += t * l.SoftIRQ
				sum.Steal += t * l.Steal
				sum.Idle += t * l.Idle
				sum.IOWait += t * l.IOWait
			}
		}
		if span <= 0 {
			means[place] = c
			continue
		}
		sum.User /= span
		sum.System /= span
		sum.IRQ /= span
		sum.SoftIRQ /= span
		sum.Steal /= span
		sum.Idle /= span
		sum.IOWait /= span
		means[place] = sum
	}
	return means
}

// at gives the element at a place as a slice of one, or none: a core that has gone
// offline leaves its place to another.
func at(cores []probes.CoreLoad, place int) []probes.CoreLoad {
	if place >= len(cores) {
		return nil
	}
	return cores[place : place+1]
}

func (r *Recent) meanThreads(now []probes.ThreadLoad) []probes.ThreadLoad {
	means := make([]probes.ThreadLoad, len(now))
	for place, t := range now {
		means[place] = r.meanThread(t, func(l *probes.Load) (probes.ThreadLoad, bool) {
			for _, u := range l.Threads.Value {
				if u.TID == t.TID {
					return u, true
				}
			}
			return probes.ThreadLoad{}, false
		})
	}
	return means
}

func (r *Recent) meanProcess(now probes.ThreadLoad) probes.ThreadLoad {
	return r.meanThread(now, func(l *probes.Load) (probes.ThreadLoad, bool) { return l.Process.Get() })
}

// meanThread averages one thread, or the process, over the readings that have it; name
// and core are those of now.
func (r *Recent) meanThread(now probes.ThreadLoad, of func(*probes.Load) (probes.ThreadLoad, bool)) probes.ThreadLoad {
	mean, span := now, 0.0
	mean.User, mean.System = 0, 0
	for i := range r.loads {
		if u, ok := of(&r.loads[i]); ok {
			t := r.loads[i].Window.Seconds()
			span += t
			mean.User += t * u.User
			mean.System += t * u.System
		}
	}
	if span <= 0 {
		return now
	}
	mean.User /= span
	mean.System /= span
	return mean
}

// NewEnd makes one end of a load that covers some seconds. role is the end's own role in
// the test.
func NewEnd(load probes.Load, role engine.Role, age time.Duration) End {
	e := End{Cores: load.Cores, Window: load.Window, Age: age, Others: load.Others}
	if threads, ok := load.Threads.Get(); ok {
		e.Threads = probes.Got(payloadThreads(threads, role))
	} else {
		e.Threads = probes.Unknown[[]Thread](load.Threads.Status, load.Threads.Why())
	}
	if p, ok := load.Process.Get(); ok {
		e.Process = probes.Got(p.Busy())
	} else {
		e.Process = probes.Unknown[float64](load.Process.Status, load.Process.Why())
	}
	return e
}

// UnknownEnd is an end that nothing is known about, for one reason.
func UnknownEnd(why string) End {
	return End{
		Cores:    absent[[]probes.CoreLoad](why),
		Threads:  absent[[]Thread](why),
		Process:  absent[float64](why),
		Host:     absent[probes.Host](why),
		NIC:      absent[probes.NIC](why),
		Others:   absent[[]probes.ThreadLoad](why),
		Vitals:   UnknownVitals(why),
		Adapter:  UnknownAdapter(why),
		Firewall: probes.Firewall{Kind: absent[string](why), Rules: absent[int](why), Tracked: absent[bool](why), Router: absent[bool](why)},
		Disk:     absent[probes.Disk](why),
		Memory:   absent[float64](why),
	}
}

// UnknownVitals are vitals that nothing is known of, for one reason.
func UnknownVitals(why string) probes.Vitals {
	span := absent[time.Duration](why)
	return probes.Vitals{
		TCP: absent[probes.Counters](why), Link: absent[probes.Counters](why), Driver: absent[probes.Counters](why),
		SocketPages: absent[uint64](why), Carrier: absent[uint64](why),
		Softnet: absent[[]probes.Softnet](why), NetRx: absent[[]uint64](why),
		Qdiscs: absent[[]probes.Qdisc](why), Queues: absent[[]probes.QueueIRQ](why),
		Pressure:  probes.Pressure{CPU: span, Memory: span, IO: span},
		Quota:     probes.Quota{Cores: absent[float64](why), Throttled: span},
		Thermal:   probes.Thermal{Events: absent[uint64](why), Throttled: span, Margin: absent[float64](why)},
		Conntrack: absent[probes.Conntrack](why),
		CoreHz:    absent[[]float64](why),
		Disks:     absent[[]probes.DiskTimes](why),
		Dirty:     absent[float64](why),
		Members:   absent[[]probes.Member](why),
	}
}

// UnknownAdapter is a network card that nothing is known of, for one reason.
func UnknownAdapter(why string) probes.Adapter {
	flag := absent[bool](why)
	return probes.Adapter{
		Supported: absent[[]float64](why), Advertised: absent[[]float64](why), Autoneg: flag,
		Rings: absent[probes.Rings](why), Channels: absent[probes.Channels](why),
		Pause: absent[probes.Pause](why), EEE: absent[probes.EEE](why),
		PCIe: absent[probes.PCIe](why), ASPM: flag,
		NUMA: absent[int](why), LocalCores: absent[[]int](why), RPS: flag,
		Members: absent[[]probes.Member](why), WiFi: absent[probes.WiFi](why), Optics: absent[probes.Optics](why),
	}
}

func absent[T any](why string) probes.Reading[T] { return probes.Unknown[T](probes.Absent, why) }

// Names of the threads that move payload, after probes.ThreadPrefix.
const (
	senderMark   = probes.ThreadPrefix + "tx"
	receiverMark = probes.ThreadPrefix + "rx"
)

// payloadThreads keeps the threads that move payload and says which way: a client's
// senders and a server's receivers upload.
func payloadThreads(all []probes.ThreadLoad, role engine.Role) []Thread {
	threads := make([]Thread, 0, len(all))
	for _, t := range all {
		sends := strings.HasPrefix(t.Name, senderMark)
		if !sends && !strings.HasPrefix(t.Name, receiverMark) {
			continue
		}
		dir := engine.Download
		if sends == (role == engine.Client) {
			dir = engine.Upload
		}
		threads = append(threads, Thread{ThreadLoad: t, Dir: dir, Sends: sends})
	}
	return threads
}

// Split divides the load of a computer that runs both ends: the threads that move the
// given streams are the client's, the rest the server's. Where none is left the server
// is another program, and nothing is known of its threads.
func Split(load probes.Load, streams []engine.Counters) (client, server probes.Load) {
	client, server = load, load
	threads, ok := load.Threads.Get()
	if !ok {
		return client, server
	}
	own := make(map[int]bool, len(streams))
	for i := range streams {
		own[streams[i].TID] = true
	}
	var a, b []probes.ThreadLoad
	for _, t := range threads {
		if own[t.TID] {
			a = append(a, t)
		} else {
			b = append(b, t)
		}
	}
	client.Threads, server.Threads = probes.Got(a), probes.Got(b)
	if len(b) == 0 {
		why := "the other end is another program"
		server.Threads = probes.Unknown[[]probes.ThreadLoad](probes.Absent, why)
		server.Process = probes.Unknown[probes.ThreadLoad](probes.Absent, why)
	}
	return client, server
}
