//go:build linux && 386

package sock

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Numbers of socketcall, net/socket.c: i386 got system calls of their own only with
// Linux 4.3.
const (
	sysSendmsg    = 16
	sysRecvmsg    = 17
	sysGetsockopt = 15
	sysConnect    = 3
)

// message calls sendmsg or recvmsg.
func message(number uintptr, fd int, hdr *unix.Msghdr, flags int) (int, unix.Errno) {
	args := [3]uintptr{uintptr(fd), uintptr(unsafe.Pointer(hdr)), uintptr(flags)}
	var r uintptr
	var errno unix.Errno
	if roomy.Load() {
		r, _, errno = unix.RawSyscall(unix.SYS_SOCKETCALL, number, uintptr(unsafe.Pointer(&args)), 0)
	} else {
		r, _, errno = unix.Syscall(unix.SYS_SOCKETCALL, number, uintptr(unsafe.Pointer(&args)), 0)
	}
	runtime.KeepAlive(hdr)
	return int(r), errno
}

// getsockopt reads an option of any length into p and gives the length that the kernel
// filled.
func getsockopt(fd, level, opt int, p []byte) (int, unix.Errno) {
	size := new(uint32) // not on the stack: its address stands in args while the stack may move
	*size = uint32(len(p))
	heap := make([]byte, len(p))
	args := [5]uintptr{uintptr(fd), uintptr(level), uintptr(opt),
		uintptr(unsafe.Pointer(&heap[0])), uintptr(unsafe.Pointer(size))}
	_, _, errno := unix.Syscall(unix.SYS_SOCKETCALL, sysGetsockopt, uintptr(unsafe.Pointer(&args)), 0)
	copy(p, heap)
	runtime.KeepAlive(size)
	return int(*size), errno
}

func connectRaw(fd int, sa *unix.RawSockaddrInet6) error {
	heap := new(unix.RawSockaddrInet6)
	*heap = *sa
	args := [3]uintptr{uintptr(fd), uintptr(unsafe.Pointer(heap)), unsafe.Sizeof(*heap)}
	_, _, errno := unix.Syscall(unix.SYS_SOCKETCALL, sysConnect, uintptr(unsafe.Pointer(&args)), 0)
	runtime.KeepAlive(heap)
	if errno != 0 {
		return errno
	}
	return nil
}
