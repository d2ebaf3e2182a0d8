package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Limits on what a peer may send. iperf3 ≥ 3.18 takes at most 8 KiB of parameters and
// results of any size; a client of ours must send less than the first and needs an end
// to the second.
const (
	MaxParamsSent    = 8 << 10  // iperf3's MAX_PARAMS_JSON_STRING
	MaxParams        = 64 << 10 // accepted by a server of ours
	MaxClientResults = 1 << 20  // accepted by a server: 256 streams take about 50 KiB
	MaxServerResults = 64 << 20 // accepted by a client: the server's output may be inside
	MaxFrame         = 64 << 10 // side channel, both ways
)

// SizeError is a JSON length that is zero or over the limit. It is told before any
// memory is taken.
type SizeError struct {
	Size  uint32
	Limit int
}

func (e *SizeError) Error() string {
	if e.Size == 0 {
		return "a JSON message of length 0"
	}
	return fmt.Sprintf("a JSON message of %d bytes, more than the %d allowed", e.Size, e.Limit)
}

// ReadJSON reads a length and that many bytes. The text is not parsed. Memory grows
// with what arrives, not with what is announced. A message cut short gives
// io.ErrUnexpectedEOF.
func ReadJSON(r io.Reader, limit int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size == 0 || uint64(size) > uint64(limit) {
		return nil, &SizeError{Size: size, Limit: limit}
	}
	var body bytes.Buffer
	body.Grow(int(min(size, 16<<10)))
	n, err := io.CopyN(&body, r, int64(size))
	if errors.Is(err, io.EOF) && n < int64(size) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	return body.Bytes(), nil
}

// AppendJSON adds the length of body and body to dst.
func AppendJSON(dst, body []byte) []byte {
	if uint64(len(body)) > math.MaxUint32 {
		panic("wire: JSON message over 4 GiB")
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(body)))
	return append(dst, body...)
}

// ReadFrame reads the rest of a side-channel frame after its state byte.
func ReadFrame(r io.Reader) ([]byte, error) { return ReadJSON(r, MaxFrame) }

// Fault is what follows ServerError: iperf3's error number and the server's errno,
// which is of the server's operating system.
type Fault struct {
	Code  Code
	Errno int32
}

// ReadFault reads the two numbers. Servers up to 3.16 may leave out the second: it is
// then 0. Without even the first the Fault has code 0 and the error of the read.
func ReadFault(r io.Reader) (Fault, error) {
	var b [8]byte
	n, err := io.ReadFull(r, b[:])
	if n < 4 {
		return Fault{}, err
	}
	f := Fault{Code: Code(int32(binary.BigEndian.Uint32(b[:4])))}
	if n == len(b) {
		f.Errno = int32(binary.BigEndian.Uint32(b[4:]))
	}
	return f, nil
}

// Append adds a ServerError byte and the fault to dst.
func (f Fault) Append(dst []byte) []byte {
	dst = ServerError.Append(dst)
	dst = binary.BigEndian.AppendUint32(dst, uint32(f.Code))
	return binary.BigEndian.AppendUint32(dst, uint32(f.Errno))
}
