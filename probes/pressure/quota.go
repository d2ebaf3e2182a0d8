package pressure

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"linerate/probes"
	"linerate/probes/internal/kfs"
)

// Quota reads the CPU limit of this process's control group, of version 1 or 2: the
// tightest of its own and of those of the groups above it that can be seen from here. A
// container does not see the groups of its pod or host.
func (r *Reader) Quota() probes.Quota {
	if err := kfs.LinuxOnly(); err != nil {
		return noQuota(err)
	}
	if err := r.find(); err != nil {
		return noQuota(err)
	}
	cores := math.Inf(1)
	var throttled time.Duration
	counted := false
	for i, l := range r.levels {
		limit, err := l.limit()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return noQuota(err)
		}
		// Reading the account of a large group above makes the kernel add up all groups
		// below it, and one without a limit holds nobody back.
		if limit == 0 && i > 0 {
			continue
		}
		if limit > 0 {
			cores = min(cores, limit)
		}
		t, ok, err := l.throttled()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return noQuota(err)
		}
		throttled += t
		counted = counted || ok
	}
	q := probes.Quota{Cores: probes.Got(cores), Throttled: probes.Got(throttled)}
	if math.IsInf(cores, 1) {
		q.Cores = probes.Unknown[float64](probes.Absent, "no CPU limit")
	}
	if !counted {
		q.Throttled = probes.Unknown[time.Duration](probes.Absent, "no CPU limit")
	}
	return q
}

func noQuota(err error) probes.Quota {
	return probes.Quota{Cores: probes.Unread[float64](err), Throttled: probes.Unread[time.Duration](err)}
}

// level is the files of one control group.
type level struct {
	max, period *kfs.File // period is nil in version 2, where max holds both
	stat        *kfs.File
}

// find opens the groups anew when this process was moved to others, which a service
// manager or a scheduler may do at any time.
func (r *Reader) find() error {
	text, err := r.membership.Read()
	if errors.Is(err, fs.ErrNotExist) {
		return probes.Missing{Status: probes.Absent, Reason: "the kernel has no control groups"}
	}
	if err != nil {
		return err
	}
	if string(text) == r.known && r.known != "" {
		return r.noLevels
	}
	r.forget()
	r.known = string(text)
	r.levels, r.noLevels = r.open(r.known)
	return r.noLevels
}

func (r *Reader) forget() {
	for _, l := range r.levels {
		for _, f := range []*kfs.File{l.max, l.period, l.stat} {
			if f != nil {
				f.Close()
			}
		}
	}
	r.known, r.levels, r.noLevels = "", nil, nil
}

func (r *Reader) open(membership string) ([]level, error) {
	mounts, err := kfs.Mounts(r.root)
	if err != nil {
		return nil, err
	}
	folders, version, err := cpuGroups(membership, mounts)
	if err != nil {
		return nil, err
	}
	levels := make([]level, len(folders))
	for i, folder := range folders {
		keep := func(file string) *kfs.File {
			return kfs.Keep(r.root, path.Join(strings.TrimPrefix(folder, "/"), file), r.live)
		}
		levels[i] = level{max: keep("cpu.max"), stat: keep("cpu.stat")}
		if version == 1 {
			levels[i].max, levels[i].period = keep("cpu.cfs_quota_us"), keep("cpu.cfs_period_us")
		}
	}
	return levels, nil
}

// cpuGroups finds the folders of the group that limits this process's CPU and of those
// above it, the innermost first. On a system with both versions the controller is in
// one of them; version 1 wins, since version 2 is always there.
func cpuGroups(membership string, mounts []kfs.Mount) (folders []string, version int, err error) {
	one, two := "", ""
	for line := range strings.Lines(membership) {
		// hierarchy number, controllers, path; the path may hold anything.
		part := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		switch {
		case len(part) != 3 || !strings.HasPrefix(part[2], "/"):
		case part[0] == "0" && part[1] == "":
			two = part[2]
		case slices.Contains(strings.Split(part[1], ","), "cpu"):
			one = part[2]
		}
	}
	for _, m := range mounts {
		switch {
		case one != "" && m.Type == "cgroup" && slices.Contains(m.Options, "cpu"):
			if folders = upwards(one, m); folders != nil {
				return folders, 1, nil
			}
		case one == "" && two != "" && m.Type == "cgroup2":
			if folders = upwards(two, m); folders != nil {
				return folders, 2, nil
			}
		}
	}
	if one == "" && two == "" {
		return nil, 0, probes.Missing{Status: probes.Absent, Reason: "this process is in no control group"}
	}
	return nil, 0, probes.Missing{Status: probes.Absent, Reason: "the own control group is not visible from here"}
}

// upwards lists the folders from a group to the top of the mount, nil when the group is not
// below it.
func upwards(group string, m kfs.Mount) []string {
	rest, ok := kfs.Below(group, m.Root)
	if !ok || strings.HasPrefix(group, "/..") {
		return nil
	}
	folders := []string{}
	for ; rest != "" && rest != "."; rest = path.Dir(rest) {
		folders = append(folders, path.Join(m.Point, rest))
	}
	return append(folders, m.Point)
}

// limit is how many cores the group may use, 0 without a limit.
func (l level) limit() (float64, error) {
	text, err := l.max.Read()
	if err != nil {
		return 0, err
	}
	quota, period, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	if l.period != nil {
		text, err = l.period.Read()
		if err != nil {
			return 0, err
		}
		period = strings.TrimSpace(string(text))
	}
	cores, err := parseLimit(quota, period)
	if err != nil {
		return 0, kfs.Error(l.max.Path(), err)
	}
	return cores, nil
}

// parseLimit divides microseconds of CPU by microseconds of time. No limit is "max" in
// version 2 and -1 in version 1.
func parseLimit(quota, period string) (cores float64, err error) {
	if quota == "max" || quota == "-1" {
		return 0, nil
	}
	q, err := strconv.ParseUint(quota, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%q is no CPU limit", quota)
	}
	p, err := strconv.ParseUint(period, 10, 63)
	if err != nil || p == 0 {
		return 0, fmt.Errorf("%q is no period of a CPU limit", period)
	}
	return float64(q) / float64(p), nil
}

// throttled is how long the group's threads were held back, and whether that is counted.
func (l level) throttled() (time.Duration, bool, error) {
	text, err := l.stat.Read()
	if err != nil {
		return 0, false, err
	}
	t, ok, err := parseThrottled(string(text))
	if err != nil {
		return 0, false, kfs.Error(l.stat.Path(), err)
	}
	return t, ok, nil
}

// parseThrottled finds the line of cpu.stat: throttled_usec in version 2, throttled_time,
// in nanoseconds, in version 1.
func parseThrottled(text string) (t time.Duration, counted bool, err error) {
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		unit := time.Nanosecond
		switch name {
		case "throttled_usec":
			unit = time.Microsecond
		case "throttled_time":
		default:
			continue
		}
		n, err := strconv.ParseUint(value, 10, 63)
		if err != nil || n > math.MaxInt64/uint64(unit) {
			return 0, false, fmt.Errorf("%s: %q is no time", name, value)
		}
		return time.Duration(n) * unit, true, nil
	}
	return 0, false, nil
}
