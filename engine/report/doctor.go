package report

import (
	"fmt"
	"io"
	"time"

	"linerate/engine"
	"linerate/engine/unit"
)

// Doctor writes an examination: facts, findings with their evidence and remedies, and what
// could not be read; plain text of at most width columns, between 60 and SummaryWidth (but
// for commands, which stay whole). The error is that of the writer.
func Doctor(w io.Writer, x engine.Examination, width int) error {
	d := &doctor{page: page{width: min(max(width, leastWidth), SummaryWidth)}, x: &x, facts: factsOf(&x)}
	d.heading()
	d.known()
	d.findings()
	d.unknown()
	out := output{w: w}
	out.write(d.buf.Bytes())
	return out.err
}

type doctor struct {
	page
	x     *engine.Examination
	facts *facts
}

func (d *doctor) heading() {
	what := "this computer, without traffic"
	if d.x.Target != "" {
		what = fmt.Sprintf("the way to %s port %d, without traffic", d.x.Target, d.x.Port)
	}
	if d.x.Traffic {
		what = "a test of " + d.x.Target
	}
	if d.x.Program != "" {
		what += fmt.Sprintf(", as %s saw it on %s", d.x.Program, d.x.Taken.Format(time.DateTime))
	}
	d.wrapped("linerate doctor: ", what)
}

func (d *doctor) known() {
	d.line("")
	name := 0
	for _, g := range d.facts.groups {
		name = max(name, len([]rune(clean(g.name))))
	}
	for _, g := range d.facts.groups {
		d.phrases(fmt.Sprintf("  %-*s  ", min(name, 16), clean(g.name)), g.parts)
	}
}

func (d *doctor) findings() {
	for i := range d.x.Findings {
		f := &d.x.Findings[i]
		d.line("")
		d.wrapped(f.Severity.String()+": ", f.Text)
		if f.Severity == engine.SeverityOK && len(f.Evidence) == 0 {
			continue // it says all there is to say
		}
		about := fmt.Sprintf("%s, %s", f.Code, f.Confidence)
		if f.Side != engine.Local {
			about += ", " + f.Side.String()
		}
		if f.Dir != engine.Both {
			about += ", " + f.Dir.String()
		}
		parts := []string{about}
		for _, e := range f.Evidence {
			parts = append(parts, unit.Named(e.Name, e.Value, e.Unit))
		}
		d.phrases("  ", parts)
		d.remedies(f.Remedy)
	}
}

func (d *doctor) unknown() {
	lines := d.facts.listed()
	if len(lines) == 0 {
		return
	}
	d.line("")
	d.line("could not be read")
	for _, l := range lines {
		d.wrapped("  ", l)
	}
}
