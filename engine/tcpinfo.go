package engine

import "time"

// TCPInfo is what the kernel says about one TCP socket: struct tcp_info of
// include/uapi/linux/tcp.h, in base units (bytes, time.Duration, bytes per second).
// Other systems fill what they have. A field that lies beyond Size was not given by
// this kernel and is unknown, not zero: ask Has first.
type TCPInfo struct {
	Size int // bytes of struct tcp_info that the kernel returned

	State       uint8
	CAState     uint8 // 0 Open, 1 Disorder, 2 CWR, 3 Recovery, 4 Loss
	Retransmits uint8 // consecutive, of the segment at the head
	Probes      uint8
	Backoff     uint8
	Options     uint8 // 1 timestamps, 2 SACK, 4 window scaling, 8 ECN, 16 ECN seen
	SndWScale   uint8
	RcvWScale   uint8
	AppLimited  bool // delivery_rate_app_limited

	RTO, ATO       time.Duration
	SndMSS, RcvMSS uint32 // bytes, without the timestamp option

	Unacked, Sacked, Lost, Retrans          uint32 // segments
	LastDataSent, LastDataRecv, LastAckRecv time.Duration
	PMTU, RcvSSThresh                       uint32 // bytes
	RTT, RTTVar                             time.Duration
	SndSSThresh, SndCwnd                    uint32 // segments
	AdvMSS                                  uint32
	Reordering                              uint32 // segments
	RcvRTT                                  time.Duration
	RcvSpace                                uint32 // bytes
	TotalRetrans                            uint32 // segments

	PacingRate, MaxPacingRate    uint64 // bytes/s; all ones: unlimited
	BytesAcked, BytesReceived    uint64
	SegsOut, SegsIn              uint32
	NotSentBytes                 uint32
	MinRTT                       time.Duration
	DataSegsIn, DataSegsOut      uint32
	DeliveryRate                 uint64        // bytes/s
	BusyTime                     time.Duration // kept in jiffies by the kernel: use windows of 1 s and more
	RwndLimited, SndbufLimited   time.Duration // parts of BusyTime
	Delivered, DeliveredCE       uint32        // segments
	BytesSent, BytesRetrans      uint64
	DSACKDups, ReordSeen         uint32
	RcvOOOPack, SndWnd           uint32 // segments, bytes
	RcvWnd, Rehash               uint32 // bytes, count
	TotalRTO, TotalRTORecoveries uint16
	TotalRTOTime                 time.Duration
}

// Ends of groups of struct tcp_info fields, for Has.
const (
	InfoBase       = 104 // up to total_retrans
	InfoPacing     = 120 // Linux 3.15
	InfoBytesAcked = 136 // bytes_acked, bytes_received; 4.1
	InfoSegs       = 144 // 4.2
	InfoMinRTT     = 160 // notsent_bytes … data_segs_out; 4.6
	InfoDelivery   = 168 // 4.9
	InfoBusyTime   = 192 // busy, rwnd_limited, sndbuf_limited; 4.10
	InfoDelivered  = 200 // 4.18
	InfoBytesSent  = 224 // bytes_sent … reord_seen; 4.19
	InfoSndWnd     = 232 // 5.4
	InfoRcvWnd     = 240 // 6.2
	InfoRTO        = 248 // 6.7
)

// Has reports whether the kernel gave the fields up to end, one of the Info constants.
func (t TCPInfo) Has(end int) bool { return t.Size >= end }

// CwndBytes is the congestion window in bytes, as iperf3 prints it: segments × snd_mss.
func (t TCPInfo) CwndBytes() uint64 { return uint64(t.SndCwnd) * uint64(t.SndMSS) }
