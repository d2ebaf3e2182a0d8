package tui

import (
	"fmt"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"linerate/engine"
	"linerate/tui/internal/style"
)

// outcomeShown is how long the status line keeps what a proof showed or a search found; the
// event log, the reasons and the steps have it for good.
const outcomeShown = 30 * time.Second

// provable is the finding that p would put to the proof; nil when there is none, or this
// version cannot.
func (m *Model) provable() *engine.Finding {
	f := engine.Provable(m.snap.Verdicts)
	if f == nil || engine.ProofMissing(f.Proof) != "" {
		return nil
	}
	return f
}

// prove has the session put the verdict to the proof, or end the proof under way.
func (m *Model) prove() tea.Cmd {
	act := func() tea.Cmd { return m.send(engine.Prove{}) }
	f := m.provable()
	// Only both ways at once load the line harder than the test itself does.
	opens := f != nil && f.Proof == engine.ProofOneWay && m.snap.Spec.Direction != engine.Both
	if opens && !m.snap.Proving.Active() {
		return m.heavy("the proof, both ways at once,", act)
	}
	return act()
}

// noProof says why p does nothing now.
func (m *Model) noProof() tea.Cmd {
	if m.snap != nil {
		if f := engine.Provable(m.snap.Verdicts); f != nil && engine.ProofMissing(f.Proof) != "" {
			return m.say("no proof: " + engine.ProofMissing(f.Proof))
		}
	}
	return m.say("there is no verdict with a proof action now")
}

// tellProof says what a proof has shown, once, when it ends.
func (m *Model) tellProof(before, now *engine.Snapshot) tea.Cmd {
	p := &now.Proving
	if before == nil || p.Phase != engine.ProofOver || p.Showed == "" || before.Proving == *p {
		return nil
	}
	return m.say(shown(p, m.screen.w))
}

// shown is what a proof showed, in so many columns. Where the sentence must be cut, its
// last word comes first: the answer.
func shown(p *engine.Proving, width int) string {
	if p.Answer == engine.Undecided || utf8.RuneCountInString(p.Showed)+2 <= width {
		return p.Showed
	}
	return p.Answer.String() + ": " + p.Showed
}

// proofLine is what the status line says of a proof: how far it is, or what it showed.
func proofLine(s *engine.Snapshot, width int) (string, style.Role) {
	p := &s.Proving
	left := ""
	if p.Left > 0 {
		left = fmt.Sprintf(", %d s left", (p.Left+time.Second-1)/time.Second)
	}
	doing := ""
	switch p.Phase {
	case engine.ProofWaiting:
		doing = "measuring what to compare with"
	case engine.ProofTrying:
		doing = p.Trying
	case engine.ProofReturning:
		doing = "going back"
	case engine.ProofOver:
		if s.Elapsed-p.At > outcomeShown || p.Showed == "" {
			return "", style.Plain
		}
		return shown(p, width), style.Bold
	default:
		return "", style.Plain
	}
	return "proving \"" + p.Title + "\": " + doing + left, style.Plain
}
