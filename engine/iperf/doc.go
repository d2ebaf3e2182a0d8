// Package iperf is client and server of the iperf3 protocol over TCP: handshake, data
// streams, reporting intervals, results of both ends.
//
// [Dial] opens a test, [Client.Run] carries it to its end; [Server.Serve] runs many
// tests at once on one port. engine/session and cmd are the callers. Functions block;
// whatever goroutines and threads a test needs belong to the Client or Server and are
// waited for before its blocking function returns.
//
// # Inside
//
// A test has a control side and a data side. The control side (control.go, client.go,
// run.go, visit.go) follows the protocol on net.Conn only, so that every state and
// deadline is tested over pipes. The data side (traffic.go, meter.go) is the same in
// both roles: links that move bytes, counters, intervals, the final account. A link is
// a socket of engine/internal/sock in earnest and a pipe in tests.
//
// What a peer sends is checked by engine/internal/wire. Every wait has a deadline
// (deadlines.go) and an [Error] that names the state it was in. Once the traffic has
// been stopped, its account is kept whatever the peer does.
//
// Between two linerate peers a side channel runs on the control connection (PROTOCOL.md
// of engine/internal/wire). At the server files.about and a sampler read the computer
// through [Server.Host] for all tests, a sweeper probes the way to each client through
// [Server.Path], and each test's teller writes within an allowance; at the client farEnd
// keeps the newest for [Client.Far]. Nothing that happens on it can change a test.
//
// The package reads the host through Server.Host and probes paths through Server.Path only,
// and never prints, logs or ends the process.
package iperf
