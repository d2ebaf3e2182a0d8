package cpu

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	gopsutil "github.com/shirou/gopsutil/v3/cpu"

	"linerate/probes"
)

// errNoCoreTimes is for macOS, where gopsutil v3 needs cgo to ask the Mach host port.
var errNoCoreTimes = probes.Missing{Status: probes.Unsupported, Reason: "macOS tells core times only to programs built with cgo"}

// Times gives the times of every online core since boot, in order of core number.
// Source: /proc/stat on Linux, kern.cp_times on FreeBSD, the performance information of
// Windows. What a system does not tell apart (softirq and steal outside Linux) is zero.
func (r *Reader) Times() ([]probes.CoreTimes, error) {
	stats, err := gopsutil.TimesWithContext(r.context(context.Background()), true)
	if err != nil && runtime.GOOS == "darwin" {
		return nil, errNoCoreTimes
	}
	if err != nil {
		return nil, fmt.Errorf("reading core times: %w", err)
	}
	cores := make([]probes.CoreTimes, 0, len(stats))
	for _, s := range stats {
		core, err := strconv.Atoi(strings.TrimPrefix(s.CPU, "cpu"))
		if err != nil {
			continue // "cpu-total"
		}
		cores = append(cores, probes.CoreTimes{
			Core: core, User: s.User, Nice: s.Nice, System: s.System, Idle: s.Idle,
			IOWait: s.Iowait, IRQ: s.Irq, SoftIRQ: s.Softirq, Steal: s.Steal,
		})
	}
	if len(cores) == 0 {
		return nil, r.noCores()
	}
	slices.SortFunc(cores, func(a, b probes.CoreTimes) int { return a.Core - b.Core })
	return cores, nil
}

// noCores finds the reason for an empty answer: gopsutil gives one, without an error,
// when /proc/stat cannot be read.
func (r *Reader) noCores() error {
	if runtime.GOOS == "linux" {
		f, err := os.Open(filepath.Join(r.dir, "proc", "stat"))
		if err == nil {
			defer f.Close()
			_, err = f.Read(make([]byte, 1))
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("reading core times: %w", err)
		}
	}
	return errors.New("reading core times: no line about a core")
}
