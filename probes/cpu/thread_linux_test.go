//go:build linux

package cpu

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func threadID() int { return unix.Gettid() }

// nameThread names the calling thread, as engine/internal/sock does with its own.
func nameThread(t *testing.T, name string) {
	b, err := unix.BytePtrFromString(name)
	if err != nil {
		t.Error(err)
		return
	}
	if err := unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(b)), 0, 0, 0); err != nil {
		t.Error(err)
	}
}
