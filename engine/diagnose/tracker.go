package diagnose

import (
	"time"

	"linerate/engine"
)

// How long a finding must hold before it shows, and must not hold before it goes.
const (
	// settle hides slow start and single odd readings (three windows of 1 s).
	settle = 3 * time.Second
	// hold keeps what shows through readings that fall just below a threshold.
	hold = 2 * time.Second
	// soon is how long "nothing found" must hold: it replaces a cause that has gone.
	soon = hold - 500*time.Millisecond
	// grace lets a finding that is still settling miss a reading or two without
	// starting over.
	grace = time.Second
)

// Tracker turns the findings of successive moments into verdicts an operator can read:
// a finding shows after it has held for 3 s and stays until it has not held for 2 s, and
// a finding whose cause shows is left out. A new step starts afresh. The zero value is
// not usable; it belongs to one goroutine.
type Tracker struct {
	step int
	dirs [2]map[sight]*sighting
}

// sight tells findings apart: the core may change while the finding stays the same.
type sight struct {
	code string
	side engine.Side
}

// sighting is a finding over time.
type sighting struct {
	finding engine.Finding
	rank    int           // place of its rule in the list
	since   time.Duration // when it began to hold
	last    time.Duration // when it held last
	sure    time.Duration // when it was last sure; negative never
	shows   bool
}

// NewTracker makes a tracker that has seen nothing.
func NewTracker() *Tracker {
	t := &Tracker{}
	t.reset(0)
	return t
}

func (t *Tracker) reset(step int) {
	t.step = step
	t.dirs = [2]map[sight]*sighting{{}, {}}
}

// Update takes the evidence of session time at and gives one verdict for each direction
// that flows. Times must not decrease.
func (t *Tracker) Update(at time.Duration, e Evidence) []engine.Verdict {
	if e.Test.Step != t.step {
		t.reset(e.Test.Step)
	}
	dirs := e.Test.Spec.Direction.Dirs()
	verdicts := make([]engine.Verdict, 0, len(dirs))
	for _, dir := range dirs {
		t.observe(at, &e, dir)
		verdicts = append(verdicts, t.verdict(at, &e, dir))
	}
	return verdicts
}

// observe notes what holds now and forgets what has not held for long enough.
func (t *Tracker) observe(at time.Duration, e *Evidence, dir engine.Direction) {
	seen := t.dirs[dir]
	found := false
	for i := range rules {
		r := &rules[i]
		v := r.ask(e, dir, found)
		if v.state != Holds {
			continue
		}
		found = true
		key := sight{r.code, v.finding.Side}
		s := seen[key]
		if s == nil {
			s = &sighting{rank: i, since: at, sure: -hold}
			seen[key] = s
		}
		s.note(at, v.finding, r.settle)
	}
	for key, s := range seen {
		patience := grace
		if s.shows {
			patience = hold
		}
		if at-s.last >= patience {
			delete(seen, key)
		}
	}
}

// note records that the finding holds at time at.
func (s *sighting) note(at time.Duration, f engine.Finding, settle time.Duration) {
	if f.Confidence == engine.Sure {
		s.sure = at
	} else if at-s.sure < hold {
		f.Confidence = engine.Sure
	}
	shownSince := s.finding.Since
	s.finding, s.last = f, at
	if !s.shows && at-s.since >= settle {
		s.shows, shownSince = true, at
	}
	s.finding.Since = shownSince
}

// verdict picks what shows for one direction.
func (t *Tracker) verdict(at time.Duration, e *Evidence, dir engine.Direction) engine.Verdict {
	var shown []candidate
	for _, s := range t.dirs[dir] {
		if s.shows {
			shown = append(shown, candidate{s.finding, s.rank})
		}
	}
	if len(shown) == 0 {
		return engine.Verdict{Dir: dir, Main: measuringFinding(e, dir, at)}
	}
	return choose(dir, shown)
}
