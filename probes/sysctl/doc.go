// Package sysctl reads the kernel settings that decide how fast a host can send and
// receive, and tells which of them a container can have for itself.
//
// probes/host calls it, at the start and every half minute. It knows a fixed list of
// names, those that the rules of engine/diagnose and the profiles of engine/tune speak of,
// and changes none: engine/tune does.
package sysctl
