package cpu

import "linerate/probes"

// Threads appends the times of all threads of this process to dst, in order of TID.
// Source: /proc/self/task/TID/stat, which counts in ticks of 10 ms, and, on the live
// system, each thread's CPU clock for the exact sum. A thread that ends meanwhile is left out.
// Outside Linux the error is errors.ErrUnsupported.
func (r *Reader) Threads(dst []probes.ThreadTimes) ([]probes.ThreadTimes, error) {
	return r.threads.read(dst)
}
