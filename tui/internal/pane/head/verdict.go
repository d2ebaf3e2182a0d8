package head

import (
	"strings"
	"unicode/utf8"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/tui/internal/figure"
	"linerate/tui/internal/grid"
	"linerate/tui/internal/style"
)

// Severity is the word, with its sign, and the look of a severity.
func Severity(s engine.Severity) (string, style.Role) {
	switch s {
	case engine.SeverityLimit:
		return "limit:", style.Limit
	case engine.SeverityWarning:
		return "warning !", style.Warning
	case engine.SeverityFault:
		return "fault !!", style.Fault
	}
	return "ok:", style.OK
}

// rank is what stands before a finding's sentence: its severity, and how sure it is unless
// it is sure. A sentence that names no cause, since too little is seen, has none: that is
// not "ok".
func rank(f *engine.Finding) (string, style.Role) {
	word, role := Severity(f.Severity)
	switch {
	case f.Severity == engine.SeverityOK && f.Confidence == engine.Unsure:
		return "", style.Dim
	case f.Severity == engine.SeverityOK || f.Confidence == engine.Sure:
		return word, role
	}
	return strings.TrimSuffix(word, ":") + " " + f.Confidence.String() + ":", role
}

// Verdict draws what holds the test back: one direction's sentence over all rows of the
// area, or a row for each of two. Without a verdict it says what the session waits for,
// after a failure how it ended.
func Verdict(a grid.Area, s *engine.Snapshot) {
	switch {
	case s.Err != nil:
		word, role := Severity(engine.SeverityFault)
		sentence(a, word, role, s.Err.Error(), "")
	case len(s.Verdicts) == 0:
		sentence(a, "", style.Dim, waiting(s), "")
	case len(s.Verdicts) == 1:
		f := &s.Verdicts[0].Main
		word, role := rank(f)
		t := text(f)
		if a.H == 1 && a.Width(t)+a.Width(word)+2 > a.W && f.Short != "" {
			t = f.Short
		}
		sentence(a, word, role, t, also(&s.Verdicts[0]))
	case a.H == 1:
		worst := 0
		for i := range s.Verdicts {
			if s.Verdicts[i].Main.Severity > s.Verdicts[worst].Main.Severity {
				worst = i
			}
		}
		oneLine(a, 0, &s.Verdicts[worst])
	default:
		for i := range s.Verdicts {
			oneLine(a, i, &s.Verdicts[i])
		}
	}
}

func waiting(s *engine.Snapshot) string {
	switch s.Phase {
	case engine.Connecting:
		if s.Note != "" {
			return s.Note
		}
		return "connecting to " + target(s)
	case engine.Changing:
		return "opening the next step"
	case engine.Stopped:
		return "traffic is stopped: S starts it"
	case engine.Ending, engine.Done:
		return "the test has ended without a verdict"
	}
	return "not enough evidence yet"
}

// text is the whole sentence of a finding.
func text(f *engine.Finding) string {
	if f.Text == "" {
		return f.Title
	}
	return f.Text
}

// also is what stands below the sentence when there is room: what else holds, or the
// numbers it rests on.
func also(v *engine.Verdict) string {
	if len(v.Also) == 0 {
		return numbers(v.Main.Evidence)
	}
	names := make([]string, 0, len(v.Also))
	for i := range v.Also {
		names = append(names, v.Also[i].Title)
	}
	return "also: " + strings.Join(names, "; ")
}

func numbers(evidence []engine.Evidence) string {
	words := make([]string, 0, len(evidence))
	for _, e := range evidence {
		words = append(words, unit.Named(e.Name, e.Value, e.Unit))
	}
	return strings.Join(words, ", ")
}

const (
	heading  = "VERDICT"
	whyHint  = "[v] why"
	hintFrom = 76 // columns from which the hint stands in the first row
	headFrom = 60 // columns below which the heading costs more than it tells
)

// sentence writes word and text over the rows of the area; more follows if a row is left.
// Where the text would be cut, first the hint and then the heading make room for it, then
// its last sentences are left out.
func sentence(a grid.Area, word string, role style.Role, text, more string) {
	edge := a.Glyphs().Edge
	indent := a.Width(edge)
	for y := range a.H {
		a.Text(0, y, role, edge)
	}
	lead := strings.TrimRight(heading+" "+word, " ")
	hint := whyHint
	if a.W < hintFrom {
		hint = ""
	}
	fits := func(text string) bool {
		return fitsIn(text, a.W-indent-a.Width(lead)-1-a.Width(hint)-2*min(1, len(hint)), a.W-indent-1, a.H)
	}
	if !fits(text) {
		hint = ""
	}
	if word != "" && (a.W < headFrom || !fits(text)) {
		lead = word
	}
	for short := text; short != ""; short = lessASentence(short) {
		if fits(short) {
			text = short
			break
		}
	}
	x := a.Text(indent, 0, role, lead) + 1
	end := a.W
	if hint != "" {
		a.Right(a.W, 0, style.Dim, hint)
		end -= a.Width(hint) + 2
	}
	for y := 0; y < a.H && text != ""; y++ {
		head, tail := grid.Wrap(text, end-x)
		if y == a.H-1 {
			head, tail = text, ""
		}
		a.Fit(x, y, end-x, style.Bold, head)
		text, x, end = tail, indent+1, a.W
		if text == "" && more != "" && y+1 < a.H {
			a.Fit(x, y+1, end-x, style.Dim, more)
		}
	}
}

// fitsIn reports whether text needs no more than rows rows, of which the first has room for
// first cells.
func fitsIn(text string, first, others, rows int) bool {
	for ; text != ""; first = others {
		if rows--; rows < 0 {
			return false
		}
		head, tail := grid.Wrap(text, first)
		if utf8.RuneCountInString(head) > first {
			return false
		}
		text = tail
	}
	return true
}

// lessASentence is text without its last sentence; "" when it is a single one.
func lessASentence(text string) string {
	i := strings.LastIndex(strings.TrimSuffix(text, "."), ". ")
	if i < 0 {
		return ""
	}
	return text[:i+1]
}

// oneLine writes a verdict into one row: its sentence if that fits, else the short one.
func oneLine(a grid.Area, y int, v *engine.Verdict) {
	g := a.Glyphs()
	f := &v.Main
	word, role := rank(f)
	x := a.Text(0, y, role, g.Edge)
	x = a.Text(x, y, tone(v.Dir), figure.Arrow(v.Dir, g.Up, g.Down, g.Both)) + 1
	if word != "" {
		x = a.Text(x, y, role, word) + 1
	}
	t := text(f)
	if a.Width(t) > a.W-x && f.Short != "" {
		t = f.Short
	}
	a.Fit(x, y, a.W-x, style.Bold, t)
}
