package engine

import (
	"fmt"
	"net/netip"
	"time"

	"linerate/probes"
)

// Role says which end of the test this process is.
type Role uint8

const (
	Client Role = iota
	Server
)

var roleNames = [...]string{"client", "server"}

func (r Role) String() string { return roleNames[min(int(r), len(roleNames)-1)] }

// MarshalText writes the role as the word that String gives.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the word that MarshalText wrote.
func (r *Role) UnmarshalText(text []byte) error {
	for i, name := range roleNames {
		if name == string(text) {
			*r = Role(i)
			return nil
		}
	}
	return fmt.Errorf("unknown role %q", text)
}

// Conn is one data connection. ID is the number both ends give it (1, 3, 4, 5 … in
// order of creation; iperf3 never uses 2). Socket is the number iperf3 would show for it:
// its file descriptor there, 5, 7, 9 … on a client and 5, 8, 10 … on a server.
type Conn struct {
	ID     int
	Socket int
	Dir    Direction // Upload or Download
	Sender bool      // the local end sends
	Local  netip.AddrPort
	Remote netip.AddrPort
}

// Number counts the streams of a test from 1, as people do: iperf3's IDs leave out 2.
func (c Conn) Number() int {
	if c.ID > 2 {
		return c.ID - 1
	}
	return c.ID
}

// TestInfo is what is known when all streams stand and the payload starts to flow.
type TestInfo struct {
	Role      Role
	Spec      Spec   // as negotiated: on a server, what the client asked for
	Cookie    string // 36 characters
	Start     time.Time
	Control   Conn // control connection: Local and Remote only
	Conns     []Conn
	PeerAgent string        // "iperf 3.18" where the peer tells (client_version), cleaned of control characters; else ""
	Linerate  bool          // the peer is linerate and speaks the side channel
	MSS       int           // bytes, of the control connection
	IdleRTT   time.Duration // round trip before payload flowed: of the control connection's handshake; 0 unknown
	SndBuf    int           // bytes granted on the first data socket
	RcvBuf    int
	Warnings  []string // what was asked of the sockets and not granted, one sentence each
}

// StreamInterval is one stream in one reporting interval.
type StreamInterval struct {
	Conn
	Bytes       uint64                  // payload sent or received in this interval
	Retransmits probes.Reading[uint64]  // segments in this interval; only a sender knows
	TCP         probes.Reading[TCPInfo] // at the end of the interval
}

// Interval is one line of a report. Times count from the start of the test, or, after
// the omitted part, from its end: iperf3 restarts its clock there.
type Interval struct {
	Start, End time.Duration
	Omitted    bool
	Streams    []StreamInterval
}

// Bytes sums the payload of one direction.
func (i Interval) Bytes(dir Direction) (sum uint64) {
	for _, s := range i.Streams {
		if s.Dir == dir {
			sum += s.Bytes
		}
	}
	return sum
}

// Retransmits sums one direction; it is unknown when any stream's count is.
func (i Interval) Retransmits(dir Direction) probes.Reading[uint64] {
	sum := probes.Unknown[uint64](probes.Absent, "no stream in this direction")
	for _, s := range i.Streams {
		if s.Dir != dir {
			continue
		}
		if !s.Retransmits.Known() {
			return s.Retransmits
		}
		sum = probes.Got(sum.Value + s.Retransmits.Value)
	}
	return sum
}

// End is one end's account of one stream, the omitted part left out.
type End struct {
	Bytes   uint64
	Seconds float64 // from the end of the omitted part to this end's stop
}

// StreamResult is one stream after the test, both ends' accounts merged.
type StreamResult struct {
	Conn
	Sent        probes.Reading[End] // the sender's account; unknown when the peer never told
	Received    probes.Reading[End] // the receiver's account
	Retransmits probes.Reading[uint64]
	TCP         TCPExtremes // of the local end when it is the sender
	Reordering  probes.Reading[uint32]
}

// TCPExtremes are what iperf3 reports at the end of a sending stream; all zero when
// nothing was sampled (Samples is 0).
type TCPExtremes struct {
	Samples                 int
	MaxCwnd, MaxSndWnd      uint64 // bytes
	MinRTT, MeanRTT, MaxRTT time.Duration
}

// CPUUse is the CPU time of one whole process over the test as iperf3 reports it:
// percent of one core, so it may exceed 100.
type CPUUse struct {
	Total, User, System float64
}

// Result is what is known when a test has ended, in whatever way. Err is nil for a
// complete test; otherwise the fields hold what was measured until then, and what the
// peer did not tell is unknown.
type Result struct {
	Info             TestInfo
	Elapsed          time.Duration // measured time, omitted part left out
	Streams          []StreamResult
	LocalCPU         CPUUse
	RemoteCPU        probes.Reading[CPUUse]
	LocalCongestion  string // "" when unknown
	RemoteCongestion string
	PeerOutput       string // server_output_text, or indented server_output_json, cleaned
	PeerOutputJSON   bool
	Err              error
	// Findings are what the rules say at the end of the test, the verdict of each direction
	// first (see Findings); nil where nobody has asked them, as on a server.
	Findings []Finding
}

// Sent sums the senders' accounts of one direction; Seconds is the longest.
func (r Result) Sent(dir Direction) probes.Reading[End] {
	return r.sum(dir, func(s StreamResult) probes.Reading[End] { return s.Sent })
}

// Received sums the receivers' accounts of one direction: the goodput of the headline.
func (r Result) Received(dir Direction) probes.Reading[End] {
	return r.sum(dir, func(s StreamResult) probes.Reading[End] { return s.Received })
}

// Retransmits sums the senders' retransmitted segments of one direction.
func (r Result) Retransmits(dir Direction) probes.Reading[uint64] {
	sum := probes.Unknown[uint64](probes.Absent, "no stream in this direction")
	for _, s := range r.Streams {
		if s.Dir != dir {
			continue
		}
		if !s.Retransmits.Known() {
			return s.Retransmits
		}
		sum = probes.Got(sum.Value + s.Retransmits.Value)
	}
	return sum
}

func (r Result) sum(dir Direction, account func(StreamResult) probes.Reading[End]) probes.Reading[End] {
	sum := probes.Unknown[End](probes.Absent, "no stream in this direction")
	for _, s := range r.Streams {
		if s.Dir != dir {
			continue
		}
		e := account(s)
		if !e.Known() {
			return e
		}
		sum = probes.Got(End{Bytes: sum.Value.Bytes + e.Value.Bytes, Seconds: max(sum.Value.Seconds, e.Value.Seconds)})
	}
	return sum
}

// BitsPerSecond is the mean rate of an account, 0 for one without time.
func (e End) BitsPerSecond() float64 {
	if e.Seconds <= 0 {
		return 0
	}
	return float64(e.Bytes) * 8 / e.Seconds
}

// Sink receives what a test says, in order and without loss: Begin once, Interval per
// report, End once. It is called from one goroutine, never from one that moves bytes;
// an implementation that may wait (a disk, a terminal) buffers by itself.
type Sink interface {
	Begin(TestInfo)
	Interval(Interval)
	End(Result)
}

// Counters is one stream at one moment: what the screen's tick reads.
type Counters struct {
	Conn
	Bytes     uint64 // accepted (sender) or read (receiver) since TEST_RUNNING, omitted part included
	TID       int    // kernel thread that moves the bytes; 0 unknown
	TCP       probes.Reading[TCPInfo]
	TCPAt     time.Time // when TCP was read
	BaseAcked uint64    // tcpi_bytes_acked at TEST_RUNNING: a live sender figure is TCP.BytesAcked − BaseAcked

	Mem        probes.Reading[SockMem] // read with TCP
	Congestion string                  // congestion control of the socket; "" unknown
}

// ServerTest is one test that a server is running: a row of its live table. Rates come
// from the Counters of two calls.
type ServerTest struct {
	ID       int // from 1, in order of the clients' arrival
	Info     TestInfo
	Elapsed  time.Duration // since TEST_RUNNING, omitted part included
	Counters []Counters
}

// ServerEventKind says what a ServerEvent is about.
type ServerEventKind uint8

const (
	ClientRefused ServerEventKind = iota // busy, over a limit, or not an iperf3 client
	ClientAccepted
	TestStarted
	TestEnded   // Result tells how
	SideChannel // a linerate client misused it; its test goes on
)

var serverEventNames = [...]string{"refused", "accepted", "started", "ended", "side channel"}

func (k ServerEventKind) String() string {
	return serverEventNames[min(int(k), len(serverEventNames)-1)]
}

// ServerEvent is something a server did that is worth a line in its log. Text is that
// line without the time, clean of control characters.
type ServerEvent struct {
	Time   time.Time
	Kind   ServerEventKind
	Client netip.AddrPort
	Test   int // ServerTest.ID; 0 when no test came of it
	Text   string
	Err    error
	Result *Result // of TestEnded
}

// Transcript is a server's Sink that can hand what it prints to a client that asked for it
// (--get-server-output). It is asked after the last Interval and before End, from the same
// goroutine, with what this end has measured.
type Transcript interface {
	// Transcript gives the text, with the final lines that End would write for sofar, or
	// an iperf3 JSON document when json is true. "" when the client did not ask.
	Transcript(sofar Result) (output string, json bool)
}
