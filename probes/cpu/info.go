package cpu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"

	gopsutil "github.com/shirou/gopsutil/v3/cpu"

	"linerate/probes"
	"linerate/probes/internal/kfs"
)

const cpuFolder = "sys/devices/system/cpu"

// Info describes the processor. Sources: /proc/cpuinfo and the cpufreq folders on
// Linux, gopsutil elsewhere.
func (r *Reader) Info(ctx context.Context) probes.CPU {
	online := r.online()
	info := probes.CPU{Cores: len(online), Model: r.model(ctx)}
	if runtime.GOOS != "linux" {
		reason := fmt.Sprintf("frequency scaling is read on Linux only, this is %s", runtime.GOOS)
		info.FreqHz = probes.Unknown[[]float64](probes.Unsupported, reason)
		info.MaxHz = probes.Unknown[float64](probes.Unsupported, reason)
		info.Governor = probes.Unknown[string](probes.Unsupported, reason)
		info.Driver = probes.Unknown[string](probes.Unsupported, reason)
		return info
	}
	info.FreqHz = scaling(r.root, func() ([]float64, error) { return r.frequencies(online) })
	info.MaxHz = scaling(r.root, func() (float64, error) { return r.hertz(online[0], "cpuinfo_max_freq") })
	info.Governor = scaling(r.root, func() (string, error) { return r.governor(online) })
	info.Driver = scaling(r.root, func() (string, error) {
		return kfs.Text(r.root, fmt.Sprintf("%s/cpu%d/cpufreq/scaling_driver", cpuFolder, online[0]))
	})
	return info
}

// Clocks reads the current frequency of every core, by its number; 0 stands for a core
// that is offline. Kernels before 5.18 may sleep for 10 ms per core to measure it. Safe for
// concurrent use.
func (r *Reader) Clocks() probes.Reading[[]float64] {
	if err := kfs.LinuxOnly(); err != nil {
		return probes.Unread[[]float64](err)
	}
	return scaling(r.root, func() ([]float64, error) {
		online := r.online()
		hz, err := r.frequencies(online)
		if err != nil {
			return nil, err
		}
		byNumber := make([]float64, online[len(online)-1]+1)
		for i, core := range online {
			byNumber[core] = hz[i]
		}
		return byNumber, nil
	})
}

// online gives the numbers of the cores that work now, at least one.
func (r *Reader) online() []int {
	if runtime.GOOS == "linux" {
		if s, err := kfs.Text(r.root, cpuFolder+"/online"); err == nil {
			if list, err := kfs.List(s); err == nil && len(list) > 0 {
				return list
			}
		}
		// A container without /sys.
		if times, err := r.Times(); err == nil {
			list := make([]int, len(times))
			for i, t := range times {
				list[i] = t.Core
			}
			return list
		}
	}
	list := make([]int, runtime.NumCPU())
	for i := range list {
		list[i] = i
	}
	return list
}

// model names the processor, or both kinds where small and big cores differ.
func (r *Reader) model(ctx context.Context) probes.Reading[string] {
	var models []string
	// gopsutil stops at the first odd line and gives what it has until then.
	stats, err := gopsutil.InfoWithContext(r.context(ctx))
	for _, s := range stats {
		name := strings.Join(strings.Fields(s.ModelName), " ")
		if name != "" && name != "Undefined" && !slices.Contains(models, name) {
			models = append(models, name)
		}
	}
	if len(models) > 0 {
		return probes.Got(strings.Join(models, " + "))
	}
	if runtime.GOOS == "linux" {
		var text string
		text, err = kfs.Text(r.root, "proc/cpuinfo")
		if name := boardModel(text); name != "" {
			return probes.Got(name)
		}
	}
	if err != nil {
		return probes.Unread[string](fmt.Errorf("CPU model: %w", err))
	}
	return probes.Unknown[string](probes.Absent, "the system does not name its CPU")
}

// boardModel finds a name in the cpuinfo of architectures that have no "model name":
// "cpu model" is MIPS, "uarch" RISC-V, "Hardware" 32-bit ARM, "system type" MIPS again.
func boardModel(cpuinfo string) string {
	found := map[string]string{}
	for line := range strings.Lines(cpuinfo) {
		key, value, ok := strings.Cut(line, ":")
		if key = strings.TrimSpace(key); ok && found[key] == "" {
			found[key] = strings.Join(strings.Fields(value), " ")
		}
	}
	return cmp.Or(found["cpu model"], found["uarch"], found["Hardware"], found["system type"])
}

// scaling reads something of cpufreq and gives the reason when there is no cpufreq.
func scaling[T any](root fs.FS, read func() (T, error)) probes.Reading[T] {
	v, err := read()
	if !errors.Is(err, fs.ErrNotExist) {
		return probes.Read(v, err)
	}
	switch machine := Hypervisor(root); {
	case machine.Known():
		return probes.Unknown[T](probes.Absent, "no cpufreq: virtual machine")
	case !kfs.Exists(root, cpuFolder):
		return probes.Unknown[T](probes.Absent, "no cpufreq: /sys is not there")
	default:
		return probes.Unknown[T](probes.Absent, "no cpufreq driver")
	}
}

func (r *Reader) hertz(core int, file string) (float64, error) {
	kHz, err := kfs.Int(r.root, fmt.Sprintf("%s/cpu%d/cpufreq/%s", cpuFolder, core, file))
	return float64(kHz) * 1000, err
}

func (r *Reader) frequencies(online []int) ([]float64, error) {
	all := make([]float64, len(online))
	for i, core := range online {
		hz, err := r.hertz(core, "scaling_cur_freq")
		if err != nil {
			return nil, err
		}
		all[i] = hz
	}
	return all, nil
}

func (r *Reader) governor(online []int) (string, error) {
	var names []string
	for _, core := range online {
		name, err := kfs.Text(r.root, fmt.Sprintf("%s/cpu%d/cpufreq/scaling_governor", cpuFolder, core))
		if err != nil {
			return "", err
		}
		names = append(names, name)
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) > 1 {
		return "mixed: " + strings.Join(names, ", "), nil
	}
	return names[0], nil
}
