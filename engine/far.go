package engine

import (
	"net/netip"
	"time"

	"linerate/probes"
)

// FarEnd is what a linerate peer tells about its end of a running test: facts about its
// computer at the beginning and now and then, samples twice a second. It is a value: once
// given out, nothing in it is written again.
//
// Everything in it comes from the network. It has been checked for range and size, and its
// texts have no control characters; it may still be wrong.
type FarEnd struct {
	Agent    string                         // "linerate 0.1"
	Host     probes.Host                    // not read where the far end does not tell
	Route    probes.Reading[probes.Route]   // back to this end; its NIC is the far end's interface
	Adapter  probes.Reading[probes.Adapter] // behind that interface
	Settings probes.Settings                // those the far end could read; nil when it told none
	Firewall probes.Firewall                // not read where the far end does not tell
	Memory   probes.Reading[float64]        // peak bandwidth of its RAM, bits/s
	FactsAt  time.Time                      // when the facts arrived, local clock

	Seq     uint64    // number of the newest sample; 0 while there is none
	At      time.Time // when it arrived
	Sampled time.Time // when it was taken: the far clock's time translated to the local clock
	Wall    time.Time // the same moment by the far end's time of day

	// Offset is how far the far end's time of day is ahead of this one's, and OffsetErr the
	// most by which it, and with it Sampled, can be wrong. Both rest on the bytes that went
	// to and fro at the start of the test: the error is half their round trip, and grows by
	// 0.1 ms per second of the test where no later sample travelled faster.
	Offset, OffsetErr time.Duration

	// Load is the far end's: At on the local clock, Threads only those of this test, Others
	// a handful.
	Load probes.Load
	// Vitals count from the far end's first reading for this test: two of them can be
	// compared with Since. At is on the local clock. They come less often than samples
	// where the test is slow; the newest are kept.
	Vitals probes.Vitals
	// Streams are the far ends of the streams, in order of creation, without those not
	// heard of yet. On a slow test they come in turn, each with the time of its reading.
	Streams []FarStream

	// PathMTU is what the far end has found by probing the path from there to here, once in
	// a test: Out and what belongs to it are of that direction, the way back is not read.
	// The zero value while it has not told. Probed is the address that it probed: this
	// computer's, or that of what stands before it and takes its place (NAT, a proxy);
	// invalid where it does not tell.
	PathMTU probes.PathMTU
	Probed  netip.Addr

	// Ended says why no more samples will come although the test may go on: the far end
	// sent something that makes no sense. "" while all is well.
	Ended string
}

// FarStream is the far end of one stream. In Counters, Sender means that the far end
// sends, Local is its address, Bytes what it has accepted or read, and TCPAt is on the
// local clock.
//
// Where samples must be small, TCP is unknown and only the three numbers below are there.
type FarStream struct {
	Counters
	At          time.Time              // when the far end counted Bytes, local clock
	Retransmits probes.Reading[uint64] // segments since the connection was made; only a sender knows
	Cwnd        probes.Reading[uint64] // bytes; of a sender
	RTT         probes.Reading[time.Duration]
}
