package iperf

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/engine"
)

// TestPair runs client against server over pipes in all directions and compares the
// books of both ends.
func TestPair(t *testing.T) {
	tests := []struct {
		name string
		spec func(*engine.Spec)
	}{
		{"upload", nil},
		{"download", func(s *engine.Spec) { s.Direction = engine.Download }},
		{"both", func(s *engine.Spec) { s.Direction = engine.Both }},
		{"upload 4", func(s *engine.Spec) { s.Streams = 4 }},
		{"download 4", func(s *engine.Spec) { s.Direction, s.Streams = engine.Download, 4 }},
		{"both 4", func(s *engine.Spec) { s.Direction, s.Streams = engine.Both, 4 }},
		{"omit", func(s *engine.Spec) { s.Omit = time.Second }},
		{"omit download", func(s *engine.Spec) { s.Direction, s.Omit = engine.Download, time.Second }},
		{"omit, odd interval", func(s *engine.Spec) { s.Omit, s.Interval = time.Second, 300*time.Millisecond }},
		{"128", func(s *engine.Spec) { s.Streams, s.Direction, s.Duration = 128, engine.Both, 300*time.Millisecond }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ours, theirs reports
				v := serve(t, &Server{NewSink: func(engine.TestInfo) engine.Sink { return &theirs }})
				c, err := dialPipe(t.Context(), t, v.ln, testSpec(test.spec), Options{Sink: &ours})
				if err != nil {
					t.Fatal(err)
				}
				r := c.Run(t.Context())
				v.stop(t)
				if r.Err != nil {
					t.Fatal(r.Err)
				}
				if len(theirs.results) != 1 || theirs.results[0].Err != nil {
					t.Fatalf("the server's results: %+v", theirs.results)
				}
				far := theirs.results[0]
				for i, s := range r.Streams {
					f := far.Streams[i]
					if s.ID != streamID(i) || s.Dir != f.Dir || s.Sender == f.Sender {
						t.Errorf("stream %d: %v sender %v here, %v sender %v there", s.ID, s.Dir, s.Sender, f.Dir, f.Sender)
					}
					if s.Sent.Value.Bytes == 0 || s.Sent != f.Sent || s.Received != f.Received || s.Retransmits != f.Retransmits {
						t.Errorf("stream %d: %+v here, %+v there", s.ID, s, f)
					}
				}
				checkBooks(t, &ours, r)
				checkBooks(t, &theirs, far)
			})
		})
	}
}

// checkBooks holds what must be true of any finished test: one Begin, one End, no gap
// between intervals, and totals that are the sum of the intervals that count. The
// senders of a stock peer may have counted stockSlack too little.
func checkBooks(t *testing.T, sink *reports, r engine.Result) {
	t.Helper()
	checkBooksWith(t, sink, r, 0)
}

// stockSlack: the threads of iperf3 3.18 write on while it adds up, so that a block
// under way goes uncounted.
const stockSlack = engine.DefaultBlockSize

func checkBooksWith(t *testing.T, sink *reports, r engine.Result, slack uint64) {
	t.Helper()
	who := map[engine.Role]string{engine.Client: "client", engine.Server: "server"}[r.Info.Role]
	if sink.begun != 1 || len(sink.results) != 1 {
		t.Errorf("%s: want one Begin and one End, got %d and %d", who, sink.begun, len(sink.results))
	}
	sums := make(map[int]uint64)
	retrans := make(map[int]uint64)
	var end time.Duration
	omitted := r.Info.Spec.Omit > 0
	for i, iv := range sink.intervals {
		if omitted && !iv.Omitted {
			omitted, end = false, 0
		}
		if iv.Omitted != omitted || iv.Start != end || iv.End <= iv.Start {
			t.Errorf("%s: interval %d from %v to %v (omitted %v) follows one that ended at %v", who, i, iv.Start, iv.End, iv.Omitted, end)
		}
		end = iv.End
		if iv.Omitted {
			continue
		}
		for _, s := range iv.Streams {
			sums[s.ID] += s.Bytes
			retrans[s.ID] += s.Retransmits.Value
		}
	}
	dropped := r.Elapsed - end // a last interval without bytes may be left out
	if dropped < 0 || dropped > 0 && dropped >= time.Duration(float64(r.Info.Spec.Interval)*shortInterval) {
		t.Errorf("%s: intervals end at %v, the test lasted %v", who, end, r.Elapsed)
	}
	for _, s := range r.Streams {
		own := s.Received.Value
		if s.Sender {
			own = s.Sent.Value
			// The total is read last, and what comes after the last interval is in no other.
			if s.Retransmits.Known() && retrans[s.ID] > s.Retransmits.Value {
				t.Errorf("%s: stream %d: %d retransmits in the intervals, %d in total", who, s.ID, retrans[s.ID], s.Retransmits.Value)
			}
		}
		if sums[s.ID] != own.Bytes {
			t.Errorf("%s: stream %d: %d bytes in the intervals, %d in total", who, s.ID, sums[s.ID], own.Bytes)
		}
		sent, received := s.Sent, s.Received
		if !s.Sender {
			sent.Value.Bytes += slack
		}
		if sent.Known() && received.Known() && r.Info.Spec.Omit == 0 && received.Value.Bytes > sent.Value.Bytes {
			t.Errorf("%s: stream %d: sent %d, received %d", who, s.ID, sent.Value.Bytes, received.Value.Bytes)
		}
	}
}

// TestIntervals: the clock of the reports, on the client.
func TestIntervals(t *testing.T) {
	tests := []struct {
		name string
		spec func(*engine.Spec)
		want []string
	}{
		{"-t 3", func(s *engine.Spec) { s.Duration = 3 * time.Second },
			[]string{"0-1", "1-2", "2-3"}},
		{"-t 2 -O 1: the clock starts again", func(s *engine.Spec) { s.Omit = time.Second },
			[]string{"0-1 omitted", "0-1", "1-2"}},
		{"-O 1 -i 0.4: the omitted part ends in a short one", func(s *engine.Spec) {
			s.Duration, s.Omit, s.Interval = time.Second, time.Second, 400*time.Millisecond
		}, []string{"0-0.4 omitted", "0.4-0.8 omitted", "0.8-1 omitted", "0-0.4", "0.4-0.8", "0.8-1"}},
		{"-i 0: one for all", func(s *engine.Spec) { s.Interval = -1 },
			[]string{"0-2"}},
		{"-i 0 -O 1", func(s *engine.Spec) { s.Interval, s.Omit = -1, time.Second },
			[]string{"0-2"}},
		{"-t 2.05: no extra one of a twentieth", func(s *engine.Spec) { s.Duration = 2050 * time.Millisecond },
			[]string{"0-1", "1-2.05"}},
		{"-t 2.5", func(s *engine.Spec) { s.Duration = 2500 * time.Millisecond },
			[]string{"0-1", "1-2", "2-2.5"}},
		{"-i 60", func(s *engine.Spec) { s.Interval = time.Minute },
			[]string{"0-2"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sink reports
				v := serve(t, &Server{})
				c, err := dialPipe(t.Context(), t, v.ln, testSpec(test.spec), Options{Sink: &sink})
				if err != nil {
					t.Fatal(err)
				}
				r := c.Run(t.Context())
				v.stop(t)
				if r.Err != nil {
					t.Fatal(r.Err)
				}
				var got []string
				for _, iv := range sink.intervals {
					// Stopping takes the loops a few milliseconds.
					line := fmt.Sprintf("%v-%v", iv.Start.Round(50*time.Millisecond).Seconds(), iv.End.Round(50*time.Millisecond).Seconds())
					if iv.Omitted {
						line += " omitted"
					}
					got = append(got, line)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("want − got +\n%s", diff)
				}
				checkBooks(t, &sink, r)
			})
		})
	}
}

// TestStoppedWithinOmit: nothing counts as measured, so all of it does, as in iperf3.
func TestStoppedWithinOmit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sink reports
		v := serve(t, &Server{})
		c, err := dialPipe(t.Context(), t, v.ln, testSpec(func(s *engine.Spec) { s.Omit = 5 * time.Second }), Options{Sink: &sink})
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(1500*time.Millisecond, c.Stop)
		r := c.Run(t.Context())
		v.stop(t)
		sent := r.Sent(engine.Upload).Value
		received := r.Received(engine.Upload).Value
		if r.Err != nil || sent.Bytes == 0 || received.Bytes == 0 || received.Bytes > sent.Bytes {
			t.Errorf("want the account from the start, got sent %+v, received %+v, %v", sent, received, r.Err)
		}
		var sum uint64
		for _, iv := range sink.intervals {
			if !iv.Omitted {
				t.Errorf("interval %v-%v is not marked omitted", iv.Start, iv.End)
			}
			sum += iv.Bytes(engine.Upload)
		}
		if sum != sent.Bytes {
			t.Errorf("intervals say %d, total says %d", sum, sent.Bytes)
		}
	})
}

// TestSlowSink: a sink that waits for its terminal holds up nothing.
func TestSlowSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &slowSink{gate: make(chan struct{})}
		v := serve(t, &Server{})
		c, err := dialPipe(t.Context(), t, v.ln, testSpec(nil), Options{Sink: sink})
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(30*time.Second, func() { close(sink.gate) })
		r := c.Run(t.Context())
		v.stop(t)
		if r.Err != nil || !r.Received(engine.Upload).Known() {
			t.Errorf("the results were not exchanged: %v", r.Err)
		}
		if r.Elapsed > 2100*time.Millisecond {
			t.Errorf("the test lasted %v", r.Elapsed)
		}
		checkBooks(t, &sink.reports, r)
	})
}

type slowSink struct {
	reports
	gate chan struct{}
}

func (s *slowSink) Begin(i engine.TestInfo) {
	<-s.gate
	s.reports.Begin(i)
}

// TestConns: what both ends call their streams.
func TestConns(t *testing.T) {
	spec := engine.Spec{Streams: 2, Direction: engine.Both}
	var got []string
	for _, role := range []engine.Role{engine.Client, engine.Server} {
		for _, c := range layout(role, spec) {
			got = append(got, fmt.Sprintf("%d [%d] %v sender=%v", c.ID, c.Socket, c.Dir, c.Sender))
		}
	}
	want := []string{
		"1 [5] upload sender=true", "3 [7] upload sender=true", "4 [9] download sender=false", "5 [11] download sender=false",
		"1 [5] upload sender=false", "3 [8] upload sender=false", "4 [10] download sender=true", "5 [12] download sender=true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want − got +\n%s", diff)
	}
}
