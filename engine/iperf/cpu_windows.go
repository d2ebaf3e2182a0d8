//go:build windows

package iperf

import (
	"time"

	"golang.org/x/sys/windows"
)

// processTimes asks GetProcessTimes; on failure the use counts as nothing.
func processTimes() cpuTimes {
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user) != nil {
		return cpuTimes{at: time.Now()}
	}
	// A Filetime that holds a duration counts 100 ns from zero, not from 1601.
	span := func(f windows.Filetime) time.Duration {
		return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
	}
	return cpuTimes{user: span(user), system: span(kernel), at: time.Now()}
}
