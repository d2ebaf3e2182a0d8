//go:build !linux

package cpu

import (
	"runtime"

	"linerate/probes"
)

type threadReader struct{}

func newThreadReader(string, bool) threadReader { return threadReader{} }

func (threadReader) close() {}

func (threadReader) read(dst []probes.ThreadTimes) ([]probes.ThreadTimes, error) {
	return dst, probes.Missing{Status: probes.Unsupported, Reason: "threads are read on Linux only, this is " + runtime.GOOS}
}
