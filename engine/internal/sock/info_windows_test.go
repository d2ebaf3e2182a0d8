//go:build windows

package sock

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/engine"
)

// The offsets are those of TCP_INFO_v0 in mstcpip.h.
func TestDecodeWindowsInfo(t *testing.T) {
	b := make([]byte, windowsInfoSize)
	put := func(at int, v uint32) { binary.NativeEndian.PutUint32(b[at:], v) }
	put(4, 1460)     // Mss
	put(20, 12_345)  // RttUs
	put(24, 10_000)  // MinRttUs
	put(28, 2921)    // BytesInFlight
	put(32, 14_600)  // Cwnd
	put(36, 65_535)  // SndWnd
	put(40, 131_072) // RcvWnd
	binary.NativeEndian.PutUint64(b[48:], 1<<40)
	binary.NativeEndian.PutUint64(b[56:], 1<<41)
	put(68, 2920) // BytesRetrans
	put(80, 2)    // TimeoutEpisodes
	want := engine.TCPInfo{
		Size: engine.InfoBase, SndMSS: 1460, RcvMSS: 1460,
		RTT: 12_345 * time.Microsecond, MinRTT: 10 * time.Millisecond,
		Unacked: 3, SndCwnd: 10, SndWnd: 65_535, RcvWnd: 131_072,
		BytesSent: 1 << 40, BytesReceived: 1 << 41, BytesRetrans: 2920, TotalRetrans: 2, TotalRTO: 2,
	}
	if diff := cmp.Diff(want, decodeWindowsInfo(b)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
