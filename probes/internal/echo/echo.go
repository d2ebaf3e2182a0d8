package echo

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Kind is what a probe consists of.
type Kind uint8

const (
	UDP  Kind = iota // a datagram to the port
	Ping             // an ICMP echo request; the port does not matter
)

func (k Kind) String() string { return [...]string{"UDP", "ping"}[k] }

// What an answer means.
type What uint8

const (
	Arrived What = iota + 1 // the probe reached the host
	TooBig                  // a router could not pass it on for its size
	Refused                 // a router or a firewall on the way turned it back
)

// Answer is what came back for one probe.
type Answer struct {
	What What
	Size int           // of the probe, as an IP packet in bytes
	RTT  time.Duration // from the call that sent it to its arrival at this host's kernel
	MTU  int           // of TooBig: the limit that the router names; 0 none
	From netip.Addr    // who sent the answer; invalid when the system does not tell
	TTL  int           // time to live, or hop limit, left in the answer; 0 unknown
}

// ErrSize is for a probe that is larger than the interface's MTU, or than a packet can be.
var ErrSize = errors.New("larger than the interface's MTU")

// ErrForbidden is for a kind of probe that this process may not send.
var ErrForbidden = errors.New("the system does not let this user send it")

// Headers gives the bytes of IP and UDP, or ICMP, headers in a probe to dest.
func Headers(dest netip.Addr) int {
	if dest.Unmap().Is4() {
		return 20 + 8
	}
	return 40 + 8
}

// Least is the smallest probe worth sending to dest: what every host must be able to take
// in one piece (RFC 1122, RFC 8200).
func Least(dest netip.Addr) int {
	if dest.Unmap().Is4() {
		return 576
	}
	return 1280
}

// Most is the largest packet that a probe to dest can be.
func Most(dest netip.Addr) int {
	if dest.Unmap().Is4() {
		return 1<<16 - 1
	}
	return 40 + 1<<16 - 1
}

// payload is what a probe carries: a word for whoever looks at the wire, then zeros.
func payload(n int) []byte {
	b := make([]byte, n)
	copy(b, "linerate path probe")
	return b
}

func sizeError(size int) error { return fmt.Errorf("a packet of %d bytes: %w", size, ErrSize) }
