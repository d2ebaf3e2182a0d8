//go:build linux && !386

package sock

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	sysSendmsg = unix.SYS_SENDMSG
	sysRecvmsg = unix.SYS_RECVMSG
)

// message calls sendmsg or recvmsg.
func message(trap uintptr, fd int, hdr *unix.Msghdr, flags int) (int, unix.Errno) {
	var r uintptr
	var errno unix.Errno
	if roomy.Load() {
		r, _, errno = unix.RawSyscall(trap, uintptr(fd), uintptr(unsafe.Pointer(hdr)), uintptr(flags))
	} else {
		r, _, errno = unix.Syscall(trap, uintptr(fd), uintptr(unsafe.Pointer(hdr)), uintptr(flags))
	}
	return int(r), errno
}

// getsockopt reads an option of any length into p and gives the length that the kernel
// filled.
func getsockopt(fd, level, opt int, p []byte) (int, unix.Errno) {
	size := uint32(len(p))
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), uintptr(level), uintptr(opt),
		uintptr(unsafe.Pointer(&p[0])), uintptr(unsafe.Pointer(&size)), 0)
	return int(size), errno
}

func connectRaw(fd int, sa *unix.RawSockaddrInet6) error {
	_, _, errno := unix.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(sa)), unsafe.Sizeof(*sa))
	if errno != 0 {
		return errno
	}
	return nil
}
