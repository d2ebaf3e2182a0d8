package session

import (
	"time"

	"linerate/engine"
)

// keptEvents is the window of the log that a snapshot carries.
const keptEvents = 100

// diary is the log of a session.
type diary struct {
	events []engine.Event // the newest; replaced, never written again
	seq    uint64         // of the last
}

// add puts a line into the log.
func (d *diary) add(at time.Duration, text string) {
	d.seq++
	// A fresh slice: snapshots hold the old one.
	events := make([]engine.Event, 0, keptEvents)
	events = append(events, d.events[max(0, len(d.events)+1-keptEvents):]...)
	d.events = append(events, engine.Event{Seq: d.seq, At: at, Text: text})
}
