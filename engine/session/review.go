package session

import (
	"time"

	"linerate/engine"
	"linerate/engine/diagnose"
)

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
func (c *conductor) review(at time.Duration, e *diagnose.Evidence, verdicts []engine.Verdict) {
	r := &c.reviewed
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
