package diagnose

import (
	"fmt"
	"strconv"
	"strings"

	"linerate/engine"
)

// A process that fills one core reads 95 to 110 % over a whole test: what is above 100
// is rounding and the time after the last byte. More than that is more than one thread.
const (
	oneCoreLeast, oneCoreMost = 0.95, 1.10
	// threaded is the first iperf3 with one thread per stream.
	threadedMajor, threadedMinor = 3, 16
)

// farOneThread (R44c): a stock iperf3 at the far end used exactly one core for several
// streams.
func farOneThread(e *Evidence, dir engine.Direction) ruling {
	if e.Test.Linerate {
		return no("the far end is linerate: its cores are on the screen")
	}
	several := e.streams() > 1
	step, cpu := e.peerCPU(func(s *Step) bool { return s.total() > 1 == several })
	if !cpu.Known() {
		return unseen("CPU of the far iperf3: " + cpu.Why())
	}
	if cpu.Value < oneCoreLeast || cpu.Value > oneCoreMost {
		return no("the far iperf3 used " + percent(cpu.Value) + " of a core")
	}
	cores, ok := e.cores(engine.Local).Get()
	if !ok {
		return unseen("cores here: " + e.cores(engine.Local).Why())
	}
	// On one computer the far program's full core is among those here; only an own
	// thread that fills one speaks against it.
	if top := spreadOf(cores).top; top.Busy() >= full && !e.Test.SameHost {
		return no(fmt.Sprintf("core %d here is full", top.Core))
	}
	tx, rx := e.pair(engine.Local)
	if max(tx.Value.Busy(), rx.Value.Busy()) >= full {
		return no("a thread here fills a core")
	}
	used := fmt.Sprintf("The far iperf3 used %s of one core with %s", percent(cpu.Value), count(step.total(), "stream"))
	f := engine.Finding{
		Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: e.side(engine.Far), Core: -1,
		Short:    fmt.Sprintf("far iperf3: one full thread (%s)", percent(cpu.Value)),
		Evidence: e.from(dir, engine.Evidence{Name: "far process", Value: cpu.Value, Unit: "share", Side: engine.Far, Age: e.Test.Age}),
		Remedy: []engine.Remedy{
			{Text: "Upgrade the far iperf3: from 3.16 on each stream has its own thread."},
			{Text: "Run linerate at the far end.", Temporary: "linerate serve"},
			{Text: "Or run two iperf3 servers there, on two ports, and test both at once.", Temporary: "iperf3 -s -p 5202"},
		},
	}
	switch {
	case !several:
		f.Confidence = engine.Likely
		f.Text = used + ": its one thread is full. Press + to see whether it has more."
		f.Press, f.Proof = "+", engine.ProofAddStream
	case e.singleThreaded():
		f.Text = used + ": it is single-threaded (" + e.Test.PeerAgent + "), + cannot help. Upgrade it, or run `linerate serve` there."
	default:
		f.Text = used + ": it is single-threaded (before 3.16) or its core is full, + cannot help. Upgrade it, or run `linerate serve` there."
	}
	return holds(f)
}

// foreignTool (X05): the far iperf3 is a Windows build, whose Cygwin layer is slower
// than the network.
func foreignTool(e *Evidence, dir engine.Direction) ruling {
	if !strings.HasPrefix(e.Test.PeerAgent, "iperf ") {
		return no("the far end is no iperf3")
	}
	host, ok := e.Ends[engine.Far].Host.Get()
	switch {
	case !ok:
		return unseen("far end not visible: " + e.Ends[engine.Far].Host.Why())
	case host.OS != "windows":
		return no("the far iperf3 runs on " + host.OS)
	case !e.ceiling().Known():
		return unseen("line speed: " + e.ceiling().Why())
	case e.nearCeiling(dir) >= belowLink:
		return no(fmt.Sprintf("%s of what the link can carry is used", percent(e.nearCeiling(dir))))
	}
	return holds(engine.Finding{
		Severity: engine.SeverityLimit, Confidence: engine.Likely, Side: engine.Far, Core: -1,
		Text:     "The far iperf3 is a Windows build: its Cygwin layer is likely slower than the network. Run `linerate serve` there.",
		Short:    "the far iperf3 is a Windows build",
		Evidence: e.from(dir),
		Remedy:   []engine.Remedy{{Text: "linerate needs no such layer.", Temporary: "linerate serve"}},
	})
}

// singleThreaded reports whether the far end says that it is an iperf3 with one thread
// for all streams.
func (e *Evidence) singleThreaded() bool {
	version, ok := strings.CutPrefix(e.Test.PeerAgent, "iperf ")
	if !ok {
		return false
	}
	major, rest, _ := strings.Cut(version, ".")
	minor := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	a, errA := strconv.Atoi(major)
	b, errB := strconv.Atoi(minor)
	if errA != nil || errB != nil {
		return false
	}
	return a < threadedMajor || a == threadedMajor && b < threadedMinor
}

// farUnknown (X02): the cores of the far end cannot be seen. It is no cause; it says
// what the other answers are worth.
func farUnknown(e *Evidence, dir engine.Direction) ruling {
	switch {
	case e.Test.SameHost:
		return no("both ends run on this computer")
	case e.Ends[engine.Far].Cores.Known():
		return no("the far cores are known")
	case e.younger(leastAge) || !e.flow(dir).Rate.Known():
		return no("not asked yet")
	}
	why := "stock iperf3"
	if e.Test.Linerate {
		why = e.Ends[engine.Far].Cores.Why()
	}
	f := engine.Finding{
		Severity: engine.SeverityOK, Confidence: engine.Unsure, Side: engine.Far, Core: -1,
		Text:     fmt.Sprintf("The far side is unknown (%s); %s.", why, e.here()),
		Short:    "far side unknown",
		Evidence: e.from(dir),
		Remedy:   []engine.Remedy{{Text: "linerate at the far end shows its cores here.", Temporary: "linerate serve"}},
	}
	if !e.Test.Linerate {
		f.Text += " `linerate serve` there would show its cores."
	}
	return holds(f)
}

// here says how busy this computer is, for answers that name no cause.
func (e *Evidence) here() string {
	cores, ok := e.cores(engine.Local).Get()
	if !ok {
		return "the cores here are unknown too (" + e.cores(engine.Local).Why() + ")"
	}
	top := spreadOf(cores).top
	return fmt.Sprintf("here core %d is the busiest, %s", top.Core, percent(top.Busy()))
}
