//go:build darwin

package sock

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"linerate/engine"
)

// Info reads TCP_CONNECTION_INFO, which tells less than Linux does: window, round trip
// and retransmits, but nothing of segments in flight or path MTU. Its size is given as
// engine.InfoBase, the group that the known fields belong to.
func (c *Conn) Info() (engine.TCPInfo, error) {
	var raw *unix.TCPConnectionInfo
	err := c.use(func(fd int) (err error) {
		raw, err = unix.GetsockoptTCPConnectionInfo(fd, unix.IPPROTO_TCP, unix.TCP_CONNECTION_INFO)
		return err
	})
	if err != nil {
		return engine.TCPInfo{}, fmt.Errorf("reading TCP_CONNECTION_INFO: %w", err)
	}
	millis := func(v uint32) time.Duration { return time.Duration(v) * time.Millisecond }
	segments := func(bytes uint32) uint32 { return bytes / max(raw.Maxseg, 1) }
	return engine.TCPInfo{
		Size:  engine.InfoBase,
		State: raw.State, Options: uint8(raw.Options),
		SndWScale: raw.Snd_wscale, RcvWScale: raw.Rcv_wscale,
		RTO: millis(raw.Rto), RTT: millis(raw.Srtt), RTTVar: millis(raw.Rttvar),
		SndMSS: raw.Maxseg, RcvMSS: raw.Maxseg,
		SndSSThresh: segments(raw.Snd_ssthresh), SndCwnd: segments(raw.Snd_cwnd),
		SndWnd: raw.Snd_wnd, RcvWnd: raw.Rcv_wnd, NotSentBytes: raw.Snd_sbbytes,
		BytesSent: raw.Txbytes, BytesRetrans: raw.Txretransmitbytes, BytesReceived: raw.Rxbytes,
		TotalRetrans: uint32(raw.Txretransmitpackets),
	}, nil
}
