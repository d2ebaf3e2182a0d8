//go:build linux

package sock

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

const nameSize = 16 // TASK_COMM_LEN, final zero included

// onMainThread reports whether the calling thread is the one whose number the process
// has.
func onMainThread() bool { return unix.Gettid() == unix.Getpid() }

func threadID() int { return unix.Gettid() }

// dress names the calling thread, pins it to core unless that is negative, and gives
// what undoes both, also with an error. A name that cannot be set is no error: nothing
// but the display depends on it.
func dress(name string, core int) (restore func() error, err error) {
	var was [nameSize]byte
	var mask unix.CPUSet
	named := threadName(unix.PR_GET_NAME, &was) == nil
	pinned := false
	restore = func() error {
		var nameErr, pinErr error
		if named {
			nameErr = threadName(unix.PR_SET_NAME, &was)
		}
		if pinned {
			pinErr = unix.SchedSetaffinity(0, &mask)
		}
		return errors.Join(nameErr, pinErr)
	}
	if named {
		var now [nameSize]byte
		copy(now[:nameSize-1], name)
		named = threadName(unix.PR_SET_NAME, &now) == nil
	}
	if core >= 0 {
		if err := unix.SchedGetaffinity(0, &mask); err != nil {
			return restore, fmt.Errorf("reading thread affinity: %w", err)
		}
		if err := SetCore(core); err != nil {
			return restore, err
		}
		pinned = true
	}
	return restore, nil
}

func threadName(option int, name *[nameSize]byte) error {
	return unix.Prctl(option, uintptr(unsafe.Pointer(name)), 0, 0, 0)
}

// SetCore pins the calling thread to one core; the caller has locked it.
func SetCore(core int) error {
	var set unix.CPUSet
	set.Set(core)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("pinning to core %d: %w", core, err)
	}
	return nil
}
