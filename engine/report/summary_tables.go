package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
)

const (
	// foldAbove is how many streams of a direction are listed one by one; of more, the
	// fastest and slowest foldKeep are.
	foldAbove = 16
	foldKeep  = 5
)

// steps lists all steps of a session that had more than one.
func (t *summary) steps() {
	if len(t.last.Segments) < 2 {
		return
	}
	head := []string{">step", ">at", "change", "", ">average", ">Δ", ">retransmits", "held back by"}
	change := 28
	if t.width < roomForAll {
		change = 20
	}
	var rows [][]string
	for i := range t.last.Segments {
		rows = append(rows, stepRows(&t.last.Segments[i], change)...)
	}
	if t.width < roomForAll { // what held each step back tells more than its retransmits
		const retransmits = 6
		head = slices.Delete(head, retransmits, retransmits+1)
		for i := range rows {
			rows[i] = slices.Delete(rows[i], retransmits, retransmits+1)
		}
	}
	t.line("")
	t.table(head, rows)
}

// roomForAll is the width from which the steps have all their columns.
const roomForAll = 90

// stepRows are the cells of a step, what was changed in so many columns at most.
func stepRows(seg *engine.Segment, change int) (rows [][]string) {
	verdict := seg.Title
	if seg.Err != "" {
		verdict = "failed: " + seg.Err
	}
	for i, dir := range seg.Spec.Direction.Dirs() {
		row := []string{fmt.Sprint(seg.Index), unit.Clock(seg.Start), cut(seg.Change, change), arrow(dir), unit.None, unit.None, unit.None, verdict}
		if i > 0 {
			row[0], row[1], row[2], row[7] = "", "", "", ""
		}
		if sum := segmentSum(seg, dir); sum != nil && sum.Mean > 0 {
			row[4] = unit.Rate(sum.Mean)
			if d, ok := sum.Delta.Get(); ok {
				row[5] = percentChange(d)
			}
		}
		if n, ok := segmentRetransmits(seg, dir).Get(); ok {
			row[6] = unit.Count(float64(n))
		}
		rows = append(rows, row)
	}
	return rows
}

// arrow is a direction in a table; the word stands in the heading.
func arrow(dir engine.Direction) string {
	if dir == engine.Upload {
		return "up"
	}
	return "down"
}

// percentChange prints a share by which something changed: "+193 %", "±0 %".
func percentChange(share float64) string {
	p := math.Round(100 * share)
	if p == 0 {
		return "±0 %"
	}
	return fmt.Sprintf("%+.0f %%", p)
}

// streamRow is one stream of the last step.
type streamRow struct {
	socket int
	rate   float64
	cells  []string
}

// streams lists the streams of the last step where there are several.
func (t *summary) streams() {
	seg := t.last.Segment()
	if seg.Spec.Streams < 2 {
		return
	}
	var rows [][]string
	for _, dir := range seg.Spec.Direction.Dirs() {
		rows = append(rows, fold(t.streamRows(seg, dir))...)
	}
	if len(rows) == 0 {
		return
	}
	t.line("")
	t.table([]string{"stream", "", ">rate", ">share", ">retransmits", ">cwnd", ">rtt"}, rows)
}

func (t *summary) streamRows(seg *engine.Segment, dir engine.Direction) (rows []streamRow) {
	var total float64
	for _, s := range t.last.Streams {
		if s.Dir != dir {
			continue
		}
		rate, retr := streamRate(seg, s)
		total += rate
		retransmits := unit.None
		if n, ok := retr.Get(); ok {
			retransmits = unit.Count(float64(n))
		}
		cwnd, rtt := unit.None, unit.None
		if n, ok := s.Cwnd.Get(); ok {
			cwnd = unit.BytesIEC(n)
		}
		if d, ok := s.RTT.Get(); ok {
			rtt = unit.Duration(d)
		}
		rows = append(rows, streamRow{s.Socket, rate, []string{
			fmt.Sprint(s.Number()), arrow(dir), unit.Rate(rate), "", retransmits, cwnd, rtt,
		}})
	}
	for i := range rows {
		rows[i].cells[3] = unit.None
		if total > 0 {
			rows[i].cells[3] = fmt.Sprintf("%.0f %%", 100*rows[i].rate/total)
		}
	}
	return rows
}

// streamRate is what the receiver counted of a stream in the step, or, not told, its part
// of the average on the screen.
func streamRate(seg *engine.Segment, s engine.Stream) (float64, probes.Reading[uint64]) {
	retr := s.Retransmits
	if seg.Results != nil {
		for _, r := range seg.Results.Streams {
			if r.ID != s.ID {
				continue
			}
			if r.Retransmits.Known() {
				retr = r.Retransmits
			}
			if e, ok := r.Received.Get(); ok {
				return e.BitsPerSecond(), retr
			}
		}
	}
	if sum := segmentSum(seg, s.Dir); sum != nil && sum.Bytes > 0 {
		return sum.Mean * float64(s.Bytes) / float64(sum.Bytes), retr
	}
	return math.NaN(), retr
}

// fold shortens a long list to its fastest and slowest streams and one line for the rest.
func fold(rows []streamRow) (cells [][]string) {
	if len(rows) > foldAbove {
		slices.SortStableFunc(rows, func(a, b streamRow) int { return cmp.Compare(b.rate, a.rate) })
		rest := rows[foldKeep : len(rows)-foldKeep]
		line := streamRow{cells: []string{
			fmt.Sprintf("… %d more", len(rest)), rows[0].cells[1],
			unit.Rate(rest[len(rest)-1].rate) + " – " + unit.Rate(rest[0].rate), "", "", "", "",
		}}
		rows = slices.Concat(rows[:foldKeep], []streamRow{line}, rows[len(rows)-foldKeep:])
	}
	for _, r := range rows {
		cells = append(cells, r.cells)
	}
	return cells
}
