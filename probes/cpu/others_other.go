//go:build !linux

package cpu

import (
	"runtime"

	"linerate/probes"
)

type processReader struct{}

func newProcessReader(string) processReader { return processReader{} }

func (processReader) read(dst []probes.ThreadTimes) ([]probes.ThreadTimes, error) {
	return dst, probes.Missing{Status: probes.Unsupported, Reason: "other programs are read on Linux only, this is " + runtime.GOOS}
}
