package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Meter tells how busy programs that are none of the test's keep this computer: what is
// measured beside them says little about cores.
type Meter struct {
	began time.Time
	used  time.Duration
}

// Watch begins to measure.
func Watch() (Meter, error) {
	used, err := usedByOthers()
	return Meter{time.Now(), used}, err
}

// Others is how many cores, on average since Watch, were used by programs that neither
// this process has started nor the kernel runs. Short-lived ones are counted with the
// program that waited for them.
func (m Meter) Others() (cores float64, err error) {
	used, err := usedByOthers()
	return max(0, (used-m.used).Seconds()) / time.Since(m.began).Seconds(), err
}

// process is what Others needs of /proc/PID/stat.
type process struct {
	parent int
	used   time.Duration // with the children it has waited for
}

// kthreadd is the PID of the parent of all kernel threads.
const kthreadd = 2

func usedByOthers() (used time.Duration, err error) {
	all, err := processes()
	if err != nil {
		return 0, err
	}
	for pid := range all {
		if !below(all, pid, os.Getpid()) && !below(all, pid, kthreadd) {
			used += all[pid].used
		}
	}
	return used, nil
}

// below reports whether a process is root or descends from it.
func below(all map[int]process, pid, root int) bool {
	for range 64 { // deeper trees are loops of a listing that took its time
		if pid == root {
			return true
		}
		p, ok := all[pid]
		if !ok || p.parent == 0 {
			return false
		}
		pid = p.parent
	}
	return false
}

func processes() (map[int]process, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	all := make(map[int]process, len(files))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		pid, p, err := parseStat(string(text))
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		all[pid] = p
	}
	return all, nil
}

// parseStat reads columns 1, 4 and 14 to 17: proc(5).
func parseStat(line string) (pid int, p process, err error) {
	first, _, _ := strings.Cut(line, " ")
	if pid, err = strconv.Atoi(first); err != nil {
		return 0, p, err
	}
	// The name, column 2, may hold anything.
	columns := strings.Fields(line[strings.LastIndexByte(line, ')')+1:]) // from 3 on
	if len(columns) < 15 {
		return 0, p, fmt.Errorf("only %d columns", len(columns))
	}
	if p.parent, err = strconv.Atoi(columns[1]); err != nil {
		return 0, p, err
	}
	for _, column := range columns[11:15] {
		ticks, err := strconv.Atoi(column)
		if err != nil {
			return 0, p, err
		}
		p.used += time.Duration(ticks) * (time.Second / 100)
	}
	return pid, p, nil
}
