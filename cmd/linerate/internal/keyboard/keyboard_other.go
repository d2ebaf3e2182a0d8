//go:build !unix

package keyboard

import (
	"errors"
	"os"
)

// Open is not there yet: a console read on Windows cannot be given up again.
func Open(*os.File) (*Keyboard, error) { return nil, errors.ErrUnsupported }
