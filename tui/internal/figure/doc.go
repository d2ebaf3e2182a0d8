// Package figure writes the dashboard's numbers: what engine/unit scales, in the shorter
// forms that table columns need, and readings that may be unknown.
//
// Panes call it for every number they show. An unknown is always "–", never 0.
package figure
