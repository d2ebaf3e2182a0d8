package lab

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Commands of SIOCETHTOOL that set one offload: include/uapi/linux/ethtool.h.
var offloads = []uint32{
	0x1f, // ETHTOOL_STSO: the card cuts
	0x24, // ETHTOOL_SGSO: the stack cuts just before the card
	0x2c, // ETHTOOL_SGRO: the stack joins on arrival
}

// ethtoolValue is struct ethtool_value.
type ethtoolValue struct{ cmd, data uint32 }

// ifreq is struct ifreq with ifr_data; at least as large as on every architecture.
type ifreq struct {
	name [unix.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [16]byte
}

// plain switches off what lets packets cross a device in one piece.
func (h *Host) plain(dev string) error {
	return h.Do(func() error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("a socket in %s: %w", h.Name, err)
		}
		defer unix.Close(fd)
		for _, cmd := range offloads {
			if err := ethtool(fd, dev, ethtoolValue{cmd: cmd}); err != nil {
				return fmt.Errorf("ethtool command %#x on %s in %s: %w", cmd, dev, h.Name, err)
			}
		}
		return nil
	})
}

func ethtool(fd int, dev string, v ethtoolValue) error {
	var pins runtime.Pinner
	defer pins.Unpin()
	value := &v
	pins.Pin(value) // the kernel follows a pointer that Go does not see
	req := ifreq{data: unsafe.Pointer(value)}
	copy(req.name[:], dev)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&req))); errno != 0 {
		return errno
	}
	return nil
}
