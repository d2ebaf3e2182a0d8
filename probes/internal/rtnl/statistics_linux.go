//go:build linux

package rtnl

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/probes"
)

const (
	ethSSStats = 1 // ETH_SS_STATS
	// maxStatistics is far beyond any driver: mlx5 with 128 queues has some 8000.
	maxStatistics = 1 << 16
)

// Statistics asks what ethtool -S shows: ETHTOOL_GSTRINGS for the names and
// ETHTOOL_GSTATS for the values. Of counters with the same name the last one counts.
func (Kernel) Statistics(name string) (probes.Counters, error) {
	c, err := statistics(name)
	if err != nil {
		return nil, fmt.Errorf("driver statistics of %s: %w", name, err)
	}
	return c, nil
}

func statistics(name string) (probes.Counters, error) {
	info := unix.EthtoolDrvinfo{Cmd: unix.ETHTOOL_GDRVINFO}
	if err := ethtool(name, unsafe.Pointer(&info)); err != nil {
		return nil, err
	}
	switch {
	case info.N_stats == 0:
		return nil, errUntold
	case info.N_stats > maxStatistics:
		return nil, fmt.Errorf("the driver has %d of them", info.N_stats)
	}
	// The kernel writes as many as the driver has at that moment, whatever it was asked
	// for; with "ethtool -L" in between these can be many more. So both answers go to
	// a mapping that no driver fills. Of its pages only those exist that are written.
	memory, err := unix.Mmap(-1, 0, maxStatistics*(statNameSize+8)+4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	defer unix.Munmap(memory)

	names := memory[maxStatistics*8:]
	strings := (*struct{ cmd, set, len uint32 })(unsafe.Pointer(&names[0])) // struct ethtool_gstrings
	strings.cmd, strings.set, strings.len = unix.ETHTOOL_GSTRINGS, ethSSStats, info.N_stats
	if err := ethtool(name, unsafe.Pointer(strings)); err != nil {
		return nil, err
	}
	stats := (*struct{ cmd, len uint32 })(unsafe.Pointer(&memory[0])) // struct ethtool_stats
	stats.cmd, stats.len = unix.ETHTOOL_GSTATS, info.N_stats
	if err := ethtool(name, unsafe.Pointer(stats)); err != nil {
		return nil, err
	}
	if strings.len != info.N_stats || stats.len != info.N_stats {
		return nil, fmt.Errorf("their number changed from %d to %d and %d while they were read", info.N_stats, strings.len, stats.len)
	}
	return named(names[12:], memory[8:], int(info.N_stats)), nil
}
