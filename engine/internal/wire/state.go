package wire

import (
	"fmt"
	"io"
)

// State is the one byte by which the two ends lead each other through a test. It is
// signed on the wire; the names are those of iperf3's iperf_api.h.
type State int8

const (
	TestStart       State = 1  // server: all streams accepted, reset the counters
	TestRunning     State = 2  // server: go
	TestEnd         State = 4  // client: the test is over
	ParamExchange   State = 9  // server: send your parameters
	CreateStreams   State = 10 // server: open the data connections
	ServerTerminate State = 11 // server: killed by a signal
	ClientTerminate State = 12 // client: killed by a signal
	ExchangeResults State = 13 // server: send your results, mine follow
	DisplayResults  State = 14 // server: the exchange is complete
	Done            State = 16 // client: goodbye
	AccessDenied    State = -1 // server: busy, or a data connection it does not expect
	ServerError     State = -2 // server: a Fault follows
)

// Side-channel frames between two linerate peers: a length and JSON follow, see
// ReadFrame. They are legal only after the client asked for them in its parameters.
const (
	FrameHello  State = 0x40 // server: version and host facts
	FrameSample State = 0x41 // server: a sample of its load, while the test runs

	// Reserved for changing the stream count of a running test.
	FrameRequest State = 0x42 // client: please change it; refused so far
	FrameAnswer  State = 0x43 // server: a Refusal
)

var stateNames = map[State]string{
	TestStart: "TEST_START", TestRunning: "TEST_RUNNING", TestEnd: "TEST_END",
	ParamExchange: "PARAM_EXCHANGE", CreateStreams: "CREATE_STREAMS",
	ServerTerminate: "SERVER_TERMINATE", ClientTerminate: "CLIENT_TERMINATE",
	ExchangeResults: "EXCHANGE_RESULTS", DisplayResults: "DISPLAY_RESULTS",
	Done: "IPERF_DONE", AccessDenied: "ACCESS_DENIED", ServerError: "SERVER_ERROR",
}

func (s State) String() string {
	if name, ok := stateNames[s]; ok {
		return name
	}
	if s.Frame() {
		return fmt.Sprintf("frame 0x%02x", uint8(s))
	}
	return fmt.Sprintf("state %d", int8(s))
}

// Known reports whether s is a state that travels between stock peers.
func (s State) Known() bool { _, ok := stateNames[s]; return ok }

// Frame reports whether s opens a side-channel frame.
func (s State) Frame() bool { return s >= FrameHello && s <= FrameAnswer }

// StateError is a byte where a state was due that is none.
type StateError struct{ Byte byte }

func (e *StateError) Error() string { return fmt.Sprintf("0x%02x is no iperf3 state", e.Byte) }

// ReadState reads one state byte. It returns io.EOF when the peer has closed, and a
// *StateError for a byte that no iperf3 sends.
func ReadState(r io.ByteReader) (State, error) {
	b, err := r.ReadByte()
	if err != nil {
		return 0, err
	}
	if s := State(int8(b)); s.Known() || s.Frame() {
		return s, nil
	}
	return 0, &StateError{b}
}

// Append adds the state's byte to dst.
func (s State) Append(dst []byte) []byte { return append(dst, byte(s)) }
