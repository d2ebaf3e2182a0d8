// Package sock is the data path: it moves the payload of TCP tests through sockets that
// Go's network poller does not know, and reads what the kernel says about them.
//
// engine/iperf is its only caller. It opens connections with the net package and
// [Options], exchanges cookies on them, then gives each to [Take] and runs one
// [Conn.Send] or [Conn.Recv] per stream, each in a goroutine of its own. A [Watcher]
// reads TCP_INFO beside them, a [Budget] stops them at an exact number of bytes, and
// [Reserve] makes room for their threads.
//
// # What makes it fast
//
// One thread per stream makes few, long system calls on a blocking socket: the same
// block, which stays in the cache, stands many times in one iovec, and the number
// follows how long the calls take ([SendConfig.Batch]). Nothing is allocated, locked or
// sent on a channel per call; the count is one atomic on a cache line of its own.
// No call blocks longer than 20 ms, so that no byte stays uncounted longer than that
// and a stop is always seen.
//
// While [Reserve] has room for every thread, calls are made without telling the
// scheduler (RawSyscall): the thread keeps its place among GOMAXPROCS while it is in the
// kernel. Otherwise the runtime's monitor takes the place away every 10 ms and then
// polls at 20 µs for the next case: at a paced 10 Gbit/s on one stream 0.11 of 0.33
// CPU-seconds per GB, and up to a tenth of the CPU time at full speed. What speaks against such
// calls is that the collector cannot stop a thread inside one. Here it can: the
// signal with which the runtime asks a thread to stop interrupts a call that waits,
// batches are cut to a copy of 0.2 ms, and no call outlasts the socket's timeout. With 8
// threads at full speed a collection stops the world for 2.6 to 3.3 ms on two busy
// cores, against 2.0 to 3.1 ms the other way.
//
// # What it never does
//
// It does not speak the iperf3 protocol, does not interpret payload, prints nothing,
// and reads no host facts beyond its own sockets.
package sock
