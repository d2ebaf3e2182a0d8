//go:build linux

package lab

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Programs run on the host's cores.
func TestNetnsCPUs(t *testing.T) {
	Need(t)
	h := NewHost(t, "h")
	h.CPUs = []int{0}
	out, err := h.Output(t.Context(), "grep", "Cpus_allowed_list", "/proc/self/status")
	if want := "Cpus_allowed_list:\t0\n"; err != nil || string(out) != want {
		t.Errorf("%v, %q, want %q", err, out, want)
	}
}

// Programs run under the group's limit, and the group goes with the test.
func TestNetnsGroup(t *testing.T) {
	Need(t)
	dir := ""
	t.Run("limited", func(t *testing.T) {
		h := NewHost(t, "h")
		h.Group = NewGroup(t, .2)
		dir = h.Group.dir
		h.start(t, exec.Command("/bin/sh", "-c", burner))
		time.Sleep(time.Second)
		stat, err := os.ReadFile(dir + "/cpu.stat")
		if err != nil {
			t.Fatal(err)
		}
		throttled := 0
		for line := range strings.Lines(string(stat)) {
			fmt.Sscanf(line, "nr_throttled %d", &throttled)
		}
		if throttled < 3 {
			t.Errorf("throttled %d times in a second, want about 10:\n%s", throttled, stat)
		}
	})
	if dir == "" {
		t.Skip("kernel lacks: cgroup CPU controller")
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is left behind (%v)", dir, err)
	}
}

// A program that dozes is stopped most of the time, and all programs have ended after the
// test.
func TestNetnsDoze(t *testing.T) {
	Need(t)
	var p *Program
	t.Run("dozing", func(t *testing.T) {
		h := NewHost(t, "h")
		p = h.start(t, exec.Command("/bin/sh", "-c", burner))
		p.Doze(t, 10*time.Millisecond, 40*time.Millisecond)
		stopped, n := 0, 0
		for range 40 {
			time.Sleep(11 * time.Millisecond)
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.process.Pid))
			if err != nil {
				t.Fatal(err)
			}
			n++
			if state := strings.Fields(string(stat))[2]; state == "T" {
				stopped++
			}
		}
		if stopped < n/2 || stopped == n {
			t.Errorf("seen asleep %d times of %d, want about four fifths", stopped, n)
		}
	})
	select {
	case <-p.done:
	default:
		t.Error("the program still runs")
	}
}

// A server is waited for by looking at it.
func TestNetnsListens(t *testing.T) {
	Need(t)
	h := NewHost(t, "h")
	if err := h.join("lo", netip.MustParseAddr("10.79.0.1")); err != nil {
		t.Fatal(err)
	}
	ln := listen(t, h)
	port := ln.Addr().(*net.TCPAddr).Port
	for _, closed := range []bool{false, true} {
		if closed {
			ln.Close()
		}
		var there bool
		if err := h.Do(func() (err error) {
			there, err = listens(port)
			return err
		}); err != nil || there == closed {
			t.Errorf("closed %v: seen to listen %v (%v)", closed, there, err)
		}
	}
}

// Burn fills the host's cores with other programs.
func TestNetnsBurn(t *testing.T) {
	Need(t)
	h := NewHost(t, "h")
	h.CPUs = []int{0}
	h.Burn(t, 2)
	burning := 0
	for deadline := time.Now().Add(5 * time.Second); burning < 2 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		burning = burners(t)
	}
	if burning != 2 {
		t.Errorf("%d burners, want 2", burning)
	}
}

// burners counts the children of this process that have used CPU in a loop.
func burners(t *testing.T) (n int) {
	t.Helper()
	children, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range children {
		pids, _ := os.ReadFile(file) // threads come and go
		for _, pid := range strings.Fields(string(pids)) {
			line, _ := os.ReadFile("/proc/" + pid + "/cmdline")
			if strings.Contains(string(line), burner) {
				n++
			}
		}
	}
	return n
}
