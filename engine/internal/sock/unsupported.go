package sock

import (
	"errors"
	"fmt"
	"runtime"
)

// unsupported is the error for what this system does not have; it is an
// errors.ErrUnsupported.
func unsupported(what string) error {
	return fmt.Errorf("%s on %s: %w", what, runtime.GOOS, errors.ErrUnsupported)
}
