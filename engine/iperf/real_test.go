package iperf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/engine"
)

// The tests from here on use real sockets on loopback. They assert what must hold at
// any speed, and print no verdict on speed.

// realServer runs a server for the length of a test and gives its port.
func realServer(t *testing.T, s *Server) int {
	t.Helper()
	s.Affinity = -1
	ln, err := s.Listen(t.Context(), engine.Spec{Bind: "127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return ln.Addr().(*net.TCPAddr).Port
}

// ends keeps the sinks of a server, one per test.
type ends struct {
	mu    sync.Mutex
	sinks []*reports
}

func (e *ends) open(engine.TestInfo) engine.Sink {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sinks = append(e.sinks, new(reports))
	return e.sinks[len(e.sinks)-1]
}

// results waits for the nth test to end and gives its sink and result.
func (e *ends) result(t *testing.T, n int) (*reports, engine.Result) {
	t.Helper()
	for range 1000 {
		e.mu.Lock()
		var s *reports
		if n < len(e.sinks) {
			s = e.sinks[n]
		}
		e.mu.Unlock()
		if s != nil {
			s.mu.Lock()
			over := len(s.results) > 0
			s.mu.Unlock()
			if over {
				return s, s.results[0]
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("test %d on the server has not ended", n)
	return nil, engine.Result{}
}

// realSpec is a short upload to port.
func realSpec(port int, change func(*engine.Spec)) engine.Spec {
	s := engine.Spec{
		Host: "127.0.0.1", Port: port, Streams: 1, Duration: 500 * time.Millisecond, Interval: 100 * time.Millisecond,
		Affinity: -1, SrvAffinity: -1,
	}
	if change != nil {
		change(&s)
	}
	return s
}

// runReal runs one test and fails on any error.
func runReal(t *testing.T, spec engine.Spec, opt Options) (*reports, engine.Result) {
	t.Helper()
	sink := new(reports)
	opt.Sink = sink
	c, err := Dial(t.Context(), spec, opt)
	if err != nil {
		t.Fatalf("Dial: %v", err)
	}
	r := c.Run(t.Context())
	if r.Err != nil {
		t.Fatalf("Run: %v", r.Err)
	}
	return sink, r
}

// TestLoopback runs both ends in this process and compares their books.
func TestLoopback(t *testing.T) {
	var served ends
	port := realServer(t, &Server{NewSink: served.open, Interval: 100 * time.Millisecond})
	tests := []struct {
		name  string
		spec  func(*engine.Spec)
		exact uint64 // bytes per direction at the end that counts them
	}{
		{"upload", nil, 0},
		{"download", func(s *engine.Spec) { s.Direction = engine.Download }, 0},
		{"both", func(s *engine.Spec) { s.Direction = engine.Both }, 0},
		{"upload 4", func(s *engine.Spec) { s.Streams = 4 }, 0},
		{"download 4", func(s *engine.Spec) { s.Direction, s.Streams = engine.Download, 4 }, 0},
		{"both 4", func(s *engine.Spec) { s.Direction, s.Streams = engine.Both, 4 }, 0},
		{"both 128", func(s *engine.Spec) { s.Direction, s.Streams, s.Bitrate = engine.Both, 128, 1e6 }, 0}, // paced: 512 threads share the cores
		{"-n", func(s *engine.Spec) { s.Duration, s.Bytes = 0, 33333333 }, 33333333},
		{"-n -P 4", func(s *engine.Spec) { s.Duration, s.Bytes, s.Streams = 0, 33333333, 4 }, 33333333},
		{"-n -R", func(s *engine.Spec) { s.Direction, s.Duration, s.Bytes = engine.Download, 0, 33333333 }, 33333333},
		{"-n -R -P 4", func(s *engine.Spec) { s.Direction, s.Duration, s.Bytes, s.Streams = engine.Download, 0, 33333333, 4 }, 33333333},
		{"-n less than a block", func(s *engine.Spec) { s.Duration, s.Bytes, s.Streams = 0, 1, 4 }, 1},
		{"-k", func(s *engine.Spec) { s.Duration, s.Blocks, s.BlockSize = 0, 1000, 10000 }, 10000000},
		{"-k -R", func(s *engine.Spec) { s.Direction, s.Duration, s.Blocks = engine.Download, 0, 100 }, 100 * engine.DefaultBlockSize},
		{"-O", func(s *engine.Spec) {
			s.Omit, s.Duration, s.Interval = time.Second, 300*time.Millisecond, 250*time.Millisecond
		}, 0},
		{"-O -R", func(s *engine.Spec) { s.Direction, s.Omit = engine.Download, time.Second }, 0},
		{"-n -O -R", func(s *engine.Spec) {
			s.Direction, s.Omit, s.Duration, s.Bytes = engine.Download, time.Second, 0, 33333333
		}, 33333333},
		{"-b", func(s *engine.Spec) { s.Bitrate, s.Streams = 20e6, 2 }, 0},
		{"-l -w -M -N -Z -S", func(s *engine.Spec) {
			s.BlockSize, s.Window, s.MSS, s.NoDelay, s.ZeroCopy, s.TOS = 65536, 100000, 1000, true, true, 8
		}, 0},
		{"-R --skip-rx-copy --repeating-payload", func(s *engine.Spec) {
			s.Direction, s.SkipRxCopy, s.Repeating = engine.Download, true, true
		}, 0},
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			sink, r := runReal(t, realSpec(port, test.spec), Options{})
			theirs, far := served.result(t, i)
			if far.Err != nil {
				t.Errorf("the server: %v", far.Err)
			}
			checkBooks(t, sink, r)
			checkBooks(t, theirs, far)
			for i, s := range r.Streams {
				f := far.Streams[i]
				if s.Sent != f.Sent || s.Received != f.Received {
					t.Errorf("stream %d: sent %+v and received %+v here, %+v and %+v there", s.ID, s.Sent, s.Received, f.Sent, f.Received)
				}
				if s.Local != f.Remote || s.Remote != f.Local || !s.Local.IsValid() {
					t.Errorf("stream %d goes from %v to %v here, from %v to %v there", s.ID, s.Local, s.Remote, f.Remote, f.Local)
				}
			}
			for _, dir := range r.Info.Spec.Direction.Dirs() {
				own := r.Sent(dir)
				if dir == engine.Download {
					own = r.Received(dir)
				}
				if !own.Known() || own.Value.Bytes == 0 || test.exact > 0 && own.Value.Bytes != test.exact {
					t.Errorf("%v: want %d bytes, got %+v", dir, test.exact, own)
				}
				if test.exact > 0 && dir == engine.Upload && r.Received(dir).Value.Bytes != test.exact {
					t.Errorf("the server received %d of %d bytes", r.Received(dir).Value.Bytes, test.exact)
				}
			}
		})
	}
}

// TestLoopbackFacts: what the kernel tells, on the system where it tells everything.
func TestLoopbackFacts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads TCP_INFO as Linux has it")
	}
	port := realServer(t, &Server{})
	sink := new(reports)
	c, err := Dial(t.Context(), realSpec(port, func(s *engine.Spec) { s.Direction, s.Congestion = engine.Both, "reno" }), Options{Sink: sink})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(250 * time.Millisecond)
	live := c.Sample(nil)
	r := c.Run(t.Context())
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	for _, n := range live {
		if n.TID == 0 || n.Bytes == 0 || !n.TCP.Known() || n.TCPAt.IsZero() {
			t.Errorf("stream %d while it runs: thread %d, %d bytes, TCP_INFO %v at %v", n.ID, n.TID, n.Bytes, n.TCP.Why(), n.TCPAt)
		}
		if n.Sender && n.TCP.Value.BytesAcked <= n.BaseAcked {
			t.Errorf("stream %d: %d bytes acknowledged, %d at the start", n.ID, n.TCP.Value.BytesAcked, n.BaseAcked)
		}
	}
	info := r.Info
	if info.MSS == 0 || info.SndBuf == 0 || info.RcvBuf == 0 || len(info.Cookie) != 36 || info.Control.Remote.Port() != uint16(port) {
		t.Errorf("facts of the test: %+v", info)
	}
	if r.LocalCongestion != "reno" || r.RemoteCongestion != "reno" {
		t.Errorf("congestion control: %q here, %q there", r.LocalCongestion, r.RemoteCongestion)
	}
	if r.LocalCPU.Total <= 0 || !r.RemoteCPU.Known() || r.RemoteCPU.Value.Total <= 0 {
		t.Errorf("CPU: %+v here, %+v there", r.LocalCPU, r.RemoteCPU)
	}
	for _, s := range r.Streams {
		if !s.Retransmits.Known() {
			t.Errorf("stream %d: retransmits unknown: %s", s.ID, s.Retransmits.Why())
		}
		if s.Sender && (s.TCP.Samples == 0 || s.TCP.MaxCwnd == 0 || s.TCP.MinRTT > s.TCP.MeanRTT || s.TCP.MeanRTT > s.TCP.MaxRTT) {
			t.Errorf("stream %d: extremes %+v", s.ID, s.TCP)
		}
	}
}

// TestLiveChange changes the stream count as the dashboard does. Every step has its own
// counters: its receiver never has a byte more than its sender gave.
func TestLiveChange(t *testing.T) {
	var served ends
	port := realServer(t, &Server{NewSink: served.open})
	var addr = Options{Retry: time.Second}
	var last time.Time
	for i, n := range []int{1, 2, 4, 8} {
		sink := new(reports)
		addr.Sink = sink
		spec := realSpec(port, func(s *engine.Spec) { s.Streams, s.Duration, s.Direction = n, 0, engine.Direction(i%3) })
		c, err := Dial(t.Context(), spec, addr)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			t.Logf("%d streams %v: gap %v", n, spec.Direction, c.Info().Start.Sub(last))
		}
		addr.Addr = c.Info().Control.Remote
		time.AfterFunc(150*time.Millisecond, c.Stop)
		r := c.Run(t.Context())
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		last = r.Info.Start.Add(r.Elapsed)
		theirs, far := served.result(t, i)
		checkBooks(t, sink, r)
		checkBooks(t, theirs, far)
		if far.Info.Cookie != r.Info.Cookie || len(far.Streams) != len(r.Streams) {
			t.Errorf("step %d: %d streams here, %d there", i, len(r.Streams), len(far.Streams))
		}
	}
}

// TestManyAtOnce runs several clients against one server, two of them badly behaved,
// while strangers knock.
func TestManyAtOnce(t *testing.T) {
	s := &Server{RcvTimeout: 5 * time.Second}
	port := realServer(t, s)
	address := fmt.Sprintf("127.0.0.1:%d", port)
	var strangers []net.Conn
	for i := range 100 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%2 == 0 {
			io.WriteString(c, "half a cookie")
		}
		strangers = append(strangers, c)
	}
	var clients sync.WaitGroup
	for i := range 6 {
		clients.Go(func() {
			spec := realSpec(port, func(s *engine.Spec) { s.Streams, s.Direction = 2, engine.Direction(i%3) })
			c, err := Dial(t.Context(), spec, Options{})
			if err != nil {
				t.Errorf("client %d: %v", i, err)
				return
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i >= 4 {
				time.AfterFunc(100*time.Millisecond, cancel)
			}
			r := c.Run(ctx)
			if i < 4 && r.Err != nil {
				t.Errorf("client %d: %v", i, r.Err)
			}
			if i >= 4 && !errors.Is(r.Err, ErrInterrupted) {
				t.Errorf("client %d: want it interrupted, got %v", i, r.Err)
			}
		})
	}
	clients.Wait()
	for _, c := range strangers {
		c.SetReadDeadline(time.Now())
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
			t.Error("a newcomer was answered before its deadline")
		}
	}
	for range 200 { // what an interrupted client leaves is cleared away at once
		if len(s.Tests()) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("tests still running: %+v", s.Tests())
}

// TestDialReal: how connects fail on real sockets.
func TestDialReal(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		_, err := Dial(t.Context(), realSpec(freePort(t), nil), Options{})
		checkError(t, err, stateConnect, "nothing listens on 127.0.0.1:", 0, ErrRefused)
	})
	t.Run("SYN dropped", func(t *testing.T) {
		// A listener whose backlog is full drops SYNs, as a firewall does.
		full := fullBacklog(t)
		began := time.Now()
		_, err := Dial(t.Context(), realSpec(full, func(s *engine.Spec) { s.ConnectTimeout = 300 * time.Millisecond }), Options{})
		checkError(t, err, stateConnect, "no answer from 127.0.0.1:", 0, nil)
		var e *Error
		if took := time.Since(began); !errors.As(err, &e) || !e.Timeout || took > 5*time.Second {
			t.Errorf("want a timeout after 300ms, got %+v after %v", e, took)
		}
	})
	t.Run("name not found", func(t *testing.T) {
		_, err := Dial(t.Context(), realSpec(5201, func(s *engine.Spec) { s.Host = "host.invalid" }), Options{})
		var e *Error
		if !errors.As(err, &e) || e.State != stateResolve || !strings.Contains(e.Text, "host.invalid") || e.Hint == "" {
			t.Errorf("want an error of the name, got %v", err)
		}
	})
	t.Run("other family", func(t *testing.T) {
		_, err := Dial(t.Context(), realSpec(5201, func(s *engine.Spec) { s.Family = 6 }), Options{})
		checkError(t, err, stateResolve, `no IPv6 address found for "127.0.0.1"`, 0, nil)
	})
	t.Run("address of nobody to bind to", func(t *testing.T) {
		_, err := Dial(t.Context(), realSpec(5201, func(s *engine.Spec) { s.Bind = "192.0.2.1" }), Options{})
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Hint, "-B") {
			t.Errorf("want a hint at -B, got %v", err)
		}
	})
	t.Run("busy port", func(t *testing.T) {
		port := realServer(t, &Server{})
		_, err := new(Server).Listen(t.Context(), engine.Spec{Port: port, Bind: "127.0.0.1"})
		checkError(t, err, stateListen, fmt.Sprintf("port %d is in use", port), 102, nil)
		_, err = (&Server{Host: new(fakeHost)}).Listen(t.Context(), engine.Spec{Port: port, Bind: "127.0.0.1"})
		checkError(t, err, stateListen, fmt.Sprintf("port %d is in use by sshd (pid %d)", port, port), 102, nil)
	})
	t.Run("wrong flags", func(t *testing.T) {
		var field *engine.FieldError
		if _, err := Dial(t.Context(), realSpec(0, func(s *engine.Spec) { s.Streams = 200 }), Options{}); !errors.As(err, &field) {
			t.Errorf("want a FieldError, got %v", err)
		}
		if _, err := Dial(t.Context(), realSpec(0, func(s *engine.Spec) { s.FlowLabel, s.ClientPort = 7, 7 }), Options{}); !errors.As(err, &field) {
			t.Errorf("want a FieldError, got %v", err)
		}
	})
}

// TestFamilies: a name with a dead address first, -4, -6, --cport, -B.
func TestFamilies(t *testing.T) {
	s := &Server{Affinity: -1}
	ln, err := s.Listen(t.Context(), engine.Spec{}) // both families
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln) }()
	defer func() { cancel(); <-done }()
	port := ln.Addr().(*net.TCPAddr).Port
	cport := freePort(t)
	tests := []struct {
		name   string
		spec   func(*engine.Spec)
		remote string
	}{
		{"-4", func(s *engine.Spec) { s.Host, s.Family = "localhost", 4 }, "127.0.0.1"},
		{"-6", func(s *engine.Spec) { s.Host, s.Family = "::1", 6 }, "::1"},
		{"-B 127.0.0.2", func(s *engine.Spec) { s.Bind = "127.0.0.2" }, "127.0.0.1"},
		{"--cport", func(s *engine.Spec) { s.ClientPort = cport }, "127.0.0.1"},
		{"--cport again, though in TIME_WAIT", func(s *engine.Spec) { s.ClientPort = cport }, "127.0.0.1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			spec := realSpec(port, test.spec)
			spec.Duration = 100 * time.Millisecond
			if test.remote == "::1" && !hasIPv6() {
				t.Skip("this system has no ::1")
			}
			_, r := runReal(t, spec, Options{})
			c := r.Info.Conns[0]
			if r.Info.Control.Remote.Addr().String() != test.remote || c.Remote.Addr().String() != test.remote {
				t.Errorf("want %s, got control %v and data %v", test.remote, r.Info.Control.Remote, c.Remote)
			}
			if spec.ClientPort > 0 && int(c.Local.Port()) != spec.ClientPort {
				t.Errorf("want source port %d, got %v", spec.ClientPort, c.Local)
			}
			if spec.Bind != "" && c.Local.Addr().String() != spec.Bind {
				t.Errorf("want source address %s, got %v", spec.Bind, c.Local)
			}
		})
	}
}

func hasIPv6() bool {
	ln, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		return false
	}
	ln.Close()
	return true
}

func freePort(t *testing.T) int {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port
}

// needTool finds a program, or skips the test; at the gate it has to be there.
func needTool(t *testing.T, path string) string {
	t.Helper()
	found, err := exec.LookPath(path)
	if err != nil {
		if os.Getenv("LINERATE_GATE") == "1" {
			t.Fatalf("%s is missing: %v", path, err)
		}
		t.Skipf("%s is missing: %v", path, err)
	}
	return found
}
