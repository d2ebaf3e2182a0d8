package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Group is a control group with a CPU limit.
type Group struct {
	dir     string
	version int
	fd      *os.File // of dir, version 2
}

// groupPrefix begins the name of every group; the number of the test's process follows.
const groupPrefix = "linerate-lab-"

// quotaPeriod is the kernel's default, over which a group gets its share.
const quotaPeriod = 100 * time.Millisecond

// NewGroup makes a control group whose programs together get so many cores; it goes when
// the test ends, after them. The test is skipped where the kernel has no controller.
func NewGroup(t testing.TB, cores float64) *Group {
	t.Helper()
	top, version := cpuController()
	if version == 0 {
		t.Skip("kernel lacks: cgroup CPU controller")
	}
	sweep(top)
	dir, err := os.MkdirTemp(top, fmt.Sprintf("%s%d-", groupPrefix, os.Getpid()))
	if err != nil {
		t.Fatalf("making a control group: %v", err)
	}
	g := &Group{dir: dir, version: version}
	t.Cleanup(func() { g.remove(t) })
	quota, period := int(cores*float64(quotaPeriod.Microseconds())), quotaPeriod.Microseconds()
	files := map[string]string{"cpu.max": fmt.Sprintf("%d %d", quota, period)}
	if version == 1 {
		files = map[string]string{"cpu.cfs_period_us": strconv.FormatInt(period, 10), "cpu.cfs_quota_us": strconv.Itoa(quota)}
	}
	for name, value := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(value), 0o644); err != nil {
			t.Fatalf("limiting a control group: %v", err)
		}
	}
	if g.fd, err = os.Open(dir); err != nil {
		t.Fatal(err)
	}
	return g
}

// cpuController finds the folder in which groups with a CPU limit can be made, and the
// version of control groups it is of, 0 none.
func cpuController() (top string, version int) {
	const root = "/sys/fs/cgroup"
	for _, dir := range []string{"cpu", "cpu,cpuacct"} {
		if _, err := os.Stat(filepath.Join(root, dir, "cpu.cfs_quota_us")); err == nil {
			return filepath.Join(root, dir), 1
		}
	}
	for _, dir := range []string{root, filepath.Join(root, "unified")} {
		given, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
		if err == nil && slices.Contains(strings.Fields(string(given)), "cpu") {
			return dir, 2
		}
	}
	return "", 0
}

// sweep removes the empty groups of test processes that were killed.
func sweep(top string) {
	left, _ := filepath.Glob(filepath.Join(top, groupPrefix+"*"))
	for _, dir := range left {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), groupPrefix), "-")
		if _, err := os.Stat(filepath.Join("/proc", pid)); os.IsNotExist(err) {
			_ = os.Remove(dir) // fails while a program is in it
		}
	}
}

// take makes cmd, which the calling thread is about to start, a member of the group.
func (g *Group) take(cmd *exec.Cmd) error {
	if g.version == 2 {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(g.fd.Fd())
		return nil
	}
	// Version 1 has threads as members: the program inherits the groups of the thread.
	if err := os.WriteFile(filepath.Join(g.dir, "tasks"), []byte("0"), 0o644); err != nil {
		return fmt.Errorf("joining a control group: %w", err)
	}
	return nil
}

// remove waits until the last thread has left the group: the kernel lets it go a moment
// after the program has been waited for.
func (g *Group) remove(t testing.TB) {
	if g.fd != nil {
		g.fd.Close()
	}
	var err error
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if err = os.Remove(g.dir); err == nil {
			return
		}
	}
	t.Errorf("removing a control group: %v", err)
}
