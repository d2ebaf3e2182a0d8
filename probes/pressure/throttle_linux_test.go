//go:build linux

package pressure

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"linerate/probes/internal/kfs"
)

// The test puts itself under a limit of a fifth of a core and works: the kernel must hold
// it back and say so, whichever version of control groups the machine has.
func TestThrottledForReal(t *testing.T) {
	top, home, files := cpuController(t)
	group := filepath.Join(top, "linerate-test-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		missing(t, "no control group of our own (needs root): %v", err)
	}
	t.Cleanup(func() {
		if err := os.WriteFile(filepath.Join(home, "cgroup.procs"), []byte("0"), 0o644); err != nil {
			t.Errorf("going back: %v", err)
		}
		if err := os.Remove(group); err != nil {
			t.Errorf("removing the group: %v", err)
		}
	})
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(group, f[0]), []byte(f[1]), 0o644); err != nil {
			missing(t, "no CPU limit: %v", err)
		}
	}

	r := New()
	defer r.Close()
	outside := r.Quota()
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte("0"), 0o644); err != nil {
		missing(t, "joining the group: %v", err)
	}
	before := r.Quota()
	if before.Cores.Value < .199 || before.Cores.Value > .201 {
		t.Fatalf("limit %+v, want 0.2 cores; before joining it was %+v", before.Cores, outside.Cores)
	}
	deadline := time.Now().Add(10 * time.Second)
	for {
		for start := time.Now(); time.Since(start) < 100*time.Millisecond; {
		}
		now := r.Quota()
		if !now.Throttled.Known() {
			t.Fatalf("throttled: %s", now.Throttled.Why())
		}
		if now.Throttled.Value > before.Throttled.Value {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("busy for 10 s under a limit of 0.2 cores, throttled for %v", now.Throttled.Value)
		}
	}
}

// cpuController finds a group whose children can have a CPU limit, the group that this
// process is in, and the files that set a limit.
func cpuController(t *testing.T) (top, home string, files [][2]string) {
	t.Helper()
	mounts, err := kfs.Mounts(os.DirFS("/"))
	if err != nil {
		t.Fatal(err)
	}
	membership, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Skipf("no control groups here: %v", err)
	}
	groups, version, err := cpuGroups(string(membership), mounts)
	if err != nil {
		t.Skipf("no CPU controller for control groups here: %v", err)
	}
	top, home = groups[len(groups)-1], groups[0]
	if version == 1 {
		return top, home, [][2]string{{"cpu.cfs_period_us", "50000"}, {"cpu.cfs_quota_us", "10000"}}
	}
	controllers, _ := os.ReadFile(filepath.Join(top, "cgroup.subtree_control"))
	if !slices.Contains(strings.Fields(string(controllers)), "cpu") {
		t.Skip("no CPU controller for control groups here")
	}
	return top, home, [][2]string{{"cpu.max", "10000 50000"}}
}

func missing(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("LINERATE_GATE") == "1" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
