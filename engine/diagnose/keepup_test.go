package diagnose

import (
	"slices"
	"testing"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// On a computer whose cores another program fills, the path keeps its verdict as long as
// the sockets show that the test does not wait for a core; else the cores have it.
func TestFullCoresThatNobodyWaitsFor(t *testing.T) {
	fed := func(w *StreamWindow) { w.Now.NotSentBytes, w.ZeroWindow = 1<<20, probes.Got(0.0) }
	lossy := windows(wide(40*ms, 41400*time.Microsecond), lost(11831, 13, 0), by(cubic), fed)
	crowd := func(edits ...func(*Evidence)) Evidence {
		return base(append([]func(*Evidence){noCeiling, cores(local, 1, .99), rateOf(up, 8.95e6), sender(up, lossy),
			func(e *Evidence) { e.Ends[local].Process = probes.Got(.05) },
			thread(local, "lr-tx-1", up, 0, .02), others(local, "burnP6", 0, .97), others(local, "burnP6", 1, .97)}, edits...)...)
	}
	for _, tt := range []struct {
		name string
		e    Evidence
		want string
	}{
		{"sockets always fed", crowd(), RandomLoss},
		{"far buffer empty", crowd(receiver(up, buffers(engine.SockMem{RmemAlloc: 1000, RcvBuf: 1 << 20}))), RandomLoss},
		{"send buffer full, nothing unsent", crowd(again(up, func(w *StreamWindow) {
			w.Now.NotSentBytes = 0
			w.Mem = probes.Got(engine.SockMem{Queued: 70, SndBuf: 100})
		})), RandomLoss},
		{"sockets run dry", crowd(again(up, func(w *StreamWindow) { w.Now.NotSentBytes = 0 })), OtherPrograms},
		{"sockets without data half of the time", crowd(again(up, func(w *StreamWindow) { w.Now.BusyTime = w.Before.BusyTime + w.Span/2 })), OtherPrograms},
		{"far buffer fills", crowd(receiver(up, buffers(engine.SockMem{RmemAlloc: 1 << 19, RcvBuf: 1 << 20}))), OtherPrograms},
		{"far window shrinks", crowd(again(up, func(w *StreamWindow) { w.Before.SndWnd, w.Now.SndWnd = 3e6, 2e6 })), OtherPrograms},
		{"far window was closed", crowd(again(up, func(w *StreamWindow) { w.ZeroWindow = probes.Got(.1) })), OtherPrograms},
		{"threads that work", crowd(thread(local, "lr-tx-2", up, 1, .3)), OtherPrograms},
		{"threads unknown", crowd(blindThreads(local)), OtherPrograms},
		{"within the computer", crowd(again(up, windows(wide(30*time.Microsecond, 60*time.Microsecond), fed))), OtherPrograms},
		{"TCP_INFO unknown", crowd(func(e *Evidence) {
			e.Flows[up].Sender = probes.Unknown[[]StreamWindow](probes.Unsupported, "no TCP_INFO")
		}), OtherPrograms},
	} {
		found := judge(&tt.e, up)
		sure := slices.IndexFunc(found, func(f engine.Finding) bool { return f.Confidence == engine.Sure })
		if sure < 0 || found[sure].Code != tt.want {
			t.Errorf("%s: %v, want %s to be the first that is sure", tt.name, codesOf(found), tt.want)
		}
	}
}

// What nobody else uses bounds what the test's programs can be using.
func TestOtherProgramsAsTheyAreSeen(t *testing.T) {
	veth := func(edits ...func(*Evidence)) Evidence {
		return base(append([]func(*Evidence){noCeiling, kind(local, "veth"), cores(local, .99, .99), softirq(local, 0, .1, .89), softirq(local, 1, .1, .89),
			func(e *Evidence) { e.Ends[local].Process = probes.Got(.5) }}, edits...)...)
	}
	for _, tt := range []struct {
		name string
		e    Evidence
		want bool
	}{
		{"half of both cores", veth(others(local, "sh", 0, .5), others(local, "sh", 1, .5)), true},
		{"a third of them", veth(others(local, "sh", 0, .35), others(local, "sh", 1, .35)), false},
		{"the far program and packets are none", veth(others(local, "linerate", 0, .8), others(local, "ksoftirqd/1", 1, .3)), false},
		{"not known", veth(), false},
		{"the far program counts packets twice", veth(func(e *Evidence) {
			e.Ends[farEnd] = UnknownEnd("")
			e.Ends[farEnd].Process = probes.Got(.6)
		}, others(local, "sh", 0, .5), others(local, "sh", 1, .5)), true},
		{"the same without knowing the others", veth(func(e *Evidence) {
			e.Ends[farEnd] = UnknownEnd("")
			e.Ends[farEnd].Process = probes.Got(.6)
		}), false},
	} {
		if v := otherPrograms(&tt.e, up); (v.state == Holds) != tt.want {
			t.Errorf("%s: %v %q %q, want holds %v", tt.name, v.state, v.finding.Text, v.why, tt.want)
		}
	}
}
