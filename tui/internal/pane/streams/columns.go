package streams

import (
	"strconv"
	"time"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/tui/internal/figure"
)

// column is one right-aligned column of the table. Columns with a smaller need are kept
// longer when the pane is narrow.
type column struct {
	title string
	width int
	need  int
	cell  func(p *Pane, st *engine.Stream) string
}

const columnCount = 9

// columns are all there are, in the order on screen; the share bar and the trail, which
// are drawn and not written, stand between and behind them.
var columns = [columnCount]column{
	{"rate", 8, 0, func(p *Pane, st *engine.Stream) string { return figure.Short(st.Rate, p.units) }},
	{"vs fair", 8, 7, func(p *Pane, st *engine.Stream) string { return figure.Delta(p.deviation(st)) }},
	{"retr/s", 7, 1, func(_ *Pane, st *engine.Stream) string { return figure.PerSecond(st.RetransRate) }},
	{"cwnd", 9, 3, func(_ *Pane, st *engine.Stream) string { return figure.Size(st.Cwnd) }},
	{"rtt", 9, 2, func(_ *Pane, st *engine.Stream) string { return figure.Duration(st.RTT) }},
	{"min rtt", 9, 8, func(_ *Pane, st *engine.Stream) string { return minRTT(st) }},
	{"limited by", 12, 6, func(_ *Pane, st *engine.Stream) string { return limitedBy(st) }},
	{"core", 5, 5, func(_ *Pane, st *engine.Stream) string { return core(st) }},
	{"thread", 7, 9, func(_ *Pane, st *engine.Stream) string { return thread(st) }},
}

func minRTT(st *engine.Stream) string {
	if info, ok := st.TCP.Get(); ok && info.Has(engine.InfoMinRTT) {
		return unit.Duration(info.MinRTT)
	}
	return unit.None
}

// limitedBy is where a stream's sender, here or far, has spent most of its busy time since
// it began. TCP is the sender's where the window is known: a receiver has none.
func limitedBy(st *engine.Stream) string {
	info, ok := st.TCP.Get()
	if !ok || !st.Sender && !st.Cwnd.Known() || !info.Has(engine.InfoBusyTime) || info.BusyTime < 100*time.Millisecond {
		return unit.None
	}
	rwnd := float64(info.RwndLimited) / float64(info.BusyTime)
	sndbuf := float64(info.SndbufLimited) / float64(info.BusyTime)
	switch {
	case rwnd >= 0.25 && rwnd >= sndbuf:
		return "rwnd " + figure.Percent(rwnd) + " %"
	case sndbuf >= 0.25:
		return "sndbuf " + figure.Percent(sndbuf) + " %"
	}
	return "cwnd"
}

func core(st *engine.Stream) string {
	if t, ok := st.Thread.Get(); ok {
		return strconv.Itoa(t.Core)
	}
	return unit.None
}

func thread(st *engine.Stream) string {
	if t, ok := st.Thread.Get(); ok {
		return figure.Percent(t.Busy()) + " %"
	}
	return unit.None
}
