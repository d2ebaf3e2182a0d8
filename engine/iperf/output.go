package iperf

import "linerate/engine"

// Output is what a server has printed about one test.
type Output struct {
	Text string
	JSON bool // Text is a JSON document
}

// Outputter is a Sink of a server that can hand its output to the client, for
// --get-server-output. The server calls Output after the last Interval and before End,
// from the same goroutine, with what this end has measured; the client's part is unknown
// then. iperf3 sends its final lines too, so an implementation prints them into Output.
type Outputter interface {
	engine.Sink
	Output(sofar engine.Result) Output
}
