package tui

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/guptarohit/asciigraph"

	"linerate/engine"
	"linerate/probes"
	"linerate/tui/internal/chart"
	"linerate/tui/internal/tuitest"
)

// plotted gives what asciigraph draws of a history on the panel's columns.
func plotted(s engine.Series, tl chart.Timeline, rows int, sign, top float64) []string {
	cols := make([]engine.Point, tl.Columns)
	tl.Read(s, cols)
	var least, mean, greatest []float64
	for i := range len(cols) + 1 {
		c := cols[min(i, len(cols)-1)]
		least = append(least, sign*float64(c.Min))
		mean = append(mean, sign*float64(c.Mean))
		greatest = append(greatest, sign*float64(c.Max))
	}
	band, line := asciigraph.CreateCharSet("·"), asciigraph.DefaultCharSet
	band.StartCap, line.StartCap = " ", " "
	return strings.Split(asciigraph.PlotMany([][]float64{greatest, least, mean},
		asciigraph.Height(rows-1), asciigraph.LowerBound(math.Min(0, sign*top)), asciigraph.UpperBound(math.Max(0, sign*top)),
		asciigraph.Offset(2), asciigraph.SeriesChars(band, band, line),
		asciigraph.YAxisValueFormatter(func(float64) string { return strings.Repeat(" ", chart.LabelWidth) })), "\n")
}

// panel cuts the rows of a plot out of a frame, labels left out.
func panel(frame string, from, rows, columns int) (out []string) {
	for _, line := range strings.Split(frame, "\n")[from : from+rows] {
		cells := []rune(line)[1:] // the frame's edge
		cells = cells[chart.Gutter-1 : min(len(cells), chart.Gutter+columns)]
		out = append(out, strings.Repeat(" ", chart.Gutter-1)+strings.TrimRight(string(cells), " "))
	}
	return out
}

// The rows of the SUM panel are those of asciigraph.PlotMany for the same columns.
func TestGraphPanelIsAsciigraph(t *testing.T) {
	s := tuitest.Make(engine.Upload, 8, 8, 161, 1.17e9)
	s.Sums[0].Ceiling = probes.Unknown[float64](probes.Absent, "no line speed")
	m := screenOf(s, 120, 40, "never", "block")
	frame := m.View()
	columns := 120 - 2 - chart.Gutter
	tl := chart.NewTimeline(s.History.Up.End(), spans[m.spanIndex()], columns)
	const rows = 9
	want := plotted(s.History.Up, tl, rows, 1, 10e9)
	if diff := cmp.Diff(want, panel(frame, 4, rows, columns)); diff != "" {
		t.Errorf("panel rows differ from asciigraph.PlotMany (-asciigraph +panel):\n%s", diff)
	}
}

func TestMirroredPanelIsAsciigraph(t *testing.T) {
	s := tuitest.Make(engine.Both, 4, 4, 72, 2.3e9)
	for i := range s.Sums {
		s.Sums[i].Ceiling = probes.Unknown[float64](probes.Absent, "no line speed")
	}
	frame := screenOf(s, 120, 40, "never", "block").View()
	columns := 120 - 2 - chart.Gutter
	tl := chart.NewTimeline(s.History.Up.End(), spans[2], columns)
	const rows = 5
	for dir, half := range map[string]struct {
		series engine.Series
		sign   float64
		from   int
	}{"up": {s.History.Up, 1, 4}, "down": {s.History.Down, -1, 4 + rows + 1}} {
		want := plotted(half.series, tl, rows, half.sign, 10e9)
		if diff := cmp.Diff(want, panel(frame, half.from, rows, columns)); diff != "" {
			t.Errorf("%s: rows differ from asciigraph.PlotMany (-asciigraph +panel):\n%s", dir, diff)
		}
	}
}

// In other units the same rate gets its own scale at once.
func TestGraphScaleFollowsTheUnits(t *testing.T) {
	m := screenOf(tuitest.Make(engine.Upload, 1, 2, 60, 4e8), 80, 24, "never", "block")
	if frame := m.View(); !strings.Contains(frame, " 500M┤") {
		t.Errorf("400 Mbit/s on another scale:\n%s", frame)
	}
	m.Update(keyMsg("y"))
	if frame := m.View(); !strings.Contains(frame, "  50M┤") || strings.Contains(frame, "500M┤") {
		t.Errorf("50 MB/s on another scale:\n%s", frame)
	}
}
