package engine

// CheckState is how a rule answered.
type CheckState uint8

const (
	RuledOut CheckState = iota // its readings contradict it
	Unseen                     // a reading it needs is missing
	Holds
)

var checkStateNames = [...]string{"ruled out", "cannot tell", "holds"}

func (s CheckState) String() string {
	return checkStateNames[min(int(s), len(checkStateNames)-1)]
}

// MarshalText writes the state as the words that String gives.
func (s CheckState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Check is one rule's answer about one direction. The list of all of them is the reasoning
// behind a verdict: what was looked at, what was ruled out, what could not be seen.
type Check struct {
	Code  string // the rule's number, as Finding.Code
	Title string // what it looks for, in a few words
	Dir   Direction
	State CheckState
	Why   string // what ruled it out, or what could not be seen; the finding's text when it holds
}
