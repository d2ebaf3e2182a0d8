package iperf

import (
	"net/netip"
	"time"

	"linerate/engine"
)

// Options are what Dial needs beside the test itself.
type Options struct {
	// Sink gets the test's reports; may be nil.
	Sink engine.Sink
	// Addr, if valid, is the only address to connect to: the one that answered before.
	Addr netip.AddrPort
	// Retry is for how long a server that refuses, resets or is busy is asked again,
	// every millisecond: a stock server's listener is gone for a moment between tests.
	Retry time.Duration
	// Agent is what the server is told as client_version; "" means "linerate".
	Agent string
}

func (o Options) agent() string {
	if o.Agent == "" {
		return "linerate"
	}
	return o.Agent
}
