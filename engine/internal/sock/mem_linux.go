//go:build linux

package sock

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"

	"linerate/engine"
)

// memSize is the size of what SO_MEMINFO gives: nine u32, SK_MEMINFO_VARS of
// include/uapi/linux/sock_diag.h.
const memSize = 9 * 4

// Mem reads SO_MEMINFO (Linux 4.12), how full the socket's buffers are. It does not wait
// for the socket's lock.
func (c *Conn) Mem() (mem engine.SockMem, err error) {
	var raw [memSize]byte
	err = c.use(func(fd int) error {
		n, errno := getsockopt(fd, unix.SOL_SOCKET, unix.SO_MEMINFO, raw[:])
		switch {
		case errno == unix.ENOPROTOOPT:
			return unsupported("SO_MEMINFO")
		case errno != 0:
			return errno
		case n < memSize:
			return unsupported("all of SO_MEMINFO")
		}
		return nil
	})
	if err != nil {
		return engine.SockMem{}, fmt.Errorf("reading SO_MEMINFO: %w", err)
	}
	return decodeMem(raw), nil
}

func decodeMem(raw [memSize]byte) engine.SockMem {
	v := func(i int) uint32 { return binary.NativeEndian.Uint32(raw[4*i:]) }
	return engine.SockMem{
		RmemAlloc: v(0), RcvBuf: v(1), WmemAlloc: v(2), SndBuf: v(3),
		Queued: v(5), Backlog: v(7), Drops: v(8), // 4 and 6: fwd_alloc, optmem
	}
}
