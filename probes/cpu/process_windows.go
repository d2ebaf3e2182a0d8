//go:build windows

package cpu

import (
	"time"

	"golang.org/x/sys/windows"
)

func processTimes() (user, system time.Duration, err error) {
	var created, exited, kernel, own windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &own); err != nil {
		return 0, 0, err
	}
	return span(own), span(kernel), nil
}

// span takes a Filetime as a duration, in its unit of 100 ns. Filetime.Nanoseconds would
// take it as a date.
func span(f windows.Filetime) time.Duration {
	return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
}
