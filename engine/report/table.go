package report

import (
	"strings"
	"unicode/utf8"

	"linerate/engine/unit"
)

// leastLast is the room from which the last column is worth wrapping; with less, lines are
// cut.
const leastLast = 12

// columns lays rows out in columns two blanks apart. A column is right-aligned when its
// head begins with ">", which is not printed. What of the last column does not fit into
// width goes on below it.
func columns(width int, head []string, rows [][]string) (lines []string) {
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
	last := len(head) - 1
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row[:last] {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if right[i] {
				cell, pad = pad+cell, ""
			}
			b.WriteString("  " + cell + pad)
		}
		lines = append(lines, lastCell(width, b.String()+"  ", row[last], widths[last], right[last])...)
	}
	return lines
}

// lastCell ends a row with its last cell, of a column of columnWidth.
func lastCell(width int, before, cell string, columnWidth int, right bool) []string {
	if right {
		cell = strings.Repeat(" ", columnWidth-utf8.RuneCountInString(cell)) + cell
	}
	if whole := strings.TrimRight(before+cell, " "); right || width-utf8.RuneCountInString(before) < leastLast ||
		utf8.RuneCountInString(whole) <= width {
		return []string{cut(whole, width)}
	}
	return wrap(width, before, cell)
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
// be copied, and a number stays with its unit.
func wrap(width int, first, text string) []string {
	indent := strings.Repeat(" ", utf8.RuneCountInString(first))
	var lines []string
	line, used, empty := first, utf8.RuneCountInString(first), true
	for _, word := range words(text) {
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

// words are what a line may break between.
func words(text string) (all []string) {
	for word := range strings.FieldsSeq(text) {
		if n := len(all); n > 0 && unit.Belongs(all[n-1], word) {
			all[n-1] += " " + word
			continue
		}
		all = append(all, word)
	}
	return all
}
