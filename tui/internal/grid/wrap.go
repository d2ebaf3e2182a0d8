package grid

import (
	"strings"
	"unicode/utf8"
)

// Wrap splits s after the last word that ends within w cells. A single longer word goes
// to the first part whole.
func Wrap(s string, w int) (head, tail string) {
	if utf8.RuneCountInString(s) <= w {
		return s, ""
	}
	last, n := -1, 0
	for i, r := range s {
		if r == ' ' && n <= w {
			last = i
		}
		if n > w && last >= 0 {
			break
		}
		n++
	}
	if last < 0 {
		if last = strings.IndexByte(s, ' '); last < 0 {
			return s, ""
		}
	}
	return s[:last], strings.TrimLeft(s[last:], " ")
}
