//go:build unix

package cpu

import (
	"time"

	"golang.org/x/sys/unix"
)

func processTimes() (user, system time.Duration, err error) {
	var use unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &use); err != nil {
		return 0, 0, err
	}
	return time.Duration(use.Utime.Nano()), time.Duration(use.Stime.Nano()), nil
}
