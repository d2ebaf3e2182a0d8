//go:build linux

package sock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	bufferFactor = 2 // Linux reports its own overhead too: socket(7)
	sndLimit     = "net.core.wmem_max"
	rcvLimit     = "net.core.rmem_max"
	mappedTOS    = true
)

func bindDevice(fd int, name string) error { return unix.BindToDevice(fd, name) }

// setPacing takes bytes per second. Kernels before 5.0 read 32 bits of the option,
// which on big-endian machines are the upper ones: give 64 only when they are needed.
func setPacing(fd int, rate float64) error {
	if rate < math.MaxUint32 {
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, int(uint32(rate)))
	}
	return unix.SetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, uint64(rate))
}

func setUserTimeout(fd int, d time.Duration) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(max(1, d.Milliseconds())))
}

// Names of the algorithms that there are, and of those that need no privilege.
const (
	availableCongestion = "/proc/sys/net/ipv4/tcp_available_congestion_control"
	allowedCongestion   = "/proc/sys/net/ipv4/tcp_allowed_congestion_control"
)

func setCongestion(fd int, name string) error {
	err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name)
	list, word := availableCongestion, "available"
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EPERM):
		list, word = allowedCongestion, "allowed without root"
	}
	err = fmt.Errorf("setting congestion control %q: %w", name, err)
	if names, readErr := os.ReadFile(list); readErr == nil {
		err = fmt.Errorf("%w (%s: %s)", err, word, strings.Join(strings.Fields(string(names)), ", "))
	}
	return err
}

// Congestion is the congestion control in use.
func (c *Conn) Congestion() (name string, err error) {
	err = c.use(func(fd int) (err error) {
		name, err = unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("reading TCP_CONGESTION: %w", err)
	}
	return name, nil
}

// From include/uapi/linux/in6.h; x/sys has none of it.
const (
	ipv6FlowLabelMgr  = 32
	ipv6FlowInfoSend  = 33
	flowLabelGet      = 0
	flowLabelCreate   = 1
	flowLabelShareAny = 255 // or the second stream could not use the label of the first
)

// flowLabelReq is struct in6_flowlabel_req.
type flowLabelReq struct {
	dst             [16]byte
	label           [4]byte // network order
	action, share   uint8
	flags           uint16
	expires, linger uint16
	_               uint32
}

// connectLabelled registers the label and starts to connect with it. The net package
// then finds the connection on its way, and waits for it as for its own.
func connectLabelled(fd int, address string, label int) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	req := flowLabelReq{dst: to.Addr().As16(), action: flowLabelGet, share: flowLabelShareAny, flags: flowLabelCreate}
	binary.BigEndian.PutUint32(req.label[:], uint32(label))
	raw := unsafe.Slice((*byte)(unsafe.Pointer(&req)), unsafe.Sizeof(req))
	if err := unix.SetsockoptString(fd, unix.IPPROTO_IPV6, ipv6FlowLabelMgr, string(raw)); err != nil {
		return err
	}
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, ipv6FlowInfoSend, 1); err != nil {
		return err
	}
	sa := unix.RawSockaddrInet6{Family: unix.AF_INET6, Addr: to.Addr().As16()}
	sa.Flowinfo = binary.NativeEndian.Uint32(req.label[:])
	binary.BigEndian.PutUint16((*[2]byte)(unsafe.Pointer(&sa.Port))[:], to.Port())
	if zone := to.Addr().Zone(); zone != "" {
		nic, err := net.InterfaceByName(zone)
		if err != nil {
			return err
		}
		sa.Scope_id = uint32(nic.Index)
	}
	err = connectRaw(fd, &sa)
	if err == nil || errors.Is(err, unix.EINPROGRESS) {
		return nil
	}
	return os.NewSyscallError("connect", err)
}
