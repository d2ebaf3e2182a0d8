// Package session is the conductor of a measurement: it runs one test after another
// against the same server, polls the host beside them, asks the rules what holds the
// traffic back, and publishes what is known as immutable snapshots.
//
// cmd/linerate creates a Session from a Config, calls Run, and hands the Session to the
// screen, which reads with Next and steers with Do. Nothing else starts tests. [Examine]
// gathers what the rules can use without one.
//
// # One owner
//
// Run is one goroutine that owns all state. It sleeps until the next of its deadlines
// (a tick every 100 ms, a change that falls due, the end of the time to quit) or until
// something arrives: a command, an opened test, an ended one, facts about the host. A
// second goroutine opens the running test and blocks in its Run; a third, if there is a
// Sink, hands it what the tests report. All have ended when Run returns, but for a Sink
// that still blocks after Config.SinkWait.
//
// # Steps
//
// What the operator changes while traffic runs becomes a new step, an engine.Segment:
// the running test is ended, its results are exchanged, and the next one is opened at
// once on the address that answered before. Keys are collected until none has come for
// 300 ms, and a change that is asked while another is on its way waits for it. Counters
// belong to one test, so no byte of a step can be counted in the next.
//
// # Proofs
//
// A proof of a verdict is a step like any other, marked in its Change: the spec differs in
// one thing, 2 s are left out, 6 s are measured and compared with the last seconds of the
// step before, and the spec from before returns. Whatever the operator asks meanwhile of
// the test ends it. A sweep of packet sizes is the one proof that needs no step.
//
// # What it never does
//
// It prints nothing, draws nothing, moves no payload byte, and changes nothing on the
// host. It never waits for its reader or its Sink: a snapshot nobody has fetched is
// replaced by the next, and what a Sink has not taken is kept in memory.
package session
