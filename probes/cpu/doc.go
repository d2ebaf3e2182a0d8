// Package cpu reads the processor: how long each core spent in which state, how much
// CPU time this process and its threads used and on which core, and what the processor is.
//
// probes/host calls it, several times a second for times, once for the rest. Per-core
// times come from gopsutil, which knows every system's way; own threads are read here,
// from /proc/self/task, because nothing else tells the core a thread last ran on. The
// package computes no loads (see probes.CoreTimes.Since) and changes nothing.
package cpu
