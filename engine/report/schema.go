package report

import "encoding/json"

// The types of this file are iperf3's JSON document as 3.18 prints it, in its order of
// keys. doc.go says what each key holds; a test holds the two together.

type document struct {
	Start            any               `json:"start"` // a startHead, startClient or startServer
	Intervals        []json.RawMessage `json:"intervals"`
	End              any               `json:"end"` // an endJSON; {} when nothing was measured
	Error            string            `json:"error,omitempty"`
	Title            string            `json:"title,omitempty"`
	ExtraData        string            `json:"extra_data,omitempty"`
	ServerOutputJSON json.RawMessage   `json:"server_output_json,omitempty"`
	ServerOutputText string            `json:"server_output_text,omitempty"`
	Linerate         *extra            `json:"linerate,omitempty"`
}

// extra is what linerate adds to iperf3's document, under a key of its own.
type extra struct {
	Format   int            `json:"format"`
	Unknown  []unknownField `json:"unknown,omitempty"`
	Findings []findingJSON  `json:"findings,omitempty"`
}

// unknownField says that the zeros at a place stand for something not known.
type unknownField struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

type event struct {
	Event string `json:"event"`
	Data  any    `json:"data"`
}

type startHead struct {
	Connected  []connectedJSON `json:"connected"`
	Version    string          `json:"version"`
	SystemInfo string          `json:"system_info"`
}

type startClient struct {
	startHead
	Timestamp    timestampJSON `json:"timestamp"`
	ConnectingTo hostPort      `json:"connecting_to"`
	startRates
	startBuffers
	TestStart testStart `json:"test_start"`
}

type startServer struct {
	startHead
	startBuffers
	Timestamp timestampJSON `json:"timestamp"`
	Accepted  hostPort      `json:"accepted_connection"`
	startRates
	TestStart testStart `json:"test_start"`
}

type startRates struct {
	Cookie        string `json:"cookie"`
	TCPMSS        *int   `json:"tcp_mss,omitempty"`
	TCPMSSDefault *int   `json:"tcp_mss_default,omitempty"`
	TargetBitrate number `json:"target_bitrate"`
	FQRate        number `json:"fq_rate"`
}

type startBuffers struct {
	SockBufsize  int `json:"sock_bufsize"`
	SndbufActual int `json:"sndbuf_actual"`
	RcvbufActual int `json:"rcvbuf_actual"`
}

type connectedJSON struct {
	Socket     int    `json:"socket"`
	LocalHost  string `json:"local_host"`
	LocalPort  int    `json:"local_port"`
	RemoteHost string `json:"remote_host"`
	RemotePort int    `json:"remote_port"`
}

type timestampJSON struct {
	Time     string `json:"time"`
	Timesecs int64  `json:"timesecs"`
}

type hostPort struct {
	Host string `json:"host"`
	Port int    `json:"port"`
}

type testStart struct {
	Protocol      string `json:"protocol"`
	NumStreams    int    `json:"num_streams"`
	BlkSize       int    `json:"blksize"`
	Omit          int    `json:"omit"`
	Duration      int    `json:"duration"`
	Bytes         uint64 `json:"bytes"`
	Blocks        uint64 `json:"blocks"`
	Reverse       int    `json:"reverse"`
	TOS           int    `json:"tos"`
	TargetBitrate number `json:"target_bitrate"`
	Bidir         int    `json:"bidir"`
	FQRate        number `json:"fqrate"`
	Interval      number `json:"interval"`
}

type intervalJSON struct {
	Streams         []intervalStream `json:"streams"`
	Sum             intervalSum      `json:"sum"`
	SumBidirReverse *intervalSum     `json:"sum_bidir_reverse,omitempty"`
}

// span is what all accounts share.
type span struct {
	Start         number `json:"start"`
	End           number `json:"end"`
	Seconds       number `json:"seconds"`
	Bytes         uint64 `json:"bytes"`
	BitsPerSecond number `json:"bits_per_second"`
}

type intervalStream struct {
	Socket int `json:"socket"`
	span
	Retransmits *uint64 `json:"retransmits,omitempty"`
	SndCwnd     *uint64 `json:"snd_cwnd,omitempty"`
	SndWnd      *uint64 `json:"snd_wnd,omitempty"`
	RTT         *int64  `json:"rtt,omitempty"`
	RTTVar      *int64  `json:"rttvar,omitempty"`
	PMTU        *uint32 `json:"pmtu,omitempty"`
	Omitted     bool    `json:"omitted"`
	Sender      bool    `json:"sender"`
}

type intervalSum struct {
	span
	Retransmits *uint64 `json:"retransmits,omitempty"`
	Omitted     bool    `json:"omitted"`
	Sender      bool    `json:"sender"`
}

type endJSON struct {
	Streams                 []endStream `json:"streams"`
	SumSent                 endSum      `json:"sum_sent"`
	SumReceived             endSum      `json:"sum_received"`
	SumSentBidirReverse     *endSum     `json:"sum_sent_bidir_reverse,omitempty"`
	SumReceivedBidirReverse *endSum     `json:"sum_received_bidir_reverse,omitempty"`
	CPU                     cpuJSON     `json:"cpu_utilization_percent"`
	SenderCongestion        string      `json:"sender_tcp_congestion,omitempty"`
	ReceiverCongestion      string      `json:"receiver_tcp_congestion,omitempty"`
}

type endStream struct {
	Sender   endSender   `json:"sender"`
	Receiver endReceiver `json:"receiver"`
}

type endSender struct {
	Socket int `json:"socket"`
	span
	Retransmits *uint64 `json:"retransmits,omitempty"`
	*senderTCP
	Sender bool `json:"sender"`
}

// senderTCP goes with known retransmits; all zero when the sender is the other end,
// which does not tell.
type senderTCP struct {
	MaxSndCwnd uint64 `json:"max_snd_cwnd"`
	MaxSndWnd  uint64 `json:"max_snd_wnd"`
	MaxRTT     int64  `json:"max_rtt"`
	MinRTT     int64  `json:"min_rtt"`
	MeanRTT    int64  `json:"mean_rtt"`
}

type endReceiver struct {
	Socket int `json:"socket"`
	span
	Sender bool `json:"sender"`
}

type endSum struct {
	span
	Retransmits *uint64 `json:"retransmits,omitempty"`
	Sender      bool    `json:"sender"`
}

type cpuJSON struct {
	HostTotal    number `json:"host_total"`
	HostUser     number `json:"host_user"`
	HostSystem   number `json:"host_system"`
	RemoteTotal  number `json:"remote_total"`
	RemoteUser   number `json:"remote_user"`
	RemoteSystem number `json:"remote_system"`
}
