package kfs

import (
	"errors"
	"io/fs"
	"runtime"

	"linerate/probes"
)

// LinuxOnly is why files of /proc and /sys cannot be read on this system; nil on Linux.
func LinuxOnly() error {
	if runtime.GOOS == "linux" {
		return nil
	}
	return probes.Missing{Status: probes.Unsupported, Reason: "read on Linux only, this is " + runtime.GOOS}
}

// Library words the error of a library that reads the file at path its own way: absent
// is the reason when there is no such file. nil stays nil.
func Library(path, absent string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return probes.Missing{Status: probes.Absent, Reason: absent}
	}
	return Error(path, err)
}
