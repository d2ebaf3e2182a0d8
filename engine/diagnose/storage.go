package diagnose

import (
	"fmt"
	"strings"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
)

const (
	// diskFull is the part of what a disk of its class can do from which it is the limit.
	diskFull = 0.9
	// ioPressure is the share of the time some task waits for a disk, waitingCore the
	// share of a core's time in iowait, and dirtyFull the fill of the page cache's room
	// for unwritten pages, that show a disk to be late.
	ioPressure, waitingCore, dirtyFull = 0.20, 0.2, 0.9
	// memoryFaster is how much faster memory to memory must be for the file to be the
	// brake.
	memoryFaster = 1.2
)

// diskCeiling (R47): a file at one end is slower than the network.
func diskCeiling(e *Evidence, dir engine.Direction) ruling {
	return e.eachComputer(func(side engine.Side) ruling { return e.fileBrakes(dir, side) })
}

func (e *Evidence) fileBrakes(dir engine.Direction, side engine.Side) ruling {
	disk, ok := e.end(side).Disk.Get()
	switch {
	case !ok && e.end(side).Disk.Status == probes.Absent && e.side(side) == engine.Local:
		return no("no file is read or written here")
	case !ok:
		return e.notSeen(side, "disk", e.end(side).Disk.Why())
	}
	g, ok := e.flow(dir).Rate.Get()
	if !ok {
		return unseen("rate: " + e.flow(dir).Rate.Why())
	}
	memory := e.memoryToMemory(dir)
	if memory.Known() && memory.Value < memoryFaster*g {
		return no(fmt.Sprintf("memory to memory reached %s, no more than the file's %s", unit.Rate(memory.Value), unit.Rate(g)))
	}
	sign, evidence, missing := e.diskSigns(dir, side, disk)
	if sign == "" && (missing == "" || !memory.Known()) {
		if missing != "" {
			return e.notSeen(side, "disk", missing)
		}
		return no("the disk keeps up")
	}
	f := engine.Finding{
		Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: e.side(side), Core: -1,
		Short:    fmt.Sprintf("%sdisk is the ceiling: %s", e.where(side), unit.Rate(g)),
		Proof:    engine.ProofDiscard,
		Evidence: e.from(dir, evidence...),
		Remedy: []engine.Remedy{
			e.system(side).say("A faster disk, or several as one; larger writes without a sync after each, or direct I/O."),
			{Text: "Leave the file away to see what the network alone does."},
		},
	}
	f.Text = fmt.Sprintf("The %sdisk%s is the ceiling: %s/s = %s", e.where(side), prefixed(" ", clip(disk.Name, 16), ""), unit.Bytes(uint64(g/8)), unit.Rate(g))
	if sign != "" {
		f.Text += " (" + sign + ")"
	}
	if memory.Known() {
		f.Text += fmt.Sprintf("; the network alone did %s", unit.Rate(memory.Value))
		f.Evidence = append(f.Evidence, engine.Evidence{Name: "memory to memory", Value: memory.Value, Unit: "bit/s", Side: engine.Local})
	}
	f.Text += "."
	if sign == "" || !memory.Known() {
		f.Confidence = engine.Likely
	}
	return holds(f)
}

// memoryToMemory is the best rate of the same direction without a file.
func (e *Evidence) memoryToMemory(dir engine.Direction) probes.Reading[float64] {
	best := probes.Unknown[float64](probes.NotRead, "memory to memory was not tried")
	for i := range e.Steps {
		if s := &e.Steps[i]; !s.File && s.Rates[dir] > best.Value {
			best = probes.Got(s.Rates[dir])
		}
	}
	return best
}

// diskSigns looks for a disk that is busy. sign is "" when none shows; missing says what
// could not be read then.
func (e *Evidence) diskSigns(dir engine.Direction, side engine.Side, disk probes.Disk) (sign string, evidence []engine.Evidence, missing string) {
	moved := e.diskRate(side, disk.Name)
	limit, classed := disk.LimitBps.Get()
	if !moved.Known() {
		moved = e.flow(dir).Rate
	}
	waits := e.shareOfWindow(side, e.end(side).Vitals.Pressure.IO)
	dirty := e.end(side).Vitals.Dirty
	blocked, core := e.blocked(dir, side)
	switch {
	case classed && limit > 0 && moved.Value >= diskFull*limit:
		return fmt.Sprintf("%s of what its class can do", percent(moved.Value/limit)),
			[]engine.Evidence{e.vital("disk", moved.Value, "bit/s", side), e.fact("disk at most", limit, "bit/s", side)}, ""
	case waits.Value >= ioPressure:
		return fmt.Sprintf("tasks wait for it %s of the time", percent(waits.Value)),
			[]engine.Evidence{e.vital("I/O pressure", waits.Value, "share", side)}, ""
	case blocked >= waitingCore:
		who := fmt.Sprintf("the thread on core %d", core)
		if !e.Ends[side].Threads.Known() {
			who = fmt.Sprintf("a task on core %d", core)
		}
		return fmt.Sprintf("%s waits for it %s of the time", who, percent(blocked)),
			[]engine.Evidence{e.share(fmt.Sprintf("core %d iowait", core), blocked, side)}, ""
	case dirty.Value >= dirtyFull:
		return fmt.Sprintf("unwritten pages fill %s of their room", percent(dirty.Value)),
			[]engine.Evidence{e.vital("dirty pages", dirty.Value, "share", side)}, ""
	case !classed:
		missing = "class limit: " + disk.LimitBps.Why()
	case !waits.Known():
		missing = "I/O pressure: " + waits.Why()
	}
	return "", nil, missing
}

// blocked is the iowait of the core on which a payload thread works, or the most of any where
// the threads are not known.
func (e *Evidence) blocked(dir engine.Direction, side engine.Side) (share float64, core int) {
	t, ok := e.busiest(side, dir, side == e.Sender(dir)).Get()
	if !ok {
		core = -1
		for _, c := range e.cores(side).Value {
			if c.IOWait > share {
				share, core = c.IOWait, c.Core
			}
		}
		return share, core
	}
	c, _ := coreByNumber(e.cores(side).Value, t.Core)
	return c.IOWait, t.Core
}

// diskRate is what a disk reads and writes, bits/s. A partition counts for its disk.
func (e *Evidence) diskRate(side engine.Side, name string) probes.Reading[float64] {
	r := e.end(side).Vitals.Disks
	for _, d := range r.Value {
		if d.Name == name || d.Name != "" && strings.HasPrefix(name, d.Name) {
			return e.perSecond(side, probes.Got(float64(d.ReadBytes+d.WrittenBytes)*8))
		}
	}
	return probes.Unknown[float64](r.Status, orElse(r.Why(), "no such disk"))
}
