//go:build !linux

package memory

import (
	"errors"
	"testing"
	"testing/fstest"
)

func TestOtherSystems(t *testing.T) {
	if _, err := Bandwidth(fstest.MapFS{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v, want it unsupported", err)
	}
}
