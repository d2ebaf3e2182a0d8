package grid

import (
	"strings"
	"unicode/utf8"

	"linerate/engine/unit"
)

// Wrap splits s after the last word that ends within w cells. A single longer word goes
// to the first part whole, and a number stays with its unit if that is possible.
func Wrap(s string, w int) (head, tail string) {
	if utf8.RuneCountInString(s) <= w {
		return s, ""
	}
	last, loose, n := -1, -1, 0
	for i, r := range s {
		if r == ' ' && n <= w {
			last = i
			if !joins(s, i) {
				loose = i
			}
		}
		if n > w && last >= 0 {
			break
		}
		n++
	}
	if loose >= 0 {
		last = loose
	}
	if last < 0 {
		if last = strings.IndexByte(s, ' '); last < 0 {
			return s, ""
		}
	}
	return s[:last], strings.TrimLeft(s[last:], " ")
}

// joins reports whether the blank at s[i] stands between a number and its unit.
func joins(s string, i int) bool {
	word, _, _ := strings.Cut(s[i+1:], " ")
	return unit.Belongs(s[:i], word)
}
