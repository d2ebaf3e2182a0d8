//go:build freebsd

package sock

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/engine"
)

// Offsets of what FreeBSD's struct tcp_info has behind the part that it shares with
// Linux, netinet/tcp.h.
const (
	freebsdSndWnd       = 100
	freebsdRexmitPacks  = 120
	freebsdRcvOOOPacks  = 124
	freebsdInfoSize     = 132
	freebsdSharedLength = 100
)

// Info reads TCP_INFO. FreeBSD's has the first 100 bytes of Linux's, of which it fills
// some and counts the congestion window in bytes, then fields of its own. The size is
// given as engine.InfoBase, the group that the known fields belong to.
func (c *Conn) Info() (engine.TCPInfo, error) {
	var raw [freebsdInfoSize]byte
	size := uint32(len(raw))
	err := c.use(func(fd int) error {
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.IPPROTO_TCP, unix.TCP_INFO,
			uintptr(unsafe.Pointer(&raw[0])), uintptr(unsafe.Pointer(&size)), 0)
		if errno != 0 {
			return errno
		}
		return nil
	})
	if err != nil {
		return engine.TCPInfo{}, fmt.Errorf("reading TCP_INFO: %w", err)
	}
	own := rawInfo{raw[:size], binary.NativeEndian}
	info := decodeInfo(raw[:freebsdSharedLength], binary.NativeEndian)
	info.Size = engine.InfoBase
	mss := max(info.SndMSS, 1)
	info.SndCwnd /= mss
	info.SndSSThresh /= mss
	info.SndWnd = own.u32(freebsdSndWnd)
	info.TotalRetrans = own.u32(freebsdRexmitPacks)
	info.RcvOOOPack = own.u32(freebsdRcvOOOPacks)
	return info, nil
}
