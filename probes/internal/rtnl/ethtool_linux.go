//go:build linux

package rtnl

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/probes"
)

// The ethtool library of the design is not used here: v0.7 passes the address of its
// request to the kernel as a uintptr from a variable on the stack, so that a stack that
// moves in between (growth, or shrinking by the collector) lets the kernel write into
// memory of others; and it prints warnings to standard output, where the dashboard is.
// The few requests needed are below, with a pointer that the runtime knows.

// ifreq is struct ifreq with ifr_data; at least as large as on every architecture.
type ifreq struct {
	name [unix.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [16]byte
}

// ethtool sends one request; request points to a struct of linux/ethtool.h.
func ethtool(name string, request unsafe.Pointer) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	r := ifreq{data: request}
	if len(name) >= len(r.name) {
		return unix.ENODEV
	}
	copy(r.name[:], name)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&r)))
	switch errno {
	case 0:
		return nil
	case unix.EOPNOTSUPP:
		return errUntold
	default:
		return errno
	}
}

// Driver asks ETHTOOL_GDRVINFO.
func (Kernel) Driver(name string) (string, error) {
	info := unix.EthtoolDrvinfo{Cmd: unix.ETHTOOL_GDRVINFO}
	if err := ethtool(name, unsafe.Pointer(&info)); err != nil {
		return "", fmt.Errorf("driver of %s: %w", name, err)
	}
	return unix.ByteSliceToString(info.Driver[:]), nil
}

// flagLRO is ETH_FLAG_LRO in the answer to ETHTOOL_GFLAGS.
const flagLRO = 1 << 15

// Offloads asks the one-value requests (ETHTOOL_GTSO and its like), which every kernel
// still answers from the feature bits.
func (Kernel) Offloads(name string) probes.Offloads {
	one := func(feature string, cmd, bit uint32) probes.Reading[bool] {
		value := struct{ cmd, data uint32 }{cmd: cmd} // struct ethtool_value
		if err := ethtool(name, unsafe.Pointer(&value)); err != nil {
			return probes.Unread[bool](fmt.Errorf("%s of %s: %w", feature, name, err))
		}
		return probes.Got(value.data&bit != 0)
	}
	return probes.Offloads{
		TSO: one("tso", unix.ETHTOOL_GTSO, 1),
		GSO: one("gso", unix.ETHTOOL_GGSO, 1),
		GRO: one("gro", unix.ETHTOOL_GGRO, 1),
		LRO: one("lro", unix.ETHTOOL_GFLAGS, flagLRO),
	}
}

// Channels asks ETHTOOL_GCHANNELS: the queues in use, combined ones counted in both.
func (Kernel) Channels(name string) (rx, tx int, err error) {
	c := struct { // struct ethtool_channels
		cmd, maxRx, maxTx, maxOther, maxCombined uint32
		rx, tx, other, combined                  uint32
	}{cmd: unix.ETHTOOL_GCHANNELS}
	if err := ethtool(name, unsafe.Pointer(&c)); err != nil {
		return 0, 0, fmt.Errorf("channels of %s: %w", name, err)
	}
	return int(c.rx + c.combined), int(c.tx + c.combined), nil
}
