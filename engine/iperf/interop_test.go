package iperf

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/engine"
)

// stockVersions are the real iperf3 programs to test against, in both roles.
func stockVersions(t *testing.T) map[string]string {
	t.Helper()
	path := os.Getenv("LINERATE_IPERF3_318")
	if path == "" {
		path = "/opt/iperf3-3.18/iperf3"
	}
	return map[string]string{"system": "iperf3", "3.18": path}
}

// forEachStock runs test for every version, side by side.
func forEachStock(t *testing.T, test func(t *testing.T, iperf3 string)) {
	for name, path := range stockVersions(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, needTool(t, path))
		})
	}
}

// stockServer runs an iperf3 server for the length of a test.
func stockServer(t *testing.T, iperf3 string) (port int, server *exec.Cmd) {
	t.Helper()
	port = freePort(t)
	server = exec.Command(iperf3, "-s", "-B", "127.0.0.1", "-p", strconv.Itoa(port))
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	return port, server
}

// startUp is how long a stock server may take to open its port.
const startUp = 10 * time.Second

// TestClientInterop: our client against stock servers. One server runs all tests, so
// that each also shows that the one before left it in order.
func TestClientInterop(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		spec  func(*engine.Spec)
		exact uint64
	}{
		{"upload", nil, 0},
		{"-R", func(s *engine.Spec) { s.Direction = engine.Download }, 0},
		{"--bidir", func(s *engine.Spec) { s.Direction = engine.Both }, 0},
		{"-P 4", func(s *engine.Spec) { s.Streams = 4 }, 0},
		{"-P 4 -R", func(s *engine.Spec) { s.Streams, s.Direction = 4, engine.Download }, 0},
		{"-P 4 --bidir", func(s *engine.Spec) { s.Streams, s.Direction = 4, engine.Both }, 0},
		{"-O 1", func(s *engine.Spec) { s.Omit = time.Second }, 0},
		{"-O 1 -R", func(s *engine.Spec) { s.Omit, s.Direction = time.Second, engine.Download }, 0},
		{"-n", func(s *engine.Spec) { s.Duration, s.Bytes = 0, 12345678 }, 12345678},
		{"-n -R", func(s *engine.Spec) { s.Duration, s.Bytes, s.Direction = 0, 12345678, engine.Download }, 12345678},
		{"-k", func(s *engine.Spec) { s.Duration, s.Blocks, s.BlockSize = 0, 500, 8192 }, 500 * 8192},
		{"-l -w -M -N -b -S -C -Z -T", func(s *engine.Spec) {
			s.BlockSize, s.Window, s.MSS, s.NoDelay, s.Bitrate, s.TOS = 16384, 100000, 1200, true, 50e6, 8
			s.Congestion, s.ZeroCopy, s.Title, s.ExtraData = "reno", true, "title", "extra"
		}, 0},
		{"--get-server-output", func(s *engine.Spec) { s.ServerOutput = true }, 0},
	}
	forEachStock(t, func(t *testing.T, iperf3 string) {
		port, _ := stockServer(t, iperf3)
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				sink, r := runReal(t, realSpec(port, test.spec), Options{Retry: startUp})
				checkBooksWith(t, sink, r, stockSlack)
				for _, dir := range r.Info.Spec.Direction.Dirs() {
					sent, received := r.Sent(dir), r.Received(dir)
					if !sent.Known() || !received.Known() || sent.Value.Bytes == 0 || received.Value.Bytes == 0 {
						t.Errorf("%v: sent %+v, received %+v", dir, sent, received)
					}
					own := sent
					if dir == engine.Download {
						own = received
					}
					if test.exact > 0 && own.Value.Bytes != test.exact {
						t.Errorf("%v: want exactly %d bytes, got %d", dir, test.exact, own.Value.Bytes)
					}
				}
				if r.LocalCongestion == "" || r.RemoteCongestion == "" || !r.RemoteCPU.Known() {
					t.Errorf("congestion %q and %q, CPU %+v", r.LocalCongestion, r.RemoteCongestion, r.RemoteCPU)
				}
				if r.Info.Spec.ServerOutput && !strings.Contains(r.PeerOutput, "receiver") {
					t.Errorf("the server's output: %q", r.PeerOutput)
				}
			})
		}
	})
}

// TestLiveChangeInterop changes a running test against stock servers, whose listener
// is gone for a moment after each test.
func TestLiveChangeInterop(t *testing.T) {
	forEachStock(t, func(t *testing.T, iperf3 string) {
		port, _ := stockServer(t, iperf3)
		opt := Options{Retry: startUp}
		var last time.Time
		for i, n := range []int{1, 2, 4, 8, 8} {
			spec := realSpec(port, func(s *engine.Spec) { s.Streams, s.Duration, s.Direction = n, 0, engine.Direction(i%2) })
			c, err := Dial(t.Context(), spec, opt)
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				t.Logf("%d streams %v: gap %v", n, spec.Direction, c.Info().Start.Sub(last).Round(100*time.Microsecond))
			}
			opt.Addr = c.Info().Control.Remote
			time.AfterFunc(200*time.Millisecond, c.Stop)
			r := c.Run(t.Context())
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			last = r.Info.Start.Add(r.Elapsed)
			if !r.Received(spec.Direction).Known() {
				t.Errorf("%d streams: the receiver's account is missing", n)
			}
		}
	})
}

// TestServerDies: a stock server that is killed leaves one sentence and what was
// measured.
func TestServerDies(t *testing.T) {
	t.Parallel()
	forEachStock(t, func(t *testing.T, iperf3 string) {
		for _, dir := range []engine.Direction{engine.Upload, engine.Download} {
			port, server := stockServer(t, iperf3)
			sink := new(reports)
			c, err := Dial(t.Context(), realSpec(port, func(s *engine.Spec) { s.Duration, s.Direction = 0, dir }), Options{Sink: sink, Retry: startUp})
			if err != nil {
				t.Fatal(err)
			}
			killed := make(chan time.Time, 1)
			time.AfterFunc(300*time.Millisecond, func() {
				killed <- time.Now()
				server.Process.Kill()
			})
			r := c.Run(t.Context())
			var e *Error
			if !errors.As(r.Err, &e) || e.State != stateRunning {
				t.Errorf("%v: want an error of the running test, got %v", dir, r.Err)
			}
			if took := time.Since(<-killed); took > 3*time.Second {
				t.Errorf("%v: noticed after %v", dir, took)
			}
			own := r.Sent(dir)
			if dir == engine.Download {
				own = r.Received(dir)
			}
			if own.Value.Bytes == 0 {
				t.Errorf("%v: nothing is left of what was measured", dir)
			}
			checkBooksWith(t, sink, r, stockSlack)
			t.Logf("%v: %v", dir, r.Err)
		}
	})
}

// stockClient runs an iperf3 client with -J and gives its document.
func stockClient(ctx context.Context, iperf3 string, port int, flags ...string) (*stockReport, error) {
	args := append([]string{"-c", "127.0.0.1", "-p", strconv.Itoa(port), "-J"}, flags...)
	cmd := exec.CommandContext(ctx, iperf3, args...)
	out, runErr := cmd.Output()
	doc := new(stockReport)
	if err := json.Unmarshal(out, doc); err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", runErr, err, out)
	}
	if doc.Error != "" {
		return doc, errors.New(doc.Error)
	}
	return doc, runErr
}

// stockReport is the part of iperf3's JSON that is looked at.
type stockReport struct {
	Error string `json:"error"`
	End   struct {
		Sent         stockSum `json:"sum_sent"`
		Received     stockSum `json:"sum_received"`
		SentBack     stockSum `json:"sum_sent_bidir_reverse"`
		ReceivedBack stockSum `json:"sum_received_bidir_reverse"`
		Streams      []any    `json:"streams"`
	} `json:"end"`
	ServerOutput string `json:"server_output_text"`
}

type stockSum struct {
	Bytes       uint64  `json:"bytes"`
	Retransmits *int    `json:"retransmits"`
	Seconds     float64 `json:"seconds"`
}

// TestServerInterop: stock clients against our server.
func TestServerInterop(t *testing.T) {
	t.Parallel()
	tests := []struct {
		flags string
		dir   engine.Direction
		conns int
		exact uint64
	}{
		{"-t 1", engine.Upload, 1, 0},
		{"-t 1 -R", engine.Download, 1, 0},
		{"-t 1 --bidir", engine.Both, 2, 0},
		{"-t 1 -P 4", engine.Upload, 4, 0},
		{"-t 1 -P 4 -R", engine.Download, 4, 0},
		{"-t 1 -P 4 --bidir", engine.Both, 8, 0},
		{"-t 1 -O 1", engine.Upload, 1, 0},
		{"-t 1 -O 1 -R", engine.Download, 1, 0},
		{"-n 12M", engine.Upload, 1, 12 << 20},
		{"-n 12M -R", engine.Download, 1, 12 << 20},
		{"-k 100", engine.Upload, 1, 100 * engine.DefaultBlockSize},
		{"-t 1 -l 16K -w 100K -M 1200 -N -b 50M -S 8 -C reno -Z -T title --extra-data x", engine.Upload, 1, 0},
		{"-t 1 --get-server-output", engine.Upload, 1, 0},
	}
	forEachStock(t, func(t *testing.T, iperf3 string) {
		var served ends
		server := &Server{NewSink: func(i engine.TestInfo) engine.Sink {
			return &printing{reports: served.open(i).(*reports)}
		}}
		port := realServer(t, server)
		for i, test := range tests {
			t.Run(test.flags, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				doc, err := stockClient(ctx, iperf3, port, strings.Fields(test.flags)...)
				if err != nil {
					t.Fatalf("iperf3: %v", err)
				}
				sink, r := served.result(t, i)
				if r.Err != nil {
					t.Errorf("the server: %v", r.Err)
				}
				checkBooksWith(t, sink, r, stockSlack)
				if len(doc.End.Streams) != test.conns || len(r.Streams) != test.conns || r.Info.Spec.Direction != test.dir {
					t.Errorf("want %d streams %v, got %d there, %d %v here", test.conns, test.dir, len(doc.End.Streams), len(r.Streams), r.Info.Spec.Direction)
				}
				for n, dir := range r.Info.Spec.Direction.Dirs() {
					sent, received := doc.End.Sent.Bytes, doc.End.Received.Bytes
					if n == 1 {
						sent, received = doc.End.SentBack.Bytes, doc.End.ReceivedBack.Bytes
					}
					// Both ends' books name the same numbers.
					if sent != r.Sent(dir).Value.Bytes || received != r.Received(dir).Value.Bytes || sent == 0 || received == 0 {
						t.Errorf("%v: sent %d and received %d there, %d and %d here", dir, sent, received, r.Sent(dir).Value.Bytes, r.Received(dir).Value.Bytes)
					}
					if test.exact > 0 && received < test.exact {
						t.Errorf("%v: want %d bytes received, got %d", dir, test.exact, received)
					}
				}
				if test.dir == engine.Download && doc.End.Sent.Retransmits == nil {
					t.Error("the server's retransmits did not arrive")
				}
				if strings.Contains(test.flags, "server-output") && doc.ServerOutput != "what the server printed\n" {
					t.Errorf("the server's output: %q", doc.ServerOutput)
				}
			})
		}
	})
}

// printing is a sink with output for the client.
type printing struct{ *reports }

func (*printing) Transcript(engine.Result) (string, bool) { return "what the server printed\n", false }

// TestTwoStockClients: two at once, which a stock server cannot do.
func TestTwoStockClients(t *testing.T) {
	t.Parallel()
	forEachStock(t, func(t *testing.T, iperf3 string) {
		port := realServer(t, &Server{})
		var clients sync.WaitGroup
		for _, flags := range []string{"-t 2 -P 2", "-t 2 -P 2 -R"} {
			clients.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				doc, err := stockClient(ctx, iperf3, port, strings.Fields(flags)...)
				if err != nil || doc.End.Received.Bytes == 0 {
					t.Errorf("%s: %v, %+v", flags, err, doc)
				}
			})
		}
		clients.Wait()
	})
}

// TestStockClientRefused: a stock client understands why.
func TestStockClientRefused(t *testing.T) {
	t.Parallel()
	forEachStock(t, func(t *testing.T, iperf3 string) {
		port := realServer(t, &Server{MaxTests: 1, MaxStreams: 4})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, err := stockClient(ctx, iperf3, port, "-t", "1", "-P", "5")
		if err == nil || !strings.Contains(err.Error(), "number of parallel streams too large") {
			t.Errorf("too many streams: got %v", err)
		}
		_, err = stockClient(ctx, iperf3, port, "-t", "1", "-u")
		if err == nil || !strings.Contains(err.Error(), "protocol") {
			t.Errorf("UDP: got %v", err)
		}
		c, err := Dial(ctx, realSpec(port, func(s *engine.Spec) { s.Duration = 0 }), Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = stockClient(ctx, iperf3, port, "-t", "1")
		if err == nil || !strings.Contains(err.Error(), "busy") {
			t.Errorf("busy: got %v", err)
		}
		c.Stop()
		if r := c.Run(ctx); r.Err != nil {
			t.Errorf("the running test: %v", r.Err)
		}
	})
}

// TestStockClientDies: a stock client that is killed frees its place at once; one that
// is interrupted too.
func TestStockClientDies(t *testing.T) {
	t.Parallel()
	forEachStock(t, func(t *testing.T, iperf3 string) {
		for _, signal := range []os.Signal{os.Kill, os.Interrupt} {
			for _, flag := range []string{"-P2", "-R", "--bidir"} {
				var served ends
				s := &Server{MaxTests: 1, NewSink: served.open}
				port := realServer(t, s)
				var out bytes.Buffer
				client := exec.Command(iperf3, "-c", "127.0.0.1", "-p", strconv.Itoa(port), "-t", "30", flag)
				client.Stdout, client.Stderr = &out, &out
				if err := client.Start(); err != nil {
					t.Fatal(err)
				}
				for range 1000 {
					if len(s.Tests()) == 1 {
						break
					}
					time.Sleep(10 * time.Millisecond)
				}
				time.Sleep(200 * time.Millisecond)
				client.Process.Signal(signal)
				died := time.Now()
				sink, r := served.result(t, 0)
				if took := time.Since(died); took > 3*time.Second {
					t.Errorf("%v %s: noticed after %v", signal, flag, took)
				}
				client.Wait()
				if r.Err == nil || r.Elapsed == 0 {
					t.Errorf("%v %s: want an error and the rest of the measurement, got %+v", signal, flag, r)
				}
				checkBooksWith(t, sink, r, stockSlack)
				t.Logf("%v %s: %v", signal, flag, r.Err)
			}
		}
	})
}

// TestPeerScript: both roles against the independent implementation of tools.
func TestPeerScript(t *testing.T) {
	t.Parallel()
	script := os.Getenv("LINERATE_IPERF3_PEER")
	if script == "" {
		if os.Getenv("LINERATE_GATE") == "1" {
			t.Fatal("LINERATE_IPERF3_PEER is not set")
		}
		t.Skip("LINERATE_IPERF3_PEER is not set: no path of iperf3_peer.py")
	}
	python := needTool(t, "python3")
	t.Run("server", func(t *testing.T) {
		port := freePort(t)
		specs := []func(*engine.Spec){
			nil,
			func(s *engine.Spec) { s.Streams, s.Direction = 2, engine.Download },
			func(s *engine.Spec) { s.Streams, s.Direction = 2, engine.Both },
			func(s *engine.Spec) { s.Duration, s.Bytes = 0, 5000000 },
		}
		cmd := exec.Command(python, script, "s", strconv.Itoa(port), strconv.Itoa(len(specs)))
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for i, change := range specs {
			sink, r := runReal(t, realSpec(port, change), Options{Retry: startUp})
			checkBooks(t, sink, r)
			for _, dir := range r.Info.Spec.Direction.Dirs() {
				if !r.Received(dir).Known() || !r.Sent(dir).Known() {
					t.Errorf("test %d: %v sent %+v, received %+v", i, dir, r.Sent(dir), r.Received(dir))
				}
			}
		}
		if err := cmd.Wait(); err != nil || strings.Count(out.String(), "SERVER done 16") != len(specs) {
			t.Errorf("the script: %v\n%s", err, &out)
		}
	})
	t.Run("client", func(t *testing.T) {
		var served ends
		port := realServer(t, &Server{NewSink: served.open})
		for i, params := range []string{`{"time":1}`, `{"time":1,"parallel":2,"reverse":true}`, `{"time":1,"parallel":2,"bidirectional":true}`} {
			out, err := exec.Command(python, script, "c", strconv.Itoa(port), params).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "CLIENT ok") {
				t.Errorf("%s: %v\n%s", params, err, out)
			}
			sink, r := served.result(t, i)
			if r.Err != nil {
				t.Errorf("%s: the server: %v", params, r.Err)
			}
			checkBooks(t, sink, r)
		}
	})
}
