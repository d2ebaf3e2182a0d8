//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package sock

import (
	"io"
	"time"

	"golang.org/x/sys/unix"
)

// mostBlocks is the longest batch of one call. x/sys has no vectored calls here, and a
// longer buffer would leave the cache.
const mostBlocks = 1

// sender gives the mover of Send and what releases it. Zero-copy is left out: here
// sendfile takes no timeout, so a stop would not be seen.
func (c *Conn) sender(cfg SendConfig, _ int) (mover, func(), error) {
	block := payload(cfg.Block, cfg.Repeating)
	fd := c.fd
	move := func(want int, _ bool) (int, error) {
		n, err := unix.Write(fd, block[:want])
		return outcome(n, err)
	}
	return move, func() {}, nil
}

// receiver gives the mover of Recv.
func (c *Conn) receiver(cfg RecvConfig, _ int) mover {
	block := make([]byte, cfg.Block)
	fd := c.fd
	return func(want int, _ bool) (int, error) {
		n, err := unix.Read(fd, block[:want])
		if n == 0 && err == nil {
			return 0, io.EOF
		}
		return outcome(n, err)
	}
}

// outcome puts the kernel's answer into a mover's words. A timeout and a signal are no
// errors.
func outcome(n int, err error) (int, error) {
	if err == unix.EAGAIN || err == unix.EINTR {
		return max(n, 0), errAgain
	}
	return max(n, 0), err
}

func nap(d time.Duration) { time.Sleep(d) }
