// Package sessiontest drives a whole engine/session without a network, a second machine
// or real time: a scripted iperf3 server, and hosts whose cores and threads are busy as a
// script says, read by the real probes from fixture trees.
//
// Tests of engine/session use it, and those of cmd/linerate that draw golden screens of
// a known case:
//
//	synctest.Test(t, func(t *testing.T) {
//		run := sessiontest.Start(t, sessiontest.N100Both(t))
//		run.Sleep(6 * time.Second)
//		run.Do(engine.SetStreams{N: 4})
//		run.Sleep(8 * time.Second)
//		snapshot := run.Snapshot() // names the full core before, shows Δ after
//		run.Quit()
//	})
//
// Everything is a function of the time that has passed, so a script gives the same
// numbers every time. It is meant for testing/synctest.
package sessiontest
