package tui

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"linerate/tui/internal/tuitest"
)

func TestExport(t *testing.T) {
	var screen string
	var data []byte
	d := newDesk(tuitest.N100())
	d.opt.Export = func(s string, b []byte) (string, error) {
		screen, data = s, b
		return "/state/export-1", nil
	}
	d.touch()
	shown := d.View()
	d.press("x")
	if screen != shown+"\n" {
		t.Errorf("the text is not what was on screen:\n%s", screen)
	}
	if !strings.Contains(d.View(), "exported to /state/export-1") {
		t.Errorf("the path is not told:\n%s", d.View())
	}
	var doc struct {
		Format int `json:"format"`
		Sums   []struct {
			Rate        *float64 `json:"bits_per_second"`
			Retransmits *uint64  `json:"retransmits"`
		} `json:"sums"`
		Cores []struct {
			Side string  `json:"side"`
			Core int     `json:"core"`
			Soft float64 `json:"softirq"`
		} `json:"cores"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Format != exportFormat || len(doc.Sums) != 2 || *doc.Sums[1].Rate != 6.51e9 {
		t.Errorf("document = %+v", doc)
	}
	if doc.Sums[1].Retransmits != nil {
		t.Errorf("unknown retransmits = %d, want null", *doc.Sums[1].Retransmits)
	}
	if len(doc.Cores) != 4 || doc.Cores[2].Side != "local" || doc.Cores[2].Soft != 0.26 {
		t.Errorf("cores = %+v", doc.Cores)
	}
}

func TestExportSaysWhatFailed(t *testing.T) {
	d := newDesk(tuitest.Upload())
	d.opt.Export = func(string, []byte) (string, error) { return "", errors.New("no space left on device") }
	d.touch()
	d.press("x")
	if !strings.Contains(d.View(), "not exported: no space left on device") {
		t.Errorf("the failure is not told:\n%s", d.View())
	}
}

func TestEverySnapshotCanBeExported(t *testing.T) {
	for _, c := range tuitest.Cases() {
		if _, err := json.Marshal(document(c.Snap)); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}
