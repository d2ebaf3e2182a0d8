// Package cores is the pane with a bar per core, split into user, system, interrupt and
// softirq time, the local cores beside the far host's. More cores than rows become heat
// cells, one for each, and full bars of the busiest.
//
// tui draws it once per frame. It writes "unknown" with the reason where a host tells
// nothing, never an empty bar.
package cores
