// Package head draws the lines at the top of the dashboard: the header (what runs, where
// to, what was asked), the verdict (what holds it back) and the SUM line of a direction.
//
// tui calls one function per line with a snapshot and the little that a snapshot does not
// know; the functions only write into their area.
package head
