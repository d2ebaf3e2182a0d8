package why

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/tui/internal/figure"
	"linerate/tui/internal/grid"
	"linerate/tui/internal/pane/head"
	"linerate/tui/internal/style"
)

// Page writes the whole reasoning: what holds in each direction, then what was checked.
func Page(s *engine.Snapshot, g *style.Glyphs) (p grid.Page) {
	if s.Err != nil {
		p.Add(style.Fault, "The session has failed: "+s.Err.Error())
		p.Add(style.Plain, "")
	}
	if len(s.Verdicts) == 0 {
		p.Add(style.Plain, "There is no verdict yet: it takes three seconds of running traffic.")
	}
	told := false // what the last proof showed, with the finding it was about
	for i := range s.Verdicts {
		v := &s.Verdicts[i]
		p.Add(style.Title, figure.Arrow(v.Dir, g.Up, g.Down, g.Both)+" "+v.Dir.String())
		finding(&p, &v.Main)
		if s.Proving.Code == v.Main.Code && s.Proving.Dir == v.Main.Dir {
			told = proof(&p, &s.Proving) || told
		}
		for j := range v.Also {
			if j == 0 {
				p.Add(style.Dim, "  also true:")
			}
			finding(&p, &v.Also[j])
		}
		p.Add(style.Plain, "")
	}
	if !told && s.Proving.Showed != "" {
		p.Add(style.Title, "Last proof: "+s.Proving.Title)
		proof(&p, &s.Proving)
		p.Add(style.Plain, "")
	}
	for i := range s.Verdicts {
		v := &s.Verdicts[i]
		checks(&p, v, figure.Arrow(v.Dir, g.Up, g.Down, g.Both)+" ")
	}
	return p
}

func finding(p *grid.Page, f *engine.Finding) {
	word, role := head.Severity(f.Severity)
	word = strings.TrimSuffix(word, ":")
	if f.Severity == engine.SeverityOK && f.Confidence == engine.Unsure {
		word, role = "note", style.Dim
	}
	p.Add(role, "  "+word+"  "+f.Title+"  ["+f.Code+", "+f.Confidence.String()+", since "+unit.Clock(max(0, f.Since))+"]")
	if f.Text != "" {
		p.Add(style.Plain, "    "+f.Text)
	}
	evidence(p, f.Evidence)
	for _, r := range f.Remedy {
		p.Add(style.Plain, "    do: "+r.Text)
		commands(p, "now:    ", r.Temporary)
		commands(p, "lasts:  ", r.Persistent)
	}
	if f.Press != "" {
		p.Add(style.Key, "    press "+f.Press)
	}
	act := actions[f.Proof]
	switch why := engine.ProofMissing(f.Proof); {
	case act == "":
	case why != "":
		p.Add(style.Dim, "    its proof would be: "+act+" ("+why+")")
	default:
		p.Add(style.Key, "    p proves it: "+act)
	}
}

// commands lists the steps of a command below each other.
func commands(p *grid.Page, label, command string) {
	for _, step := range engine.CommandSteps(command) {
		p.Add(style.Dim, "      "+label+step)
		label = strings.Repeat(" ", len(label))
	}
}

// actions are the proofs in words.
var actions = map[engine.Proof]string{
	engine.ProofAddStream:  "one stream more for 6 s, then back",
	engine.ProofReverse:    "the other direction alone for 6 s, then back",
	engine.ProofOneWay:     "one direction alone and both at once, 6 s, then back",
	engine.ProofCongestion: "another congestion control for 6 s, then back",
	engine.ProofRate95:     "95 % of the rate for 6 s, then back",
	engine.ProofPin:        "the threads on another core for 6 s, then back",
	engine.ProofMTU:        "a sweep of packet sizes; the test goes on",
	engine.ProofDiscard:    "memory to memory",
	engine.ProofUDP:        "UDP at 90 % of the rate",
}

// Action is what p does for a finding, in few words for the footer.
func Action(p engine.Proof) string {
	switch p {
	case engine.ProofAddStream:
		return "one stream more"
	case engine.ProofReverse:
		return "other direction"
	case engine.ProofOneWay:
		return "one direction alone"
	case engine.ProofCongestion:
		return "other congestion control"
	case engine.ProofRate95:
		return "95 % of the rate"
	case engine.ProofPin:
		return "threads on another core"
	case engine.ProofMTU:
		return "packet sizes"
	}
	return "prove"
}

// evidence lists numbers below each other: name, value, whose it is, how old.
func evidence(p *grid.Page, all []engine.Evidence) {
	const longest = 34
	values := make([]string, len(all))
	name, value := 0, 0
	for i, e := range all {
		if e.Unit != engine.True { // that it is so is all there is to say
			values[i] = unit.Value(e.Value, e.Unit)
		}
		name = max(name, min(longest, utf8.RuneCountInString(e.Name)))
		value = max(value, utf8.RuneCountInString(values[i]))
	}
	for i, e := range all {
		text := fmt.Sprintf("      %-*s  %*s  %s", name, e.Name, value, values[i], e.Side)
		if e.Age > 0 {
			text += ", " + figure.Age(e.Age)
		}
		p.Add(style.Plain, text)
	}
}

// proof says what was tried and what it showed, if anything.
func proof(p *grid.Page, of *engine.Proving) bool {
	if of.Showed == "" {
		return false
	}
	role := style.Bold
	if of.Answer == engine.Undecided {
		role = style.Plain
	}
	p.Add(role, "    proof at "+unit.Clock(max(0, of.At))+": "+of.Showed)
	return true
}

// checks lists what was looked at beside what is said already.
func checks(p *grid.Page, v *engine.Verdict, arrow string) {
	said := map[string]bool{v.Main.Code: true}
	for i := range v.Also {
		said[v.Also[i].Code] = true
	}
	var behind, out grid.Page
	unseen := 0
	reasons := map[string][]string{} // what could not be told, by what is missing
	var order []string
	for _, c := range v.Checked {
		name := fmt.Sprintf("%-4s %s", c.Code, c.Title)
		switch {
		case said[c.Code]:
		case c.State == engine.Holds:
			behind.Add(style.Plain, "  "+name+": "+c.Why)
		case c.State == engine.RuledOut:
			out.Add(style.Plain, "  "+name+": "+c.Why)
		default:
			if _, known := reasons[c.Why]; !known {
				order = append(order, c.Why)
			}
			reasons[c.Why] = append(reasons[c.Why], name)
			unseen++
		}
	}
	list := func(title string, n int, rows grid.Page) {
		if n == 0 {
			return
		}
		p.Add(style.Title, fmt.Sprintf("%s%s (%d)", arrow, title, n))
		*p = append(*p, rows...)
		p.Add(style.Plain, "")
	}
	list("Holds too, but follows from the above or has not held for long", len(behind), behind)
	list("Checked and ruled out", len(out), out)
	var blind grid.Page
	for _, why := range order {
		blind.Add(style.Plain, "  "+why)
		for _, name := range reasons[why] {
			blind.Add(style.Dim, "    "+name)
		}
	}
	list("Could not be seen", unseen, blind)
}
