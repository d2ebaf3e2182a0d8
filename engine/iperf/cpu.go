package iperf

import (
	"time"

	"linerate/engine"
)

// cpuTimes is the CPU time this process has used, from processTimes of the system.
type cpuTimes struct {
	user, system time.Duration
	at           time.Time
}

// since gives the use between an earlier reading and t, in percent of one core.
func (t cpuTimes) since(earlier cpuTimes) engine.CPUUse {
	wall := t.at.Sub(earlier.at)
	if wall <= 0 {
		return engine.CPUUse{}
	}
	percent := func(d time.Duration) float64 { return max(0, 100*d.Seconds()/wall.Seconds()) }
	u := engine.CPUUse{User: percent(t.user - earlier.user), System: percent(t.system - earlier.system)}
	u.Total = u.User + u.System
	return u
}
