package why

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/engine"
	"linerate/tui/internal/style"
)

// lines gives the page as text, without what is blank at its end.
func lines(s *engine.Snapshot) []string {
	var text []string
	for _, l := range Page(s, &style.Block) {
		text = append(text, l.Text)
	}
	return text
}

func TestPageHoldsTheWholeReasoning(t *testing.T) {
	s := &engine.Snapshot{
		Err: errors.New("lost"),
		Proving: engine.Proving{Code: "R12", Dir: engine.Download, Phase: engine.ProofOver, Answer: engine.Proven,
			At: 80 * time.Second, Showed: "2 streams gave 9 Gbit/s: proven"},
		Verdicts: []engine.Verdict{{Dir: engine.Download,
			Main: engine.Finding{Code: "R12", Title: "softirq fills a core", Text: "Core 3 is full.", Severity: engine.SeverityWarning,
				Confidence: engine.Sure, Since: 65 * time.Second, Dir: engine.Download, Press: "+", Proof: engine.ProofAddStream,
				Evidence: []engine.Evidence{
					{Name: "core 3 softirq", Value: 0.94, Unit: "share", Side: engine.Far, Age: 200 * time.Millisecond},
					{Name: "goodput", Value: 6.51e9, Unit: "bit/s", Side: engine.Local},
					{Name: "one queue", Value: 1, Unit: engine.True, Side: engine.Far},
				},
				Remedy: []engine.Remedy{{Text: "Spread the queues.", Temporary: "ethtool -L eth0 combined 4; ethtool -n eth0", Persistent: "a udev rule"}}},
			Also: []engine.Finding{{Code: "R14", Title: "streams collide"}},
			Checked: []engine.Check{
				{Code: "R01", Title: "the link came up too slow", Why: "eth0 runs at 10 Gbit/s"},
				{Code: "R10", Title: "one sending thread fills a core", State: engine.Unseen, Why: "far cores unknown"},
				{Code: "R12", Title: "softirq fills a core", State: engine.Holds, Why: "Core 3 is full."},
				{Code: "R14", Title: "streams collide", State: engine.Holds, Why: "They do."},
				{Code: "R16", Title: "the hypervisor withholds CPU", State: engine.Unseen, Why: "no steal times"},
				{Code: "R30", Title: "the receive window is too small", State: engine.Holds, Why: "The window is full."},
				{Code: "R49", Title: "thread and card on different processors", State: engine.Unseen, Why: "far cores unknown"},
			},
		}},
	}
	want := []string{
		"The session has failed: lost",
		"",
		"▼ download",
		"  warning !  softirq fills a core  [R12, sure, since 01:05]",
		"    Core 3 is full.",
		"      core 3 softirq         94 %  far, 0.2 s ago",
		"      goodput         6.51 Gbit/s  local",
		"      one queue                    far",
		"    do: Spread the queues.",
		"      now:    ethtool -L eth0 combined 4",
		"              ethtool -n eth0",
		"      lasts:  a udev rule",
		"    press +",
		"    p proves it: one stream more for 6 s, then back",
		"    proof at 01:20: 2 streams gave 9 Gbit/s: proven",
		"  also true:",
		"  note  streams collide  [R14, unsure, since 00:00]",
		"",
		"▼ Holds too, but follows from the above or has not held for long (1)",
		"  R30  the receive window is too small: The window is full.",
		"",
		"▼ Checked and ruled out (1)",
		"  R01  the link came up too slow: eth0 runs at 10 Gbit/s",
		"",
		"▼ Could not be seen (3)",
		"  far cores unknown",
		"    R10  one sending thread fills a core",
		"    R49  thread and card on different processors",
		"  no steal times",
		"    R16  the hypervisor withholds CPU",
		"",
	}
	if diff := cmp.Diff(want, lines(s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProofOfAVerdictThatIsGone(t *testing.T) {
	s := &engine.Snapshot{
		Proving:  engine.Proving{Code: "R10", Title: "one sending thread fills a core", Showed: "2 streams gave more", At: time.Minute},
		Verdicts: []engine.Verdict{{Main: engine.Finding{Code: "R09", Title: "line rate"}}},
	}
	got := strings.Join(lines(s), "\n")
	if !strings.HasSuffix(got, "Last proof: one sending thread fills a core\n    proof at 01:00: 2 streams gave more\n") {
		t.Errorf("the last proof is not at the end of\n%s", got)
	}
}

func TestEveryProofHasWords(t *testing.T) {
	for _, proof := range []engine.Proof{engine.ProofAddStream, engine.ProofReverse, engine.ProofOneWay, engine.ProofCongestion,
		engine.ProofRate95, engine.ProofPin, engine.ProofMTU, engine.ProofDiscard, engine.ProofUDP} {
		if actions[proof] == "" {
			t.Errorf("%q has no words", proof)
		}
		if engine.ProofMissing(proof) == "" && Action(proof) == Action(engine.ProofNone) {
			t.Errorf("%q has no words for the footer", proof)
		}
	}
	if actions[engine.ProofNone] != "" {
		t.Error("no proof has words")
	}
}

func TestPageWithoutVerdict(t *testing.T) {
	if p := Page(&engine.Snapshot{}, &style.Block); len(p) != 1 || !strings.Contains(p[0].Text, "no verdict yet") {
		t.Errorf("got %v", p)
	}
}

// What this version cannot do is not offered as a key.
func TestProofThatIsNotPossible(t *testing.T) {
	s := &engine.Snapshot{Verdicts: []engine.Verdict{{Main: engine.Finding{Code: "R31", Title: "the receiver does not read fast enough", Proof: engine.ProofDiscard}}}}
	got := strings.Join(lines(s), "\n")
	if strings.Contains(got, "p proves it") || !strings.Contains(got, "its proof would be: memory to memory (not possible in this version") {
		t.Errorf("the proof is offered in\n%s", got)
	}
}
