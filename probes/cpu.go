package probes

import "time"

// CPU describes the processor; it does not change during a test, but for FreqHz.
type CPU struct {
	Model    Reading[string]    `json:"model"`
	Cores    int                `json:"cores"`    // logical CPUs online
	FreqHz   Reading[[]float64] `json:"freq_hz"`  // current, per core; cpufreq/scaling_cur_freq
	MaxHz    Reading[float64]   `json:"max_hz"`   // cpufreq/cpuinfo_max_freq of core 0
	Governor Reading[string]    `json:"governor"` // cpufreq/scaling_governor; "mixed: …" when cores differ
	Driver   Reading[string]    `json:"driver"`   // cpufreq/scaling_driver: what "powersave" means depends on it
}

// CoreTimes are the seconds one core has spent in each state since boot, as
// /proc/stat counts them. Guest time is inside User and Nice, as the kernel has it.
type CoreTimes struct {
	Core                                                  int
	User, Nice, System, Idle, IOWait, IRQ, SoftIRQ, Steal float64
}

// CoreLoad is the share of time, 0 to 1, that one core spent in each state over a
// window. IOWait counts as idle: the core could have worked.
type CoreLoad struct {
	Core    int     `json:"core"`
	User    float64 `json:"user"` // nice included
	System  float64 `json:"system"`
	IRQ     float64 `json:"irq"`
	SoftIRQ float64 `json:"softirq"`
	Steal   float64 `json:"steal"` // taken by the hypervisor
	Idle    float64 `json:"idle"`
	IOWait  float64 `json:"iowait"` // the part of Idle in which a task of this core waited for a disk
}

// Busy is the share of time the core was not available for more work: all but idle.
func (l CoreLoad) Busy() float64 { return l.User + l.System + l.IRQ + l.SoftIRQ + l.Steal }

// Since gives the load between an earlier reading of the same core and t. Counters
// that ran backwards (a core taken offline and back; iowait on some kernels) count as
// no time; with no time between the readings the load is all idle.
func (t CoreTimes) Since(earlier CoreTimes) CoreLoad {
	d := func(now, before float64) float64 { return max(0, now-before) }
	l := CoreLoad{
		Core:    t.Core,
		User:    d(t.User, earlier.User) + d(t.Nice, earlier.Nice),
		System:  d(t.System, earlier.System),
		IRQ:     d(t.IRQ, earlier.IRQ),
		SoftIRQ: d(t.SoftIRQ, earlier.SoftIRQ),
		Steal:   d(t.Steal, earlier.Steal),
		Idle:    d(t.Idle, earlier.Idle) + d(t.IOWait, earlier.IOWait),
		IOWait:  d(t.IOWait, earlier.IOWait),
	}
	total := l.Busy() + l.Idle
	if total <= 0 {
		return CoreLoad{Core: t.Core, Idle: 1}
	}
	l.User /= total
	l.System /= total
	l.IRQ /= total
	l.SoftIRQ /= total
	l.Steal /= total
	l.Idle /= total
	l.IOWait /= total
	return l
}

// ThreadTimes is the CPU time one thread of this process has used so far.
type ThreadTimes struct {
	TID          int
	Name         string
	User, System time.Duration
	Core         int // the core it last ran on, column 39 of /proc/PID/task/TID/stat

	// Run is User plus System by the scheduler's clock, exact to the nanosecond where
	// the other two count in ticks of 10 ms; 0 where only ticks are known.
	Run time.Duration
}

// ThreadLoad is one own thread over a window.
type ThreadLoad struct {
	TID    int     `json:"tid"`
	Name   string  `json:"name"`
	User   float64 `json:"user"`   // share of one core, 0 to 1
	System float64 `json:"system"` // share of one core, 0 to 1
	Core   int     `json:"core"`
}

// Busy is the share of one core that the thread used.
func (l ThreadLoad) Busy() float64 { return l.User + l.System }

// Since gives the thread's load over the window between two readings. A thread that was
// born in the window has the zero ThreadTimes as its earlier reading.
func (t ThreadTimes) Since(earlier ThreadTimes, window time.Duration) ThreadLoad {
	l := ThreadLoad{TID: t.TID, Name: t.Name, Core: t.Core}
	if window <= 0 {
		return l
	}
	user, system := max(0, t.User-earlier.User), max(0, t.System-earlier.System)
	l.User, l.System = float64(user)/float64(window), float64(system)/float64(window)
	if t.Run == 0 {
		return l
	}
	// The ticks only say how the exact time divides. Within less than a tick, take the
	// division of the thread's whole life; before its first tick, call it system time,
	// where threads that move bytes live.
	if user+system == 0 {
		user, system = t.User, t.System
	}
	share := 0.0
	if user+system > 0 {
		share = float64(user) / float64(user+system)
	}
	run := float64(max(0, t.Run-earlier.Run)) / float64(window)
	l.User, l.System = run*share, run*(1-share)
	return l
}
