package tui

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"linerate/engine"
	"linerate/probes"
	"linerate/tui/internal/grid"
	"linerate/tui/internal/pane/steps"
	"linerate/tui/internal/pane/why"
	"linerate/tui/internal/style"
)

// noLoad stands for a load that is unknown.
var noLoad = probes.Load{}

// text draws the text view that is open over the room of the panes.
func (m *Model) text(all grid.Area, l *layout, s *engine.Snapshot) {
	top := l.Verdict.Y + l.Verdict.H
	bottom := l.Footer.Y
	if !l.Status.Empty() {
		bottom = l.Status.Y
	}
	a := all.Sub(0, top, all.W, bottom-top)
	title, page := "", grid.Page(nil)
	switch m.view {
	case helpView:
		title, page = "HELP", m.helpPage(a.W-4)
	case whyView:
		title, page = "WHY", grid.Reflow(why.Page(s, m.screen.glyphs), a.W-4)
	case compareView:
		title, page = "STEPS", steps.Compare(s, m.screen.glyphs, m.units, a.W-4)
	}
	if l.Class >= standard {
		a = a.Frame(title)
	} else {
		a = a.Rule(title)
	}
	a = a.Sub(1, 0, a.W-2, a.H)
	m.screen.lastScroll = a.Scroll(page, m.scroll)
}

// helpPage lists the keys by purpose, in as many columns as the width allows, and what
// the signs on screen mean. lipgloss lays the columns out; this is not drawn per frame.
func (m *Model) helpPage(width int) (p grid.Page) {
	const keyWidth, least = 12, 52
	plain := lipgloss.NewRenderer(io.Discard, termenv.WithProfile(termenv.Ascii))
	columns := max(1, min(3, width/least))
	column := plain.NewStyle().Width(width / columns).PaddingRight(2)
	keyStyle := plain.NewStyle().Width(keyWidth)
	var blocks []string
	for _, g := range m.keys.help() {
		rows := []string{g.title}
		for _, b := range g.keys {
			if len(b.Keys()) == 0 {
				continue
			}
			row := lipgloss.JoinHorizontal(lipgloss.Top, keyStyle.Render("  "+b.Help().Key),
				plain.NewStyle().Width(width/columns-keyWidth-2).Render(longer(b)))
			rows = append(rows, row)
		}
		blocks = append(blocks, column.Render(strings.Join(rows, "\n")+"\n"))
	}
	blocks = append(blocks, column.Render(m.signs()))
	for i := 0; i < len(blocks); i += columns {
		row := lipgloss.JoinHorizontal(lipgloss.Top, blocks[i:min(i+columns, len(blocks))]...)
		for line := range strings.SplitSeq(row, "\n") {
			p.Add(style.Plain, line)
		}
	}
	return p
}

// signs explains what the panes draw.
func (m *Model) signs() string {
	g := m.screen.glyphs
	return strings.Join([]string{
		"Signs",
		"  cores: " + string(g.User) + " user " + string(g.System) + " system " + string(g.IRQ) + " irq " +
			string(g.SoftIRQ) + " softirq " + string(g.Steal) + " steal " + string(g.Idle) + " idle",
		"  ! core at 95 % or more, " + g.Own + " our threads run here",
		"  graph: line = mean, dots = least to greatest",
		"  " + string(g.Mark) + " a step begins, - unknown",
	}, "\n")
}
