package hosttest

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

func itoa(n int) string { return strconv.Itoa(n) }

// bootTime is arbitrary; it only has to stay the same.
var bootTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Unix()

func (h *Host) writeStatic() {
	m := h.machine
	h.write("proc/sys/kernel/hostname", m.Name+"\n")
	h.write("proc/sys/kernel/osrelease", m.Kernel+"\n")
	h.write("etc/os-release", fmt.Sprintf("PRETTY_NAME=%q\nID=linux\n", m.Platform))
	h.write("proc/cpuinfo", h.cpuinfo())
	h.write("sys/devices/system/cpu/online", fmt.Sprintf("0-%d\n", m.Cores-1))
	for i := range m.Cores {
		folder := fmt.Sprintf("sys/devices/system/cpu/cpu%d/", i)
		h.write(folder+"topology/core_id", itoa(i)+"\n")
		if m.Hz == 0 {
			continue
		}
		h.write(folder+"cpufreq/scaling_governor", m.Governor+"\n")
		h.write(folder+"cpufreq/scaling_driver", m.Scaling+"\n")
		h.write(folder+"cpufreq/scaling_cur_freq", fmt.Sprintf("%.0f\n", m.Hz/1000))
		h.write(folder+"cpufreq/cpuinfo_max_freq", fmt.Sprintf("%.0f\n", m.MaxHz/1000))
	}
}

// cpuinfo has the lines of an x86 kernel that any reader may look for. Without
// frequency scaling the machine is taken for a virtual one, whose CPU says so in its flags.
func (h *Host) cpuinfo() string {
	m := h.machine
	vendor, flags := "GenuineIntel", "fpu tsc msr sse2 ht aes avx2"
	if strings.HasPrefix(m.Model, "AMD") {
		vendor = "AuthenticAMD"
	}
	if m.Hz == 0 {
		flags += " hypervisor"
	}
	var b strings.Builder
	for i := range m.Cores {
		fmt.Fprintf(&b, "processor\t: %d\nvendor_id\t: %s\ncpu family\t: 6\nmodel\t\t: 190\nmodel name\t: %s\n", i, vendor, m.Model)
		fmt.Fprintf(&b, "stepping\t: 0\nmicrocode\t: 0x17\ncpu MHz\t\t: %.3f\ncache size\t: 6144 KB\n", m.Hz/1e6)
		fmt.Fprintf(&b, "physical id\t: 0\nsiblings\t: %d\ncore id\t\t: %d\ncpu cores\t: %d\n", m.Cores, i, m.Cores)
		fmt.Fprintf(&b, "flags\t\t: %s\nbugs\t\t:\nbogomips\t: 1612.80\n\n", flags)
	}
	return b.String()
}

// writeTimes writes everything that Advance changes. The clock goes last: a reader that
// sees the new uptime sees the new times.
func (h *Host) writeTimes() {
	h.t.Helper()
	h.write("proc/stat", h.stat())
	process := h.ended
	for _, tid := range h.tids() {
		t := h.threads[tid]
		process.user += t.user
		process.system += t.system
		folder := fmt.Sprintf("proc/self/task/%d/", tid)
		h.write(folder+"comm", t.name+"\n")
		h.write(folder+"stat", h.taskStat(tid, t, 1))
	}
	main := h.threads[pid]
	h.write("proc/self/stat", h.taskStat(pid, thread{cpuTicks: process, name: main.name, core: main.core}, len(h.threads)))
	idle := 0.0
	for _, c := range h.cores {
		idle += c.idle
	}
	h.write("proc/uptime", fmt.Sprintf("%.2f %.2f\n", h.uptime.Seconds(), idle/100))
}

func (h *Host) stat() string {
	var b, cores strings.Builder
	var sum coreTicks
	for i, c := range h.cores {
		sum.user += c.user
		sum.system += c.system
		sum.idle += c.idle
		sum.irq += c.irq
		sum.softirq += c.softirq
		sum.steal += c.steal
		if c.online {
			fmt.Fprintf(&cores, "cpu%d %s\n", i, c.columns())
		}
	}
	// The kernel pads the name of the sum to the width of a core's.
	fmt.Fprintf(&b, "cpu  %s\n%s", sum.columns(), cores.String())
	fmt.Fprintf(&b, "intr 1876543 0 9 0 0 0 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 904011 903118\n")
	fmt.Fprintf(&b, "ctxt 9371846\nbtime %d\nprocesses 48213\nprocs_running 2\nprocs_blocked 0\n", bootTime)
	fmt.Fprintf(&b, "softirq 5124991 12 1048576 3 3911287 0 0 1024 98304 0 65785\n")
	return b.String()
}

// columns are user nice system idle iowait irq softirq steal guest guest_nice.
func (c coreTicks) columns() string {
	r := math.Round
	return fmt.Sprintf("%.0f 0 %.0f %.0f 0 %.0f %.0f %.0f 0 0",
		r(c.user), r(c.system), r(c.idle), r(c.irq), r(c.softirq), r(c.steal))
}

// taskStat is one line of the 52 columns of proc(5).
func (h *Host) taskStat(tid int, t thread, threads int) string {
	return fmt.Sprintf("%d (%s) S 1 %d %d 34816 %d 4194304 1203 0 0 0 %.0f %.0f 0 0 20 0 %d 0 350000 "+
		"1268948992 4096 18446744073709551615 4194304 8384512 140726118612224 0 0 0 0 0 2143420159 0 0 0 17 %d 0 0 0 0 0 "+
		"10481664 10629248 33554432 140726118619000 140726118619022 140726118619022 140726118621166 0\n",
		tid, t.name, pid, pid, pid, math.Round(t.user), math.Round(t.system), threads, t.core)
}
