// Package steps lists what has been tried: a row per step with its rate, the change
// against the step before and the verdict, as the pane of the dashboard and as the full
// table of the compare view; and the event log beside it.
package steps
