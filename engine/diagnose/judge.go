package diagnose

import (
	"time"

	"linerate/engine"
)

// State is how a rule answered.
type State uint8

const (
	RuledOut State = iota // its readings contradict it
	Unseen                // a reading it needs is missing
	Holds
)

var stateNames = [...]string{"ruled out", "cannot tell", "holds"}

func (s State) String() string { return stateNames[min(int(s), len(stateNames)-1)] }

// Check is one rule's answer for one direction.
type Check struct {
	Code  string
	Title string
	Dir   engine.Direction
	State State
	Why   string // what ruled it out, or what could not be seen; the finding's text when it holds
}

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

func contains(all []engine.Finding, f engine.Finding) bool {
	for i := range all {
		if all[i].Code == f.Code && all[i].Side == f.Side && all[i].Dir == f.Dir {
			return true
		}
	}
	return false
}

// rule is one entry of the list in rules.go.
type rule struct {
	code     string
	title    string
	check    func(e *Evidence, dir engine.Direction) ruling
	host     bool          // it is about a whole computer, not about one direction
	last     bool          // asked only when nothing else holds
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
	v := r.check(e, dir)
	if v.state == Holds {
		f := &v.finding
		f.Code, f.Title, f.Dir = r.code, r.title, dir
		if r.host && e.Test.Spec.Direction == engine.Both {
			f.Dir = engine.Both
		}
	}
	return v
}
