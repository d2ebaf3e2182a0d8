package diagnose

import (
	"time"

	"linerate/engine"
	"linerate/probes"
)

// Evidence is everything a rule may look at, at one moment: the test, both directions,
// both ends, the path between them, and how earlier steps went. Rules do not change it
// and do not keep it, so its slices may be reused for the next one.
//
// What is not known is a Reading with a reason. The zero Evidence is valid and supports
// no finding but "not enough evidence yet".
type Evidence struct {
	Test  Test
	Flows [2]Flow // by engine.Upload and engine.Download; only those the test's direction has
	Ends  [2]End  // by engine.Local and engine.Far
	Path  Path
	Steps []Step // finished steps of this session, oldest first; at the end of a test its own is the last
}

// Test is what was asked and between whom.
type Test struct {
	Role      engine.Role
	Spec      engine.Spec // of the running step, as the peer confirmed it
	Step      int         // number of the step, from 1; a new number makes the Tracker start afresh
	Age       time.Duration
	PeerAgent string // "iperf 3.18"; "" where the peer does not tell
	Linerate  bool   // the peer speaks the side channel
	SameHost  bool   // both ends run on this computer and share its cores

	// A simulated link paces the streams so that any computer shows how they add up.
	LinkBps   float64 // its line speed, bits/s; 0: the link is real
	StreamBps float64 // what it gives to one stream, bits/s; 0: Spec.Bitrate
}

// Flow is the traffic in one direction.
type Flow struct {
	Rate     probes.Reading[float64]        // goodput of all streams over Window, bits/s
	Window   time.Duration                  // what Rate and the stream windows cover: 1 to 3 s
	Seconds  []float64                      // goodput of the last whole seconds of this step, bits/s, oldest first, at most 10
	Idle     probes.Reading[time.Duration]  // since payload last moved
	Sender   probes.Reading[[]StreamWindow] // sockets of the sending end
	Receiver probes.Reading[[]StreamWindow] // sockets of the receiving end
	Age      time.Duration                  // since the newest counter was read
}

// End is one of the two computers.
type End struct {
	Cores   probes.Reading[[]probes.CoreLoad] // mean over Window
	Threads probes.Reading[[]Thread]          // threads that move this test's bytes
	Process probes.Reading[float64]           // CPU of the whole measuring process; 1 is one core
	Window  time.Duration                     // what the loads cover; about 2 s
	Age     time.Duration                     // since they were read
	Host    probes.Reading[probes.Host]
	NIC     probes.Reading[probes.NIC] // the interface the test runs over
	Extra   EndCounters
}

// EndCounters are readings that sharpen a rule where they exist; a zero Reading is
// unknown.
type EndCounters struct {
	// NetRx is each core's part of the NET_RX softirqs over the window, 0 to 1, in order
	// of End.Cores: /proc/softirqs.
	NetRx probes.Reading[[]float64]
	// WantZeroWindow is the rate of TcpExt.TCPWantZeroWindowAdv, 1/s: /proc/net/netstat.
	WantZeroWindow probes.Reading[float64]
}

// Thread is one thread that moves payload.
type Thread struct {
	probes.ThreadLoad
	Dir   engine.Direction // Upload or Download
	Sends bool
}

// Path is what lies between the ends.
type Path struct {
	Ceiling probes.Reading[Ceiling] // what the link leaves for payload
}

// Step is a finished step.
type Step struct {
	Spec    engine.Spec
	Rates   [2]float64              // mean goodput by direction, bits/s; 0 where nothing flowed
	PeerCPU probes.Reading[float64] // the far process as its results tell; 1 is one core
}

// Sender is the end that sends in direction dir.
func (e *Evidence) Sender(dir engine.Direction) engine.Side {
	if (dir == engine.Upload) == (e.Test.Role == engine.Client) {
		return engine.Local
	}
	return engine.Far
}

// Receiver is the end that receives in direction dir.
func (e *Evidence) Receiver(dir engine.Direction) engine.Side {
	return engine.Far - e.Sender(dir)
}

// flow gives one direction; it must be Upload or Download.
func (e *Evidence) flow(dir engine.Direction) *Flow { return &e.Flows[dir] }

// loads gives the end whose cores work for side: on one computer the local readings
// serve both.
func (e *Evidence) loads(side engine.Side) *End {
	if e.Test.SameHost {
		side = engine.Local
	}
	return &e.Ends[side]
}

// streams counts the streams of both directions together.
func (e *Evidence) streams() int {
	return e.Test.Spec.Streams * len(e.Test.Spec.Direction.Dirs())
}
