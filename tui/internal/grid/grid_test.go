package grid

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"linerate/tui/internal/style"
)

func sheet(w, h int, g *style.Glyphs) (*Grid, Area) {
	var s Grid
	s.Reset(w, h, g)
	return &s, s.All()
}

func (g *Grid) plain() string {
	return string(g.AppendTo(nil, style.NewPalette(style.Bare, style.Dark)))
}

func TestTextIsHarmless(t *testing.T) {
	tests := []struct{ name, in, block, ascii string }{
		{"plain", "eth0 10G", "eth0 10G", "eth0 10G"},
		{"escape sequence", "a\x1b[31mred", "a?[31mred", "a?[31mred"},
		{"C1 controls", "a\u009b2Jb", "a?2Jb", "a?2Jb"},
		{"line ends", "a\r\nb\tc", "a? b c", "a? b c"},
		{"wide", "漢字", "??", "??"},
		{"combining", "e\u0301x", "ex", "e?x"},
		{"bidi override", "a\u202eb", "ab", "a?b"},
		{"invalid UTF-8", "a\xffb", "a?b", "a?b"},
		{"signs", "×8 Δ +5 % → 9…", "×8 Δ +5 % → 9…", "x8 d +5 % -> 9.."},
		{"number of a step", "② streams", "② streams", "2 streams"},
	}
	for _, test := range tests {
		for _, form := range []struct {
			glyphs *style.Glyphs
			want   string
		}{{&style.Block, test.block}, {&style.ASCII, test.ascii}} {
			g, a := sheet(40, 1, form.glyphs)
			end := a.Text(0, 0, style.Plain, test.in)
			if got := g.plain(); got != form.want {
				t.Errorf("%s: %q is shown as %q, want %q", test.name, test.in, got, form.want)
			}
			if n := utf8.RuneCountInString(form.want); end != n || a.Width(test.in) != n {
				t.Errorf("%s: ends at %d, width %d, want %d", test.name, end, a.Width(test.in), n)
			}
		}
	}
}

func TestAreasClip(t *testing.T) {
	g, all := sheet(8, 3, &style.Block)
	a := all.Sub(2, 1, 4, 1)
	a.Text(-1, 0, style.Plain, "abcdefgh")
	a.Text(0, 5, style.Plain, "below")
	a.Text(0, -1, style.Plain, "above")
	a.Sub(2, 0, 99, 99).Text(0, 0, style.Plain, "XYZ")
	a.Sub(-5, -5, 3, 3).Text(0, 0, style.Plain, "out")
	if diff := cmp.Diff("\n  bcXY\n", g.plain()); diff != "" {
		t.Errorf("clipped text (-want +got):\n%s", diff)
	}
}

func TestFit(t *testing.T) {
	for w, want := range map[int]string{8: "streams", 7: "streams", 6: "strea…", 1: "…", 0: "", -1: ""} {
		g, a := sheet(20, 1, &style.Block)
		a.Fit(0, 0, w, style.Plain, "streams")
		if got := g.plain(); got != want {
			t.Errorf("in %d cells: %q, want %q", w, got, want)
		}
	}
}

func TestRowsAreSelfContained(t *testing.T) {
	g, a := sheet(10, 2, &style.Block)
	a.Text(0, 0, style.Bold, "ab")
	a.Text(3, 0, style.Up, "c")
	a.Text(4, 0, style.Selected, " ")
	a.Text(0, 1, style.Bold, "d")
	got := string(g.AppendTo(nil, style.NewPalette(style.Basic, style.Dark)))
	// The blank between ab and c takes no sequence of its own; the reversed blank does.
	want := "\x1b[0;1mab \x1b[0;94mc\x1b[0;7m \x1b[0m\n\x1b[0;1md\x1b[0m"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestComposeDropsTheLeastUseful(t *testing.T) {
	left := []Part{{Text: "10.0.0.2"}, {Text: "cubic", Drop: 2}}
	right := []Part{{Text: "RUN"}, {Text: "4 Hz", Drop: 1}}
	for _, test := range []struct {
		w    int
		want string
	}{
		{30, "10.0.0.2  cubic      RUN  4 Hz"},
		{26, "10.0.0.2  cubic  RUN  4 Hz"},
		{25, "10.0.0.2        RUN  4 Hz"},
		{18, "10.0.0.2       RUN"},
		{11, "10.0.…  RUN"},
	} {
		g, a := sheet(test.w, 1, &style.Block)
		a.Compose(0, 2, left, right)
		if got := g.plain(); got != test.want {
			t.Errorf("width %d: %q, want %q", test.w, got, test.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		in         string
		w          int
		head, tail string
	}{
		{"one two three", 20, "one two three", ""},
		{"one two three", 7, "one two", "three"},
		{"one two three", 8, "one two", "three"},
		{"one two three", 6, "one", "two three"},
		{"longword next", 3, "longword", "next"},
		{"longword", 3, "longword", ""},
		{"über größer", 5, "über", "größer"},
		{"adds 286 ms here", 8, "adds", "286 ms here"},
		{"286 ms", 3, "286", "ms"},
		{"core 0 is full", 6, "core 0", "is full"},
	} {
		head, tail := Wrap(test.in, test.w)
		if head != test.head || tail != test.tail {
			t.Errorf("Wrap(%q, %d) = %q, %q, want %q, %q", test.in, test.w, head, tail, test.head, test.tail)
		}
	}
}

func TestReflowKeepsEverything(t *testing.T) {
	var p Page
	p.Add(style.Plain, "    the quick brown fox jumps over the lazy dog")
	p.Add(style.Bold, "short")
	got := Reflow(p, 20)
	var texts []string
	for _, l := range got {
		texts = append(texts, l.Text)
	}
	want := []string{"    the quick brown", "      fox jumps over", "      the lazy dog", "short"}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Errorf("reflowed (-want +got):\n%s", diff)
	}
}

func TestScrollStopsAtTheEnd(t *testing.T) {
	var p Page
	for _, s := range strings.Fields("a b c d e f") {
		p.Add(style.Plain, s)
	}
	g, a := sheet(12, 3, &style.Block)
	if last := a.Scroll(p, 99); last != 3 {
		t.Errorf("last first row = %d, want 3", last)
	}
	if got := g.plain(); got != "d\ne\nf" {
		t.Errorf("scrolled too far shows %q, want the end", got)
	}
	g.Reset(12, 3, &style.Block)
	g.All().Scroll(p, 0)
	if got := g.plain(); !strings.Contains(got, "more") {
		t.Errorf("no hint that there is more: %q", got)
	}
}

func FuzzText(f *testing.F) {
	f.Add("\x1b[31m漢e\u0301\xff", 5, true)
	f.Fuzz(func(t *testing.T, s string, w int, ascii bool) {
		w &= 63
		glyphs := &style.Block
		if ascii {
			glyphs = &style.ASCII
		}
		g, a := sheet(w, 2, glyphs)
		a.Fit(0, 0, w, style.Bold, s)
		a.Right(w, 1, style.Bold, s)
		for line := range strings.SplitSeq(g.plain(), "\n") {
			if n := utf8.RuneCountInString(line); n > w {
				t.Fatalf("%d cells in a row of %d", n, w)
			}
			for _, r := range line {
				if !style.Narrow(r) || ascii && r > 0x7e {
					t.Fatalf("%U got through", r)
				}
			}
		}
	})
}
