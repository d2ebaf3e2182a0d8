package diagnose

import (
	"math"
	"slices"
	"time"

	"linerate/engine"
)

// State is how a rule answered.
type State = engine.CheckState

// The answers there are.
const (
	RuledOut = engine.RuledOut
	Unseen   = engine.Unseen
	Holds    = engine.Holds
)

// Check is one rule's answer for one direction.
type Check = engine.Check

// Judge gives all findings that hold now, upload before download, each in the order of
// the rules. A finding about a whole computer appears once, with direction Both, when
// payload flows both ways. There is always at least one: that there is not enough
// evidence yet is a finding too.
func Judge(e Evidence) []engine.Finding {
	var all []engine.Finding
	for _, dir := range e.Test.Spec.Direction.Dirs() {
		for _, f := range judge(&e, dir) {
			if f.Dir != engine.Both || !contains(all, f) {
				all = append(all, f)
			}
		}
	}
	return all
}

// Review gives every rule's answer for one direction, in the order of the rules: what
// was found, what was ruled out, and what could not be seen.
func Review(e Evidence, dir engine.Direction) []Check {
	var checks []Check
	found := false
	for i := range rules {
		r := &rules[i]
		v := r.ask(&e, dir, found)
		found = found || v.state == Holds
		if v.state == Holds {
			v.why = v.finding.Text
		}
		checks = append(checks, Check{Code: r.code, Title: r.title, Dir: dir, State: v.state, Why: v.why})
	}
	return checks
}

// judge gives the findings of one direction in the order of the rules.
func judge(e *Evidence, dir engine.Direction) []engine.Finding {
	var found []engine.Finding
	for i := range rules {
		r := &rules[i]
		if v := r.ask(e, dir, len(found) > 0); v.state == Holds {
			found = append(found, v.finding)
		}
	}
	return found
}

// Verdicts gives, for evidence that stands alone, what a Tracker would show once all that
// holds has held for long enough: one verdict for each direction.
func Verdicts(e Evidence) []engine.Verdict {
	var verdicts []engine.Verdict
	for _, dir := range e.Test.Spec.Direction.Dirs() {
		var shown []candidate
		for i := range rules {
			r := &rules[i]
			if v := r.ask(&e, dir, len(shown) > 0); v.state == Holds {
				shown = append(shown, candidate{v.finding, i})
			}
		}
		if len(shown) == 0 {
			shown = append(shown, candidate{measuringFinding(&e, dir, 0), len(rules)})
		}
		verdicts = append(verdicts, choose(dir, shown))
	}
	return verdicts
}

// candidate is a finding that could be shown.
type candidate struct {
	finding engine.Finding
	rank    int // place of its rule in the list
}

// choose makes the verdict of what could be shown, which must not be empty: symptoms
// whose causes are among it are left out, and the first of the surest is the main one.
func choose(dir engine.Direction, all []candidate) engine.Verdict {
	slices.SortFunc(all, func(a, b candidate) int {
		if pa, pb := a.place(all), b.place(all); pa != pb {
			return pa - pb
		}
		return int(a.finding.Side) - int(b.finding.Side)
	})
	var shown, causes []candidate
	for _, c := range all {
		if explained(c, all) {
			continue
		}
		shown = append(shown, c)
		// What is asked only when nothing else holds is not said beside what still shows.
		if c.rank < len(rules) && !rules[c.rank].last {
			causes = append(causes, c)
		}
	}
	if len(causes) > 0 {
		shown = causes
	}
	first := 0
	for i, c := range shown {
		if c.finding.Confidence > shown[first].finding.Confidence {
			first = i
		}
	}
	v := engine.Verdict{Dir: dir, Main: shown[first].finding}
	for i, c := range shown {
		if i != first {
			v.Also = append(v.Also, c.finding)
		}
	}
	return v
}

// place is where c stands in the order: a cause takes the place of a symptom that it
// explains, if that is the better one. So a black hole, in which nothing moves, comes
// before cores that are busy with something else.
func (c candidate) place(all []candidate) int {
	place := c.rank
	for _, other := range all {
		if other.rank < place && slices.Contains(rules[other.rank].hiddenBy, c.finding.Code) {
			place = other.rank
		}
	}
	return place
}

// explained reports whether the cause of c is among all.
func explained(c candidate, all []candidate) bool {
	if c.rank >= len(rules) {
		return false
	}
	return slices.ContainsFunc(all, func(other candidate) bool {
		return slices.Contains(rules[c.rank].hiddenBy, other.finding.Code)
	})
}

func contains(all []engine.Finding, f engine.Finding) bool {
	for i := range all {
		if all[i].Code == f.Code && all[i].Side == f.Side && all[i].Dir == f.Dir {
			return true
		}
	}
	return false
}

// shortest is the width of the smallest screen, columns: names that a far end chose may be
// longer than any.
const shortest = 40

// rule is one entry of the list in rules.go.
type rule struct {
	code     string
	title    string
	check    func(e *Evidence, dir engine.Direction) ruling
	host     bool          // it is about a whole computer, not about one direction
	last     bool          // asked only when nothing else holds
	setup    bool          // it can be asked while nothing flows
	spare    bool          // it is not believed while cores hold the direction back
	settled  bool          // it is about the path, which is not judged while the rate ramps up
	settle   time.Duration // how long it must hold before it shows
	hiddenBy []string      // codes of findings that explain this one
}

// ruling is what a rule's function answers.
type ruling struct {
	state   State
	finding engine.Finding
	why     string
}

func no(why string) ruling                { return ruling{state: RuledOut, why: why} }
func unseen(why string) ruling            { return ruling{state: Unseen, why: why} }
func holds(finding engine.Finding) ruling { return ruling{state: Holds, finding: finding} }

// ask puts the rule to one direction and completes its finding. found tells whether an
// earlier rule holds.
func (r *rule) ask(e *Evidence, dir engine.Direction, found bool) ruling {
	if r.last && found {
		return no("another finding holds")
	}
	if e.Test.Idle && !r.setup {
		return unseen("nothing flows")
	}
	if r.settled {
		if why := e.unsettled(dir); why != "" {
			return unseen(why)
		}
	}
	if r.spare {
		if why := e.cpuBound(dir); why != "" {
			return no(why + ": CPU first")
		}
	}
	v := r.check(e, dir)
	if v.state == Holds {
		f := &v.finding
		f.Code, f.Title, f.Dir = r.code, r.title, dir
		f.Short = clip(f.Short, shortest)
		f.Evidence = slices.DeleteFunc(f.Evidence, func(n engine.Evidence) bool { return math.IsNaN(n.Value) || math.IsInf(n.Value, 0) })
		if r.host && e.Test.Spec.Direction == engine.Both {
			f.Dir = engine.Both
		}
	}
	return v
}
