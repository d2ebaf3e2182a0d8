package report

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// clean makes one line of text harmless for a terminal: control characters, invisible
// and direction-changing ones and invalid UTF-8 are written as Go would escape them. The
// engine cleans what peers send; this is the second lock on the same door, at the print
// boundary, and covers what comes from elsewhere.
func clean(s string) string {
	for i, r := range s {
		if !harmless(r) || r == utf8.RuneError {
			return s[:i] + escapeFrom(s[i:])
		}
	}
	return s
}

func harmless(r rune) bool { return strconv.IsPrint(r) || r == '\t' }

func escapeFrom(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x`)
			b.WriteString(strconv.FormatUint(uint64(s[0])|0x100, 16)[1:])
		case harmless(r):
			b.WriteString(s[:n])
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[n:]
	}
	return b.String()
}

// cleanBlock cleans text of several lines.
func cleanBlock(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = clean(strings.TrimSuffix(line, "\r"))
	}
	return strings.Join(lines, "\n")
}
