package cpu

import (
	"fmt"
	"os"
	"path/filepath"

	"linerate/probes"
)

// Process gives the CPU time of this whole process, threads that have ended included.
// Core is -1: a process is not on one core. Source: getrusage(2), GetProcessTimes on
// Windows, proc/self/stat in a fixture.
func (r *Reader) Process() (probes.ThreadTimes, error) {
	if r.live {
		user, system, err := processTimes()
		if err != nil {
			return probes.ThreadTimes{}, fmt.Errorf("reading own CPU time: %w", err)
		}
		return probes.ThreadTimes{TID: os.Getpid(), User: user, System: system, Core: -1}, nil
	}
	path := filepath.Join(r.dir, "proc", "self", "stat")
	line, err := os.ReadFile(path)
	if err != nil {
		return probes.ThreadTimes{}, fmt.Errorf("reading own CPU time: %w", err)
	}
	s, err := parseTaskStat(line)
	if err != nil {
		return probes.ThreadTimes{}, fmt.Errorf("reading %s: %w", path, err)
	}
	return probes.ThreadTimes{Name: string(s.name), User: s.user, System: s.system, Core: -1}, nil
}
