//go:build linux

package sock

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"

	"linerate/engine"
)

// Info reads TCP_INFO. It takes the socket's lock, which a stream at full speed may hold
// for 20 ms; a Watcher waits for it in place of its readers.
func (c *Conn) Info() (info engine.TCPInfo, err error) {
	var raw [infoSize]byte
	var n int
	err = c.use(func(fd int) error {
		var errno unix.Errno
		if n, errno = getsockopt(fd, unix.IPPROTO_TCP, unix.TCP_INFO, raw[:]); errno != 0 {
			return errno
		}
		return nil
	})
	if err != nil {
		return engine.TCPInfo{}, fmt.Errorf("reading TCP_INFO: %w", err)
	}
	return decodeInfo(raw[:n], binary.NativeEndian), nil
}
