package pressure

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/probes"
	"linerate/probes/internal/kfs"
)

const (
	mountV2 = "35 24 0:30 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
	mountV1 = "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
	statV2  = "usage_usec 3304896309\nuser_usec 1722748797\nsystem_usec 1582147511\nnr_periods 100\nnr_throttled 40\nthrottled_usec 2500000\nnr_bursts 0\nburst_usec 0\n"
	statV1  = "nr_periods 100\nnr_throttled 40\nthrottled_time 1500000000\n"
)

func TestQuota(t *testing.T) {
	const noLimit = "no CPU limit"
	type files = map[string]string
	tests := []struct {
		name      string
		files     files
		cores     probes.Reading[float64]
		throttled probes.Reading[time.Duration]
	}{
		{
			"container with version 2 (Docker on Debian 12): it sees its own group as the top",
			files{
				"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mountV2,
				"sys/fs/cgroup/cpu.max": "150000 100000\n", "sys/fs/cgroup/cpu.stat": statV2,
			},
			probes.Got(1.5), probes.Got(2500 * time.Millisecond),
		},
		{
			"service below a slice with a tighter limit",
			files{
				"proc/self/cgroup": "0::/system.slice/linerate.service\n", "proc/self/mountinfo": mountV2,
				"sys/fs/cgroup/cpu.stat":                                 "usage_usec 1\n",
				"sys/fs/cgroup/system.slice/cpu.max":                     "50000 100000\n",
				"sys/fs/cgroup/system.slice/cpu.stat":                    statV2,
				"sys/fs/cgroup/system.slice/linerate.service/cpu.max":    "400000 100000\n",
				"sys/fs/cgroup/system.slice/linerate.service/cpu.stat":   "nr_throttled 1\nthrottled_usec 7\n",
				"sys/fs/cgroup/system.slice/linerate.service/cpu.weight": "100\n",
			},
			probes.Got(.5), probes.Got(2500007 * time.Microsecond),
		},
		{
			"session of a desktop: no controller for its groups",
			files{
				"proc/self/cgroup": "0::/user.slice/user-1000.slice/session-3.scope\n", "proc/self/mountinfo": mountV2,
				"sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope/cpu.stat": "usage_usec 5\nuser_usec 3\nsystem_usec 2\n",
				"sys/fs/cgroup/user.slice/cpu.max":                                  "max 100000\n",
				"sys/fs/cgroup/user.slice/cpu.stat":                                 statV2, // of others: not this one's
			},
			probes.Unknown[float64](probes.Absent, noLimit), probes.Unknown[time.Duration](probes.Absent, noLimit),
		},
		{
			"group with the controller and no limit",
			files{
				"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": mountV2,
				"sys/fs/cgroup/a/cpu.max": "max 100000\n", "sys/fs/cgroup/a/cpu.stat": "throttled_usec 0\n",
			},
			probes.Unknown[float64](probes.Absent, noLimit), probes.Got(time.Duration(0)),
		},
		{
			"the build machine: version 1 beside an empty version 2",
			files{
				"proc/self/cgroup": "9:name=systemd:/\n4:memory:/process_api/703f\n2:cpuacct:/\n1:cpu:/\n0::/\n",
				"proc/self/mountinfo": "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n33 31 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n" +
					"41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
				"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
				"sys/fs/cgroup/cpu/cpu.stat": "nr_periods 0\nnr_throttled 0\nthrottled_time 0\nnr_bursts 0\nburst_time 0\n",
			},
			probes.Unknown[float64](probes.Absent, noLimit), probes.Got(time.Duration(0)),
		},
		{
			"container with version 1 (Docker on CentOS 7): the mount begins at its group",
			files{
				"proc/self/cgroup":                            "11:cpuacct,cpu:/docker/0123abcd\n1:name=systemd:/docker/0123abcd\n",
				"proc/self/mountinfo":                         "900 899 0:27 /docker/0123abcd /sys/fs/cgroup/cpuacct,cpu ro,nosuid - cgroup cgroup rw,cpuacct,cpu\n",
				"sys/fs/cgroup/cpuacct,cpu/cpu.cfs_quota_us":  "50000\n",
				"sys/fs/cgroup/cpuacct,cpu/cpu.cfs_period_us": "100000\n",
				"sys/fs/cgroup/cpuacct,cpu/cpu.stat":          statV1,
			},
			probes.Got(.5), probes.Got(1500 * time.Millisecond),
		},
		{
			"pod on a host with version 1, seen from the host",
			files{
				"proc/self/cgroup": "4:cpu,cpuacct:/kubepods/pod7/c1\n", "proc/self/mountinfo": mountV1,
				"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":                    "-1\n",
				"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us":                   "100000\n",
				"sys/fs/cgroup/cpu,cpuacct/kubepods/cpu.cfs_quota_us":           "-1\n",
				"sys/fs/cgroup/cpu,cpuacct/kubepods/cpu.cfs_period_us":          "100000\n",
				"sys/fs/cgroup/cpu,cpuacct/kubepods/pod7/cpu.cfs_quota_us":      "200000\n",
				"sys/fs/cgroup/cpu,cpuacct/kubepods/pod7/cpu.cfs_period_us":     "100000\n",
				"sys/fs/cgroup/cpu,cpuacct/kubepods/pod7/cpu.stat":              statV1,
				"sys/fs/cgroup/cpu,cpuacct/kubepods/pod7/c1/cpu.cfs_quota_us":   "300000\n",
				"sys/fs/cgroup/cpu,cpuacct/kubepods/pod7/c1/cpu.cfs_period_us":  "100000\n",
				"sys/fs/cgroup/cpu,cpuacct/kubepods/pod7/c1/cpu.stat":           "throttled_time 1\n",
				"sys/fs/cgroup/cpu,cpuacct/kubepods/pod7/c1/cgroup.procs":       "1\n",
				"sys/fs/cgroup/cpu,cpuacct/kubepods/pod7/c2/cpu.cfs_quota_us":   "1000\n", // a sibling
				"sys/fs/cgroup/cpu,cpuacct/kubepods/pod7/c2/cpu.cfs_period_us":  "100000\n",
				"sys/fs/cgroup/cpu,cpuacct/kubepods/pod7/c2/cpu.throttled_time": "9\n",
			},
			probes.Got(2.0), probes.Got(1500*time.Millisecond + 1),
		},
		{
			"a group outside the own namespace",
			files{"proc/self/cgroup": "0::/../other\n", "proc/self/mountinfo": mountV2},
			probes.Unknown[float64](probes.Absent, "the own control group is not visible from here"),
			probes.Unknown[time.Duration](probes.Absent, "the own control group is not visible from here"),
		},
		{
			"no mount of control groups",
			files{"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": "22 27 0:21 / /proc rw,relatime - proc proc rw\n"},
			probes.Unknown[float64](probes.Absent, "the own control group is not visible from here"),
			probes.Unknown[time.Duration](probes.Absent, "the own control group is not visible from here"),
		},
		{
			"a kernel with control groups for nothing but cpusets (Android)",
			files{"proc/self/cgroup": "3:cpuset:/\n", "proc/self/mountinfo": mountV1},
			probes.Unknown[float64](probes.Absent, "this process is in no control group"),
			probes.Unknown[time.Duration](probes.Absent, "this process is in no control group"),
		},
		{
			"damaged limit",
			files{"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mountV2, "sys/fs/cgroup/cpu.max": "much 100000\n"},
			probes.Unknown[float64](probes.Failed, `reading /sys/fs/cgroup/cpu.max: "much" is no CPU limit`),
			probes.Unknown[time.Duration](probes.Failed, `reading /sys/fs/cgroup/cpu.max: "much" is no CPU limit`),
		},
	}
	for _, tt := range tests {
		r := NewAt(tree(t, tt.files))
		want := probes.Quota{Cores: tt.cores, Throttled: tt.throttled}
		for range 2 { // the second time the groups are known
			if diff := cmp.Diff(want, r.Quota()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		}
		r.Close()
		if diff := cmp.Diff(want, r.Quota()); diff != "" {
			t.Errorf("%s, after Close (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestQuotaFollowsTheProcess(t *testing.T) {
	dir := tree(t, map[string]string{
		"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": mountV2,
		"sys/fs/cgroup/a/cpu.max": "100000 100000\n", "sys/fs/cgroup/b/cpu.max": "200000 100000\n",
	})
	r := NewAt(dir)
	if q := r.Quota(); q.Cores != probes.Got(1.0) {
		t.Errorf("in a: %+v", q.Cores)
	}
	write(t, filepath.Join(dir, "proc/self/cgroup"), "0::/b\n")
	if q := r.Quota(); q.Cores != probes.Got(2.0) {
		t.Errorf("moved to b: %+v", q.Cores)
	}
	write(t, filepath.Join(dir, "sys/fs/cgroup/b/cpu.max"), "300000 100000\n")
	if q := r.Quota(); q.Cores != probes.Got(3.0) {
		t.Errorf("with a new limit: %+v", q.Cores)
	}
}

func FuzzCPUGroups(f *testing.F) {
	f.Add("4:cpu,cpuacct:/kubepods/pod7/c1\n0::/\n", "/", "/sys/fs/cgroup")
	f.Add("0::/../x\n", "/docker", "/")
	f.Fuzz(func(t *testing.T, membership, root, point string) {
		mounts := []kfs.Mount{
			{Root: root, Point: point, Type: "cgroup", Options: []string{"cpu"}},
			{Root: root, Point: point, Type: "cgroup2"},
		}
		folders, version, err := cpuGroups(membership, mounts)
		if err != nil {
			return
		}
		if version != 1 && version != 2 || len(folders) == 0 || folders[len(folders)-1] != point {
			t.Fatalf("%q gave %q, version %d", membership, folders, version)
		}
		for _, folder := range folders[:len(folders)-1] {
			if _, ok := kfs.Below(folder, point); !ok && point != "" && strings.HasPrefix(point, "/") {
				t.Fatalf("%q gave %q, which is not below %q", membership, folder, point)
			}
		}
	})
}

func FuzzParseLimit(f *testing.F) {
	f.Add("150000", "100000")
	f.Add("max", "")
	f.Add("-1", "0")
	f.Fuzz(func(t *testing.T, quota, period string) {
		cores, err := parseLimit(quota, period)
		if err == nil && (math.IsNaN(cores) || math.IsInf(cores, 0) || cores < 0) {
			t.Fatalf("%q of %q gave %v", quota, period, cores)
		}
	})
}

func FuzzParseThrottled(f *testing.F) {
	f.Add(statV2)
	f.Add(statV1)
	f.Add("throttled_usec 9223372036854775807\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, ok, err := parseThrottled(text)
		if err != nil || !ok {
			return
		}
		again, ok, err := parseThrottled(fmt.Sprintf("nr_periods 1\nthrottled_time %d\n", d))
		if again != d || !ok || err != nil {
			t.Fatalf("%q gave %v, written and read again: %v, %v", text, d, again, err)
		}
	})
}
