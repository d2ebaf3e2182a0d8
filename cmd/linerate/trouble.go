package main

import (
	"errors"
	"net"

	"linerate/engine"
	"linerate/engine/iperf"
)

// testProblem puts the end of a failed test into a sentence with a hint, and into iperf3's
// words where scripts know them.
func testProblem(err error) *problem {
	p := failure(err, "")
	var field *engine.FieldError
	if errors.As(err, &field) {
		return usageLike("", field.Error(), field.Hint)
	}
	var e *iperf.Error
	if !errors.As(err, &e) {
		return p
	}
	p.hint = e.Hint
	if errors.Is(err, iperf.ErrInterrupted) {
		p.code = exitInterrupted
	}
	p.iperf3 = iperf3Text(e)
	return p
}

// unreachable is how iperf3 begins whatever keeps it from connecting.
const unreachable = "unable to connect to server - server may have stopped running or use a different port, firewall issue, etc.: "

// iperf3Text is what iperf3 3.18 prints for the same trouble; "" where it has no words of
// its own, or where ours say more.
func iperf3Text(e *iperf.Error) string {
	var dial *net.OpError
	switch {
	case errors.Is(e, iperf.ErrBusy):
		return "the server is busy running a test. try again later"
	case errors.Is(e, iperf.ErrRefused):
		return unreachable + "Connection refused"
	case unknownName(e):
		return unreachable + "Name or service not known"
	case errors.As(e, &dial) && dial.Op == "dial" && e.Timeout:
		return unreachable + "Connection timed out"
	}
	switch e.Code {
	case 109:
		return "control socket has closed unexpectedly"
	case 120:
		return "the server has terminated"
	case 134:
		return "unable to set TCP_CONGESTION: Supplied congestion control algorithm not supported on this host"
	}
	return ""
}

// unknownName reports whether a host could not be found by its name.
func unknownName(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns) && dns.IsNotFound
}
