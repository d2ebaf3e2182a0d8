package style

import "strings"

// Env looks up an environment variable, as os.LookupEnv does.
type Env func(name string) (string, bool)

func (e Env) get(name string) string {
	v, _ := e(name)
	return v
}

// Colors are the values of the option for colour; Forms, Themes likewise.
var (
	Colors = []string{"auto", "never", "16", "256", "true"}
	Forms  = []string{"auto", "braille", "block", "ascii"}
	Themes = []string{"auto", "dark", "light", "mono"}
)

// DetectProfile decides how much colour to use. choice is one of Colors and wins over
// the environment; tty says whether the file that is drawn on is a terminal.
func DetectProfile(choice string, env Env, tty bool) Profile {
	switch choice {
	case "never":
		return Bare
	case "16":
		return Basic
	case "256":
		return Extended
	case "true":
		return True
	}
	best := capability(env)
	forced := env.get("CLICOLOR_FORCE")
	switch {
	case env.get("NO_COLOR") != "":
		// no-color.org speaks of colour; bold and reverse stay.
		return min(best, Mono)
	case forced != "" && forced != "0":
		return max(best, Basic)
	case !tty:
		return Bare
	case env.get("CLICOLOR") == "0":
		return min(best, Mono)
	}
	return best
}

func capability(env Env) Profile {
	term, colorterm := env.get("TERM"), env.get("COLORTERM")
	switch {
	case term == "dumb":
		return Bare
	case env.get("WT_SESSION") != "": // Windows Terminal sets no TERM
		return True
	case term == "":
		return Bare
	case colorterm == "truecolor" || colorterm == "24bit":
		if strings.HasPrefix(term, "screen") && env.get("TERM_PROGRAM") != "tmux" {
			return Extended // GNU screen passes 24 bits on to nobody
		}
		return True
	case strings.Contains(term, "direct"):
		return True
	case strings.Contains(term, "256color"):
		return Extended
	case strings.HasPrefix(term, "vt1") || strings.HasPrefix(term, "vt2"):
		return Mono
	}
	return Basic
}

// DetectTheme reads choice, one of Themes, and with "auto" the COLORFGBG that some
// terminals set. The terminal is never asked.
func DetectTheme(choice string, env Env) Theme {
	switch choice {
	case "light":
		return Light
	case "dark", "mono":
		return Dark
	}
	fgbg := env.get("COLORFGBG")
	switch fgbg[strings.LastIndexByte(fgbg, ';')+1:] {
	case "7", "15":
		return Light
	}
	return Dark
}

// DetectGlyphs chooses the characters. choice is one of Forms; "auto" takes Block
// where the locale is UTF-8 and draws box lines one cell wide, else ASCII.
func DetectGlyphs(choice string, env Env, windows bool) *Glyphs {
	switch choice {
	case "ascii":
		return &ASCII
	case "block":
		return &Block
	case "braille":
		return &Braille
	}
	switch env.get("TERM") {
	case "linux", "dumb":
		return &ASCII
	}
	if strings.HasPrefix(env.get("TERM"), "vt1") || strings.HasPrefix(env.get("TERM"), "vt2") {
		return &ASCII
	}
	locale := ""
	for _, name := range [...]string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale = env.get(name); locale != "" {
			break
		}
	}
	locale = strings.ToLower(locale)
	for _, wide := range [...]string{"ja", "ko", "zh"} {
		// There the same lines and signs may be two cells wide.
		if strings.HasPrefix(locale, wide) {
			return &ASCII
		}
	}
	if !windows && !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8") {
		return &ASCII
	}
	return &Block
}
