package sessiontest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"linerate/engine"
	"linerate/engine/session"
	"linerate/probes"
	"linerate/probes/host/hosttest"
)

// MiniPC is case 2 of the reference results: an N100 with four cores and a port of
// 10 Gbit/s against a stock iperf3. One stream each way is held back by the core of the
// receiving thread (TX 9.40, RX 6.51 Gbit/s, 30 % of all cores together), four are not
// (9.40 both ways). The session it configures starts both ways with one stream.
func MiniPC(t testing.TB) (session.Config, *Server) {
	server := &Server{Handshake: 4 * time.Millisecond, Exchange: 2 * time.Millisecond, Rate: miniPCRate, Retransmits: miniPCRetransmits}
	return session.Config{
		Spec:   engine.Spec{Host: "192.168.10.1", Streams: 1, Direction: engine.Both}.Defaults(),
		Host:   NewHost(t, hosttest.N100(), server, miniPCLoad),
		Start:  server.Start,
		Settle: 2 * time.Second,
		Hold:   true,
	}, server
}

// Shares of four streams, Gbit/s, as the write-up lists them.
var (
	miniPCUp       = [4]float64{2.15, 1.04, 3.14, 3.07}
	miniPCDown     = [4]float64{1.58, 3.73, 2.11, 1.98}
	miniPCDownOnly = [4]float64{1.52, 3.14, 3.14, 1.62}
)

func miniPCRate(spec engine.Spec, conn engine.Conn, _ time.Duration) float64 {
	n := float64(spec.Streams)
	switch {
	case spec.Streams == 4 && spec.Direction == engine.Both && conn.Dir == engine.Upload:
		return 1e9 * miniPCUp[place(spec, conn)]
	case spec.Streams == 4 && spec.Direction == engine.Both:
		return 1e9 * miniPCDown[place(spec, conn)]
	case spec.Streams == 4 && conn.Dir == engine.Download:
		return 1e9 * miniPCDownOnly[place(spec, conn)]
	case spec.Direction == engine.Both && conn.Dir == engine.Upload:
		return 9.40e9 / n
	case spec.Direction == engine.Both && spec.Streams == 1:
		return 6.51e9
	case spec.Direction == engine.Both:
		return 9.40e9 / n
	case conn.Dir == engine.Download && spec.Streams == 1:
		return 8.6e9
	default:
		return 9.41e9 / n
	}
}

// miniPCRetransmits are the two segments that four streams lost in 20 s.
func miniPCRetransmits(spec engine.Spec, conn engine.Conn, _ time.Duration) float64 {
	if spec.Streams == 4 && spec.Direction == engine.Both && place(spec, conn) == 2 {
		return 2.0 / 20
	}
	return 0
}

// miniPCLoad is what htop showed in the other window: with one stream down, its thread
// fills core 2.
func miniPCLoad(test *Test) ([]probes.CoreLoad, []probes.ThreadLoad) {
	cores := hosttest.Idle(4)
	if test == nil {
		return cores, nil
	}
	spec := test.Spec()
	busy := []probes.CoreLoad{
		{Core: 0, System: 0.10, SoftIRQ: 0.04},
		{Core: 1, User: 0.02, SoftIRQ: 0.02},
		{Core: 2, User: 0.02, System: 0.98},
		{Core: 3, User: 0.02},
	}
	if spec.Streams > 1 || !spec.Direction.Has(engine.Download) {
		busy = []probes.CoreLoad{
			{Core: 0, User: 0.02, System: 0.34, SoftIRQ: 0.10},
			{Core: 1, User: 0.02, System: 0.30, SoftIRQ: 0.08},
			{Core: 2, User: 0.02, System: 0.36, SoftIRQ: 0.08},
			{Core: 3, User: 0.02, System: 0.32, SoftIRQ: 0.08},
		}
	}
	return busy, test.threads(4, func(c engine.Conn) (user, system float64, core int) {
		at := place(spec, c)
		switch {
		case c.Sender:
			return 0, 0.10, at % 4
		case spec.Streams == 1:
			return 0.02, 0.96, 2
		default:
			return 0.02, 0.20, (at + 2) % 4
		}
	})
}

// Workstation has 16 cores and a port of 25 Gbit/s with jumbo frames: one sending thread
// fills core 5 at 18.2 Gbit/s, two streams reach line rate (24.7 Gbit/s). The session
// starts with one stream up.
func Workstation(t testing.TB) (session.Config, *Server) {
	server := &Server{
		Handshake: 4 * time.Millisecond, Exchange: 2 * time.Millisecond, Agent: "iperf 3.18",
		Rate: func(spec engine.Spec, _ engine.Conn, _ time.Duration) float64 {
			return min(18.2e9, 24.7e9/float64(spec.Streams))
		},
	}
	load := func(test *Test) ([]probes.CoreLoad, []probes.ThreadLoad) {
		cores := hosttest.Idle(16)
		if test == nil {
			return cores, nil
		}
		return loadOf(cores, test.threads(16, func(c engine.Conn) (user, system float64, core int) {
			if test.Spec().Streams == 1 {
				return 0.02, 0.96, 5
			}
			return 0.02, 0.66, 5 + 2*place(test.Spec(), c)
		}))
	}
	return session.Config{
		Spec:   engine.Spec{Host: "10.0.0.2", Streams: 1}.Defaults(),
		Host:   NewHost(t, hosttest.Workstation(), server, load),
		Start:  server.Start,
		Settle: 2 * time.Second,
		Hold:   true,
	}, server
}

// FourCores is the MiniPC with one stream of so many bits/s in one direction, whose thread
// and whose cores are this busy while it runs: more or less evenly, or one of them full.
func FourCores(t testing.TB, dir engine.Direction, rate float64, cores [4]probes.CoreLoad, thread probes.ThreadLoad) (session.Config, *Server) {
	server := &Server{
		Handshake: 4 * time.Millisecond, Exchange: 2 * time.Millisecond, Agent: "iperf 3.18",
		Rate: func(engine.Spec, engine.Conn, time.Duration) float64 { return rate },
	}
	host := NewHost(t, hosttest.N100(), server, func(test *Test) ([]probes.CoreLoad, []probes.ThreadLoad) {
		if test == nil {
			return hosttest.Idle(4), nil
		}
		return slices.Clone(cores[:]), test.threads(4, func(engine.Conn) (user, system float64, core int) {
			return thread.User, thread.System, thread.Core
		})
	})
	return session.Config{
		Spec: engine.Spec{Host: "192.168.10.1", Streams: 1, Direction: dir}.Defaults(),
		Host: host, Evidence: host,
		Start: server.Start, Settle: 2 * time.Second, Hold: true,
	}, server
}

// place is a stream's number within its direction, from 0.
func place(spec engine.Spec, conn engine.Conn) int {
	at := conn.ID - 1
	if conn.ID > 2 {
		at = conn.ID - 2
	}
	if spec.Direction == engine.Both && conn.Dir == engine.Download {
		at -= spec.Streams
	}
	return at
}

// threads are the loads of the test's threads.
func (t *Test) threads(cores int, load func(engine.Conn) (user, system float64, core int)) []probes.ThreadLoad {
	var threads []probes.ThreadLoad
	for i, c := range t.info.Conns {
		kind := "rx"
		if c.Sender {
			kind = "tx"
		}
		l := probes.ThreadLoad{TID: threadID(i), Name: fmt.Sprintf("%s%s-%d", probes.ThreadPrefix, kind, c.ID)}
		l.User, l.System, l.Core = load(c)
		l.Core %= cores
		threads = append(threads, l)
	}
	return threads
}

// loadOf adds what threads use, and 2 % of softirq, to the cores they run on.
func loadOf(cores []probes.CoreLoad, threads []probes.ThreadLoad) ([]probes.CoreLoad, []probes.ThreadLoad) {
	for _, t := range threads {
		cores[t.Core].User += t.User
		cores[t.Core].System += t.System
		cores[t.Core].SoftIRQ += 0.02
	}
	return cores, threads
}
