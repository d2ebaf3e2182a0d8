package session

import (
	"time"

	"linerate/engine"
	"linerate/engine/diagnose"
)

// opinion is what the rules say of the running step.
type opinion struct {
	tracker  *diagnose.Tracker
	verdicts []engine.Verdict   // replaced, never written again
	asked    *diagnose.Evidence // what they rest on; nil: the rules were never asked
	reviewed review
	told     [2]string // code of the verdict in the log, by direction
}

// form asks the rules.
func (o *opinion) form(at time.Duration, e *diagnose.Evidence) {
	o.asked, o.verdicts = e, o.tracker.Update(at, *e)
	o.review(at, e)
}

// news reports whether a verdict is another one than the log has of its direction, and
// takes it for told.
func (o *opinion) news(v *engine.Verdict) bool {
	told := &o.told[v.Dir&1]
	code := v.Main.Code
	if code == diagnose.Measuring || code == *told {
		return false
	}
	*told = code
	return true
}

// reviewEvery is how often all rules are asked for their reasons: that costs as much as a
// verdict, and the reasons are read by people.
const reviewEvery = 2 * time.Second

// review is every rule's answer, as of the last time they were asked.
type review struct {
	step  int
	next  time.Duration     // when they are asked again
	codes [2]string         // of the verdicts they belong to, by direction
	ways  [2][]engine.Check // never written again
}

// review puts the reasons beside new verdicts: fresh ones when a verdict has changed or
// the old ones are too old.
func (o *opinion) review(at time.Duration, e *diagnose.Evidence) {
	r, verdicts := &o.reviewed, o.verdicts
	due := at >= r.next || e.Test.Step != r.step
	for i := range verdicts {
		due = due || verdicts[i].Main.Code != r.codes[verdicts[i].Dir&1]
	}
	if due {
		*r = review{step: e.Test.Step, next: at + reviewEvery - loadEvery/2}
	}
	for i := range verdicts {
		v := &verdicts[i]
		if due {
			r.ways[v.Dir&1], r.codes[v.Dir&1] = diagnose.Review(*e, v.Dir), v.Main.Code
		}
		v.Checked = r.ways[v.Dir&1]
	}
}
