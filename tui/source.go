package tui

import (
	"context"

	"linerate/engine"
)

// Source gives snapshots, of a live session or of a recording. Next waits for one that
// is newer than the last it gave; the newest wins. io.EOF says that the session is over:
// the dashboard leaves the terminal then. A recording that should stay on its last picture
// lets Next wait for ctx.
type Source interface {
	Next(ctx context.Context) (*engine.Snapshot, error)
}

// Control takes commands. Do returns an error whose text is fit for the status line when
// a command cannot be done now. A nil Control makes a dashboard that only shows.
type Control interface {
	Do(ctx context.Context, c engine.Command) error
}
