package diagnose

import (
	"time"

	"linerate/engine"
	"linerate/probes"
)

// StreamWindow is one socket over the window of its Flow: what the kernel counted at
// its begin and at its end. Its methods give the quantities the rules speak of.
type StreamWindow struct {
	ID    int           `json:"id"`  // of the connection, the same at both ends
	TID   int           `json:"tid"` // thread that moves its bytes; 0 unknown
	Bytes uint64        `json:"bytes"`
	Span  time.Duration `json:"span_ns"` // between the two readings of TCP_INFO; between the counters where there are none

	// Before and Now are TCP_INFO at the ends of the window; Info says how much of them
	// is known, and why nothing is.
	Before engine.TCPInfo      `json:"before"`
	Now    engine.TCPInfo      `json:"now"`
	Info   probes.Reading[int] `json:"info"` // bytes of struct tcp_info that both have

	// Buffers at the ends of the window, and the congestion control ("" unknown).
	MemBefore  probes.Reading[engine.SockMem] `json:"mem_before"`
	Mem        probes.Reading[engine.SockMem] `json:"mem"`
	Congestion string                         `json:"congestion"`

	// AppLimited is the share of the window's samples in which the kernel says that the
	// program, not the network, limits the rate; ZeroWindow that in which the peer's
	// window was closed.
	AppLimited probes.Reading[float64] `json:"app_limited"`
	ZeroWindow probes.Reading[float64] `json:"zero_window"`
	// Queue is the median over the samples of how far the round trip time lies above the
	// least one seen.
	Queue probes.Reading[time.Duration] `json:"queue_ns"`

	// Losses are the last whole seconds of the step, oldest first, at most 30, without
	// the step's first two, in which slow start overshoots. They reach further back than
	// the window, since rare losses need it.
	Losses []Loss `json:"losses"`
	// Peaks are the slow start thresholds, segments, that CUBIC or Reno set at the sender's
	// last losses, oldest first, at most 16, likewise without the step's first seconds:
	// equal ones say that the losses came at the same window.
	Peaks []uint32 `json:"peaks"`
}

// Loss is what a sender counted in one second, segments.
type Loss struct {
	Sent     uint32 `json:"sent"`     // with payload
	Retrans  uint32 `json:"retrans"`  // sent again
	Spurious uint32 `json:"spurious"` // of these in vain: the peer had them (DSACK)
}

// share is part/whole once the kernel has the fields up to end; unknown when it has
// not, and when nothing happened to take a share of.
func (w *StreamWindow) share(end int, part, whole float64) probes.Reading[float64] {
	size, ok := w.Info.Get()
	switch {
	case !ok:
		return probes.Unknown[float64](w.Info.Status, w.Info.Why())
	case size < end:
		return probes.Unknown[float64](probes.Absent, "this kernel's TCP_INFO is too short")
	case whole <= 0:
		return probes.Unknown[float64](probes.Absent, "nothing was sent")
	}
	return probes.Got(part / whole)
}

// Busy is fB: the share of the time in which the socket had something to send.
func (w *StreamWindow) Busy() probes.Reading[float64] {
	return w.share(engine.InfoBusyTime, float64(w.Now.BusyTime-w.Before.BusyTime), float64(w.Span))
}

// RwndLimited is fR: the share of the busy time in which the peer's window was full.
func (w *StreamWindow) RwndLimited() probes.Reading[float64] {
	return w.share(engine.InfoBusyTime, float64(w.Now.RwndLimited-w.Before.RwndLimited), float64(w.Now.BusyTime-w.Before.BusyTime))
}

// SndbufLimited is fS: the share of the busy time in which the send buffer was full.
func (w *StreamWindow) SndbufLimited() probes.Reading[float64] {
	return w.share(engine.InfoBusyTime, float64(w.Now.SndbufLimited-w.Before.SndbufLimited), float64(w.Now.BusyTime-w.Before.BusyTime))
}

// Retransmitted is p: retransmitted segments as a share of the data segments sent.
func (w *StreamWindow) Retransmitted() probes.Reading[float64] {
	return w.share(engine.InfoMinRTT, float64(w.Now.TotalRetrans-w.Before.TotalRetrans), float64(w.Now.DataSegsOut-w.Before.DataSegsOut))
}

// Spurious is pd: duplicates the peer reported, as a share of the retransmissions.
func (w *StreamWindow) Spurious() probes.Reading[float64] {
	return w.share(engine.InfoBytesSent, float64(w.Now.DSACKDups-w.Before.DSACKDups), float64(w.Now.TotalRetrans-w.Before.TotalRetrans))
}

// Queueing is Q: how far the round trip time lies above the least one seen.
func (w *StreamWindow) Queueing() probes.Reading[time.Duration] {
	q := w.share(engine.InfoMinRTT, 0, 1)
	if !q.Known() {
		return probes.Unknown[time.Duration](q.Status, q.Why())
	}
	return probes.Got(max(0, w.Now.RTT-w.Now.MinRTT))
}

// Unread is how full the receive buffer is, 0 to 1.
func (w *StreamWindow) Unread() probes.Reading[float64] {
	m, ok := w.Mem.Get()
	switch {
	case !ok:
		return probes.Unknown[float64](w.Mem.Status, "buffers: "+w.Mem.Why())
	case m.RcvBuf == 0:
		return probes.Unknown[float64](probes.Absent, "the socket has no receive buffer")
	}
	return probes.Got(float64(m.RmemAlloc) / float64(m.RcvBuf))
}

// acked is what the peer has acknowledged in the window, bytes.
func (w *StreamWindow) acked() probes.Reading[float64] {
	return w.share(engine.InfoBytesAcked, float64(w.Now.BytesAcked-w.Before.BytesAcked), 1)
}

// Rate is the stream's goodput in bits/s: acknowledged bytes of a sender where the
// kernel tells, else the bytes the program moved.
func (w *StreamWindow) Rate(sender bool) float64 {
	if w.Span <= 0 {
		return 0
	}
	bytes := float64(w.Bytes)
	if sender {
		bytes = w.acked().Or(bytes)
	}
	return bytes * 8 / w.Span.Seconds()
}

// appLimited is AppLimited, or what the last reading alone says.
func (w *StreamWindow) appLimited() probes.Reading[float64] {
	if w.AppLimited == (probes.Reading[float64]{}) {
		return w.share(engine.InfoDelivery, one(w.Now.AppLimited), 1)
	}
	return w.AppLimited
}

// closed is ZeroWindow, or what the last reading alone says, where the socket waits for the
// peer's window at all: a window of zero may also be one that was left out.
func (w *StreamWindow) closed() probes.Reading[float64] {
	if share, ok := w.RwndLimited().Get(); ok && share >= stalledShare && w.ZeroWindow == (probes.Reading[float64]{}) {
		return w.share(engine.InfoSndWnd, one(w.Now.SndWnd == 0), 1)
	}
	return w.ZeroWindow
}

// waiting is the part of what the socket holds that has not been sent even once: near 1
// when the network is the brake, near 0 when the program is.
func (w *StreamWindow) waiting() probes.Reading[float64] {
	inFlight := float64(w.Now.Unacked) * float64(w.Now.SndMSS)
	notSent := float64(w.Now.NotSentBytes)
	return w.share(engine.InfoMinRTT, notSent, max(1, notSent+inFlight))
}

// Between compares two readings of the same socket, taken at the given times.
func Between(before, now *engine.Counters, beforeAt, nowAt time.Time) StreamWindow {
	w := StreamWindow{
		ID:    now.ID,
		TID:   now.TID,
		Bytes: now.Bytes - min(before.Bytes, now.Bytes),
		Span:  nowAt.Sub(beforeAt),

		MemBefore: before.Mem, Mem: now.Mem, Congestion: now.Congestion,
	}
	switch {
	case !now.TCP.Known():
		w.Info = probes.Unknown[int](now.TCP.Status, now.TCP.Why())
	case !before.TCP.Known():
		w.Info = probes.Unknown[int](before.TCP.Status, before.TCP.Why())
	case !now.TCPAt.After(before.TCPAt):
		w.Info = probes.Unknown[int](probes.Failed, "TCP_INFO is not being read any more")
	default:
		w.Before, w.Now = before.TCP.Value, now.TCP.Value
		w.Info = probes.Got(min(w.Before.Size, w.Now.Size))
		if now.Sender && w.Info.Value >= engine.InfoBytesAcked {
			w.Span = now.TCPAt.Sub(before.TCPAt)
		}
	}
	return w
}

// median gives the middle of what the streams know of one quantity, and whether at
// least one knows it.
func median(streams []StreamWindow, quantity func(*StreamWindow) probes.Reading[float64]) (float64, bool) {
	values := make([]float64, 0, len(streams))
	for i := range streams {
		if v, ok := quantity(&streams[i]).Get(); ok {
			values = append(values, v)
		}
	}
	return middle(values)
}
