package hosttest

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"linerate/probes"
)

// pid is the process whose /proc/self the tree has.
const pid = 4711

// Host is a fixture tree. Its methods may be called while another goroutine reads the
// tree: files are replaced whole. They fail the test when the folder cannot be written.
type Host struct {
	t       testing.TB
	machine Machine
	root    string
	uptime  time.Duration
	cores   []coreTicks
	threads map[int]thread // those that live, by TID
	ended   cpuTicks       // of threads that have gone
	rx, tx  uint64         // bytes through the NIC
	legs    map[string]probes.NICCounters
	vitals  probes.Vitals    // all that Happen has added up
	irqs    map[int][]uint64 // of the NIC, by core
}

// cpuTicks are clock ticks, hundredths of a second; the fractions are kept so that
// rounding does not add up over many steps.
type cpuTicks struct{ user, system float64 }

// coreTicks has the columns of /proc/stat that a CoreLoad knows.
type coreTicks struct {
	cpuTicks
	idle, irq, softirq, steal float64
	online                    bool
}

type thread struct {
	cpuTicks
	name string
	core int
}

// New builds a tree for m in a temporary folder of the test. The machine has been up
// for an hour, mostly idle; this process has one thread, without load.
//
// The tree is made of Linux's formats and symbolic links and read by Linux's readers,
// so the test is skipped elsewhere.
func New(t testing.TB, m Machine) *Host {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skipf("fixture trees are read by the probes for Linux, this is %s", runtime.GOOS)
	}
	h := &Host{t: t, machine: m, root: t.TempDir(), uptime: time.Hour, threads: map[int]thread{pid: {name: "linerate"}}}
	for range m.Cores {
		h.cores = append(h.cores, coreTicks{cpuTicks: cpuTicks{500, 300}, idle: 359200, online: true})
	}
	h.vitals = h.freshVitals()
	h.writeStatic()
	h.writeDisk()
	h.writeSettings()
	h.writeIRQs()
	h.writeNIC()
	h.writeMemory()
	h.writeListeners()
	h.writeVitals()
	h.writeTimes()
	return h
}

// Root is the folder that holds proc, sys, etc, netlink.json and netfilter.json: the
// argument of host.NewAt.
func (h *Host) Root() string { return h.root }

// Advance lets dt pass: cores were busy as cores says, threads ran as threads says.
//
// A core that cores does not name is offline from now on; one that is named again comes
// back with the counters it had. What a CoreLoad leaves open is idle time. Likewise,
// a thread that threads does not name has ended, and its time stays with the process.
// The main thread is always there; with TID 4711 it can be given a load. Times
// are written in clock ticks of 10 ms, as the kernel does, so loads come back exactly
// where dt times the share is a whole number of ticks.
func (h *Host) Advance(dt time.Duration, cores []probes.CoreLoad, threads []probes.ThreadLoad) {
	h.t.Helper()
	ticks := dt.Seconds() * 100
	h.uptime += dt

	for i := range h.cores {
		h.cores[i].online = false
	}
	for _, l := range cores {
		if l.Core < 0 || l.Core >= len(h.cores) {
			h.t.Fatalf("core %d: the fixture has %d cores", l.Core, len(h.cores))
		}
		c := &h.cores[l.Core]
		c.online = true
		c.user += l.User * ticks
		c.system += l.System * ticks
		c.irq += l.IRQ * ticks
		c.softirq += l.SoftIRQ * ticks
		c.steal += l.Steal * ticks
		c.idle += max(0, 1-l.Busy()) * ticks
	}

	living := map[int]thread{pid: h.threads[pid]}
	for _, l := range threads {
		t := h.threads[l.TID]
		t.name, t.core = l.Name, l.Core
		t.user += l.User * ticks
		t.system += l.System * ticks
		living[l.TID] = t
	}
	for tid, t := range h.threads {
		if _, ok := living[tid]; !ok {
			h.ended.user += t.user
			h.ended.system += t.system
			if err := os.RemoveAll(h.path("proc/self/task", itoa(tid))); err != nil {
				h.t.Fatal(err)
			}
		}
	}
	h.threads = living
	h.writeTimes()
}

// Transfer adds to the byte and packet counters of the NIC.
func (h *Host) Transfer(rxBytes, txBytes uint64) {
	h.t.Helper()
	h.rx += rxBytes
	h.tx += txBytes
	h.writeLinks()
}

// Idle is the load of a machine with n idle cores, to be filled in by the test.
func Idle(n int) []probes.CoreLoad {
	cores := make([]probes.CoreLoad, n)
	for i := range cores {
		cores[i] = probes.CoreLoad{Core: i, Idle: 1}
	}
	return cores
}

func (h *Host) tids() []int {
	tids := make([]int, 0, len(h.threads))
	for tid := range h.threads {
		tids = append(tids, tid)
	}
	slices.Sort(tids)
	return tids
}

func (h *Host) path(parts ...string) string {
	return filepath.Join(append([]string{h.root}, parts...)...)
}

// write replaces a file in one step, so that a reader never sees half of it.
func (h *Host) write(path, content string) {
	h.t.Helper()
	full := h.path(path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		h.t.Fatal(err)
	}
	next := full + ".next"
	if err := os.WriteFile(next, []byte(content), 0o644); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Rename(next, full); err != nil {
		h.t.Fatal(err)
	}
}

func (h *Host) link(path, target string) {
	h.t.Helper()
	full := h.path(path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Symlink(target, full); err != nil {
		h.t.Fatal(err)
	}
}
