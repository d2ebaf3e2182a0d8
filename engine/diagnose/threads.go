package diagnose

import (
	"fmt"
	"strconv"

	"linerate/engine"
	"linerate/probes"
)

const (
	// belowLink is the part of the ceiling up to which a full sending thread is called
	// the limit: beyond it the link is about to be.
	belowLink = 0.9
	// driven is the least share of time a sender's socket has data, or of samples that
	// say "application limited", when its thread is what limits it.
	driven = 0.5
	// backlog is the least fill of the receive buffer that shows the reader to be late.
	backlog = 0.3
	// smallBlock is a write so small that the system call costs more than the copy:
	// 1500-byte writes gave 7.9 where 128 KiB gave 23 Gbit/s.
	smallBlock = 16 << 10
	// mostOfCore is the share of a full core from which a thread fills it where the rest is
	// its own program's, which was bound to that core as a whole.
	mostOfCore = 0.85
)

// senderCore (R10): a sending thread needs a whole core, and others are free.
func senderCore(e *Evidence, dir engine.Direction) ruling {
	side := e.Sender(dir)
	r := e.worker(side, dir, true)
	t, ok := r.Get()
	if !ok {
		return unseen("sending threads: " + r.Why())
	}
	cores, ok := e.cores(side).Get()
	if !ok {
		return unseen("cores: " + e.cores(side).Why())
	}
	free := freeBeside(cores, t.Core)
	switch {
	case t.Busy() < full && !e.fillsWithProgram(side, t, cores):
		return no(fmt.Sprintf("the busiest sending thread uses %s of a core", percent(t.Busy())))
	case free == 0:
		return no("no other core is free")
	case e.nearCeiling(dir) >= belowLink:
		return no(fmt.Sprintf("%s of what the link can carry is used", percent(e.nearCeiling(dir))))
	}
	where := e.where(side)
	at, share := onCore(t, cores, where)
	f := e.threadFinding(dir, side, t, share, free)
	small := ""
	if b := e.Test.Spec.BlockSize; b > 0 && b < smallBlock {
		small = fmt.Sprintf("drop -l %d, or ", b)
	}
	f.Text = fmt.Sprintf("One core is full of the sending thread (%s) while %s: %spress + for another stream.%s", at, sitIdle(free), small, e.both())
	f.Short = fmt.Sprintf("%score %d full (sending): press +", where, t.Core)
	f.Confidence = e.senderConfidence(dir)
	f.Remedy = []engine.Remedy{{Text: "Add a stream: each has its own thread. iperf3 before 3.16 runs all of -P in one."}}
	if b := e.Test.Spec.BlockSize; b > 0 && b < smallBlock {
		f.Remedy = append([]engine.Remedy{{Text: fmt.Sprintf("Drop -l %d: small writes cost more in system calls than in copying.", b)}}, f.Remedy...)
		f.Evidence = append(f.Evidence, engine.Evidence{Name: "bytes per write", Value: float64(b), Unit: "B", Side: engine.Local})
	}
	if a := e.Test.Spec.Affinity; a >= 0 && e.side(side) == engine.Local {
		f.Remedy = append(f.Remedy, engine.Remedy{Text: fmt.Sprintf("Drop -A %d: it binds every stream to one core.", a)})
	}
	f.Remedy = append(f.Remedy, engine.Remedy{Text: "A larger MTU and zero copy (-Z) cost less CPU per byte."})
	return holds(f)
}

// worker gives the busiest thread that moves a direction's payload at one end. Where threads
// are not told apart, a process that uses as much as one core, beside a core that is full
// and not of packets, is taken for that thread: iperf3 before 3.16 has no other, and a
// single stream needs no other.
func (e *Evidence) worker(side engine.Side, dir engine.Direction, sends bool) probes.Reading[Thread] {
	r := e.busiest(side, dir, sends)
	if e.Ends[side].Threads.Known() || e.maybeOneComputer() {
		return r
	}
	busy, ok := e.Ends[side].Process.Get()
	cores, seen := e.cores(side).Get()
	top := spreadOf(cores).top
	if !ok || !seen || busy < full || busy > oneCoreMost || top.Busy() < full || top.User+top.System < working {
		return r
	}
	return probes.Got(Thread{ThreadLoad: probes.ThreadLoad{Name: "process", System: busy, Core: top.Core}, Dir: dir, Sends: sends})
}

// fillsWithProgram reports a thread that with the rest of its own program fills its core.
func (e *Evidence) fillsWithProgram(side engine.Side, t Thread, cores []probes.CoreLoad) bool {
	c, ok := coreByNumber(cores, t.Core)
	program, known := e.Ends[side].Process.Get()
	return ok && known && c.Busy() >= full && t.Busy() >= mostOfCore && program >= full
}

// senderConfidence is sure when TCP agrees that the program is what limits: the socket
// had data most of the time or was application-limited, and little waited unsent.
func (e *Evidence) senderConfidence(dir engine.Direction) engine.Confidence {
	streams, ok := e.flow(dir).Sender.Get()
	if !ok {
		return engine.Likely
	}
	busy, busyKnown := median(streams, (*StreamWindow).Busy)
	app, appKnown := median(streams, (*StreamWindow).appLimited)
	waiting, waitingKnown := median(streams, (*StreamWindow).waiting)
	if !busyKnown && !appKnown || !waitingKnown {
		return engine.Likely
	}
	if (busy >= driven || app >= driven) && waiting < driven {
		return engine.Sure
	}
	return engine.Likely
}

// receiverCore (R11): a receiving thread needs a whole core.
func receiverCore(e *Evidence, dir engine.Direction) ruling {
	side := e.Receiver(dir)
	r := e.worker(side, dir, false)
	t, ok := r.Get()
	if !ok {
		return unseen("receiving threads: " + r.Why())
	}
	if t.Busy() < full {
		return no(fmt.Sprintf("the busiest receiving thread uses %s of a core", percent(t.Busy())))
	}
	late, known := e.readerLate(dir, side)
	if known && !late {
		return no("the receiving thread is busy but keeps up: its buffers are empty")
	}
	cores, seen := e.cores(side).Get()
	where := e.where(side)
	at, share := onCore(t, cores, where)
	free := freeBeside(cores, t.Core)
	f := e.threadFinding(dir, side, t, share, free)
	f.Confidence = engine.Likely
	if known {
		f.Confidence = engine.Sure
	}
	f.Remedy = []engine.Remedy{
		{Text: "Add a stream: each has its own thread."},
		{Text: "Receive without copying.", Temporary: "--skip-rx-copy"},
		{Text: "Keep the reader off the core that takes the interrupts, but in the same cache."},
	}
	f.Text = fmt.Sprintf("One core is full of the receiving thread (%s)", at)
	f.Short = fmt.Sprintf("%score %d full (receiving): press +", where, t.Core)
	switch {
	case !seen:
		f.Text += ": press + for another stream." + e.both()
	case free > 0:
		f.Text += fmt.Sprintf(" while %s: press + for another stream.%s", sitIdle(free), e.both())
	default:
		f.Text += ", and no other core is free: more streams cannot help much." + e.both()
		f.Short = fmt.Sprintf("%score %d full (receiving)", where, t.Core)
		f.Press, f.Proof = "", engine.ProofReverse
	}
	return holds(f)
}

// readerLate tells whether data waits for the receiving thread, and whether that is
// known at all.
func (e *Evidence) readerLate(dir engine.Direction, side engine.Side) (late, known bool) {
	if n, ok := e.tcp(side, "TcpExt.TCPWantZeroWindowAdv").Get(); ok {
		known = true
		late = n > 0
	}
	if streams, ok := e.flow(dir).Receiver.Get(); ok {
		for i := range streams {
			if fill, ok := streams[i].Unread().Get(); ok {
				known = true
				late = late || fill >= backlog
			}
		}
	}
	return late, known
}

// threadFinding has what R10 and R11 share.
func (e *Evidence) threadFinding(dir engine.Direction, side engine.Side, t Thread, share float64, free int) engine.Finding {
	here := e.side(side)
	f := engine.Finding{
		Severity: engine.SeverityLimit, Side: here, Core: t.Core,
		Press: "+", Proof: engine.ProofAddStream,
		Evidence: e.from(dir, e.share(named(t), t.Busy(), here)),
	}
	if e.cores(side).Known() {
		f.Evidence = append(f.Evidence, e.share(fmt.Sprintf("core %d busy", t.Core), share, here),
			engine.Evidence{Name: "cores free", Value: float64(free), Side: here, Age: e.end(side).Age})
	}
	return f
}

// named says in the list of evidence what was measured: a thread, or a whole process.
func named(t Thread) string {
	if t.TID == 0 && t.Name == "process" {
		return "process of the test"
	}
	return "thread " + t.Name
}

// sitIdle says how many cores have nothing to do: "1 sits idle", "3 sit idle".
func sitIdle(n int) string { return strconv.Itoa(n) + sits(n) }

func sits(n int) string {
	if n == 1 {
		return " sits idle"
	}
	return " sit idle"
}
