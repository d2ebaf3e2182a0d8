// Package probes is the vocabulary of host evidence: what a computer says about
// its cores, threads, network interface and settings.
//
// It holds types only and imports nothing but the standard library. The packages
// below it (cpu, nic, host …) read one noun each from the running system; whoever
// consumes readings (engine/diagnose, engine/session, tui) imports this package and
// not the readers.
//
// Two rules hold everywhere. Values are in base units: bits per second, bytes,
// hertz, seconds as time.Duration, shares from 0 to 1. And what could not be read is
// a [Reading] with a reason, never a zero.
package probes
