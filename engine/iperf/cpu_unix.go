//go:build unix

package iperf

import (
	"time"

	"golang.org/x/sys/unix"
)

// processTimes asks getrusage(2). It cannot fail with these arguments.
func processTimes() cpuTimes {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return cpuTimes{
		user:   time.Duration(u.Utime.Nano()),
		system: time.Duration(u.Stime.Nano()),
		at:     time.Now(),
	}
}
