//go:build windows

package sock

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/windows"

	"linerate/engine"
)

const (
	sioTCPInfo      = 0xd8000027 // SIO_TCP_INFO, mstcpip.h; Windows 10 1703
	windowsInfoSize = 88         // TCP_INFO_v0
)

// Info reads TCP_INFO_v0. It counts windows and retransmits in bytes, so the counts
// in segments are those divided by the segment size. Its size is given as
// engine.InfoBase, the group that the known fields belong to.
func (c *Conn) Info() (engine.TCPInfo, error) {
	raw, err := c.tcp.SyscallConn()
	if err != nil {
		return engine.TCPInfo{}, err
	}
	var b [windowsInfoSize]byte
	err = rawControl(raw, func(fd uintptr) error {
		version, got := uint32(0), uint32(0)
		in := (*[4]byte)(binary.NativeEndian.AppendUint32(nil, version))
		return windows.WSAIoctl(windows.Handle(fd), sioTCPInfo, &in[0], uint32(len(in)), &b[0], uint32(len(b)), &got, nil, 0)
	})
	if err != nil {
		return engine.TCPInfo{}, fmt.Errorf("reading SIO_TCP_INFO: %w", err)
	}
	return decodeWindowsInfo(b[:]), nil
}

func decodeWindowsInfo(b []byte) engine.TCPInfo {
	r := rawInfo{b, binary.NativeEndian}
	mss := max(r.u32(4), 1)
	return engine.TCPInfo{
		Size:   engine.InfoBase,
		SndMSS: r.u32(4), RcvMSS: r.u32(4),
		RTT: r.micros(20), MinRTT: r.micros(24),
		Unacked: (r.u32(28) + mss - 1) / mss, SndCwnd: r.u32(32) / mss,
		SndWnd: r.u32(36), RcvWnd: r.u32(40),
		BytesSent: r.u64(48), BytesReceived: r.u64(56), BytesRetrans: uint64(r.u32(68)),
		TotalRetrans: (r.u32(68) + mss - 1) / mss,
		TotalRTO:     uint16(min(r.u32(80), 1<<16-1)),
	}
}
