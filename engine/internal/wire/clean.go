package wire

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes a peer's string harmless on a terminal and short: control characters
// (escape sequences with them), characters that steer the direction or the joining of
// text, and broken UTF-8 go; tabs become blanks. At most limit bytes stay, cut at a
// whole character.
func Clean(s string, limit int) string { return clean(s, limit, false) }

// CleanText is Clean for text of several lines: line feeds stay.
func CleanText(s string, limit int) string { return clean(s, limit, true) }

func clean(s string, limit int, lines bool) string {
	var b strings.Builder
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size <= 1 {
				continue
			}
		}
		switch {
		case r == '\n' && lines:
		case r == '\t':
			r = ' '
		// Cf holds the bidirectional overrides, U+2028/9 are line breaks to some terminals.
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			continue
		}
		if b.Len()+utf8.RuneLen(r) > limit {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}
