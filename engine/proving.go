package engine

import "time"

// Prove starts the proof action of the finding that Provable picks; while one runs it
// cancels it. A proof changes one thing for some seconds, compares, says what it showed
// (Snapshot.Proving) and goes back. Whatever else the operator asks of the test cancels it
// too.
type Prove struct{}

func (Prove) command() {}

// Provable picks what Prove puts to the proof: the gravest of the verdicts that have a
// proof action, upload before download; nil when none has.
func Provable(verdicts []Verdict) *Finding {
	var best *Finding
	for i := range verdicts {
		if f := &verdicts[i].Main; f.Proof != ProofNone && (best == nil || f.Severity > best.Severity) {
			best = f
		}
	}
	return best
}

// ProofMissing says why this version cannot do a proof action; "" where it can.
func ProofMissing(p Proof) string {
	switch p {
	case ProofDiscard:
		return "not possible in this version: it reads and writes no files, so every test goes from memory to memory already"
	case ProofUDP:
		return "not possible in this version: it has no UDP tests yet"
	}
	return ""
}

// ProofPhase is how far a proof is.
type ProofPhase uint8

const (
	ProofIdle      ProofPhase = iota // none has run in this session
	ProofWaiting                     // for enough of the running step to compare with
	ProofTrying                      // what is tried is on its way, or runs
	ProofReturning                   // back to the test that ran before
	ProofOver                        // Showed tells what came of it
)

var proofPhaseNames = [...]string{"idle", "waiting", "trying", "returning", "over"}

func (p ProofPhase) String() string { return proofPhaseNames[min(int(p), len(proofPhaseNames)-1)] }

// ProofAnswer is what a proof says about its finding.
type ProofAnswer uint8

const (
	Undecided ProofAnswer = iota // it shows neither, was cancelled, or could not be done
	Proven
	Doubtful
)

var proofAnswerNames = [...]string{"undecided", "proven", "doubtful"}

func (a ProofAnswer) String() string {
	return proofAnswerNames[min(int(a), len(proofAnswerNames)-1)]
}

// Proving is the state of a proof, or the outcome of the last one.
type Proving struct {
	Code   string // of the finding
	Title  string
	Dir    Direction
	Action Proof
	Phase  ProofPhase
	Trying string        // what is tried, in words: "2 streams"; "" until that is settled
	Left   time.Duration // until the measuring ends; 0 while that is not known
	Back   Spec          // the test that it goes back to
	Answer ProofAnswer
	Showed string        // one sentence with its numbers; "" until it is over
	At     time.Duration // session time of that
}

// Active reports whether the proof is still under way.
func (p Proving) Active() bool { return p.Phase != ProofIdle && p.Phase != ProofOver }
