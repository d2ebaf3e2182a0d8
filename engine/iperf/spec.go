package iperf

import (
	"math"
	"strings"
	"time"

	"linerate/engine"
	"linerate/engine/internal/wire"
)

// prepare fills in defaults, checks the ranges, and rounds the omitted time up to the
// whole seconds that the wire can say: both ends must leave out the same part.
func prepare(s engine.Spec) (engine.Spec, error) {
	s = s.Defaults()
	if err := s.Validate(); err != nil {
		return s, err
	}
	if s.FlowLabel > 0 && (s.Bind != "" || s.ClientPort > 0) {
		return s, &engine.FieldError{Field: "-L", Want: "neither -B nor --cport beside it"}
	}
	s.Omit = time.Duration(seconds(s.Omit)) * time.Second
	return s, nil
}

func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// params is what the server is told of a spec.
func params(s engine.Spec, agent string) wire.Params {
	return wire.Params{
		Protocol:      wire.TCP,
		Omit:          seconds(s.Omit),
		Time:          seconds(s.Duration),
		Num:           s.Bytes,
		Blocks:        s.Blocks,
		MSS:           s.MSS,
		NoDelay:       s.NoDelay,
		Parallel:      s.Streams,
		Reverse:       s.Direction == engine.Download,
		Bidirectional: s.Direction == engine.Both,
		Window:        s.Window,
		Len:           s.Block(),
		Bandwidth:     int64(s.Bitrate),
		FQRate:        int64(s.FQRate),
		PacingTimer:   1000, // iperf3's default; its servers since 3.18 ignore it
		Burst:         s.Burst,
		TOS:           s.TOS,
		FlowLabel:     s.FlowLabel,
		Title:         s.Title,
		ExtraData:     s.ExtraData,
		Congestion:    s.Congestion,
		ServerOutput:  s.ServerOutput,
		Repeating:     s.Repeating,
		ZeroCopy:      s.ZeroCopy,
		SkipRxCopy:    s.SkipRxCopy,
		Affinity:      s.SrvAffinity,
		ClientVersion: agent,
		Linerate:      wire.SideVersion,
	}
}

// specOf is what a server runs for a client. Every client sends a block size; the
// default one counts as not given, so that blocks may be batched.
func specOf(p wire.Params, port int, interval time.Duration) engine.Spec {
	s := engine.Spec{
		Port:         port,
		Streams:      p.Parallel,
		Duration:     time.Duration(p.Time) * time.Second,
		Bytes:        p.Num,
		Blocks:       p.Blocks,
		Omit:         time.Duration(p.Omit) * time.Second,
		Interval:     interval,
		BlockSize:    p.Len,
		Window:       p.Window,
		MSS:          p.MSS,
		NoDelay:      p.NoDelay,
		Congestion:   p.Congestion,
		Bitrate:      float64(p.Bandwidth),
		Burst:        p.Burst,
		FQRate:       float64(p.FQRate),
		ZeroCopy:     p.ZeroCopy,
		SkipRxCopy:   p.SkipRxCopy,
		Repeating:    p.Repeating,
		TOS:          p.TOS,
		FlowLabel:    p.FlowLabel,
		Affinity:     -1,
		SrvAffinity:  p.Affinity,
		Title:        p.Title,
		ExtraData:    p.ExtraData,
		ServerOutput: p.ServerOutput,
	}
	if s.BlockSize == engine.DefaultBlockSize {
		s.BlockSize = 0
	}
	if s.Bytes > 0 || s.Blocks > 0 {
		s.Duration = 0 // clients ≤ 3.2 leave time out: the default of 10 s is not meant
	}
	switch {
	case p.Bidirectional:
		s.Direction = engine.Both
	case p.Reverse:
		s.Direction = engine.Download
	}
	return s
}

// goal is the byte goal of -n or -k per direction; 0 none.
func goal(s engine.Spec) uint64 {
	if s.Bytes > 0 {
		return s.Bytes
	}
	if s.Blocks > math.MaxInt64/uint64(s.Block()) {
		return math.MaxInt64
	}
	return s.Blocks * uint64(s.Block())
}

// layout lists the streams of a test in order of creation.
func layout(role engine.Role, s engine.Spec) []engine.Conn {
	var conns []engine.Conn
	for _, dir := range s.Direction.Dirs() {
		for range s.Streams {
			i := len(conns)
			conns = append(conns, engine.Conn{
				ID:     streamID(i),
				Socket: socketNumber(role, i),
				Dir:    dir,
				Sender: (dir == engine.Upload) == (role == engine.Client),
			})
		}
	}
	return conns
}

// streamID numbers streams 1, 3, 4, 5 …: a bug of iperf3 2.x times that is law now.
func streamID(index int) int {
	if index == 0 {
		return 1
	}
	return index + 2
}

// socketNumber is the file descriptor that iperf3 would have and print, when it was started
// with nothing open but 0, 1 and 2. Each stream takes two, a socket and a buffer; a server
// has one more open after the first (read from 3.12 and 3.18).
func socketNumber(role engine.Role, index int) int {
	number := 5 + 2*index // 5, 7, 9 …
	if role == engine.Server && index > 0 {
		number++ // 8, 10, 12 …
	}
	return number
}

// agentOf turns client_version into a name: stock clients send their bare number.
func agentOf(version string) string {
	if version != "" && strings.Trim(version[:1], "0123456789") == "" {
		return "iperf " + version
	}
	return version
}
