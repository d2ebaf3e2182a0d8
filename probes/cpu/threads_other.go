//go:build !linux

package cpu

import (
	"errors"
	"fmt"
	"runtime"

	"linerate/probes"
)

type threadReader struct{}

func newThreadReader(string, bool) threadReader { return threadReader{} }

func (threadReader) close() {}

func (threadReader) read(dst []probes.ThreadTimes) ([]probes.ThreadTimes, error) {
	return dst, fmt.Errorf("threads and their cores are read on Linux only, this is %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
