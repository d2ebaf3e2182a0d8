package iperf

import (
	"testing"
	"testing/synctest"
	"time"

	"linerate/engine"
	"linerate/engine/internal/wire"
)

// TestSampler: one reader serves all tests, and reads only while there is one that wants it.
func TestSampler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &fakeHost{}
		v := serve(t, &Server{Host: host})
		stock := newGuest(t, v.ln).upTo(wire.TestRunning, plainParams)
		time.Sleep(5 * time.Second)
		stock.leave()
		if n := host.loads.Load(); n != 0 {
			t.Errorf("read %d times for a stock client", n)
		}
		var clients []*Client
		for range 3 {
			c, err := dialPipe(t.Context(), t, v.ln, testSpec(func(s *engine.Spec) { s.Duration = 4 * time.Second }), Options{})
			if err != nil {
				t.Fatal(err)
			}
			clients = append(clients, c)
		}
		done := make(chan engine.Result)
		for _, c := range clients {
			go func() { done <- c.Run(t.Context()) }()
		}
		for range clients {
			if r := <-done; r.Err != nil {
				t.Error(r.Err)
			}
		}
		synctest.Wait()
		read := host.loads.Load()
		if read < 8 || read > 10 {
			t.Errorf("read %d times in 4 s for three tests, want 9", read)
		}
		time.Sleep(5 * time.Second)
		if now := host.loads.Load(); now != read {
			t.Errorf("read %d times more without a test", now-read)
		}
		if host.hosts.Load() != 1 {
			t.Errorf("facts were read %d times", host.hosts.Load())
		}
		v.stop(t)
		if host.together.Load() {
			t.Error("Load was called by two at once")
		}
	})
}
