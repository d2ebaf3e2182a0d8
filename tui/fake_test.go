package tui

import (
	"context"

	"linerate/engine"
)

type fake struct{}

func (fake) Do(ctx context.Context, c engine.Command) error { return nil }
