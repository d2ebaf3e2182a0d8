package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/engine"
	"linerate/tui/internal/tuitest"
)

func TestProofIsTheSessionsWork(t *testing.T) {
	d := newDesk(tuitest.N100())
	d.press("p")
	if diff := cmp.Diff([]engine.Command{engine.Prove{}}, d.ctl.commands()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	during := tuitest.Proving()
	during.Seq = 101
	d.show(during)
	if v := d.View(); !strings.Contains(v, `proving "one receiving thread fills a core": 2 streams, 5 s left`) ||
		!strings.Contains(v, "p end proof") {
		t.Errorf("the progress is not told:\n%s", v)
	}
	after := tuitest.Proved()
	after.Seq = 102
	d.show(after)
	const showed = "2 streams gave 9.40 Gbit/s download, +44 %: the limit is per stream: proven"
	if v := d.View(); !strings.Contains(v, showed) {
		t.Errorf("what it showed is not told:\n%s", v)
	}
	// The message ends; the line above the keys keeps it for half a minute.
	d.Update(silenceMsg{d.talk.serial})
	if v := d.View(); !strings.Contains(v, showed) {
		t.Errorf("what it showed is gone:\n%s", v)
	}
	later := *after
	later.Seq, later.Elapsed, later.Events = 200, after.Elapsed+time.Minute, nil
	d.show(&later)
	if v := d.View(); strings.Contains(v, showed) {
		t.Errorf("what it showed is still told a minute later:\n%s", v)
	}
}

func TestProofPhasesInWords(t *testing.T) {
	long := engine.Proving{Answer: engine.Doubtful, Showed: "0123456789"}
	if got := shown(&long, 11); got != "doubtful: 0123456789" {
		t.Errorf("where it does not fit: %q", got)
	}
	if got := shown(&long, 12); got != "0123456789" {
		t.Errorf("where it fits: %q", got)
	}
	for phase, want := range map[engine.ProofPhase]string{
		engine.ProofIdle:      "",
		engine.ProofWaiting:   `proving "x": measuring what to compare with, 2 s left`,
		engine.ProofTrying:    `proving "x": 2 streams, 2 s left`,
		engine.ProofReturning: `proving "x": going back, 2 s left`,
		engine.ProofOver:      "shown",
	} {
		s := &engine.Snapshot{Proving: engine.Proving{Phase: phase, Title: "x", Trying: "2 streams", Left: 1200 * time.Millisecond, Showed: "shown"}}
		if got, _ := proofLine(s, 80); got != want {
			t.Errorf("%v: %q, want %q", phase, got, want)
		}
	}
}

// Over the operator's own line only a proof that loads it harder asks before.
func TestProofAsksOverSSH(t *testing.T) {
	for name, test := range map[string]struct {
		proof engine.Proof
		dir   engine.Direction
		asks  bool
	}{
		"one stream more":   {engine.ProofAddStream, engine.Download, false},
		"both ways":         {engine.ProofOneWay, engine.Download, true},
		"one way of two":    {engine.ProofOneWay, engine.Both, false},
		"a sweep of sizes":  {engine.ProofMTU, engine.Upload, false},
		"less than the now": {engine.ProofRate95, engine.Upload, false},
	} {
		s := tuitest.N100()
		s.SSHLink, s.Spec.Direction = true, test.dir
		s.Verdicts[1].Main.Proof = test.proof
		d := newDesk(s)
		d.press("p")
		if asked := strings.Contains(d.View(), "loads the link hard"); asked != test.asks {
			t.Errorf("%s: asked %v, want %v", name, asked, test.asks)
		}
		if test.asks {
			d.press("y")
		}
		if diff := cmp.Diff([]engine.Command{engine.Prove{}}, d.ctl.commands()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What is asked while a proof runs starts from the test before it.
func TestKeysDuringAProof(t *testing.T) {
	s := tuitest.Proving() // of a test both ways
	s.Spec.Direction, s.Spec.Streams = engine.Download, 2
	d := newDesk(s)
	d.press("d", "+")
	want := []engine.Command{engine.SetDirection{Dir: engine.Upload}, engine.AddStreams{Delta: 1}}
	if diff := cmp.Diff(want, d.ctl.commands()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := d.ask.echo.Streams; n != 2 {
		t.Errorf("the echo says %d streams, want one more than before the proof", n)
	}
	d.press("p")
	if got := d.ctl.commands(); got[len(got)-1] != (engine.Prove{}) {
		t.Errorf("p during a proof sends %#v", got[len(got)-1])
	}
}
