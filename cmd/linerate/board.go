package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"

	"linerate/cmd/linerate/internal/guard"
	"linerate/cmd/linerate/internal/keyboard"
	"linerate/engine"
	"linerate/engine/iperf"
)

// board is the output of linerate serve on a terminal: log lines that scroll, and below
// them a table of the running tests that is drawn anew every second.
type board struct {
	tty    *console
	server *iperf.Server
	end    context.CancelFunc // q
	keys   *keyboard.Keyboard // nil: none can be read
	watch  *guard.Guard
	drawn  int // lines of the table on the screen
	before map[int]moved
}

// board makes one, or nil where the output is no terminal or --plain was given.
func (a *app) board(o *options, server *iperf.Server, end context.CancelFunc) *board {
	tty, _ := terminal(a.in, a.out)
	if tty == nil || o.output.plain {
		tty.close()
		return nil
	}
	b := &board{tty: tty, server: server, end: end, before: map[int]moved{}}
	// Without a watcher or keys the table is as good.
	b.watch, _ = guard.Start(tty.keys, guard.Lines, stateDir())
	b.keys, _ = keyboard.Open(tty.keys)
	return b
}

func (b *board) close() {
	if b.keys != nil {
		b.keys.Close()
	}
	b.watch.Stop()
	b.tty.close()
}

// run prints the lines and the table until the lines are closed.
func (b *board) run(lines *backlog) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var keys <-chan byte
	if b.keys != nil {
		keys = b.keys.Keys()
	}
	var table []string
	for {
		select {
		case <-lines.bell:
			p, last := lines.take()
			if last {
				b.draw(p, nil)
				return
			}
			b.draw(p, table)
		case now := <-tick.C:
			table = b.table(now)
			b.draw(nil, table)
		case key := <-keys:
			if key == 'q' {
				b.end()
			}
		}
	}
}

// draw replaces the table on the screen, with new lines above it, in one write.
func (b *board) draw(lines []byte, table []string) {
	if len(lines) == 0 && len(table) == 0 && b.drawn == 0 {
		return
	}
	var out bytes.Buffer
	if b.drawn > 0 {
		fmt.Fprintf(&out, "\x1b[%dA\r\x1b[J", b.drawn)
	}
	out.Write(lines)
	for _, line := range table {
		out.WriteString(line + "\n")
	}
	b.drawn = len(table)
	b.tty.screen.Write(out.Bytes())
}

// table gives the lines for the tests that run now, cut to the terminal's size.
func (b *board) table(now time.Time) []string {
	width, height, err := term.GetSize(b.tty.screen.Fd())
	if err != nil || width <= 0 || height <= 0 {
		width, height = 80, 24
	}
	tests := b.server.Tests()
	var rows []row
	seen := map[int]moved{}
	for _, t := range tests {
		m := count(t, now)
		rows = append(rows, m.rows(t, b.before[t.ID])...)
		seen[t.ID] = m
	}
	b.before = seen
	table := layTable(rows, max(1, height/2-2))
	for i := range table {
		table[i] = cut(table[i], width-1)
	}
	return table
}

// cut shortens a line to n runes; all of ours are one column wide.
func cut(line string, n int) string {
	if r := []rune(line); len(r) > n {
		return strings.TrimRight(string(r[:max(0, n)]), " ")
	}
	return line
}

// moved is what one test had moved, by direction, at a time.
type moved struct {
	at    time.Time
	bytes [2]uint64
}

func count(t engine.ServerTest, now time.Time) moved {
	m := moved{at: now}
	for _, c := range t.Counters {
		if c.Dir <= engine.Download {
			m.bytes[c.Dir] += c.Bytes
		}
	}
	return m
}
