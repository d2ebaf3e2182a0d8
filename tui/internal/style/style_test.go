package style

import (
	"strings"
	"testing"
	"unicode"
)

func env(pairs ...string) Env {
	return func(name string) (string, bool) {
		for _, p := range pairs {
			if k, v, _ := strings.Cut(p, "="); k == name {
				return v, true
			}
		}
		return "", false
	}
}

func TestDetectProfile(t *testing.T) {
	tests := []struct {
		name   string
		choice string
		env    Env
		tty    bool
		want   Profile
	}{
		{"plain xterm", "auto", env("TERM=xterm"), true, Basic},
		{"unset choice", "", env("TERM=xterm"), true, Basic},
		{"256", "auto", env("TERM=xterm-256color"), true, Extended},
		{"true colour", "auto", env("TERM=xterm-256color", "COLORTERM=truecolor"), true, True},
		{"24bit", "auto", env("TERM=xterm", "COLORTERM=24bit"), true, True},
		{"screen has no 24 bit", "auto", env("TERM=screen-256color", "COLORTERM=truecolor"), true, Extended},
		{"tmux has", "auto", env("TERM=screen-256color", "COLORTERM=truecolor", "TERM_PROGRAM=tmux"), true, True},
		{"linux console", "auto", env("TERM=linux"), true, Basic},
		{"vt100", "auto", env("TERM=vt100"), true, Mono},
		{"dumb", "auto", env("TERM=dumb"), true, Bare},
		{"no TERM", "auto", env(), true, Bare},
		{"Windows Terminal", "auto", env("WT_SESSION=1"), true, True},
		{"NO_COLOR keeps bold", "auto", env("TERM=xterm-256color", "NO_COLOR=1"), true, Mono},
		{"NO_COLOR on a dumb terminal", "auto", env("TERM=dumb", "NO_COLOR=1"), true, Bare},
		{"empty NO_COLOR is none", "auto", env("TERM=xterm", "NO_COLOR="), true, Basic},
		{"flag beats NO_COLOR", "256", env("TERM=xterm", "NO_COLOR=1"), true, Extended},
		{"never", "never", env("TERM=xterm", "COLORTERM=truecolor"), true, Bare},
		{"not a terminal", "auto", env("TERM=xterm"), false, Bare},
		{"forced without terminal", "auto", env("TERM=xterm", "CLICOLOR_FORCE=1"), false, Basic},
		{"forced off", "auto", env("TERM=xterm", "CLICOLOR_FORCE=0"), false, Bare},
		{"NO_COLOR beats force", "auto", env("TERM=xterm", "CLICOLOR_FORCE=1", "NO_COLOR=1"), true, Mono},
		{"CLICOLOR=0", "auto", env("TERM=xterm", "CLICOLOR=0"), true, Mono},
	}
	for _, test := range tests {
		if got := DetectProfile(test.choice, test.env, test.tty); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestDetectGlyphs(t *testing.T) {
	tests := []struct {
		name    string
		choice  string
		env     Env
		windows bool
		want    *Glyphs
	}{
		{"UTF-8", "auto", env("LANG=en_US.UTF-8", "TERM=xterm"), false, &Block},
		{"utf8 spelled small", "", env("LC_CTYPE=C.utf8"), false, &Block},
		{"no locale", "auto", env("TERM=xterm"), false, &ASCII},
		{"latin 1", "auto", env("LANG=de_DE.ISO-8859-1"), false, &ASCII},
		{"LC_ALL wins", "auto", env("LC_ALL=C", "LANG=en_US.UTF-8"), false, &ASCII},
		{"console font", "auto", env("TERM=linux", "LANG=en_US.UTF-8"), false, &ASCII},
		{"serial", "auto", env("TERM=vt100", "LANG=en_US.UTF-8"), false, &ASCII},
		{"Japanese", "auto", env("LANG=ja_JP.UTF-8"), false, &ASCII},
		{"Korean", "auto", env("LC_ALL=ko_KR.UTF-8"), false, &ASCII},
		{"Chinese", "auto", env("LANG=zh_CN.UTF-8"), false, &ASCII},
		{"told otherwise", "block", env("LANG=ja_JP.UTF-8"), false, &Block},
		{"braille only asked", "braille", env(), false, &Braille},
		{"Windows has no locale", "auto", env(), true, &Block},
	}
	for _, test := range tests {
		if got := DetectGlyphs(test.choice, test.env, test.windows); got != test.want {
			t.Errorf("%s: ascii=%v braille=%v, want ascii=%v braille=%v", test.name, got.ASCII, got.Braille, test.want.ASCII, test.want.Braille)
		}
	}
}

func TestDetectTheme(t *testing.T) {
	for fgbg, want := range map[string]Theme{"": Dark, "15;0": Dark, "0;15": Light, "0;default;7": Light, "x": Dark} {
		if got := DetectTheme("auto", env("COLORFGBG="+fgbg)); got != want {
			t.Errorf("COLORFGBG=%q: %v, want %v", fgbg, got, want)
		}
	}
	if got := DetectTheme("light", env("COLORFGBG=15;0")); got != Light {
		t.Errorf("the flag does not win: %v", got)
	}
}

func TestPaletteHasNoColourWhereThereIsNone(t *testing.T) {
	bare, mono := NewPalette(Bare, Dark), NewPalette(Mono, Dark)
	for r := range Role(roles) {
		if s := bare.SGR(r); s != "" {
			t.Errorf("role %d: bare palette writes %q", r, s)
		}
		for _, code := range strings.FieldsFunc(strings.Trim(mono.SGR(r), "\x1b[m"), func(c rune) bool { return c == ';' }) {
			if len(code) > 1 {
				t.Errorf("role %d: the palette without colour writes colour %q", r, code)
			}
		}
	}
	if got, want := NewPalette(Extended, Dark).SGR(Up), "\x1b[0;38;5;75m"; got != want {
		t.Errorf("upload in 256 colours = %q, want %q", got, want)
	}
	if got, want := NewPalette(True, Light).SGR(Down), "\x1b[0;38;2;175;95;0m"; got != want {
		t.Errorf("download in 24 bit on light = %q, want %q", got, want)
	}
}

// Red and green look alike to many: no pair of roles may be told apart by them alone.
func TestPaletteAvoidsRedAndGreen(t *testing.T) {
	for r, p := range paints {
		for _, c := range []rgb{p.dark, p.light} {
			red, green, blue := c>>16&255, c>>8&255, c&255
			if red > 2*green+40 && red > 2*blue+40 || green > 2*red+40 && green > 2*blue+40 {
				t.Errorf("role %d: %06x is red or green", r, c)
			}
		}
		if p.basic%10 == 1 || p.basic%10 == 2 {
			t.Errorf("role %d: code %d is red or green", r, p.basic)
		}
	}
}

func TestGlyphsAreNarrow(t *testing.T) {
	for name, g := range map[string]*Glyphs{"block": &Block, "ascii": &ASCII} {
		runes := append([]rune{g.Zero, g.User, g.System, g.IRQ, g.SoftIRQ, g.Steal, g.Idle, g.Bar, g.Mark, g.Tick, g.Axis,
			g.Corner, g.Wall, g.Dash, g.Horizontal, g.Vertical, g.TopLeft, g.TopRight, g.BottomLeft, g.BottomRight}, g.Levels[:]...)
		for _, s := range []string{g.Up, g.Down, g.Both, g.Run, g.Frozen, g.Edge, g.Cursor, g.Own, g.Sum, g.Delta, g.Times, g.Ellipsis, g.To} {
			runes = append(runes, []rune(s)...)
		}
		for _, r := range runes {
			if !Narrow(r) {
				t.Errorf("%s: %q is not known to be one cell wide", name, r)
			}
			if g.ASCII && r > 0x7e {
				t.Errorf("%s: %q is not 7 bit", name, r)
			}
		}
	}
}

func TestNarrow(t *testing.T) {
	for _, r := range "aZ~éñΩжЯ–…“×→≥ΔΣ①█░╭▲⠿µ" {
		if !Narrow(r) {
			t.Errorf("%q (%U) is one cell wide", r, r)
		}
	}
	for _, r := range "\x00\x1b\x7f\u009b\u00ad\u0301\u200b\u202e\u2028漢ｆ👍\ufeff\ue000" {
		if Narrow(r) {
			t.Errorf("%q (%U) must not reach the terminal", r, r)
		}
	}
	for r := rune(0); r < 0x3000; r++ {
		if Narrow(r) && (unicode.IsControl(r) || unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf)) {
			t.Errorf("%U is a control or combining character", r)
		}
	}
}

func TestLevel(t *testing.T) {
	tests := []struct {
		v, top float64
		want   rune
	}{{0, 10, '·'}, {-1, 10, '·'}, {0.001, 10, '▁'}, {5, 10, '▄'}, {10, 10, '█'}, {99, 10, '█'}, {5, 0, '·'}}
	for _, test := range tests {
		if got := Block.Level(test.v, test.top); got != test.want {
			t.Errorf("Level(%v of %v) = %q, want %q", test.v, test.top, got, test.want)
		}
	}
}
