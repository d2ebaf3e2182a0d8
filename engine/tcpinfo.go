package engine

import "time"

// TCPInfo is what the kernel says about one TCP socket: struct tcp_info of
// include/uapi/linux/tcp.h, in base units (bytes, time.Duration, bytes per second).
// Other systems fill what they have. A field that lies beyond Size was not given by
// this kernel and is unknown, not zero: ask Has first.
type TCPInfo struct {
	Size int `json:"size"` // bytes of struct tcp_info that the kernel returned

	State       uint8 `json:"state"`
	CAState     uint8 `json:"ca_state"`    // 0 Open, 1 Disorder, 2 CWR, 3 Recovery, 4 Loss
	Retransmits uint8 `json:"retransmits"` // consecutive, of the segment at the head
	Probes      uint8 `json:"probes"`
	Backoff     uint8 `json:"backoff"`
	Options     uint8 `json:"options"` // 1 timestamps, 2 SACK, 4 window scaling, 8 ECN, 16 ECN seen
	SndWScale   uint8 `json:"snd_wscale"`
	RcvWScale   uint8 `json:"rcv_wscale"`
	AppLimited  bool  `json:"app_limited"` // delivery_rate_app_limited

	RTO    time.Duration `json:"rto_ns"`
	ATO    time.Duration `json:"ato_ns"`
	SndMSS uint32        `json:"snd_mss"` // bytes, without the timestamp option
	RcvMSS uint32        `json:"rcv_mss"` // likewise

	Unacked      uint32        `json:"unacked"` // segments
	Sacked       uint32        `json:"sacked"`
	Lost         uint32        `json:"lost"`
	Retrans      uint32        `json:"retrans"`
	LastDataSent time.Duration `json:"last_data_sent_ns"`
	LastDataRecv time.Duration `json:"last_data_recv_ns"`
	LastAckRecv  time.Duration `json:"last_ack_recv_ns"`
	PMTU         uint32        `json:"pmtu"` // bytes
	RcvSSThresh  uint32        `json:"rcv_ssthresh"`
	RTT          time.Duration `json:"rtt_ns"`
	RTTVar       time.Duration `json:"rttvar_ns"`
	SndSSThresh  uint32        `json:"snd_ssthresh"` // segments
	SndCwnd      uint32        `json:"snd_cwnd"`
	AdvMSS       uint32        `json:"advmss"`
	Reordering   uint32        `json:"reordering"` // segments
	RcvRTT       time.Duration `json:"rcv_rtt_ns"`
	RcvSpace     uint32        `json:"rcv_space"`     // bytes
	TotalRetrans uint32        `json:"total_retrans"` // segments

	PacingRate         uint64        `json:"pacing_rate"` // bytes/s; all ones: unlimited
	MaxPacingRate      uint64        `json:"max_pacing_rate"`
	BytesAcked         uint64        `json:"bytes_acked"`
	BytesReceived      uint64        `json:"bytes_received"`
	SegsOut            uint32        `json:"segs_out"`
	SegsIn             uint32        `json:"segs_in"`
	NotSentBytes       uint32        `json:"notsent_bytes"`
	MinRTT             time.Duration `json:"min_rtt_ns"`
	DataSegsIn         uint32        `json:"data_segs_in"`
	DataSegsOut        uint32        `json:"data_segs_out"`
	DeliveryRate       uint64        `json:"delivery_rate"`   // bytes/s
	BusyTime           time.Duration `json:"busy_time_ns"`    // kept in jiffies by the kernel: use windows of 1 s and more
	RwndLimited        time.Duration `json:"rwnd_limited_ns"` // parts of BusyTime
	SndbufLimited      time.Duration `json:"sndbuf_limited_ns"`
	Delivered          uint32        `json:"delivered"` // segments
	DeliveredCE        uint32        `json:"delivered_ce"`
	BytesSent          uint64        `json:"bytes_sent"`
	BytesRetrans       uint64        `json:"bytes_retrans"`
	DSACKDups          uint32        `json:"dsack_dups"`
	ReordSeen          uint32        `json:"reord_seen"`
	RcvOOOPack         uint32        `json:"rcv_ooopack"` // segments
	SndWnd             uint32        `json:"snd_wnd"`     // bytes, the peer's window
	RcvWnd             uint32        `json:"rcv_wnd"`     // bytes
	Rehash             uint32        `json:"rehash"`
	TotalRTO           uint16        `json:"total_rto"`
	TotalRTORecoveries uint16        `json:"total_rto_recoveries"`
	TotalRTOTime       time.Duration `json:"total_rto_time_ns"`
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

// SockMem is how full the buffers of one socket are: SO_MEMINFO, what ss prints as skmem.
// All are bytes as the kernel accounts them, packet headers and unused room included, so
// that less payload fits than they say.
type SockMem struct {
	RmemAlloc uint32 `json:"rmem_alloc"` // received, not read yet
	RcvBuf    uint32 `json:"rcvbuf"`     // room for it; twice what SO_RCVBUF asked for
	WmemAlloc uint32 `json:"wmem_alloc"` // handed to the queueing discipline and the card
	SndBuf    uint32 `json:"sndbuf"`
	Queued    uint32 `json:"wmem_queued"` // written, not acknowledged
	Backlog   uint32 `json:"backlog"`     // arrived while the program held the socket
	Drops     uint32 `json:"drops"`       // so far
}
