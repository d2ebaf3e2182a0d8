//go:build linux

package echo

import (
	"encoding/binary"
	"net/netip"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// read takes what a probe's socket has got: an error that ICMP reported, or the answer
// to a ping or of a program.
func (f flight) read(dest netip.Addr) (Answer, bool) {
	var data [1]byte
	var oob [512]byte
	for _, flags := range []int{unix.MSG_ERRQUEUE, 0} {
		_, n, _, _, err := unix.Recvmsg(f.fd, data[:], oob[:], flags|unix.MSG_DONTWAIT)
		if err != nil {
			continue
		}
		a := Answer{Size: f.size}
		if flags == 0 {
			a.What, a.From = Arrived, dest.WithZone("")
		}
		at := parseControl(oob[:n], dest, &a)
		if a.What == 0 || a.What == Refused && a.From == f.source() {
			continue // this host itself, whose neighbour does not answer: silence
		}
		a.RTT = f.elapsed(at)
		return a, true
	}
	return Answer{}, false
}

// source is the local address of a probe.
func (f flight) source() netip.Addr {
	name, err := unix.Getsockname(f.fd)
	if err != nil {
		return netip.Addr{}
	}
	switch sa := name.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrFrom4(sa.Addr)
	case *unix.SockaddrInet6:
		return netip.AddrFrom16(sa.Addr).Unmap()
	}
	return netip.Addr{}
}

// elapsed is the time to at, which is the kernel's and of the wall clock. When that clock
// was set meanwhile, or there is no such time, it is the time to now.
func (f flight) elapsed(at time.Time) time.Duration {
	most := time.Since(f.sent)
	if at.IsZero() {
		return most
	}
	if d := at.Sub(f.sent.Round(0)); d >= 0 && d <= most {
		return d
	}
	return most
}

// parseControl reads the control messages of an answer into a, and gives the time it came.
func parseControl(oob []byte, dest netip.Addr, a *Answer) (at time.Time) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return time.Time{}
	}
	for _, m := range messages {
		level, kind := m.Header.Level, m.Header.Type
		switch {
		case level == unix.SOL_SOCKET && kind == unix.SCM_TIMESTAMPNS && len(m.Data) >= int(unsafe.Sizeof(unix.Timespec{})):
			ts := *(*unix.Timespec)(unsafe.Pointer(&m.Data[0]))
			at = time.Unix(ts.Unix())
		case level == unix.IPPROTO_IP && kind == unix.IP_TTL, level == unix.IPPROTO_IPV6 && kind == unix.IPV6_HOPLIMIT:
			if len(m.Data) >= 4 {
				a.TTL = int(binary.NativeEndian.Uint32(m.Data))
			}
		case level == unix.IPPROTO_IP && kind == unix.IP_RECVERR, level == unix.IPPROTO_IPV6 && kind == unix.IPV6_RECVERR:
			parseError(m.Data, dest.WithZone(""), a)
		}
	}
	return at
}

// extendedError is the size of struct sock_extended_err, behind which comes the address of
// who reported it.
const extendedError = 16

// parseError reads a struct sock_extended_err (linux/errqueue.h) with its offender. An
// error of the probed host itself, whatever its code, proves that the probe arrived.
func parseError(b []byte, dest netip.Addr, a *Answer) {
	if len(b) < extendedError {
		return
	}
	origin, kind, code := b[4], b[5], b[6]
	info := binary.NativeEndian.Uint32(b[8:])
	a.From = offender(b[extendedError:])
	const (
		unreachable, fragNeeded    = 3, 4 // ICMP
		unreachable6, tooBig6      = 1, 2 // ICMPv6
		leastMTU, largestPlausible = 68, 1 << 16
	)
	switch {
	case origin == unix.SO_EE_ORIGIN_ICMP && kind == unreachable && code == fragNeeded,
		origin == unix.SO_EE_ORIGIN_ICMP6 && kind == tooBig6:
		a.What = TooBig
		if info >= leastMTU && info <= largestPlausible {
			a.MTU = int(info)
		}
	case origin == unix.SO_EE_ORIGIN_ICMP && kind == unreachable && a.From == dest,
		origin == unix.SO_EE_ORIGIN_ICMP6 && kind == unreachable6 && a.From == dest:
		a.What = Arrived
	case origin == unix.SO_EE_ORIGIN_ICMP, origin == unix.SO_EE_ORIGIN_ICMP6:
		a.What = Refused
	}
}

// offender reads a struct sockaddr_in or sockaddr_in6.
func offender(b []byte) netip.Addr {
	if len(b) < 2 {
		return netip.Addr{}
	}
	switch family := binary.NativeEndian.Uint16(b); {
	case family == unix.AF_INET && len(b) >= 8:
		return netip.AddrFrom4([4]byte(b[4:8]))
	case family == unix.AF_INET6 && len(b) >= 24:
		return netip.AddrFrom16([16]byte(b[8:24])).Unmap()
	}
	return netip.Addr{}
}
