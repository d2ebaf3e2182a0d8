package iperf

import "time"

// How long each state may take. A healthy peer needs a few round trips; the reference
// gives up reading after 10 s, so a wait for it that is longer than this is in vain.
const (
	// DefaultConnectTimeout covers all addresses of a name together. Linux sends its
	// SYN at 0, 1, 3 and 7 s: four chances.
	DefaultConnectTimeout = 10 * time.Second

	// staggerConnect is the head start of each address over the next one: RFC 8305
	// section 5 recommends 250 ms.
	staggerConnect = 250 * time.Millisecond

	// firstStateTimeout runs from the cookie to PARAM_EXCHANGE. A server that stays
	// silent here is no iperf3 server, or one that hangs on its last client.
	firstStateTimeout = 10 * time.Second

	// replyTimeout is for every other single answer: parameters, TEST_START, results.
	replyTimeout = 10 * time.Second

	// streamsTimeout is the whole of CREATE_STREAMS. A stock client opens its streams
	// one by one: 256 of them at 300 ms each take 77 s.
	streamsTimeout = 120 * time.Second

	// streamIdleTimeout is the longest pause between two data connections of one test.
	streamIdleTimeout = 15 * time.Second

	// stopTimeout bounds the exchange of results after Client.Stop: a person waits.
	stopTimeout = 3 * time.Second

	// drainTimeout bounds the wait for the last bytes of -n and -k, which drainPoll looks
	// for: 4 MiB of send buffer take 7 s at 5 Mbit/s.
	drainTimeout = 10 * time.Second
	drainPoll    = 2 * time.Millisecond

	// arrivalPause is the longest pause in which a server waits for the last bytes of
	// -n and -k after TEST_END, which overtakes them on the other connection.
	arrivalPause = 50 * time.Millisecond

	// dropAfter is how long after TEST_END a server may go on sending before its data
	// connections are reset. A server that reads its control connection at all has
	// closed them long before, but its system may still send megabytes of their
	// buffers, and its results wait behind those on a slow path.
	dropAfter = 500 * time.Millisecond

	// goodbyeTimeout is for bytes that are polite, not needed: IPERF_DONE,
	// CLIENT_TERMINATE, ACCESS_DENIED.
	goodbyeTimeout = time.Second

	// writeTimeout bounds each write on the control connection. They are small, so it
	// only fires when the peer has stopped reading or the path is dead.
	writeTimeout = 10 * time.Second

	// cookieTimeout is what a newcomer has to say who it is; the reference has 10 s.
	cookieTimeout = 10 * time.Second

	// blameTimeout is how long the control connection has to explain a data
	// connection that broke: its reason is better than "reset by peer".
	blameTimeout = time.Second

	// defaultRcvTimeout is iperf3's --rcv-timeout.
	defaultRcvTimeout = 120 * time.Second

	// watchdogGrace is how long after its planned end a test may still be running on
	// the server, as in iperf3 since 3.7: on a slow path TEST_END queues behind data.
	watchdogGrace = 40 * time.Second

	// joinTimeout is when a loop that was asked to stop gets its socket shut down. Loops
	// look every 20 ms, so this fires only when one is stuck in the kernel. It must not
	// fire because the computer is busy: iperf3 3.12 takes the broken connection for a
	// failure of the test, which 100 ms brought about at 8 times more threads than cores.
	joinTimeout = time.Second

	// sampleEvery is the cadence of TCP_INFO.
	sampleEvery = 100 * time.Millisecond

	// retryEvery is the pause between connects of Options.Retry: a stock server's
	// listener is gone for a few milliseconds between tests.
	retryEvery = time.Millisecond

	// recentCookies is how long the server still knows a finished test, to tell a
	// late data connection of it from a new client.
	recentCookies = 10 * time.Second
)
