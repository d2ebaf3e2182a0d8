package probes

import "time"

// PathMTU is what probing the path to a host showed, one direction each. All sizes are
// whole IP packets in bytes.
type PathMTU struct {
	Out Reading[int] `json:"out"` // largest IP packet that passes from here to there, bytes
	In  Reading[int] `json:"in"`  // and back; unknown unless the far end is linerate and has told
	// BlackHole tells that larger packets up to the interface's MTU vanish without a word.
	BlackHole bool `json:"black_hole"`

	// TooBig is the smallest packet out that did not pass. One more than Out, unless time
	// ran out; Absent when everything up to the interface's MTU passes.
	TooBig Reading[int] `json:"too_big"`
	// Reported is the smallest limit that a router on the way out named ("fragmentation
	// needed", "packet too big"); Absent when none did.
	Reported Reading[int] `json:"reported"`
	// TCP is what this host's TCP believes of the path out: the route's MTU with what
	// routers have reported to the kernel (IP_MTU). It never sees a black hole.
	TCP Reading[int] `json:"tcp"`

	// InBlackHole, InTooBig and InReported are BlackHole, TooBig and Reported of the way
	// back, as the far end has found them.
	InBlackHole bool         `json:"in_black_hole"`
	InTooBig    Reading[int] `json:"in_too_big"`
	InReported  Reading[int] `json:"in_reported"`
}

// WithBack gives m with the way back as far, the same seen from the other end, has it.
func (m PathMTU) WithBack(far PathMTU) PathMTU {
	m.In, m.InBlackHole, m.InTooBig, m.InReported = far.Out, far.BlackHole, far.TooBig, far.Reported
	return m
}

// WithoutBack gives m with all of the way back unknown, for one reason.
func (m PathMTU) WithoutBack(status Status, why string) PathMTU {
	unknown := Unknown[int](status, why)
	return m.WithBack(PathMTU{Out: unknown, TooBig: unknown, Reported: unknown})
}

// NoPathMTU is a path of which nothing is known in either direction, for one reason.
func NoPathMTU(status Status, why string) PathMTU {
	unknown := Unknown[int](status, why)
	return PathMTU{Out: unknown, TooBig: unknown, Reported: unknown, TCP: unknown}.WithoutBack(status, why)
}

// PathRTT is the round trip time to a host without load and under it.
type PathRTT struct {
	Idle   Reading[time.Duration] `json:"idle"`   // median before the load
	Loaded Reading[time.Duration] `json:"loaded"` // median while payload flows
	Hops   Reading[int]           `json:"hops"`   // routers on the way back, from the TTL of what comes back; 0 on the same link
}

// Added is what load adds to the round trip: the wait in the queues of both directions.
func (r PathRTT) Added() Reading[time.Duration] {
	return both(r.Loaded, r.Idle, less[time.Duration])
}

// BloatGrade is a word for what load adds to a round trip time (bufferbloat): "great"
// below 5 ms, which a well-kept queue needs; "ok" below 30; "fair" below 60, where calls
// begin to suffer; "bad" up to 200 and "awful" beyond, where nothing else works.
func BloatGrade(added time.Duration) string {
	switch {
	case added < 5*time.Millisecond:
		return "great"
	case added < 30*time.Millisecond:
		return "ok"
	case added < 60*time.Millisecond:
		return "fair"
	case added <= 200*time.Millisecond:
		return "bad"
	}
	return "awful"
}
