//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd || windows)

package sock

import "syscall"

// Buffers is not told by the systems that this file is for.
func (c *Conn) Buffers() (snd, rcv int, err error) { return buffers(nil) }

func buffers(syscall.RawConn) (snd, rcv int, err error) {
	return 0, 0, unsupported("socket buffer sizes")
}
