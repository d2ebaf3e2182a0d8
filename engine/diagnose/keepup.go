package diagnose

import (
	"linerate/engine"
	"linerate/probes"
)

const (
	// alwaysBusy is the share of time in which a socket has data, from which the sending
	// thread keeps up.
	alwaysBusy = 0.9
	// wellFilled is the fill of a send buffer that has been written to as far as it takes:
	// the kernel wakes the writer when a third of it is free.
	wellFilled = 0.6
	// steadyWindow is how much a window may shrink that its reader keeps open.
	steadyWindow = 0.05
)

// keepsUp reports a direction whose two ends, as their sockets show, never wait for a core
// however full the cores are: the sender's socket always holds data to send, the
// receiver's buffer is empty, and the threads use little. What is not known speaks
// against it, and so does a round trip that stays inside a computer, where cores move the
// packets too.
func (e *Evidence) keepsUp(dir engine.Direction) bool {
	streams, ok := e.flow(dir).Sender.Get()
	if !ok || len(streams) == 0 {
		return false
	}
	least, ok := median(streams, (*StreamWindow).leastRTT)
	if !ok || least < insideComputer {
		return false
	}
	if !e.Ends[engine.Local].Threads.Known() {
		return false
	}
	for _, side := range []engine.Side{engine.Local, engine.Far} {
		if e.threadsOf(side, dir) >= takesPart {
			return false
		}
	}
	fed, known := together(streams, (*StreamWindow).fed)
	return known && fed && e.readerKeepsUp(dir, streams)
}

// fed tells whether a sender's socket is never without data, and whether that is known.
func (w *StreamWindow) fed() (yes, known bool) {
	busy, ok := w.Busy().Get()
	if !ok {
		return false, false
	}
	holds := w.Now.NotSentBytes > w.Now.SndMSS
	if m, ok := w.Mem.Get(); ok && float64(m.Queued) >= wellFilled*float64(m.SndBuf) {
		holds = true
	}
	return busy >= alwaysBusy && holds, true
}

// readerKeepsUp tells whether the receiver's thread does, by its buffer or, where that is
// not seen, by the window it leaves open: what is not read makes it smaller.
func (e *Evidence) readerKeepsUp(dir engine.Direction, streams []StreamWindow) bool {
	if fill, ok := median(e.flow(dir).Receiver.Value, (*StreamWindow).Unread); ok {
		return fill <= emptied
	}
	closed, ok := median(streams, func(w *StreamWindow) probes.Reading[float64] { return w.ZeroWindow })
	if !ok || closed > 0 {
		return false
	}
	open, known := together(streams, func(w *StreamWindow) (bool, bool) {
		return float64(w.Now.SndWnd) >= (1-steadyWindow)*float64(w.Before.SndWnd), w.Info.Known() && w.Info.Value >= engine.InfoSndWnd
	})
	return known && open
}
