package wire

import (
	"encoding/json"
	"errors"
	"fmt"
)

// SideVersion is the version of the side channel that this package writes: x_linerate.v
// of the parameters and v of a hello.
const SideVersion = 1

// maxClock bounds times of a peer's clocks, µs: what a float64 counts exactly, 285 years.
const maxClock = 1 << 53

// Hello is the JSON of FrameHello: who the server is and what its computer is like. The
// facts are JSON of types that this package does not know; who decodes them must take
// them for a stranger's.
type Hello struct {
	Version  int             `json:"v"`
	Agent    string          `json:"agent,omitempty"`
	Received int64           `json:"rx"` // when the parameters were read, µs of the server's steady clock
	Sent     int64           `json:"tx"` // when this was written, µs of the same clock
	Host     json.RawMessage `json:"host,omitempty"`
	Route    json.RawMessage `json:"route,omitempty"`
	Adapter  json.RawMessage `json:"adapter,omitempty"`
	Settings json.RawMessage `json:"settings,omitempty"`
	Firewall json.RawMessage `json:"firewall,omitempty"`
	Memory   json.RawMessage `json:"memory,omitempty"`
}

// JSON gives the text to send. A hello that is too long leaves out its facts, the last
// first.
func (h Hello) JSON() ([]byte, error) {
	for _, facts := range []*json.RawMessage{nil, &h.Settings, &h.Adapter, &h.Memory, &h.Firewall, &h.Route, &h.Host} {
		if facts != nil {
			*facts = nil
		}
		text, err := json.Marshal(h)
		if err != nil {
			return nil, fmt.Errorf("writing a hello: %w", err)
		}
		if len(text) <= MaxFrame {
			return text, nil
		}
	}
	return nil, errors.New("writing a hello: the agent's name is too long")
}

// ParseHello reads a server's hello. Facts are objects or nil. Unknown keys are for
// later versions.
func ParseHello(text []byte) (Hello, error) {
	var h Hello
	if err := json.Unmarshal(text, &h); err != nil {
		return Hello{}, fmt.Errorf("parsing a hello: %w", err)
	}
	if h.Version < 1 {
		return Hello{}, fmt.Errorf("a hello of version %d", h.Version)
	}
	if h.Received < 0 || h.Sent < h.Received || h.Sent > maxClock {
		return Hello{}, fmt.Errorf("a hello with clocks of %d and %d", h.Received, h.Sent)
	}
	h.Agent = Clean(h.Agent, maxName)
	for _, facts := range []*json.RawMessage{&h.Host, &h.Route, &h.Adapter, &h.Settings, &h.Firewall, &h.Memory} {
		if !object(facts) {
			return Hello{}, errors.New("a hello with facts that are no objects")
		}
	}
	return h, nil
}

// AppendFrame adds a whole side-channel frame to dst. body must not be longer than
// MaxFrame.
func AppendFrame(dst []byte, s State, body []byte) []byte {
	if !s.Frame() || len(body) > MaxFrame {
		panic(fmt.Sprintf("wire: %v of %d bytes", s, len(body)))
	}
	return AppendJSON(s.Append(dst), body)
}
