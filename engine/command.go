package engine

// Command is what an operator asks of a running session. The concrete types below are
// all there are. Session.Do returns an error for one that cannot be done now; the text
// is fit for the status line.
type Command interface{ command() }

// SetStreams asks for N streams per direction.
type SetStreams struct{ N int }

// AddStreams changes the asked stream count by Delta. Several within the settling time
// (300 ms) become one change.
type AddStreams struct{ Delta int }

// SetDirection asks for a direction.
type SetDirection struct{ Dir Direction }

// SetSpec replaces the whole test, for changes that have no key of their own.
type SetSpec struct {
	Spec   Spec
	Change string // for the list of steps: "cubic→bbr"
}

// StopTraffic ends the running step and opens no other until StartTraffic.
type StopTraffic struct{}

// StartTraffic opens a step with the spec asked last.
type StartTraffic struct{}

// FindBest starts the search for the best stream count; a second one cancels it.
type FindBest struct{}

// Undo goes back to the spec of the step before.
type Undo struct{}

// Note puts the operator's words into the event log.
type Note struct{ Text string }

// Quit ends the session: results are exchanged, at most 3 s. A second one ends it at once.
type Quit struct{}

func (SetStreams) command()   {}
func (AddStreams) command()   {}
func (SetDirection) command() {}
func (SetSpec) command()      {}
func (StopTraffic) command()  {}
func (StartTraffic) command() {}
func (FindBest) command()     {}
func (Undo) command()         {}
func (Note) command()         {}
func (Quit) command()         {}
