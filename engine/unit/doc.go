// Package unit scales base units for people and parses what people type.
//
// Everything that prints for a human uses it: tui, engine/report's summary, the
// sentences of engine/diagnose, the commands. It is not iperf3's text (engine/report
// has that rule, with its mix of 1024 and 1000): here a rate is in steps of 1000 with
// three significant digits, and its unit is always there.
//
// What cannot be a quantity (NaN, infinities, negative values) prints as [None], so that
// no unknown ever looks like a zero. The printers allocate nothing but the string they
// return; the parsers accept iperf3's suffixes and refuse what iperf3 would silently
// read as something else.
package unit
