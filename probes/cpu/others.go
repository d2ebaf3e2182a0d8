package cpu

import "linerate/probes"

// mostOthers bounds what Others reads: more programs than that cost more than they tell.
const mostOthers = 4096

// Others appends the times of all other processes, kernel threads included, to dst, in
// order of PID, where ThreadTimes.TID is the PID. Those whose own threads run on several
// cores have the sum. Source: /proc/PID/stat, 4 µs each, in ticks of 10 ms; in a container
// those of the container. A process that ends meanwhile is left out. Outside Linux the
// error is errors.ErrUnsupported.
func (r *Reader) Others(dst []probes.ThreadTimes) ([]probes.ThreadTimes, error) {
	return r.others.read(dst)
}
