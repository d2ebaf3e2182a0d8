package engine

import (
	"encoding/json"
	"fmt"
	"time"
)

// Direction says which way the payload flows, seen from the client: an iperf3 test
// without flags is Upload, -R is Download, --bidir is Both. A single stream is always
// Upload or Download.
type Direction uint8

const (
	Upload   Direction = iota // client sends, server receives
	Download                  // server sends, client receives (-R)
	Both                      // --bidir; Streams flow each way
)

func (d Direction) String() string {
	switch d {
	case Upload:
		return "upload"
	case Download:
		return "download"
	case Both:
		return "both ways"
	}
	return fmt.Sprintf("direction %d", uint8(d))
}

// MarshalText writes the direction as the words that String gives.
func (d Direction) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads the words that MarshalText wrote.
func (d *Direction) UnmarshalText(text []byte) error {
	for _, known := range []Direction{Upload, Download, Both} {
		if known.String() == string(text) {
			*d = known
			return nil
		}
	}
	return fmt.Errorf("unknown direction %q", text)
}

// Dirs lists the one or two ways payload flows, upload first.
func (d Direction) Dirs() []Direction {
	if d == Both {
		return []Direction{Upload, Download}
	}
	return []Direction{d}
}

// Has reports whether payload flows in direction one (Upload or Download).
func (d Direction) Has(one Direction) bool { return d == one || d == Both }

// Limits of the iperf3 command line and wire, checked by Spec.Validate and by the
// server on what it receives (iperf3 3.21, iperf.h).
const (
	DefaultPort      = 5201
	DefaultBlockSize = 128 << 10 // bytes, TCP
	MaxStreams       = 128       // per direction
	MaxBlockSize     = 1 << 20
	MaxWindow        = 512 << 20
	MaxMSS           = 32767
	MaxDuration      = 86400 * time.Second
	MaxOmit          = 600 * time.Second
	MinInterval      = 100 * time.Millisecond
	MaxInterval      = 60 * time.Second
)

// Spec is everything that one test is asked to do. The zero value of a field means
// "not given"; Defaults fills what iperf3 would fill. A Spec is a value: a live change
// makes a new one.
type Spec struct {
	Host string `json:"host"` // name or address as the user typed it, without port
	Port int    `json:"port"`

	Streams   int       `json:"streams"` // per direction, 1 … MaxStreams
	Direction Direction `json:"direction"`

	// At most one of Duration, Bytes and Blocks limits the test; all zero means until stopped.
	Duration time.Duration `json:"duration_ns"`
	Bytes    uint64        `json:"bytes"`  // -n: over all streams of one direction
	Blocks   uint64        `json:"blocks"` // -k: likewise, in blocks of BlockSize
	Omit     time.Duration `json:"omit_ns"`
	Interval time.Duration `json:"interval_ns"` // -i: reporting and averaging; negative means no periodic reports (iperf3's -i 0)

	BlockSize  int     `json:"block_size"`   // -l in bytes; 0: DefaultBlockSize, and the engine may batch blocks
	Window     int     `json:"window"`       // -w: SO_SNDBUF and SO_RCVBUF in bytes; 0: the kernel tunes
	MSS        int     `json:"mss"`          // -M in bytes
	NoDelay    bool    `json:"no_delay"`     // -N
	Congestion string  `json:"congestion"`   // -C
	Bitrate    float64 `json:"bitrate_bps"`  // -b in bits/s per stream; 0: unlimited
	Burst      int     `json:"burst"`        // -b rate/burst, blocks
	FQRate     float64 `json:"fq_rate_bps"`  // --fq-rate in bits/s per stream, paced by the kernel
	ZeroCopy   bool    `json:"zero_copy"`    // -Z: sendfile
	SkipRxCopy bool    `json:"skip_rx_copy"` // --skip-rx-copy: MSG_TRUNC
	Repeating  bool    `json:"repeating"`    // --repeating-payload
	TOS        int     `json:"tos"`          // -S, or --dscp shifted left by two; 0 … 255
	FlowLabel  int     `json:"flow_label"`   // -L, IPv6

	Family      int    `json:"family"` // 0 either, 4 or 6
	Bind        string `json:"bind"`
	BindDev     string `json:"bind_dev"`
	ClientPort  int    `json:"client_port"`  // --cport: source port of the first data stream
	Affinity    int    `json:"affinity"`     // -A n; -1 unset
	SrvAffinity int    `json:"srv_affinity"` // -A n,m: core for the server; -1 unset

	ConnectTimeout time.Duration `json:"connect_timeout_ns"` // --connect-timeout; 0: DefaultConnectTimeout of engine/iperf
	RcvTimeout     time.Duration `json:"rcv_timeout_ns"`     // --rcv-timeout; 0: 120 s as iperf3
	SndTimeout     time.Duration `json:"snd_timeout_ns"`     // --snd-timeout: TCP_USER_TIMEOUT; 0: the kernel's
	Title          string        `json:"title"`              // -T
	ExtraData      string        `json:"extra_data"`
	ServerOutput   bool          `json:"server_output"` // --get-server-output
}

// UnmarshalJSON reads a Spec; a field that is not there means what the zero value cannot
// say of it: one stream, no core affinity.
func (s *Spec) UnmarshalJSON(text []byte) error {
	type plain Spec // without this method
	read := plain{Streams: 1, Affinity: -1, SrvAffinity: -1}
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*s = Spec(read)
	return nil
}

// Defaults returns s with every unset field that has a default filled in: port, one
// stream, 1 s reports, no core affinity. Duration stays 0 (until stopped): callers that
// want iperf3's 10 s set it.
func (s Spec) Defaults() Spec {
	if s.Port == 0 {
		s.Port = DefaultPort
	}
	if s.Streams == 0 {
		s.Streams = 1
	}
	if s.Interval == 0 {
		s.Interval = time.Second
	}
	return s
}

// Block is the size of one write or read in bytes.
func (s Spec) Block() int {
	if s.BlockSize > 0 {
		return s.BlockSize
	}
	return DefaultBlockSize
}

// Limited reports whether the test ends by itself.
func (s Spec) Limited() bool { return s.Duration > 0 || s.Bytes > 0 || s.Blocks > 0 }

// FieldError is a value of a Spec that is out of range or contradicts another.
type FieldError struct {
	Field string // as the command line spells it: "-P", "--dscp"
	Want  string // what was expected: "1 to 128 streams"
	Hint  string // what to do about it; may be empty
}

func (e *FieldError) Error() string { return fmt.Sprintf("%s: expected %s", e.Field, e.Want) }

// Validate checks ranges and combinations and returns the first *FieldError found.
// It expects the result of Defaults.
func (s Spec) Validate() error {
	within := func(field string, v, lo, hi int, want string) *FieldError {
		if v < lo || v > hi {
			return &FieldError{Field: field, Want: want}
		}
		return nil
	}
	limits := 0
	for _, set := range []bool{s.Duration > 0, s.Bytes > 0, s.Blocks > 0} {
		if set {
			limits++
		}
	}
	checks := []*FieldError{
		within("-p", s.Port, 1, 65535, "a port from 1 to 65535"),
		within("-P", s.Streams, 1, MaxStreams, "1 to 128 streams"),
		within("-l", s.BlockSize, 0, MaxBlockSize, "a block of 1 byte to 1M"),
		within("-w", s.Window, 0, MaxWindow, "a window of up to 512M"),
		within("-M", s.MSS, 0, MaxMSS, "a segment size of up to 32767 bytes"),
		within("-S", s.TOS, 0, 255, "a type of service from 0 to 255"),
		within("-L", s.FlowLabel, 0, 0xfffff, "a flow label from 1 to 1048575"),
		within("--cport", s.ClientPort, 0, 65535, "a port from 1 to 65535"),
		within("-b", s.Burst, 0, 1000, "a burst of 1 to 1000 blocks"),
		within("-A", s.Affinity, -1, 1024, "a core from 0 to 1024"),
		within("-A", s.SrvAffinity, -1, 1024, "a server core from 0 to 1024"),
	}
	for _, err := range checks {
		if err != nil {
			return err
		}
	}
	switch {
	case s.Direction > Both:
		return &FieldError{Field: "direction", Want: "upload, download or both ways"}
	case limits > 1:
		return &FieldError{Field: "-t, -n, -k", Want: "only one of them", Hint: "each says when the test ends: keep one"}
	case s.Duration < 0 || s.Duration > MaxDuration:
		return &FieldError{Field: "-t", Want: "0 to 86400 seconds"}
	case s.Omit < 0 || s.Omit > MaxOmit:
		return &FieldError{Field: "-O", Want: "0 to 600 seconds"}
	case s.Interval > 0 && (s.Interval < MinInterval || s.Interval > MaxInterval):
		return &FieldError{Field: "-i", Want: "0, or 0.1 to 60 seconds"}
	case s.Bitrate < 0:
		return &FieldError{Field: "-b", Want: "a rate of 0 (unlimited) or more"}
	case s.FQRate < 0:
		return &FieldError{Field: "--fq-rate", Want: "a rate of 0 (off) or more"}
	case s.Family != 0 && s.Family != 4 && s.Family != 6:
		return &FieldError{Field: "-4, -6", Want: "only one of them"}
	}
	return nil
}
