package report

import (
	"strings"
	"unicode/utf8"
)

// columns lays rows out in columns two blanks apart. A column is right-aligned when its
// head begins with ">", which is not printed. The last column may be of any width; cells
// beyond width columns of the line are cut with an ellipsis.
func columns(width int, head []string, rows [][]string) []string {
	right := make([]bool, len(head))
	names := make([]string, len(head))
	for i, h := range head {
		names[i], right[i] = strings.CutPrefix(h, ">")
	}
	rows = append([][]string{names}, rows...)
	widths := make([]int, len(head))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	lines := make([]string, len(rows))
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if right[i] {
				cell, pad = pad+cell, ""
			}
			b.WriteString("  " + cell + pad)
		}
		lines[n] = cut(strings.TrimRight(b.String(), " "), width)
	}
	return lines
}

// cut shortens s to width columns, the last one an ellipsis.
func cut(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:width-1]) + "…"
}

// wrap breaks text into lines of at most width columns; the first begins with first, the
// others are indented to its end. A word longer than a line stays whole, so that it can
// be copied.
func wrap(width int, first, text string) []string {
	indent := strings.Repeat(" ", utf8.RuneCountInString(first))
	var lines []string
	line, used, empty := first, utf8.RuneCountInString(first), true
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		if !empty && used+1+n > width {
			lines = append(lines, line)
			line, used, empty = indent, len(indent), true
		}
		if !empty {
			line += " "
			used++
		}
		line += word
		used, empty = used+n, false
	}
	return append(lines, line)
}
