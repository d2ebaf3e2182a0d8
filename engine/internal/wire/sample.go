package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// Limits of a sample.
const (
	MaxCores   = 1024
	MaxStreams = 2 * maxParallel
	MaxOthers  = 16 // a handful

	maxReason  = 200
	maxAge     = 3600 * 1000 * 1000 // µs between a reading and the sample that tells it
	maxTID     = math.MaxInt32
	maxThread  = 64   // bytes of a thread's name: Linux gives 15, and 63 to a kernel worker
	maxAddress = 64   // bytes of an address with its zone
	maxInfo    = 64   // numbers of a socket
	rounding   = 1010 // per mille: shares of one core, each rounded
)

// Sample is the JSON of FrameSample: how a server's computer and its end of the streams
// were doing at one moment. Shares are per mille, times µs. PROTOCOL.md describes the keys.
type Sample struct {
	Seq   uint64 `json:"n"` // from 1
	Clock int64  `json:"m"` // the server's steady clock
	Wall  int64  `json:"w"` // its time of day, since 1970

	Window     int64   `json:"d,omitempty"`  // what the loads cover; 0: no loads
	LoadAge    int64   `json:"la,omitempty"` // from the end of Window to Clock
	Cores      [][]int `json:"c,omitempty"`  // number, user, system, irq, softirq, steal, iowait; zeros at the end left out
	CoresWhy   string  `json:"cy,omitempty"` // why there are none
	Process    []int   `json:"p,omitempty"`  // user, system; of one core, so above 1000 for more
	ProcessWhy string  `json:"py,omitempty"`
	ThreadsWhy string  `json:"ty,omitempty"` // why streams have no Thread
	Others     []Other `json:"o,omitzero"`   // not nil but empty: no other program does anything
	OthersWhy  string  `json:"oy,omitempty"`

	Congestion string   `json:"cc,omitempty"`
	Streams    []Stream `json:"s,omitempty"`

	Vitals    json.RawMessage `json:"v,omitempty"` // an object of a type that this package does not know
	VitalsAge int64           `json:"va,omitempty"`

	Path   json.RawMessage `json:"x,omitempty"` // the path to the client; an object, likewise
	PathTo string          `json:"xt,omitempty"`
}

// Other is a program of the server's computer that is no test's, or a thread of its kernel.
type Other struct {
	Name   string `json:"n"`
	Thread []int  `json:"t"` // process number, user, system, core; of one core, so above 1000 for more
}

// Stream is the server's end of one stream in a Sample.
type Stream struct {
	ID     int      `json:"i"`
	Bytes  uint64   `json:"b"`           // accepted or read since TEST_RUNNING
	Age    int64    `json:"a,omitempty"` // from the reading of the socket to Sample.Clock
	Thread []int    `json:"t,omitempty"` // number in the kernel, user, system, core
	Base   uint64   `json:"k,omitempty"` // bytes acknowledged before TEST_RUNNING
	Brief  []uint64 `json:"q,omitempty"` // instead of Info, of a sender: retransmitted segments, congestion window in bytes, RTT
	Info   []uint64 `json:"f,omitempty"` // TCP_INFO; zeros at the end left out
	Mem    []uint64 `json:"e,omitempty"` // SO_MEMINFO; likewise
	Why    string   `json:"y,omitempty"` // why there is neither Brief nor Info
}

// Fitted is a Sample as it travels.
type Fitted struct {
	Text    []byte
	Vitals  bool // they are in it
	Streams int  // how many are in it
}

// Fit writes the sample in at most limit bytes, and MaxFrame: whole, or without other
// programs, or without vitals too, or with brief streams, or with as many of these as there
// is room for, at least one, from place first on and round. When not even that is short
// enough it is given nevertheless, for the caller to send it more rarely.
func (s Sample) Fit(limit, first int) (Fitted, error) {
	limit = min(limit, MaxFrame)
	all := s.Streams
	s.Streams = nil
	for i := range all {
		full := all[i]
		if len(full.Info) > 0 {
			full.Brief = nil
		}
		s.Streams = append(s.Streams, full)
	}
	text, ok, err := s.fits(limit)
	if !ok && err == nil && (s.Others != nil || s.OthersWhy != "") {
		s.Others, s.OthersWhy = nil, ""
		text, ok, err = s.fits(limit)
	}
	if !ok && err == nil && len(s.Vitals) > 0 {
		s.Vitals, s.VitalsAge = nil, 0
		text, ok, err = s.fits(limit)
	}
	if ok || err != nil {
		return Fitted{text, len(s.Vitals) > 0, len(all)}, err
	}
	s.Streams = nil
	head, err := json.Marshal(s)
	if err != nil || len(all) == 0 {
		return Fitted{head, false, 0}, err
	}
	const frame = len(`,"s":[]`)
	size := len(head) + frame
	var rows [][]byte
	for n := range all {
		row, err := json.Marshal(all[(first+n)%len(all)].brief())
		if err != nil {
			return Fitted{}, fmt.Errorf("writing a sample: %w", err)
		}
		if size += len(row) + min(n, 1); size > limit && n > 0 { // 1 for the comma
			break
		}
		rows = append(rows, row)
	}
	list := append([]byte(`,"s":[`), bytes.Join(rows, []byte{','})...)
	text = append(head[:len(head)-1], append(list, "]}"...)...)
	return Fitted{text, false, len(rows)}, nil
}

// fits writes the sample and reports whether it is no longer than limit.
func (s *Sample) fits(limit int) (text []byte, ok bool, err error) {
	if text, err = json.Marshal(s); err != nil {
		return nil, false, fmt.Errorf("writing a sample: %w", err)
	}
	return text, len(text) <= limit, nil
}

// brief leaves what the screen shows.
func (s Stream) brief() Stream {
	return Stream{ID: s.ID, Bytes: s.Bytes, Age: s.Age, Brief: s.Brief, Why: s.Why}
}

// ParseSample reads a server's sample. Every number is within its range, no stream comes
// twice, no text has control characters.
func ParseSample(text []byte) (Sample, error) {
	var s Sample
	if err := json.Unmarshal(text, &s); err != nil {
		return Sample{}, fmt.Errorf("parsing a sample: %w", err)
	}
	if err := s.check(); err != nil {
		return Sample{}, fmt.Errorf("a sample with %w", err)
	}
	for _, why := range []*string{&s.CoresWhy, &s.ProcessWhy, &s.ThreadsWhy, &s.OthersWhy} {
		*why = Clean(*why, maxReason)
	}
	for i := range s.Others {
		s.Others[i].Name = Clean(s.Others[i].Name, maxThread)
	}
	s.PathTo = Clean(s.PathTo, maxAddress)
	s.Congestion = Clean(s.Congestion, maxCongestion)
	for i := range s.Streams {
		s.Streams[i].Why = Clean(s.Streams[i].Why, maxReason)
	}
	return s, nil
}

func (s *Sample) check() error {
	switch {
	case s.Seq == 0:
		return errors.New("no number")
	case s.Clock < 0 || s.Clock > maxClock || s.Wall < 0 || s.Wall > maxClock:
		return fmt.Errorf("clocks of %d and %d", s.Clock, s.Wall)
	case s.Window < 0 || s.Window > maxAge || s.LoadAge < 0 || s.LoadAge > maxAge || s.VitalsAge < 0 || s.VitalsAge > maxAge:
		return errors.New("readings of another time")
	case len(s.Cores) > MaxCores:
		return fmt.Errorf("%d cores", len(s.Cores))
	case len(s.Streams) > MaxStreams:
		return fmt.Errorf("%d streams", len(s.Streams))
	case len(s.Process) != 0 && (len(s.Process) != 2 || !within(s.Process, 1000*MaxCores)):
		return fmt.Errorf("a process load of %v", s.Process)
	case len(s.Others) > MaxOthers:
		return fmt.Errorf("%d other programs", len(s.Others))
	case !object(&s.Vitals):
		return errors.New("vitals that are no object")
	case !object(&s.Path):
		return errors.New("a path that is no object")
	}
	for _, o := range s.Others {
		if t := o.Thread; len(t) != 4 || t[0] < 0 || t[0] > maxTID || !within(t[1:3], 1000*MaxCores) || !coreNumber(t[3]) {
			return fmt.Errorf("another program of %v", t)
		}
	}
	last := -1
	for _, c := range s.Cores {
		if len(c) == 0 || len(c) > 7 || c[0] <= last || c[0] > math.MaxUint16 || !within(c[1:], 1000) || sum(c[1:]) > rounding {
			return fmt.Errorf("a core of %v", c)
		}
		last = c[0]
	}
	seen := make(map[int]bool, len(s.Streams))
	for i := range s.Streams {
		if err := s.Streams[i].check(); err != nil {
			return err
		}
		if seen[s.Streams[i].ID] {
			return fmt.Errorf("stream %d twice", s.Streams[i].ID)
		}
		seen[s.Streams[i].ID] = true
	}
	return nil
}

func (s *Stream) check() error {
	t := s.Thread
	switch {
	case s.ID < 1 || s.ID > MaxStreamID:
		return fmt.Errorf("a stream %d", s.ID)
	case s.Age < 0 || s.Age > maxAge:
		return fmt.Errorf("a socket read %d µs before", s.Age)
	case s.Bytes > math.MaxInt64 || s.Base > math.MaxInt64:
		return errors.New("a count that does not fit")
	case len(t) != 0 && (len(t) != 4 || t[0] < 0 || t[0] > maxTID || !within(t[1:3], 1000) || sum(t[1:3]) > rounding || !coreNumber(t[3])):
		return fmt.Errorf("a thread of %v", t)
	case len(s.Brief) != 0 && len(s.Brief) != 3:
		return fmt.Errorf("%d numbers instead of TCP_INFO", len(s.Brief))
	case len(s.Info) > maxInfo || len(s.Mem) > maxInfo:
		return errors.New("too many numbers of one socket")
	}
	for _, n := range s.Brief {
		if n > math.MaxInt64/1000 { // µs become ns
			return errors.New("a number that does not fit")
		}
	}
	return nil
}

// object reports whether text is an object or nothing. A null becomes nothing.
func object(text *json.RawMessage) bool {
	if bytes.Equal(*text, []byte("null")) {
		*text = nil
	}
	return len(*text) == 0 || (*text)[0] == '{'
}

// coreNumber reports whether n is the number of a core, or −1 for none.
func coreNumber(n int) bool { return n >= -1 && n <= math.MaxUint16 }

func within(list []int, most int) bool {
	for _, n := range list {
		if n < 0 || n > most {
			return false
		}
	}
	return true
}

func sum(list []int) (total int) {
	for _, n := range list {
		total += n
	}
	return total
}

// Refusal is the JSON of FrameAnswer: why a server does not do what a FrameRequest asked.
type Refusal struct {
	Refused string `json:"refused"`
}

// JSON gives the text to send.
func (r Refusal) JSON() []byte {
	text, err := json.Marshal(r)
	if err != nil {
		panic("wire: a string that is no JSON: " + err.Error())
	}
	return text
}
