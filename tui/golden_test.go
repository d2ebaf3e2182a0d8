package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/engine/unit"
	"linerate/tui/internal/tuitest"
)

// updating reads the -update flag that x/exp/golden defines for every test binary with
// teatest in it: defining it here too would panic.
func updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

// golden compares a screen with testdata/name.golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	got += "\n"
	if updating() {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test ./tui -update writes it)", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

type size struct{ w, h int }

var (
	fiveSizes = []size{{50, 10}, {80, 24}, {90, 50}, {120, 40}, {200, 60}}
	twoSizes  = []size{{80, 24}, {120, 40}}
)

func TestGoldenUpload(t *testing.T) {
	for _, s := range fiveSizes {
		for _, color := range []string{"never", "true"} {
			for _, glyphs := range []string{"block", "ascii"} {
				m := screenOf(tuitest.Upload(), s.w, s.h, color, glyphs)
				golden(t, fmt.Sprintf("upload8-%dx%d-%s-%s", s.w, s.h, color, glyphs), m.View())
			}
		}
	}
}

func TestGoldenColours(t *testing.T) {
	for _, color := range []string{"16", "256"} {
		golden(t, "n100-80x24-"+color, screenOf(tuitest.N100(), 80, 24, color, "block").View())
	}
	m := New(nil, &recorder{}, Options{Glyphs: "block", IsTerminal: func() bool { return true }, Env: func(name string) (string, bool) {
		v, ok := map[string]string{"TERM": "xterm-256color", "NO_COLOR": "1"}[name]
		return v, ok
	}})
	m.Update(snapshotMsg{tuitest.N100(), nil})
	golden(t, "n100-80x24-nocolor", resize(m, 80, 24))
	m = screenOf(tuitest.Upload(), 120, 40, "never", "braille")
	golden(t, "upload8-120x40-braille", m.View())
}

func TestGoldenCases(t *testing.T) {
	for _, c := range tuitest.Cases() {
		sizes := twoSizes
		if c.Name == "n100" || c.Name == "bothways4" || c.Name == "many" || c.Name == "farsender" {
			sizes = fiveSizes
		}
		for _, s := range sizes {
			golden(t, fmt.Sprintf("%s-%dx%d", c.Name, s.w, s.h), screenOf(c.Snap, s.w, s.h, "never", "block").View())
		}
	}
	golden(t, "bothways4-80x24-ascii", screenOf(tuitest.BothWays(), 80, 24, "never", "ascii").View())
}

func TestGoldenViews(t *testing.T) {
	for key, name := range map[string]string{"?": "help", "v": "why", "c": "compare"} {
		for _, s := range twoSizes {
			snap := tuitest.N100()
			if key == "c" {
				snap = tuitest.Upload()
			}
			m := screenOf(snap, s.w, s.h, "never", "block")
			m.Update(keyMsg(key))
			golden(t, fmt.Sprintf("view-%s-%dx%d", name, s.w, s.h), m.View())
		}
	}
	for pane, name := range paneNames {
		m := screenOf(tuitest.Many(64, 32), 120, 40, "never", "block")
		m.focus, m.zoom = paneID(pane), true
		golden(t, "zoom-"+strings.ToLower(name), m.View())
	}
	m := screenOf(tuitest.Upload(), 120, 40, "never", "block")
	m.log, m.units = true, unit.Binary
	golden(t, "upload8-120x40-log-binary", m.View())
}
