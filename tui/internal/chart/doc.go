// Package chart turns history into rows of cells: the SUM graph, which asciigraph draws
// through the one guarded call of [Plotter], the time axis under it with the marks of the
// steps, and strips of one row for everything else.
//
// It is pure: columns and a scale in, cells out. asciigraph panics on empty and infinite
// input, samples points where columns should be aggregated, and changes its height with
// the data; nothing outside this package calls it, so nothing outside needs to know.
package chart
