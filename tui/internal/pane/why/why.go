package why

import (
	"strings"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/tui/internal/figure"
	"linerate/tui/internal/grid"
	"linerate/tui/internal/pane/head"
	"linerate/tui/internal/style"
)

// Page writes the whole reasoning.
func Page(s *engine.Snapshot, g *style.Glyphs) (p grid.Page) {
	if s.Err != nil {
		p.Add(style.Fault, "The session has failed: "+s.Err.Error())
		p.Add(style.Plain, "")
	}
	if len(s.Verdicts) == 0 {
		p.Add(style.Plain, "There is no verdict yet: it takes three seconds of running traffic.")
	}
	for i := range s.Verdicts {
		v := &s.Verdicts[i]
		p.Add(style.Title, figure.Arrow(v.Dir, g.Up, g.Down, g.Both)+" "+v.Dir.String())
		finding(&p, &v.Main)
		for j := range v.Also {
			if j == 0 {
				p.Add(style.Dim, "  also true:")
			}
			finding(&p, &v.Also[j])
		}
		p.Add(style.Plain, "")
	}
	return p
}

func finding(p *grid.Page, f *engine.Finding) {
	word, role := head.Severity(f.Severity)
	word = strings.TrimSuffix(word, ":")
	p.Add(role, "  "+word+"  "+f.Title+"  ["+f.Code+", "+f.Confidence.String()+", since "+unit.Clock(max(0, f.Since))+"]")
	if f.Text != "" {
		p.Add(style.Plain, "    "+f.Text)
	}
	for _, e := range f.Evidence {
		text := "      " + e.Side.String() + "  " + e.Name + " = " + figure.Evidence(e)
		if e.Age > 0 {
			text += "  (" + unit.Duration(e.Age) + " old)"
		}
		p.Add(style.Plain, text)
	}
	for _, r := range f.Remedy {
		p.Add(style.Plain, "    do: "+r.Text)
		if r.Temporary != "" {
			p.Add(style.Dim, "      until reboot:  "+r.Temporary)
		}
		if r.Persistent != "" {
			p.Add(style.Dim, "      for good:      "+r.Persistent)
		}
	}
	if f.Press != "" {
		p.Add(style.Key, "    press "+f.Press)
	}
	if f.Proof != "" {
		p.Add(style.Dim, "    p proves it: it presses "+f.Proof+" and says what changed")
	}
}
