package why

import (
	"errors"
	"strings"
	"testing"
	"time"

	"linerate/engine"
	"linerate/tui/internal/style"
)

func TestPageHoldsTheWholeReasoning(t *testing.T) {
	s := &engine.Snapshot{Err: errors.New("lost"), Verdicts: []engine.Verdict{{Dir: engine.Download,
		Main: engine.Finding{Code: "R12", Title: "softirq fills a core", Text: "Core 3 is full.", Severity: engine.SeverityWarning,
			Confidence: engine.Sure, Since: 65 * time.Second, Press: "d", Proof: "d",
			Evidence: []engine.Evidence{{Name: "core 3 softirq", Value: 0.94, Unit: "share", Side: engine.Far, Age: 200 * time.Millisecond}},
			Remedy:   []engine.Remedy{{Text: "Spread the queues.", Temporary: "ethtool -L eth0 combined 4", Persistent: "a udev rule"}}},
		Also: []engine.Finding{{Code: "R09", Title: "line rate"}},
	}}}
	var text strings.Builder
	for _, l := range Page(s, &style.Block) {
		text.WriteString(l.Text + "\n")
	}
	for _, want := range []string{
		"The session has failed: lost", "▼ download", "warning !  softirq fills a core  [R12, sure, since 01:05]", "Core 3 is full.",
		"far  core 3 softirq = 94 %  (200 ms old)", "do: Spread the queues.", "until reboot:  ethtool -L eth0 combined 4",
		"for good:      a udev rule", "press d", "p proves it", "also true:", "ok  line rate  [R09",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, text.String())
		}
	}
}

func TestPageWithoutVerdict(t *testing.T) {
	if p := Page(&engine.Snapshot{}, &style.Block); len(p) != 1 || !strings.Contains(p[0].Text, "no verdict yet") {
		t.Errorf("got %v", p)
	}
}
