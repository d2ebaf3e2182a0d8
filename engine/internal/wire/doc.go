// Package wire reads and writes what two iperf3 peers say to each other on the control
// connection: the cookie, state bytes, the JSON of parameters and results, errors, and
// linerate's own side-channel frames. PROTOCOL.md beside it describes the format.
//
// engine/iperf is its only caller. The package knows bytes only: it opens no socket,
// waits for nothing and sets no deadline. Everything that comes from a peer is checked
// here: lengths against a limit before memory is taken, JSON types as strictly as
// iperf3 3.18, numbers against the ranges of iperf3's command line; strings leave it
// without control characters. Unknown keys are ignored and missing ones defaulted, so
// that every iperf3 since 3.1 can be talked to.
package wire
