package iperf

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/engine"
	"linerate/probes"
)

// TestSide runs both ends and looks at what the client knows of the server, at the
// beginning and at the end.
func TestSide(t *testing.T) {
	for _, dir := range []engine.Direction{engine.Upload, engine.Download, engine.Both} {
		t.Run(dir.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := &fakeHost{}
				v := serve(t, &Server{Host: host, Agent: "linerate 9.9"})
				c, err := dialPipe(t.Context(), t, v.ln, testSpec(func(s *engine.Spec) { s.Direction, s.Streams, s.Duration = dir, 2, 3*time.Second }), Options{})
				if err != nil {
					t.Fatal(err)
				}
				checkFacts(t, c)
				time.AfterFunc(1200*time.Millisecond, func() {
					if far, _ := c.Far(); far.Seq != 2 || time.Since(far.At) > sideEvery {
						t.Errorf("after 1.2 s: sample %d, %v old, want the second", far.Seq, time.Since(far.At))
					}
				})
				r := c.Run(t.Context())
				if r.Err != nil {
					t.Fatal(r.Err)
				}
				checkFarEnd(t, c, r)
				v.stop(t)
				if host.together.Load() {
					t.Error("Load was called by two at once")
				}
			})
		})
	}
}

// checkFacts looks at what the hello has told when Dial returns.
func checkFacts(t *testing.T, c *Client) {
	t.Helper()
	if info := c.Info(); !info.Linerate || info.PeerAgent != "linerate 9.9" {
		t.Errorf("linerate %v, agent %q", info.Linerate, info.PeerAgent)
	}
	far, ok := c.Far()
	if !ok || far.Seq != 0 || far.Load.Cores.Known() || far.Load.Cores.Why() == "" {
		t.Errorf("before the first sample: %v, %d, cores %+v", ok, far.Seq, far.Load.Cores)
	}
	if far.Agent != "linerate 9.9" || far.Host.Name.Value != "far[2J" || far.Host.CPU.Cores != 2 {
		t.Errorf("agent %q, host %+v", far.Agent, far.Host)
	}
	// Pipes have no addresses, so there is no route.
	if far.Route.Known() || far.Route.Why() == "" || far.Adapter.Known() {
		t.Errorf("route %+v, adapter %+v", far.Route, far.Adapter)
	}
	if far.Firewall.Kind != probes.Got("nftables") || far.Firewall.Rules.Known() {
		t.Errorf("firewall %+v", far.Firewall)
	}
	if far.Memory != probes.Got(409.6e9) {
		t.Errorf("memory %+v", far.Memory)
	}
	want := probes.Settings{"net.ipv4.tcp_rmem": probes.Got(probes.Setting{Value: "4096 131072 6291456"})}
	if diff := cmp.Diff(want, far.Settings); diff != "" {
		t.Errorf("settings: want − got +\n%s", diff)
	}
}

// checkFarEnd looks at what the samples of 3 s have told.
func checkFarEnd(t *testing.T, c *Client, r engine.Result) {
	t.Helper()
	far, ok := c.Far()
	// The sixth may fall onto the end.
	if !ok || far.Seq < 5 || far.Seq > 6 || far.Ended != "" {
		t.Fatalf("%v, sample %d, ended %q", ok, far.Seq, far.Ended)
	}
	// Both ends have the same clock here.
	if far.Offset > far.OffsetErr+time.Microsecond || -far.Offset > far.OffsetErr+time.Microsecond || far.OffsetErr > ms {
		t.Errorf("offset %v ± %v", far.Offset, far.OffsetErr)
	}
	if d := far.At.Sub(far.Sampled); d < 0 || d > ms {
		t.Errorf("sampled %v before it came", d)
	}
	cores := []probes.CoreLoad{{Core: 0, User: 0.25, System: 0.5, IOWait: 0.1, Idle: 0.25}, {Core: 1, Idle: 1}}
	if diff := cmp.Diff(probes.Got(cores), far.Load.Cores); diff != "" || far.Load.Window != sideEvery {
		t.Errorf("window %v, cores: want − got +\n%s", far.Load.Window, diff)
	}
	if p := far.Load.Process.Value; p.User != 0.1 || p.System != 1.4 || far.Load.Threads.Why() != "first reading" {
		t.Errorf("process %+v, threads %+v", p, far.Load.Threads)
	}
	if len(far.Streams) != len(r.Streams) {
		t.Fatalf("%d streams, want %d", len(far.Streams), len(r.Streams))
	}
	for i, s := range far.Streams {
		own := r.Streams[i]
		if s.ID != own.ID || s.Dir != own.Dir || s.Sender == own.Sender {
			t.Errorf("stream %d is %+v, here %+v", i, s.Conn, own.Conn)
		}
		if s.Bytes == 0 || s.Bytes > own.Sent.Value.Bytes || s.Congestion != "pipe" || !s.TCP.Known() || s.TCP.Value.RTT != 3*ms || s.TCPAt.After(far.Sampled) {
			t.Errorf("stream %d: %d bytes, %q, %+v at %v", s.ID, s.Bytes, s.Congestion, s.TCP, s.TCPAt)
		}
		switch {
		case s.Sender:
			if s.Retransmits.Value == 0 || s.Retransmits.Value > s.Bytes/blockLen+1 || s.Cwnd != probes.Got(uint64(1000)) || s.RTT != probes.Got(3*ms) {
				t.Errorf("stream %d: %+v, %+v, %+v", s.ID, s.Retransmits, s.Cwnd, s.RTT)
			}
		case s.Retransmits.Known() || s.Retransmits.Why() != onlySender:
			t.Errorf("stream %d: a receiver with %+v", s.ID, s.Retransmits)
		}
	}
	checkVitals(t, far.Vitals)
}

func checkVitals(t *testing.T, v probes.Vitals) {
	t.Helper()
	grown := v.TCP.Value["TcpExt.TCPTimeouts"]
	want := probes.Counters{"TcpExt.TCPTimeouts": grown, "TcpExt.TCPLostRetransmit": 0, "Ip.ReasmFails": 0}
	if diff := cmp.Diff(want, v.TCP.Value); diff != "" || grown < 2 || grown > 6 {
		t.Errorf("TCP has grown by %d: want − got +\n%s", grown, diff)
	}
	if v.Link.Value["rx_packets"] != 100*grown || len(v.Link.Value) != 2 {
		t.Errorf("link %v, want what the interface counted since the first reading", v.Link.Value)
	}
	if v.Window != time.Duration(grown)*sideEvery || time.Since(v.At) > 2*vitalsEvery {
		t.Errorf("vitals over %v, read %v ago", v.Window, time.Since(v.At))
	}
	if v.Driver.Status != probes.Absent || v.Driver.Reason != " tells nothing" || len(v.Softnet.Value) != 1 || v.Softnet.Value[0].Processed != uint32(grown) {
		t.Errorf("driver %+v, softnet %+v", v.Driver, v.Softnet)
	}
}

// TestSideWithoutHost: a server that reads nothing still tells of its sockets.
func TestSideWithoutHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := serve(t, &Server{})
		c, err := dialPipe(t.Context(), t, v.ln, testSpec(func(s *engine.Spec) { s.Direction = engine.Download }), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r := c.Run(t.Context()); r.Err != nil {
			t.Fatal(r.Err)
		}
		v.stop(t)
		far, ok := c.Far()
		if !ok || far.Agent != "linerate" || far.Load.Cores.Why() != "the server does not read its computer" || far.Vitals.TCP.Known() || far.Host.Name.Known() {
			t.Errorf("%v, agent %q, cores %+v, vitals %+v", ok, far.Agent, far.Load.Cores, far.Vitals.TCP)
		}
		if len(far.Streams) != 1 || far.Streams[0].Retransmits.Value == 0 {
			t.Errorf("streams %+v", far.Streams)
		}
	})
}
