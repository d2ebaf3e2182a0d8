package sock

import (
	"encoding/binary"
	"time"

	"linerate/engine"
)

// infoSize is how much of struct tcp_info is asked for: all that decodeInfo knows. A
// kernel that has less returns less.
const infoSize = engine.InfoRTO

// rawInfo is struct tcp_info as getsockopt filled it. Fields that the kernel did not
// give whole read as 0; TCPInfo.Has tells them from real zeros.
type rawInfo struct {
	b     []byte
	order binary.ByteOrder
}

func (r rawInfo) u8(at int) uint8 {
	if at+1 > len(r.b) {
		return 0
	}
	return r.b[at]
}

func (r rawInfo) u16(at int) uint16 {
	if at+2 > len(r.b) {
		return 0
	}
	return r.order.Uint16(r.b[at:])
}

func (r rawInfo) u32(at int) uint32 {
	if at+4 > len(r.b) {
		return 0
	}
	return r.order.Uint32(r.b[at:])
}

func (r rawInfo) u64(at int) uint64 {
	if at+8 > len(r.b) {
		return 0
	}
	return r.order.Uint64(r.b[at:])
}

func (r rawInfo) micros(at int) time.Duration { return time.Duration(r.u32(at)) * time.Microsecond }

func (r rawInfo) millis(at int) time.Duration { return time.Duration(r.u32(at)) * time.Millisecond }

func (r rawInfo) micros64(at int) time.Duration { return time.Duration(r.u64(at)) * time.Microsecond }

// bigEndian tells how the compiler laid out bit fields: from the high bit down.
func (r rawInfo) bigEndian() bool { return r.order.Uint16([]byte{0, 1}) == 1 }

// scales gives the window scales, two bit fields of four bits: send first.
func (r rawInfo) scales() (snd, rcv uint8) {
	v := r.u8(6)
	if r.bigEndian() {
		return v >> 4, v & 0xf
	}
	return v & 0xf, v >> 4
}

// appLimited gives delivery_rate_app_limited, the first bit field of its byte.
func (r rawInfo) appLimited() bool {
	if r.bigEndian() {
		return r.u8(7)&0x80 != 0
	}
	return r.u8(7)&1 != 0
}

// decodeInfo reads struct tcp_info of include/uapi/linux/tcp.h. The kernel only ever
// adds fields at the end, so the length says which it has: Linux 4.10 brought
// busy_time, rwnd_limited and sndbuf_limited (168 … 191), 6.7 total_rto_time (244). All
// 64-bit fields lie at multiples of 8, so 32-bit systems have the same offsets. 48
// (last_ack_sent) is never filled, and what follows 248 (AccECN) is not used.
func decodeInfo(b []byte, order binary.ByteOrder) engine.TCPInfo {
	r := rawInfo{b, order}
	t := engine.TCPInfo{
		Size:  len(b),
		State: r.u8(0), CAState: r.u8(1), Retransmits: r.u8(2), Probes: r.u8(3),
		Backoff: r.u8(4), Options: r.u8(5), AppLimited: r.appLimited(),

		RTO: r.micros(8), ATO: r.micros(12),
		SndMSS: r.u32(16), RcvMSS: r.u32(20),
		Unacked: r.u32(24), Sacked: r.u32(28), Lost: r.u32(32), Retrans: r.u32(36),
		LastDataSent: r.millis(44), LastDataRecv: r.millis(52), LastAckRecv: r.millis(56),
		PMTU: r.u32(60), RcvSSThresh: r.u32(64),
		RTT: r.micros(68), RTTVar: r.micros(72),
		SndSSThresh: r.u32(76), SndCwnd: r.u32(80), AdvMSS: r.u32(84), Reordering: r.u32(88),
		RcvRTT: r.micros(92), RcvSpace: r.u32(96), TotalRetrans: r.u32(100),

		PacingRate: r.u64(104), MaxPacingRate: r.u64(112),
		BytesAcked: r.u64(120), BytesReceived: r.u64(128),
		SegsOut: r.u32(136), SegsIn: r.u32(140),
		NotSentBytes: r.u32(144), MinRTT: r.micros(148),
		DataSegsIn: r.u32(152), DataSegsOut: r.u32(156),
		DeliveryRate: r.u64(160),
		BusyTime:     r.micros64(168), RwndLimited: r.micros64(176), SndbufLimited: r.micros64(184),
		Delivered: r.u32(192), DeliveredCE: r.u32(196),
		BytesSent: r.u64(200), BytesRetrans: r.u64(208),
		DSACKDups: r.u32(216), ReordSeen: r.u32(220),
		RcvOOOPack: r.u32(224), SndWnd: r.u32(228),
		RcvWnd: r.u32(232), Rehash: r.u32(236),
		TotalRTO: r.u16(240), TotalRTORecoveries: r.u16(242), TotalRTOTime: r.millis(244),
	}
	t.SndWScale, t.RcvWScale = r.scales()
	return t
}
