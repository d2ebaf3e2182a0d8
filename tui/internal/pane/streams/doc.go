// Package streams is the pane with a row per data connection, the SUM rows, and what
// stands for the streams that do not fit: a heat strip with a cell for each, and a fold
// line with count, range and median of the rest. Nothing is left out silently.
//
// tui keeps one Pane and draws it once per frame.
package streams
