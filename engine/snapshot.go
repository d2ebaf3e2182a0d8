package engine

import (
	"net/netip"
	"time"

	"linerate/probes"
)

// Phase is what a session is doing.
type Phase uint8

const (
	Connecting Phase = iota // first connection, or a new one after a change
	Running                 // payload flows
	Changing                // a step has ended, the next one is being opened
	Stopped                 // traffic stopped by the operator, the session lives
	Ending                  // TEST_END sent, results being exchanged
	Done                    // over; Snapshot.Err tells how
)

var phaseNames = [...]string{"connecting", "running", "changing", "stopped", "ending", "done"}

func (p Phase) String() string { return phaseNames[min(int(p), len(phaseNames)-1)] }

// Stream is one data connection as the screen shows it.
type Stream struct {
	Conn
	Rate        float64                 // bits/s over the averaging window
	Bytes       uint64                  // since the step began, its omitted part left out
	Retransmits probes.Reading[uint64]  // since the step began
	RetransRate probes.Reading[float64] // segments per second over the averaging window
	Cwnd        probes.Reading[uint64]  // bytes
	RTT         probes.Reading[time.Duration]
	TCP         probes.Reading[TCPInfo] // all of it, for the zoomed table and the rules
	TCPAge      time.Duration
	Thread      probes.Reading[probes.ThreadLoad] // the local thread that moves its bytes
	Trail       Series                            // rate, last 60 s
}

// Sum is one direction over all its streams.
type Sum struct {
	Dir         Direction
	Rate        float64 // bits/s now, over the averaging window
	Mean        float64 // of this step, its omitted part left out
	Min, Max    float64 // of this step's 1 s means; 0 while there is none
	Bytes       uint64  // of this step
	Retransmits probes.Reading[uint64]
	RetransRate probes.Reading[float64]
	Fairness    float64                 // Jain's index over the streams, 0 to 1; 0 for a single stream
	Ceiling     probes.Reading[float64] // goodput the link allows, bits/s: rule R09's C
	Delta       probes.Reading[float64] // share by which Mean differs from that of step DeltaTo
	DeltaTo     int                     // number of the last earlier step with payload in this direction
}

// Segment is one step: the time from one live change to the next, one test on the wire.
type Segment struct {
	Index   int    // from 1
	Change  string // what the operator changed: "streams 1→2", "start"
	Spec    Spec
	Start   time.Duration // session time of TEST_RUNNING
	End     time.Duration // 0 while it runs
	Gap     time.Duration // without payload before it: from the end of the one before to TEST_RUNNING
	Sums    []Sum         // per direction; final once End is set
	PeerCPU probes.Reading[CPUUse]
	Verdict string  // code of the main finding at its end, or now
	Title   string  // and its title
	Err     string  // how it ended early; "" well
	Results *Result // as exchanged; nil while it runs
	Proof   bool    // made by a proof, which goes back by itself
}

// Event is something worth a line in the log: a change, a warning, a verdict.
type Event struct {
	Seq  uint64
	At   time.Duration // session time
	Text string
}

// Peer is the other end.
type Peer struct {
	Host     string         // as the user typed it
	Addr     netip.AddrPort // the address that answered
	Agent    string         // "iperf 3.18", "linerate 0.1"; "" unknown
	Linerate bool
	HostInfo probes.Reading[probes.Host]  // facts about the far host, if it is linerate
	Route    probes.Reading[probes.Route] // its way back to this end with the interface it uses, if it is linerate
	FactsAge time.Duration                // of HostInfo and Route
	Load     probes.Reading[probes.Load]  // its cores, if it is linerate
	LoadAge  time.Duration
	Drops    probes.Reading[Drops] // what it has lost, if it is linerate
	DropsAge time.Duration
	Loopback bool // this very computer: local and far cores are the same ones
}

// Best is the state of "find best stream count".
type Best struct {
	Active bool
	Trying int     // streams under test
	Found  int     // 0 while searching
	Rate   float64 // SUM at Found, bits/s
	Reason string  // why it stopped: "8 streams gave +1 % over 4"
}

// Snapshot is the whole state of a session at one moment. It is immutable: slices in it
// are never written again.
type Snapshot struct {
	Seq      uint64
	At       time.Time     // wall clock
	Elapsed  time.Duration // session time
	Phase    Phase
	Note     string // what it waits for: "waiting for the server's results, 2 s left"
	Peer     Peer
	Spec     Spec      // confirmed by the server
	Asked    *Spec     // a change on its way; nil when none
	Label    string    // "simulated link 10G", "demo"; "" for a plain test
	Segments []Segment // oldest first, the running one last
	Streams  []Stream  // upload first, in order of ID
	Sums     []Sum     // one per direction that flows
	Host     probes.Host
	Route    probes.Reading[probes.Route]
	PathRTT  probes.PathRTT // without load and under it
	PathMTU  probes.PathMTU
	Load     probes.Load
	Drops    probes.Reading[Drops] // what this computer has lost
	Verdicts []Verdict             // one per direction that flows
	Best     Best
	Proving  Proving
	History  History
	Moved    uint64                  // payload bytes both ways since the session began
	Events   []Event                 // the last 100
	SSHLink  bool                    // the test runs over the interface of the SSH session it was started from
	SelfCPU  probes.Reading[float64] // share of one core used by everything but the data threads
	Err      error
}

// Segment gives the running step, or the last one; nil before the first.
func (s *Snapshot) Segment() *Segment {
	if len(s.Segments) == 0 {
		return nil
	}
	return &s.Segments[len(s.Segments)-1]
}

// Sum gives one direction's sum, nil when nothing flows that way.
func (s *Snapshot) Sum(dir Direction) *Sum {
	for i := range s.Sums {
		if s.Sums[i].Dir == dir {
			return &s.Sums[i]
		}
	}
	return nil
}

// Summary is a whole session after its end.
type Summary struct {
	Last *Snapshot // the final state; Segments carry the results
	Err  error     // why it ended early; nil when asked to
}
