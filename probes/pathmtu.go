package probes

import "time"

// PathMTU is what probing the path to a host showed, one direction each.
type PathMTU struct {
	Out Reading[int] `json:"out"` // largest IP packet that passes from here to there, bytes
	In  Reading[int] `json:"in"`  // and back; unknown unless the far end is linerate
	// BlackHole tells that larger packets up to the interface's MTU vanish without a word.
	BlackHole bool `json:"black_hole"`
}

// PathRTT is the round trip time to a host without load and under it.
type PathRTT struct {
	Idle   Reading[time.Duration] `json:"idle"`   // median before the load
	Loaded Reading[time.Duration] `json:"loaded"` // median while payload flows
	Hops   Reading[int]           `json:"hops"`   // from the TTL of what comes back
}
