// Package tui is the dashboard: it shows the snapshots of a session on a terminal and
// turns keys into commands.
//
// cmd/linerate calls [Run] with a [Source] (a live session or a recording) and a
// [Control]. The package measures nothing and keeps no samples: everything on screen is
// in the snapshot at hand, so a stalled terminal loses frames and no data. It never
// prints, exits or handles signals; those belong to cmd.
//
// # How a frame comes about
//
// One command is always waiting for the next snapshot. When it arrives, or a key, or a
// new size, the [Model] changes; View then plans the screen (layout.go, a pure function
// of size and numbers), lets the panes draw on a grid of cells, and caches the text
// until something changes again. Nothing sends messages to the program from outside.
package tui
