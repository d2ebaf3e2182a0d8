package iperf

import (
	"errors"

	"linerate/engine/internal/wire"
)

// Sentinels for decisions; use errors.Is.
var (
	ErrBusy        = errors.New("the server is busy")
	ErrRefused     = errors.New("connection refused")
	ErrNotIperf3   = errors.New("not an iperf3 server")
	ErrInterrupted = errors.New("interrupted")
)

// Error is how a test failed, in words for people.
type Error struct {
	State   string // what was going on: "waiting for the server's parameters"
	Text    string // one sentence, lower case, without full stop
	Hint    string // what can be done; may be empty
	Code    int    // iperf3's error number; 0 none
	Timeout bool   // a deadline passed
	Err     error  // cause; may be nil
}

// Error gives the sentence.
func (e *Error) Error() string { return e.Text }

func (e *Error) Unwrap() error { return e.Err }

// States of a client, as Error.State and the sentences name them.
const (
	stateResolve = "looking up the server's name"
	stateConnect = "connecting"
	stateFirst   = "waiting for the server's first word"
	stateParams  = "waiting for the server to take the parameters"
	stateStreams = "opening the data streams"
	stateStart   = "waiting for the server to start the test"
	stateRunning = "running the test"
	stateEnd     = "waiting for the server to end the test"
	stateResults = "waiting for the server's results"
	stateDisplay = "waiting for the server to end the exchange of results"
)

// faultError is a SERVER_ERROR as an error of ours.
func faultError(state string, f wire.Fault) *Error {
	e := &Error{State: state, Code: int(f.Code), Text: "the server ended the test: " + f.Code.Text()}
	switch f.Code {
	case wire.CodeAccessDenied:
		e.Err = ErrBusy
	case wire.CodeAuth:
		e.Text = "the server asks for a user name and password, or did not accept them"
		e.Hint = "use a server without --authorized-users-path: linerate cannot log in yet"
	case wire.CodeRateLimit:
		e.Hint = "ask for less: -b RATE counts per stream, and twice both ways"
	case wire.CodeMaxDuration:
		e.Hint = "ask for a shorter test with -t SECONDS; -t 0 is refused by such a server"
	case wire.CodeExpired:
		e.Hint = "ask for a shorter test with -t SECONDS"
	case wire.CodeNoData:
		e.Hint = "the data connections may be blocked while the control connection is not"
	case wire.CodeCongestion:
		e.Hint = "the server's kernel does not have what -C names"
	}
	return e
}

func busyError(state string, cause error) *Error {
	return &Error{
		State: state, Code: int(wire.CodeAccessDenied), Err: errors.Join(ErrBusy, cause),
		Text: "the server is busy with another test",
		Hint: "an iperf3 server runs one test at a time: try again later, or start `linerate serve` there",
	}
}

func interruptedError(state string, cause error) *Error {
	return &Error{State: state, Text: "interrupted while " + state, Err: errors.Join(ErrInterrupted, cause)}
}

func notIperf3Error(state, said string) *Error {
	e := &Error{
		State: state, Err: ErrNotIperf3,
		Text: "the other end does not speak iperf3",
		Hint: "check the port; iperf3 listens on 5201 unless told otherwise",
	}
	if said != "" {
		e.Text += ": it answered " + said
	}
	return e
}
