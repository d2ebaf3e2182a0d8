package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
)

// Protocol is the transport of the data streams.
type Protocol uint8

const (
	TCP Protocol = iota
	UDP
	SCTP
)

var protocolNames = [...]string{"TCP", "UDP", "SCTP"}

func (p Protocol) String() string { return protocolNames[min(int(p), len(protocolNames)-1)] }

// Ranges of iperf3's command line (3.21). Its servers do not check what they receive;
// ParseParams does.
const (
	maxTime      = 86400
	maxOmit      = 600
	maxParallel  = 128
	maxTCPBlock  = 1 << 20
	minUDPBlock  = 16
	maxUDPBlock  = 65507
	maxWindow    = 512 << 20
	maxMSS       = 32767
	maxBurst     = 1000
	maxTOS       = 255
	maxFlowLabel = 0xfffff
	maxCore      = 1024
)

// Lengths kept of a peer's strings.
const (
	maxTitle      = 1024
	maxName       = 64
	maxCongestion = 15 // TCP_CA_NAME_MAX without its NUL
	maxToken      = 4096
)

// Params is what a client asks for, in the units of the wire.
type Params struct {
	Protocol      Protocol
	Omit, Time    int    // seconds; Time 0 is until told to stop
	Num           uint64 // bytes
	Blocks        uint64
	MSS           int // bytes
	NoDelay       bool
	Parallel      int // streams per direction
	Reverse       bool
	Bidirectional bool // wins over Reverse, as in iperf3
	MPTCP         bool
	Window        int // bytes
	Len           int // bytes of a block; 0 is the protocol's default
	Bandwidth     int64
	FQRate        int64 // both bits/s per stream
	PacingTimer   int   // µs; obsolete since 3.18, still sent by all
	Burst         int   // blocks
	TOS           int
	FlowLabel     int
	Title         string
	ExtraData     string
	Congestion    string
	ServerOutput  bool
	Counters64    bool // UDP headers with 64-bit numbers
	Repeating     bool
	ZeroCopy      bool
	DontFragment  bool
	SkipRxCopy    bool
	Affinity      int // core for the server; -1 none
	AuthToken     string
	ClientVersion string
	Linerate      int // version of the side channel the client speaks; 0 none
}

// pair keeps JSON keys in the order iperf3 sends them.
type pair struct {
	key   string
	value any
}

// JSON gives the text to send. Flags that are off are left out, never false: iperf3
// before 3.18 takes the mere presence of a key as true. time, num and blockcount are
// always there: old servers use defaults of their own without.
func (p Params) JSON() ([]byte, error) {
	pairs := []pair{{"omit", p.Omit}}
	number := func(key string, v int64) {
		if v != 0 {
			pairs = append(pairs, pair{key, v})
		}
	}
	flag := func(key string, on bool) {
		if on {
			pairs = append(pairs, pair{key, true})
		}
	}
	one := func(key string, on bool) {
		if on {
			pairs = append(pairs, pair{key, 1})
		}
	}
	text := func(key, v string) {
		if v != "" {
			pairs = append(pairs, pair{key, v})
		}
	}
	if p.Affinity >= 0 {
		pairs = append(pairs, pair{"server_affinity", p.Affinity})
	}
	pairs = append(pairs, pair{"time", p.Time}, pair{"num", p.Num}, pair{"blockcount", p.Blocks})
	number("MSS", int64(p.MSS))
	flag("nodelay", p.NoDelay)
	pairs = append(pairs, pair{"parallel", p.Parallel})
	flag("reverse", p.Reverse)
	flag("bidirectional", p.Bidirectional)
	flag("mptcp", p.MPTCP)
	number("window", int64(p.Window))
	number("len", int64(p.Len))
	number("bandwidth", p.Bandwidth)
	number("fqrate", p.FQRate)
	pairs = append(pairs, pair{"pacing_timer", p.PacingTimer})
	number("burst", int64(p.Burst))
	number("TOS", int64(p.TOS))
	number("flowlabel", int64(p.FlowLabel))
	text("title", p.Title)
	text("extra_data", p.ExtraData)
	text("congestion", p.Congestion)
	one("get_server_output", p.ServerOutput)
	one("udp_counters_64bit", p.Counters64)
	one("repeating_payload", p.Repeating)
	one("zerocopy", p.ZeroCopy)
	one("dont_fragment", p.DontFragment)
	text("authtoken", p.AuthToken)
	one("skip_rx_copy", p.SkipRxCopy)
	text("client_version", p.ClientVersion)
	if p.Linerate > 0 {
		pairs = append(pairs, pair{"x_linerate", map[string]int{"v": p.Linerate}})
	}
	name := map[Protocol]string{TCP: "tcp", UDP: "udp", SCTP: "sctp"}[p.Protocol]
	body, err := encode(append([]pair{{name, true}}, pairs...))
	if err == nil && len(body) > MaxParamsSent {
		err = fmt.Errorf("the parameters take %d bytes, servers accept %d: shorten the title or the extra data", len(body), MaxParamsSent)
	}
	return body, err
}

// encode writes one flat JSON object in the given order, without the escaping of <, >
// and & that is meant for HTML.
func encode(pairs []pair) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, p := range pairs {
		if i > 0 {
			b.WriteByte(',')
		}
		for j, v := range []any{p.key, p.value} {
			if j > 0 {
				b.WriteByte(':')
			}
			if err := enc.Encode(v); err != nil {
				return nil, fmt.Errorf("writing %s: %w", p.key, err)
			}
			b.Truncate(b.Len() - 1) // Encode's line feed
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// ParseParams reads a client's parameters and fills in what is missing with iperf3's
// defaults. The error is a *FieldError with the code to answer when a single value is
// at fault; everything else deserves CodeRecvParams.
func ParseParams(text []byte) (Params, error) {
	f, err := parseFields(text, CodeRecvParams)
	if err != nil {
		return Params{}, err
	}
	p := Params{Affinity: -1}
	p.Protocol = f.protocol()
	number := func(dst *int, key string, lo, hi int64, code Code) {
		if v, ok := f.integer(key, lo, hi, code); ok {
			*dst = int(v)
		}
	}
	number(&p.Omit, "omit", 0, maxOmit, CodeOmit)
	p.Time = 10 // what iperf3's server falls back to
	number(&p.Time, "time", 0, maxTime, CodeDuration)
	number(&p.MSS, "MSS", 0, maxMSS, CodeMSS)
	p.Parallel = 1
	number(&p.Parallel, "parallel", 1, maxParallel, CodeStreams)
	number(&p.Window, "window", 0, maxWindow, CodeWindow)
	if p.Protocol == UDP {
		number(&p.Len, "len", minUDPBlock, maxUDPBlock, CodeUDPBlockSize)
	} else {
		number(&p.Len, "len", 0, maxTCPBlock, CodeBlockSize)
	}
	number(&p.PacingTimer, "pacing_timer", math.MinInt32, math.MaxInt32, CodeRecvParams)
	number(&p.Burst, "burst", 0, maxBurst, CodeBurst)
	number(&p.TOS, "TOS", 0, maxTOS, CodeTOS)
	number(&p.FlowLabel, "flowlabel", 0, maxFlowLabel, CodeFlowLabel)
	number(&p.Affinity, "server_affinity", -1, maxCore, CodeAffinity)
	if v, ok := f.integer("num", 0, math.MaxInt64, CodeRecvParams); ok {
		p.Num = uint64(v)
	}
	if v, ok := f.integer("blockcount", 0, math.MaxInt64, CodeRecvParams); ok {
		p.Blocks = uint64(v)
	}
	p.Bandwidth, _ = f.integer("bandwidth", 0, math.MaxInt64, CodeRateLimit)
	p.FQRate, _ = f.integer("fqrate", 0, math.MaxInt64, CodeRateLimit)
	p.NoDelay, p.Reverse = f.flag("nodelay"), f.flag("reverse")
	p.Bidirectional, p.MPTCP = f.flag("bidirectional"), f.flag("mptcp")
	p.ServerOutput, p.Counters64 = f.switchOn("get_server_output"), f.switchOn("udp_counters_64bit")
	p.Repeating, p.ZeroCopy = f.switchOn("repeating_payload"), f.switchOn("zerocopy")
	p.DontFragment, p.SkipRxCopy = f.switchOn("dont_fragment"), f.switchOn("skip_rx_copy")
	p.Title = Clean(f.text("title"), maxTitle)
	p.ExtraData = Clean(f.text("extra_data"), MaxParamsSent)
	p.ClientVersion = Clean(f.text("client_version"), maxName)
	p.Congestion = f.congestion()
	if p.AuthToken = f.text("authtoken"); len(p.AuthToken) > maxToken {
		f.fail("authtoken", fmt.Sprintf("at most %d characters", maxToken), CodeAuth)
	}
	p.Linerate = f.linerate()
	if f.err != nil {
		return Params{}, f.err
	}
	return p, nil
}

func (f *fields) protocol() Protocol {
	named := 0
	found := TCP // without any flag, as iperf3
	for p, key := range map[Protocol]string{TCP: "tcp", UDP: "udp", SCTP: "sctp"} {
		if f.flag(key) {
			named++
			found = p
		}
	}
	if named > 1 {
		f.fail("tcp", "the only protocol named", CodeProtocol)
	}
	return found
}

// congestion goes into setsockopt: a name of plain characters, or nothing.
func (f *fields) congestion() string {
	name := f.text("congestion")
	if len(name) > maxCongestion || name != Clean(name, maxCongestion) {
		f.fail("congestion", fmt.Sprintf("a name of at most %d characters", maxCongestion), CodeCongestion)
		return ""
	}
	return name
}

// linerate reads our own extension leniently: a shape that this version does not know
// means only that the side channel stays off.
func (f *fields) linerate() int {
	raw, ok := f.raw("x_linerate")
	if !ok {
		return 0
	}
	var hello struct{ V int }
	if json.Unmarshal(raw, &hello) != nil || hello.V < 0 {
		return 0
	}
	return hello.V
}
