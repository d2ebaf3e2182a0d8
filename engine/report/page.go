package report

import (
	"bytes"
	"strings"

	"linerate/engine"
)

// page collects plain text for people, cleaned for the terminal. Commands stay whole, so
// that they can be copied; all else keeps to the width.
type page struct {
	buf   bytes.Buffer
	width int // columns
}

func (p *page) line(s string) { p.buf.WriteString(clean(s) + "\n") }

// wrapped writes text behind first, in as many lines as it needs.
func (p *page) wrapped(first, text string) {
	for _, l := range wrap(p.width, first, clean(text)) {
		p.line(l)
	}
}

// remedies writes what can be done, each command on lines of its own.
func (p *page) remedies(all []engine.Remedy) {
	for _, r := range all {
		p.wrapped("  - ", r.Text)
		p.commands("now:    ", r.Temporary)
		p.commands("lasts:  ", r.Persistent)
	}
}

func (p *page) commands(label, command string) {
	for _, step := range engine.CommandSteps(command) {
		p.line("      " + label + step)
		label = strings.Repeat(" ", len(label))
	}
}

// phrases writes parts with dots between them; a line breaks between parts, not in one.
func (p *page) phrases(first string, parts []string) {
	const glue = "\x00" // clean leaves none of its own
	for i, part := range parts {
		part = clean(part)
		if i < len(parts)-1 {
			part += " ·"
		}
		if len(part) < p.width/2 {
			part = strings.ReplaceAll(part, " ", glue)
		}
		parts[i] = part
	}
	for _, l := range wrap(p.width, first, strings.Join(parts, " ")) {
		p.line(strings.ReplaceAll(l, glue, " "))
	}
}

func (p *page) table(head []string, rows [][]string) {
	for _, row := range rows {
		for i := range row {
			row[i] = clean(row[i])
		}
	}
	for _, l := range columns(p.width, head, rows) {
		p.line(l)
	}
}
