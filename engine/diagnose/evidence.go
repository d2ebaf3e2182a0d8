package diagnose

import (
	"net/netip"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// Evidence is everything a rule may look at, at one moment: the test, both directions,
// both ends, the path between them, and how earlier steps went. Rules do not change it
// and do not keep it, so its slices may be reused for the next one.
//
// What is not known is a Reading with a reason. The zero Evidence is valid and supports
// no finding but "not enough evidence yet". EVIDENCE.md describes its JSON form.
type Evidence struct {
	Test  Test    `json:"test"`
	Flows [2]Flow `json:"flows"` // by engine.Upload and engine.Download; only those the test's direction has
	Ends  [2]End  `json:"ends"`  // by engine.Local and engine.Far
	Path  Path    `json:"path"`
	Steps []Step  `json:"steps"` // finished steps of this session, oldest first; at the end of a test its own is the last
}

// Test is what was asked and between whom.
type Test struct {
	Role      engine.Role   `json:"role"`
	Spec      engine.Spec   `json:"spec"` // of the running step, as the peer confirmed it
	Step      int           `json:"step"` // number of the step, from 1; a new number makes the Tracker start afresh
	Age       time.Duration `json:"age_ns"`
	PeerAgent string        `json:"peer_agent"` // "iperf 3.18"; "" where the peer does not tell
	Linerate  bool          `json:"linerate"`   // the peer speaks the side channel
	SameHost  bool          `json:"same_host"`  // both ends run on this computer and share its cores
	UDP       bool          `json:"udp"`        // the payload goes in datagrams

	// Idle says that nothing flows and nothing will: only what is set up is judged, not
	// how it performs. The spec's direction then says from where the far end is looked at.
	Idle bool `json:"idle"`
	// ExpectBps is the line speed the operator says there is, bits/s; 0: none was named.
	ExpectBps float64 `json:"expect_bps"`

	// A simulated link paces the streams so that any computer shows how they add up.
	LinkBps   float64 `json:"link_bps"`   // its line speed, bits/s; 0: the link is real
	StreamBps float64 `json:"stream_bps"` // what it gives to one stream, bits/s; 0: Spec.Bitrate
}

// Flow is the traffic in one direction.
type Flow struct {
	Rate     probes.Reading[float64]        `json:"rate_bps"`    // goodput of all streams over Window, bits/s
	Window   time.Duration                  `json:"window_ns"`   // what Rate and the stream windows cover: 1 to 3 s
	Seconds  []float64                      `json:"seconds_bps"` // goodput of the last whole seconds of this step, bits/s, oldest first, at most 10
	Idle     probes.Reading[time.Duration]  `json:"idle_ns"`     // since payload last moved
	Sender   probes.Reading[[]StreamWindow] `json:"sender"`      // sockets of the sending end
	Receiver probes.Reading[[]StreamWindow] `json:"receiver"`    // sockets of the receiving end
	Age      time.Duration                  `json:"age_ns"`      // since the newest counter was read
}

// End is one of the two computers.
type End struct {
	Cores   probes.Reading[[]probes.CoreLoad] `json:"cores"`     // mean over Window
	Threads probes.Reading[[]Thread]          `json:"threads"`   // threads that move this test's bytes
	Process probes.Reading[float64]           `json:"process"`   // CPU of the whole measuring process; 1 is one core
	Window  time.Duration                     `json:"window_ns"` // what the loads cover; about 2 s
	Age     time.Duration                     `json:"age_ns"`    // since they were read
	Host    probes.Reading[probes.Host]       `json:"host"`
	NIC     probes.Reading[probes.NIC]        `json:"nic"` // the interface the test runs over

	// Others are the busiest threads of the computer that are not this test's, kernel
	// threads included ("ksoftirqd/0", "kworker/3:1", "burnP6"); a handful is enough.
	Others probes.Reading[[]probes.ThreadLoad] `json:"others"`

	// Vitals are what happened in the last seconds (made by probes.Vitals.Since; 3 s and
	// more make slow counters meaningful). VitalsAge is the time since they were read.
	Vitals    probes.Vitals `json:"vitals"`
	VitalsAge time.Duration `json:"vitals_age_ns"`

	// FactsAge is the time since Host, NIC and what follows were read.
	FactsAge time.Duration               `json:"facts_age_ns"`
	Adapter  probes.Adapter              `json:"adapter"` // behind NIC
	Settings probes.Settings             `json:"settings"`
	Firewall probes.Firewall             `json:"firewall"`
	Disk     probes.Reading[probes.Disk] `json:"disk"`       // behind the file this end reads or writes; Absent where it moves memory
	Memory   probes.Reading[float64]     `json:"memory_bps"` // peak bandwidth of its RAM, bits/s
}

// Thread is one thread that moves payload.
type Thread struct {
	probes.ThreadLoad
	Dir   engine.Direction `json:"dir"` // Upload or Download
	Sends bool             `json:"sends"`
}

// Path is what lies between the ends, seen from this one.
type Path struct {
	Ceiling  probes.Reading[Ceiling] `json:"ceiling"` // what the link leaves for payload
	MTU      probes.PathMTU          `json:"mtu"`
	RTT      probes.PathRTT          `json:"rtt"`
	Dest     netip.Addr              `json:"dest"`     // the far end's address
	Source   netip.Addr              `json:"source"`   // the local address used
	Gateway  probes.Reading[bool]    `json:"gateway"`  // the far end is this computer's default gateway
	Listener probes.Reading[string]  `json:"listener"` // program that owns the port on this computer, where the far end is here too: "sshd"
}

// Step is a finished step.
type Step struct {
	Spec    engine.Spec             `json:"spec"`
	Rates   [2]float64              `json:"rates_bps"` // mean goodput by direction, bits/s; 0 where nothing flowed
	PeerCPU probes.Reading[float64] `json:"peer_cpu"`  // the far process as its results tell; 1 is one core
	UDP     bool                    `json:"udp"`
	File    bool                    `json:"file"` // payload came from or went to a file at either end
	MTU     int                     `json:"mtu"`  // of the local interface then, bytes; 0 unknown
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

// end gives the computer of one side: on a single computer the local readings serve both.
func (e *Evidence) end(side engine.Side) *End { return &e.Ends[e.side(side)] }

// streams counts the streams of both directions together.
func (e *Evidence) streams() int {
	return e.Test.Spec.Streams * len(e.Test.Spec.Direction.Dirs())
}
