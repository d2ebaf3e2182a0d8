// Package graph is the pane with the SUM graph: one plot, or two mirrored ones when
// payload flows both ways, the time axis with the steps, and strips of retransmits, RTT
// and congestion windows on the same axis.
//
// tui keeps one Pane and draws it once per frame; the pane keeps only the scale's history
// and its buffers, all samples are in the snapshot.
package graph
