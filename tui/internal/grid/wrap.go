package grid

import (
	"strings"
	"unicode/utf8"
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

// longestUnit is that of "Gbit/s".
const longestUnit = 6

// joins reports whether the blank at s[i] stands between a number and its unit: "0.07 %",
// "41.2 ms", "63.5 Mbit/s", but not "core 0 is".
func joins(s string, i int) bool {
	if i == 0 || s[i-1] < '0' || s[i-1] > '9' {
		return false
	}
	unit := strings.TrimRight(s[i+1:min(len(s), i+3+longestUnit)], " ")
	if word, _, more := strings.Cut(unit, " "); more {
		unit = word
	}
	switch strings.TrimRight(unit, ".,:;()") {
	case "%", "ms", "µs", "s", "B", "kB", "MB", "GB", "bit/s", "kbit/s", "Mbit/s", "Gbit/s", "bytes", "GHz":
		return true
	}
	return false
}
