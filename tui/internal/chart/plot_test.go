package chart

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/guptarohit/asciigraph"

	"linerate/engine"
	"linerate/tui/internal/grid"
	"linerate/tui/internal/style"
)

func constant(v float32, n int) []engine.Point {
	cols := make([]engine.Point, n)
	for i := range cols {
		cols[i] = engine.Point{Min: v, Mean: v, Max: v}
	}
	return cols
}

var nan = float32(math.NaN())

func draw(w, h int, glyphs *style.Glyphs, paint func(grid.Area)) string {
	var g grid.Grid
	g.Reset(w, h, glyphs)
	paint(g.All())
	return string(g.AppendTo(nil, style.NewPalette(style.Bare, style.Dark)))
}

func gbit(top float64) Axis { return Axis{Top: top * 1e9, Div: 1, Base: 1000} }

func TestPaintLooksLikeThis(t *testing.T) {
	cols := constant(8e9, 14)
	cols[0] = engine.Point{Min: nan, Mean: nan, Max: nan}
	cols[1], cols[2] = constant(2e9, 1)[0], constant(4e9, 1)[0]
	cols[7] = engine.Point{Min: 0, Mean: 7.6e9, Max: 8e9} // a stall shorter than a column
	cols[10], cols[11] = cols[0], cols[0]                 // no samples
	tests := []struct {
		name   string
		graph  Graph
		glyphs *style.Glyphs
		want   string
	}{
		{"up", Graph{Columns: cols, Axis: gbit(10), Rows: 5}, &style.Block, `
   10G┤
      ┤  ╭──────╴  ──
    5G┤ ╭╯   ··
      ┤ ╯    ··
     0┤      ··`},
		{"down", Graph{Columns: cols, Axis: gbit(10), Rows: 5, Down: true}, &style.Block, `
     0┤      ··
      ┤ ╮    ··
    5G┤ ╰╮   ··
      ┤  ╰──────╴  ──
   10G┤`},
		{"ascii", Graph{Columns: cols, Axis: gbit(10), Rows: 5}, &style.ASCII, `
   10G|
      |  +-------  --
    5G| ++   ..
      | +    ..
     0|      ..`},
		{"log", Graph{Columns: cols, Axis: Axis{Top: 10e9, Div: 1, Base: 1000, Log: true}, Rows: 9}, &style.Block, `
   10G┤  ╭──────╴  ──
      ┤ ─╯   ··
    1G┤      ··
      ┤      ··
  100M┤      ··
      ┤      ··
   10M┤      ··
      ┤      ··
    1M┤      ··`},
		{"nothing sampled", Graph{Columns: []engine.Point{{Min: nan, Mean: nan, Max: nan}}, Axis: gbit(10), Rows: 3}, &style.Block, `
   10G┤
      ┤
     0┤`},
	}
	for _, test := range tests {
		var p Plotter
		got := "\n" + draw(24, test.graph.Rows, test.glyphs, func(a grid.Area) { p.Paint(a, test.graph) })
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// The wrapper adds nothing to what asciigraph draws and loses nothing of it.
func TestPaintIsAsciigraph(t *testing.T) {
	cols := make([]engine.Point, 60)
	var least, mean, greatest []float64
	for i := range cols {
		v := 5e9 + 4e9*math.Sin(float64(i)/5)
		cols[i] = engine.Point{Min: float32(v * 0.8), Mean: float32(v), Max: float32(min(v*1.1, 10e9))}
		least = append(least, float64(cols[i].Min))
		mean = append(mean, float64(cols[i].Mean))
		greatest = append(greatest, float64(cols[i].Max))
	}
	repeatLast := func(s []float64) []float64 { return append(s, s[len(s)-1]) }
	band, line := asciigraph.CreateCharSet("·"), asciigraph.DefaultCharSet
	want := asciigraph.PlotMany([][]float64{repeatLast(greatest), repeatLast(least), repeatLast(mean)},
		asciigraph.Height(10), asciigraph.LowerBound(0), asciigraph.UpperBound(10e9), asciigraph.Offset(2),
		asciigraph.SeriesChars(band, band, line),
		asciigraph.YAxisValueFormatter(func(v float64) string {
			if row := math.Round(v / 1e9); int(row)%2 == 0 {
				return strings.Repeat(" ", LabelWidth-len(Short(v, 1000))) + Short(v, 1000)
			}
			return strings.Repeat(" ", LabelWidth)
		}))
	var p Plotter
	got := draw(80, 11, &style.Block, func(a grid.Area) {
		p.Paint(a, Graph{Columns: cols, Axis: gbit(10), Rows: 11})
	})
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("rows differ from asciigraph.PlotMany (-asciigraph +ours):\n%s", diff)
	}
}

func TestLevelStandsBehind(t *testing.T) {
	var p Plotter
	g := Graph{Columns: constant(4e9, 40), Axis: gbit(10), Rows: 5}
	got := draw(50, 5, &style.Block, func(a grid.Area) {
		p.Paint(a, g)
		g.Level(a, 9.41e9, "line rate 9.41 G")
		g.Level(a, 5e9, "hidden by the line")
		g.Level(a, 40e9, "not on the axis")
	})
	rows := strings.Split(got, "\n")
	if !strings.Contains(rows[0], "╌╌ line rate 9.41 G") {
		t.Errorf("no line rate in %q", rows[0])
	}
	if strings.ContainsAny(rows[2], "╌h") {
		t.Errorf("the level overwrote the line: %q", rows[2])
	}
	if strings.Contains(got, "not on") {
		t.Errorf("a level above the axis is drawn:\n%s", got)
	}
}

func FuzzPaint(f *testing.F) {
	f.Add(10e9, 9, 40, 3.3e9, 1e9, true, false, uint8(0))
	f.Add(0.0, 2, 1, math.Inf(1), math.NaN(), false, true, uint8(7))
	f.Fuzz(func(t *testing.T, top float64, rows, n int, a, b float64, down, log bool, gaps uint8) {
		rows, n = rows&31, n&127
		cols := make([]engine.Point, n)
		for i := range cols {
			v := a + (b-a)*float64(i)/float64(n)
			cols[i] = engine.Point{Min: float32(b), Mean: float32(v), Max: float32(a)}
			if gaps>>(i&7)&1 == 1 {
				cols[i] = engine.Point{Min: nan, Mean: nan, Max: nan}
			}
		}
		g := Graph{Columns: cols, Axis: Axis{Top: Step(top, 1000), Div: 1, Base: 1000, Log: log}, Rows: rows, Down: down}
		for _, glyphs := range []*style.Glyphs{&style.Block, &style.ASCII} {
			var p Plotter
			if text := p.Text(g, glyphs); text != "" {
				if lines := strings.Count(text, "\n") + 1; lines != rows {
					t.Fatalf("%d lines, want %d", lines, rows)
				}
			}
			for line := range strings.SplitSeq(draw(n+Gutter, rows, glyphs, func(a grid.Area) { p.Paint(a, g) }), "\n") {
				if w := utf8.RuneCountInString(line); w > n+Gutter {
					t.Fatalf("a line of %d cells, want at most %d", w, n+Gutter)
				}
			}
		}
	})
}
