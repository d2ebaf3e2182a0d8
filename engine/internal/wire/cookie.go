package wire

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
)

// CookieLen is the length of a cookie on the wire: 36 characters and a NUL.
const CookieLen = 37

// Cookie names one test. The client sends it first on the control connection and first
// on every TCP data connection. Bytes after the first NUL are zero, so that two
// cookies are equal when iperf3's C-string comparison calls them equal.
type Cookie [CookieLen]byte

// ErrCookie says that what came first on a connection is no cookie: the peer does not
// speak iperf3.
var ErrCookie = errors.New("not an iperf3 cookie")

const cookieAlphabet = "abcdefghijklmnopqrstuvwxyz234567"

// NewCookie makes a random cookie from the alphabet iperf3 has used since 3.2.
func NewCookie() Cookie {
	var c Cookie
	rand.Read(c[:]) // never fails: crypto/rand ends the program instead
	for i := range c[:CookieLen-1] {
		c[i] = cookieAlphabet[c[i]%byte(len(cookieAlphabet))]
	}
	c[CookieLen-1] = 0
	return c
}

// String gives the characters before the NUL. They are printable ASCII.
func (c Cookie) String() string {
	if i := bytes.IndexByte(c[:], 0); i >= 0 {
		return string(c[:i])
	}
	return string(c[:])
}

// ParseCookie checks CookieLen bytes from a peer. Any printable ASCII without blanks
// will do: versions before 3.2 put their host name and the time into it.
func ParseCookie(b []byte) (Cookie, error) {
	var c Cookie
	if len(b) != CookieLen {
		return c, fmt.Errorf("%w: %d bytes", ErrCookie, len(b))
	}
	for i, ch := range b {
		if ch == 0 && i > 0 {
			return c, nil
		}
		if ch <= ' ' || ch > '~' {
			return Cookie{}, ErrCookie
		}
		c[i] = ch
	}
	return Cookie{}, fmt.Errorf("%w: no NUL at its end", ErrCookie)
}

// ReadCookie reads exactly the bytes of a cookie, none beyond: on a data connection
// the next byte is payload.
func ReadCookie(r io.Reader) (Cookie, error) {
	var b [CookieLen]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return Cookie{}, err
	}
	return ParseCookie(b[:])
}
