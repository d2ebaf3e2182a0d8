//go:build linux

package sock

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// mostBlocks is the longest batch of one call.
const mostBlocks = maxBlocks

const (
	// hot is the size of a buffer that stays in the first-level cache while it is written
	// or read over and over. Receiving into it was 3 to 8 % faster than into 128 KiB;
	// sending it 18 to 22 %, with 24 KiB nothing.
	hot = 16 << 10
	// hotFrom is how much a call carries when it sends from the cache: calls grow to that
	// above some 8 Gbit/s. Below, payload repeats in blocks only, so that no compressor
	// on the way finds it in its window (32 KiB in zlib, 64 KiB in LZ4).
	hotFrom = 1 << 20
)

// vector is an iovec that repeats one buffer, and the message header around it.
type vector struct {
	iov []unix.Iovec
	buf []byte
	hdr unix.Msghdr
}

// newVector repeats buf until it covers size bytes.
func newVector(buf []byte, size int) *vector {
	v := &vector{buf: buf, iov: make([]unix.Iovec, (size+len(buf)-1)/len(buf))}
	for i := range v.iov {
		v.iov[i].Base = &buf[0]
		v.iov[i].SetLen(len(buf))
	}
	v.hdr.Iov = &v.iov[0]
	return v
}

// cut sets the vector to want bytes and gives the header. mend, called afterwards, puts
// back what cut shortened.
func (v *vector) cut(want int) (hdr *unix.Msghdr, last int) {
	n := (want + len(v.buf) - 1) / len(v.buf)
	v.hdr.SetIovlen(n)
	v.iov[n-1].SetLen(want - (n-1)*len(v.buf))
	return &v.hdr, n - 1
}

func (v *vector) mend(last int) { v.iov[last].SetLen(len(v.buf)) }

// sender gives the mover of Send and what releases it.
func (c *Conn) sender(cfg SendConfig, most int) (mover, func(), error) {
	block := payload(cfg.Block, cfg.Repeating)
	if cfg.ZeroCopy {
		return c.fileSender(block)
	}
	whole := newVector(block, most*cfg.Block)
	cached := whole
	if most > 1 && len(block) > hot {
		cached = newVector(block[:hot], most*cfg.Block)
	}
	fd := c.fd
	slow, mayBeSlow := false, most > 1 && cfg.Rate == 0
	return func(want int, now bool) (int, error) {
		flags := unix.MSG_NOSIGNAL
		if part := mayBeSlow && want < cfg.Block; part != slow {
			slow = part
			limitUnsent(fd, slow)
		}
		if slow {
			// Or the kernel would fill the last buffer up to 64 KiB without looking whether
			// there is room.
			flags |= unix.MSG_EOR
		}
		if now {
			flags |= unix.MSG_DONTWAIT
		}
		v := whole
		if want >= hotFrom {
			v = cached
		}
		hdr, last := v.cut(want)
		n, errno := message(sysSendmsg, fd, hdr, flags)
		v.mend(last)
		return outcome(n, errno)
	}, func() {}, nil
}

// unsentOnSlow is what may wait in the socket on a slow link beyond what is on its way:
// 20 ms, the time of a call, of the fastest link that is called slow.
const unsentOnSlow = 128 << 10 // bytes

// limitUnsent keeps the socket from taking in much more than it sends, so that the
// sender's own count does not run seconds ahead of the link, and little is left to send
// when the test ends. What cannot be set (before Linux 3.12) changes no result.
func limitUnsent(fd int, on bool) {
	limit := 0 // net.ipv4.tcp_notsent_lowat again
	if on {
		limit = unsentOnSlow
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, limit)
}

// receiver gives the mover of Recv. MSG_WAITALL makes one call take in as many segments
// as it was asked for. SO_RCVLOWAT would halve the wake-ups within a call, but saved no
// CPU time that could be measured, and makes the kernel enlarge the receive buffer that
// is to be observed.
func (c *Conn) receiver(cfg RecvConfig, most int) mover {
	size := cfg.Block
	if most > 1 {
		size = min(size, hot)
	}
	v := newVector(make([]byte, size), most*cfg.Block)
	discard := 0
	if cfg.Discard {
		discard = unix.MSG_TRUNC
	}
	fd := c.fd
	return func(want int, now bool) (int, error) {
		flags := discard | unix.MSG_WAITALL
		if now {
			flags = discard | unix.MSG_DONTWAIT
		}
		hdr, last := v.cut(want)
		n, errno := message(sysRecvmsg, fd, hdr, flags)
		v.mend(last)
		if n == 0 && errno == 0 {
			return 0, io.EOF
		}
		return outcome(n, errno)
	}
}

// fileSender sends from a file that holds one block: the kernel hands its pages to the
// socket and copies nothing. sendfile has no flag not to wait.
func (c *Conn) fileSender(block []byte) (mover, func(), error) {
	f, err := blockFile(block)
	if err != nil {
		return nil, nil, fmt.Errorf("preparing zero-copy payload: %w", err)
	}
	out, in := c.fd, int(f.Fd())
	offset := new(int)
	move := func(want int, _ bool) (int, error) {
		*offset = 0
		n, errno := sendfile(out, in, offset, want)
		return outcome(n, errno)
	}
	return move, func() { f.Close() }, nil
}

// blockFile makes a nameless file of block: in memory, or in the temporary directory of
// kernels before 3.17.
func blockFile(block []byte) (*os.File, error) {
	f, err := memoryFile()
	if errors.Is(err, unix.ENOSYS) {
		if f, err = os.CreateTemp("", "linerate-"); err == nil {
			err = os.Remove(f.Name())
		}
	}
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(block); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func memoryFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("linerate", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "payload"), nil
}

// outcome puts the kernel's answer into a mover's words. A timeout and a signal are no
// errors.
func outcome(n int, errno unix.Errno) (int, error) {
	switch errno {
	case 0:
		return n, nil
	case unix.EAGAIN, unix.EINTR:
		return 0, errAgain
	default:
		return 0, errno
	}
}
