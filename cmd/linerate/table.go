package main

import (
	"fmt"
	"strconv"

	"linerate/engine"
	"linerate/engine/unit"
)

// row is one direction of a running test in the server's table.
type row struct {
	test    int
	client  string
	agent   string
	dir     engine.Direction
	streams int
	clock   string
	now     float64 // bits/s since the last table; negative: not known yet
	mean    float64 // bits/s since the test began
	bytes   uint64
}

// rows are the directions of a test, from what it had moved before and now.
func (m moved) rows(t engine.ServerTest, before moved) []row {
	var rows []row
	for _, dir := range t.Info.Spec.Direction.Dirs() {
		r := row{
			test: t.ID, client: t.Info.Control.Remote.String(), agent: t.Info.PeerAgent, dir: dir,
			clock: unit.Clock(t.Elapsed), now: -1, bytes: m.bytes[dir],
		}
		for _, c := range t.Info.Conns {
			if c.Dir == dir {
				r.streams++
			}
		}
		if s := m.at.Sub(before.at).Seconds(); !before.at.IsZero() && s > 0 {
			r.now = float64(m.bytes[dir]-before.bytes[dir]) * 8 / s
		}
		if s := t.Elapsed.Seconds(); s > 0 {
			r.mean = float64(m.bytes[dir]) * 8 / s
		}
		rows = append(rows, r)
	}
	return rows
}

// layTable puts rows under a header, at most so many; the rest is summed up in a last
// line. No rows make no table.
func layTable(rows []row, most int) []string {
	if len(rows) == 0 {
		return nil
	}
	client := len("client")
	for _, r := range rows {
		client = max(client, len(r.client))
	}
	line := func(test, who, dir, streams, clock, now, mean, bytes, agent string) string {
		return fmt.Sprintf("%5s  %-*s  %-8s  %7s  %8s  %12s  %12s  %9s  %s", test, client, who, dir, streams, clock, now, mean, bytes, agent)
	}
	table := []string{line("test", "client", "", "streams", "time", "now", "mean", "moved", "")}
	fold := len(rows) > most
	shown := rows
	if fold {
		shown = rows[:max(0, most-1)]
	}
	for _, r := range shown {
		now := "–"
		if r.now >= 0 {
			now = unit.Rate(r.now)
		}
		table = append(table, line(strconv.Itoa(r.test), r.client, r.dir.String(), strconv.Itoa(r.streams),
			r.clock, now, unit.Rate(r.mean), unit.Bytes(r.bytes), r.agent))
	}
	if fold {
		rest := rows[len(shown):]
		sum := 0.0
		for _, r := range rest {
			sum += max(0, r.now)
		}
		table = append(table, fmt.Sprintf("       %d more, together %s", len(rest), unit.Rate(sum)))
	}
	return table
}
