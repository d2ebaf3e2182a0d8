//go:build linux

package sock

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls of the loops. The kernel returns from each within callTimeout, so they do
// without the scheduler as long as every thread has a place: see the package comment.

// sendfile sends n bytes of in from *offset on. offset is an off_t of the plain call,
// which is one machine word everywhere.
func sendfile(out, in int, offset *int, n int) (int, unix.Errno) {
	var r uintptr
	var errno unix.Errno
	if roomy.Load() {
		r, _, errno = unix.RawSyscall6(unix.SYS_SENDFILE, uintptr(out), uintptr(in), uintptr(unsafe.Pointer(offset)), uintptr(n), 0, 0)
	} else {
		r, _, errno = unix.Syscall6(unix.SYS_SENDFILE, uintptr(out), uintptr(in), uintptr(unsafe.Pointer(offset)), uintptr(n), 0, 0)
	}
	return int(r), errno
}

// nap waits, or less when a signal comes: the caller looks at the clock again.
// time.Sleep would cost two switches of threads, since this one is locked.
func nap(d time.Duration) {
	ts := unix.NsecToTimespec(d.Nanoseconds())
	var errno unix.Errno
	if roomy.Load() {
		_, _, errno = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
	} else {
		_, _, errno = unix.Syscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
	}
	if errno != 0 && errno != unix.EINTR {
		time.Sleep(d) // a 32-bit kernel without the old call
	}
}
