// Package link is the pane with the facts about the way to the other end: the local
// interface, the route, the far host, the path as TCP sees it, and the drop counters of
// the interface. tui draws it once per frame.
package link
