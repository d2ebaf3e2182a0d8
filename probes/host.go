package probes

import "time"

// Host is what does not change, or hardly, while a test runs.
type Host struct {
	Name     Reading[string] `json:"name"`
	OS       string          `json:"os"` // runtime.GOOS
	Arch     string          `json:"arch"`
	Kernel   Reading[string] `json:"kernel"`   // release, as uname -r prints it
	Platform Reading[string] `json:"platform"` // distribution and version
	Virtual  Reading[string] `json:"virtual"`  // "kvm", "docker" …; Absent on bare metal
	CPU      CPU             `json:"cpu"`
}

// Load is how busy the host was over the window that ended at At.
type Load struct {
	At      time.Time
	Window  time.Duration
	Cores   Reading[[]CoreLoad]   // one per online core, in order of core number
	Threads Reading[[]ThreadLoad] // own threads that matter: those with a name that starts with ThreadPrefix
	Process Reading[ThreadLoad]   // the whole process; Busy may exceed 1
	Others  Reading[[]ThreadLoad] // the busiest other processes, kernel threads included, over some 2 s; TID is the PID, Busy may exceed 1
}

// ThreadPrefix starts the name of every thread that moves bytes ("lr-tx-1", "lr-rx-3"),
// so that a reader of /proc/self/task can tell them from the Go runtime's own.
const ThreadPrefix = "lr-"
