package sessiontest

import (
	"time"

	"linerate/engine"
)

// tcp is what the kernel would say about a stream's socket: acked is the script added up
// to the time of the reading.
func (t *Test) tcp(s *scripted, acked scripted, age time.Duration) engine.TCPInfo {
	const mss = 1448
	rtt := t.server.RTT
	if rtt == 0 {
		rtt = 200 * time.Microsecond
	}
	least := t.server.MinRTT
	if least == 0 {
		least = rtt * 3 / 4
	}
	segments := uint32(uint64(acked.bytes) / mss)
	info := engine.TCPInfo{
		Size:    engine.InfoRTO,
		State:   1,
		Options: 1 | 2 | 4, // timestamps, SACK, window scaling
		SndMSS:  mss, RcvMSS: mss, AdvMSS: mss, PMTU: 1500,
		RTO: 204 * time.Millisecond,
		RTT: rtt, RTTVar: rtt / 4, MinRTT: least,
		PacingRate: ^uint64(0), MaxPacingRate: ^uint64(0),
	}
	if !s.conn.Sender {
		info.BytesReceived = cookieBytes + uint64(acked.bytes)
		info.DataSegsIn, info.SegsIn, info.SegsOut = segments, segments, segments/8
		info.RcvSpace = 3 << 20
		return info
	}
	rate := t.server.rate(t.info.Spec, s.conn, age)
	info.SndCwnd = uint32(max(10, 4*rate/8*rtt.Seconds()/mss))
	info.BytesAcked = cookieBytes + uint64(acked.bytes)
	info.TotalRetrans = uint32(acked.retrans)
	info.BytesRetrans = uint64(info.TotalRetrans) * mss
	info.BytesSent = info.BytesAcked + info.BytesRetrans
	info.DataSegsOut = segments + info.TotalRetrans
	info.SegsOut, info.SegsIn, info.Delivered = info.DataSegsOut, segments/8, segments
	info.DeliveryRate = uint64(rate / 8)
	info.BusyTime = age
	info.SndWnd = 3 << 20
	return info
}
