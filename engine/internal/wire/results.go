package wire

import (
	"encoding/json"
	"fmt"
	"math"
)

// HasRetransmits says what an end knows about retransmissions.
type HasRetransmits int

const (
	OnlyReceives HasRetransmits = -1 // it sent nothing
	NotCounted   HasRetransmits = 0  // it sent, but its system does not tell
	Counted      HasRetransmits = 1
)

// Results is one end's account of a test, the omitted part left out.
type Results struct {
	CPUTotal, CPUUser, CPUSystem float64 // process CPU, percent of one core
	Retransmits                  HasRetransmits
	Congestion                   string          // algorithm in use, "" not told
	OutputText                   string          // server's report, when asked for; cleaned
	OutputJSON                   json.RawMessage // the same from a server that writes JSON
	Streams                      []StreamResults
}

// StreamResults is one stream. Packets and errors are of UDP and include the omitted
// part.
type StreamResults struct {
	ID                 int
	Bytes              uint64
	Retransmits        int64   // segments; -1 not a TCP sender
	Jitter             float64 // seconds
	Errors, Packets    int64
	Omitted            bool // OmittedErrors and OmittedPackets were told (3.14)
	OmittedErrors      int64
	OmittedPackets     int64
	Timed              bool    // StartTime and EndTime were told (3.2)
	StartTime, EndTime float64 // seconds
}

// MaxStreamID is the greatest id of a test: 2 × 128 streams, and 2 is never used.
const MaxStreamID = 2*maxParallel + 1

// JSON gives the text to send, every key present that any iperf3 requires.
func (r Results) JSON() ([]byte, error) {
	streams := make([]json.RawMessage, len(r.Streams))
	for i, s := range r.Streams {
		text, err := encode([]pair{
			{"id", s.ID}, {"bytes", s.Bytes}, {"retransmits", s.Retransmits}, {"jitter", s.Jitter},
			{"errors", s.Errors}, {"omitted_errors", s.OmittedErrors},
			{"packets", s.Packets}, {"omitted_packets", s.OmittedPackets},
			{"start_time", s.StartTime}, {"end_time", s.EndTime},
		})
		if err != nil {
			return nil, err
		}
		streams[i] = text
	}
	pairs := []pair{
		{"cpu_util_total", r.CPUTotal}, {"cpu_util_user", r.CPUUser}, {"cpu_util_system", r.CPUSystem},
		{"sender_has_retransmits", int(r.Retransmits)},
	}
	if r.Congestion != "" {
		pairs = append(pairs, pair{"congestion_used", r.Congestion})
	}
	switch {
	case len(r.OutputJSON) > 0:
		pairs = append(pairs, pair{"server_output_json", r.OutputJSON})
	case r.OutputText != "":
		pairs = append(pairs, pair{"server_output_text", r.OutputText})
	}
	return encode(append(pairs, pair{"streams", streams}))
}

// ParseResults reads the other end's account. Keys that old versions lack may be
// missing; what all versions send must be there, or the error is a *FieldError.
func ParseResults(text []byte) (Results, error) {
	f, err := parseFields(text, CodeRecvResults)
	if err != nil {
		return Results{}, err
	}
	var r Results
	r.CPUTotal, r.CPUUser, r.CPUSystem = f.share("cpu_util_total"), f.share("cpu_util_user"), f.share("cpu_util_system")
	v, _ := f.integer("sender_has_retransmits", -1, 1, CodeRecvResults)
	r.Retransmits = HasRetransmits(v)
	r.Congestion = Clean(f.text("congestion_used"), maxName)
	r.OutputText = CleanText(f.text("server_output_text"), MaxServerResults)
	if raw, ok := f.raw("server_output_json"); ok {
		r.OutputJSON = raw
	}
	var list []json.RawMessage
	if raw, ok := f.raw("streams"); !ok || json.Unmarshal(raw, &list) != nil {
		f.fail("streams", "a list", CodeRecvResults)
	} else if len(list) > 2*maxParallel {
		f.fail("streams", fmt.Sprintf("a list of at most %d", 2*maxParallel), CodeRecvResults)
	}
	if f.err != nil {
		return Results{}, f.err
	}
	seen := make(map[int]bool, len(list))
	for i, raw := range list {
		s, err := parseStream(raw)
		if err != nil {
			return Results{}, fmt.Errorf("stream %d of the results: %w", i+1, err)
		}
		if seen[s.ID] {
			return Results{}, &FieldError{Key: "id", Want: "different in every stream", Code: CodeRecvResults}
		}
		seen[s.ID] = true
		r.Streams = append(r.Streams, s)
	}
	return r, nil
}

func parseStream(text []byte) (StreamResults, error) {
	f, err := parseFields(text, CodeRecvResults)
	if err != nil {
		return StreamResults{}, err
	}
	var s StreamResults
	s.ID = int(f.needed("id", 1, MaxStreamID))
	s.Bytes = uint64(f.needed("bytes", 0, math.MaxInt64))
	s.Retransmits = f.needed("retransmits", -1, math.MaxInt64)
	s.Errors = f.needed("errors", math.MinInt64, math.MaxInt64)
	s.Packets = f.needed("packets", math.MinInt64, math.MaxInt64)
	s.Jitter, _ = f.float("jitter")
	var ok bool
	s.OmittedErrors, ok = f.integer("omitted_errors", math.MinInt64, math.MaxInt64, CodeRecvResults)
	s.OmittedPackets, s.Omitted = f.integer("omitted_packets", math.MinInt64, math.MaxInt64, CodeRecvResults)
	s.Omitted = s.Omitted && ok
	s.StartTime, _ = f.float("start_time")
	s.EndTime, s.Timed = f.float("end_time")
	if s.EndTime < s.StartTime || s.StartTime < 0 {
		s.StartTime, s.EndTime, s.Timed = 0, 0, false // a clock that was set: use the own duration
	}
	return s, f.err
}

func (f *fields) needed(key string, lo, hi int64) int64 {
	v, ok := f.integer(key, lo, hi, CodeRecvResults)
	if !ok {
		f.fail(key, "there", CodeRecvResults)
	}
	return v
}

// share reads a CPU percentage. iperf3 can print nan (its JSON writer then says null)
// and tiny negative values.
func (f *fields) share(key string) float64 {
	v, _ := f.float(key)
	return max(0, v)
}
