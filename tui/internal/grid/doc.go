// Package grid is the sheet of cells that the dashboard is composed on. Panes write
// into an [Area], which clips; the screen turns the whole [Grid] into one string with the
// escape sequences of a palette.
//
// Whatever is written, a line has exactly the width of the sheet and the sheet exactly
// its height, and no control character, escape sequence or wide rune gets in: the panes
// need not think about sizes or about what a peer sends. It replaces lipgloss's joins and
// borders in the per-frame path, which would cost twenty times as much.
package grid
