package iperf

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"linerate/engine"
	"linerate/engine/internal/wire"
)

// script is a stock server played step by step.
type script struct {
	t    *testing.T
	ln   *pipeListener
	ctl  peer
	data []net.Conn
}

// upTo plays a healthy server until the given state has been sent. A server for both
// ways or downloads would have to send; these scripts serve uploads of one stream.
func (s *script) upTo(last wire.State) *script {
	conn, err := s.ln.Accept()
	if err != nil {
		s.t.Errorf("script: %v", err)
		return s
	}
	s.ctl = peer{conn, s.t}
	if _, err := wire.ReadCookie(s.ctl); err != nil {
		s.t.Errorf("script: cookie: %v", err)
	}
	if last == 0 {
		return s
	}
	s.ctl.state(wire.ParamExchange)
	s.ctl.json(wire.MaxParams)
	if last == wire.ParamExchange {
		return s
	}
	s.ctl.state(wire.CreateStreams)
	stream, err := s.ln.Accept()
	if err != nil {
		s.t.Errorf("script: data connection: %v", err)
		return s
	}
	if _, err := wire.ReadCookie(stream); err != nil {
		s.t.Errorf("script: cookie of the data connection: %v", err)
	}
	s.data = append(s.data, stream)
	if last == wire.CreateStreams {
		return s
	}
	s.ctl.put(byte(wire.TestStart), byte(wire.TestRunning))
	return s
}

// flow takes in the payload from now on, in the background.
func (s *script) flow() *script {
	for _, c := range s.data {
		go io.Copy(io.Discard, c)
	}
	return s
}

func (s *script) end() *script {
	s.ctl.want(wire.TestEnd)
	return s
}

func (s *script) exchange() *script {
	s.end()
	s.ctl.state(wire.ExchangeResults)
	s.ctl.json(wire.MaxClientResults)
	return s
}

// close waits for the client to go before it goes too.
func (s *script) close() {
	if s.ctl.Conn != nil {
		s.ctl.gone()
	}
	for _, c := range s.data {
		c.Close()
	}
}

const goodResults = `{"cpu_util_total":50,"cpu_util_user":10,"cpu_util_system":40,"sender_has_retransmits":-1,"congestion_used":"reno","streams":[{"id":1,"bytes":777,"retransmits":-1,"jitter":0,"errors":0,"packets":0,"start_time":0,"end_time":1.5}]}`

// TestDialErrors: whatever a server does before TEST_RUNNING, one clear sentence comes
// within the deadline of the state.
func TestDialErrors(t *testing.T) {
	tests := []struct {
		name   string
		server func(*script)
		state  string
		text   string // part of
		hint   string // part of
		is     error
		code   int
		after  time.Duration
	}{
		{
			name: "silent after connect", server: func(s *script) { s.upTo(0) },
			state: stateFirst, text: "said nothing for 10s", hint: "iperf 2 server? it speaks another protocol", after: firstStateTimeout,
		},
		{
			name: "closes at once", server: func(s *script) { s.upTo(0).ctl.Close() },
			state: stateFirst, text: "closed the connection without a word", code: 109,
		},
		{
			name: "busy", server: func(s *script) { s.upTo(0).ctl.state(wire.AccessDenied) },
			state: stateFirst, text: "the server is busy", is: ErrBusy, code: 121,
		},
		{
			name: "SSH", server: func(s *script) { s.upTo(0).ctl.put([]byte("SSH-2.0-OpenSSH_9.2\r\n")...) },
			state: stateFirst, text: `it answered "SSH-2.0-OpenSSH_9.2"`, is: ErrNotIperf3,
		},
		{
			name: "binary garbage", server: func(s *script) { s.upTo(0).ctl.put(0x15, 0x03, 0x01) },
			state: stateFirst, text: "it answered byte 0x15", is: ErrNotIperf3,
		},
		{
			name: "escape codes", server: func(s *script) { s.upTo(0).ctl.put([]byte("\x1b[2J\x1b[31mhello")...) },
			state: stateFirst, text: `it answered "[2J[31mhello"`, is: ErrNotIperf3,
		},
		{
			name: "a state that is none here", server: func(s *script) { s.upTo(0).ctl.state(wire.DisplayResults) },
			state: stateFirst, text: "it answered byte 0x0e", is: ErrNotIperf3,
		},
		{
			name: "side channel unasked", server: func(s *script) { s.upTo(0).ctl.put(0x41, 0, 0, 0, 2, '{', '}') },
			state: stateFirst, is: ErrNotIperf3,
		},
		{
			name: "refuses for want of a password", server: func(s *script) { s.upTo(wire.ParamExchange).ctl.put(wire.Fault{Code: 142}.Append(nil)...) },
			state: stateParams, text: "asks for a user name and password", hint: "cannot log in yet", code: 142,
		},
		{
			name: "3.12 says so in five bytes", server: func(s *script) {
				s.upTo(wire.ParamExchange).ctl.put(0xfe, 0, 0, 0, 142)
				s.ctl.Close()
			},
			state: stateParams, text: "asks for a user name and password", code: 142,
		},
		{
			name: "half a fault", server: func(s *script) {
				s.upTo(wire.ParamExchange).ctl.put(0xfe, 0, 0)
				s.ctl.Close()
			},
			state: stateParams, text: "in the middle of a message", code: 109,
		},
		{
			name: "rate limit", server: func(s *script) { s.upTo(wire.ParamExchange).ctl.put(wire.Fault{Code: 27}.Append(nil)...) },
			state: stateParams, text: "above the server's limit", hint: "-b", code: 27,
		},
		{
			name: "unknown fault", server: func(s *script) { s.upTo(wire.ParamExchange).ctl.put(wire.Fault{Code: 4711}.Append(nil)...) },
			state: stateParams, text: "error 4711", code: 4711,
		},
		{
			name: "silent after the parameters", server: func(s *script) { s.upTo(wire.ParamExchange) },
			state: stateParams, text: "gave up waiting for the server to take the parameters after 10s", after: replyTimeout,
		},
		{
			name: "closes after the parameters", server: func(s *script) { s.upTo(wire.ParamExchange).ctl.Close() },
			state: stateParams, text: "closed the control connection while this end was waiting for the server to take the parameters", code: 109,
		},
		{
			name: "stopped", server: func(s *script) { s.upTo(wire.ParamExchange).ctl.state(wire.ServerTerminate) },
			state: stateParams, text: "stopped by its operator", code: 120,
		},
		{
			name: "wrong state", server: func(s *script) { s.upTo(wire.ParamExchange).ctl.state(wire.DisplayResults) },
			state: stateParams, text: "broke the protocol: it sent DISPLAY_RESULTS", code: 110,
		},
		{
			name: "takes no data connection", server: func(s *script) { s.upTo(wire.ParamExchange).ctl.state(wire.CreateStreams) },
			state: stateStreams, text: "no answer from host:5201", hint: "the control connection works", after: DefaultConnectTimeout + blameTimeout,
		},
		{
			name: "takes no data connection and says why", server: func(s *script) {
				s.upTo(wire.ParamExchange).ctl.state(wire.CreateStreams)
				time.Sleep(time.Second)
				s.ctl.put(wire.Fault{Code: 204}.Append(nil)...)
			},
			state: stateStreams, text: "could not accept a data stream", code: 204, after: DefaultConnectTimeout,
		},
		{
			name: "never starts", server: func(s *script) { s.upTo(wire.CreateStreams) },
			state: stateStart, text: "gave up waiting for the server to start the test", after: replyTimeout,
		},
		{
			name: "starts halfway", server: func(s *script) { s.upTo(wire.CreateStreams).ctl.state(wire.TestStart) },
			state: stateStart, text: "gave up waiting for the server to start the test", after: replyTimeout,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{t: t, ln: newPipeListener()}
				done := make(chan struct{})
				go func() {
					defer close(done)
					test.server(s)
					s.close()
				}()
				began := time.Now()
				_, err := dialPipe(t.Context(), t, s.ln, testSpec(nil), Options{})
				took := time.Since(began)
				<-done
				checkError(t, err, test.state, test.text, test.code, test.is)
				var e *Error
				if errors.As(err, &e) && !strings.Contains(e.Hint, test.hint) {
					t.Errorf("want %q in the hint, got %q", test.hint, e.Hint)
				}
				if took != test.after {
					t.Errorf("want it after %v, took %v", test.after, took)
				}
			})
		})
	}
}

func checkError(t *testing.T, err error, state, text string, code int, is error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("want an *Error, got %T: %v", err, err)
	}
	if e.State != state {
		t.Errorf("want state %q, got %q", state, e.State)
	}
	if !strings.Contains(e.Error(), text) {
		t.Errorf("want %q in the text, got %q", text, e.Error())
	}
	if e.Code != code && code != 0 {
		t.Errorf("want code %d, got %d", code, e.Code)
	}
	if is != nil && !errors.Is(err, is) {
		t.Errorf("want an error that is %q, got %v", is, err)
	}
	if strings.ContainsAny(e.Error(), "\x1b\n\r") {
		t.Errorf("control characters in %q", e.Error())
	}
}

func TestDialRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := newPipeListener()
		ln.Close()
		_, err := dialPipe(t.Context(), t, ln, testSpec(nil), Options{})
		checkError(t, err, stateConnect, "nothing listens on host:5201", 0, ErrRefused)
	})
}

func TestDialInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{t: t, ln: newPipeListener()}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.upTo(wire.ParamExchange)
			cancel()
			s.ctl.want(wire.ClientTerminate)
			s.close()
		}()
		_, err := dialPipe(ctx, t, s.ln, testSpec(nil), Options{})
		<-done
		checkError(t, err, stateParams, "interrupted while waiting for the server to take the parameters", 0, ErrInterrupted)
	})
}

// TestRetry: a server between two tests refuses, is busy, or resets; with Options.Retry
// the client comes back every millisecond.
func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{t: t, ln: newPipeListener()}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 3 {
				s.upTo(0).ctl.state(wire.AccessDenied)
				s.close()
			}
			s.upTo(0).ctl.Close() // reset, as far as a pipe can
			s.upTo(wire.TestRunning).flow().exchange()
			s.ctl.send(goodResults)
			s.ctl.state(wire.DisplayResults)
			s.ctl.want(wire.Done)
			s.close()
		}()
		began := time.Now()
		c, err := dialPipe(t.Context(), t, s.ln, testSpec(nil), Options{Retry: 20 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 4*retryEvery {
			t.Errorf("want %v for four refusals, took %v", 4*retryEvery, took)
		}
		if r := c.Run(t.Context()); r.Err != nil {
			t.Errorf("the test itself: %v", r.Err)
		}
		<-done
	})
	synctest.Test(t, func(t *testing.T) {
		ln := newPipeListener()
		ln.Close()
		began := time.Now()
		_, err := dialPipe(t.Context(), t, ln, testSpec(nil), Options{Retry: 50 * time.Millisecond})
		if took := time.Since(began); took != 50*time.Millisecond || !errors.Is(err, ErrRefused) {
			t.Errorf("want ErrRefused after 50ms, got %v after %v", err, took)
		}
	})
}

// TestRunErrors: whatever a server does once the payload flows, Run returns within
// the deadline of the state, with what this end has measured.
func TestRunErrors(t *testing.T) {
	tests := []struct {
		name   string
		spec   func(*engine.Spec)
		server func(*script)
		client func(*Client, context.CancelFunc) // beside Run
		state  string
		text   string
		code   int
		is     error
		after  time.Duration // since TEST_RUNNING
	}{
		{
			name: "dies", server: func(s *script) {
				s.upTo(wire.TestRunning).flow()
				time.Sleep(time.Second)
				s.ctl.Close()
			},
			state: stateRunning, text: "closed the control connection while this end was running the test", code: 109, after: time.Second,
		},
		{
			name: "limits the rate", server: func(s *script) {
				s.upTo(wire.TestRunning).flow()
				time.Sleep(time.Second)
				s.ctl.put(wire.Fault{Code: 27}.Append(nil)...)
			},
			state: stateRunning, text: "above the server's limit", code: 27, after: time.Second,
		},
		{
			name: "is stopped", server: func(s *script) {
				s.upTo(wire.TestRunning).flow()
				time.Sleep(time.Second)
				s.ctl.state(wire.ServerTerminate)
			},
			state: stateRunning, text: "stopped by its operator while this end was running the test", code: 120, after: time.Second,
		},
		{
			name: "sends garbage", server: func(s *script) {
				s.upTo(wire.TestRunning).flow()
				time.Sleep(time.Second)
				s.ctl.put('x')
			},
			state: stateRunning, text: `broke the protocol: it sent "x"`, code: 110, after: time.Second,
		},
		{
			name: "ends by itself", server: func(s *script) {
				s.upTo(wire.TestRunning).flow()
				time.Sleep(time.Second)
				s.ctl.state(wire.ExchangeResults)
			},
			state: stateRunning, text: "it sent EXCHANGE_RESULTS", code: 110, after: time.Second,
		},
		{
			name: "drops the data connection", server: func(s *script) {
				s.upTo(wire.TestRunning).flow()
				time.Sleep(500 * time.Millisecond)
				s.data[0].Close()
			},
			state: stateRunning, text: "stream 1 broke while the test was running", code: 205, after: 500*time.Millisecond + blameTimeout,
		},
		{
			name: "drops the data connection and says why", server: func(s *script) {
				s.upTo(wire.TestRunning).flow()
				time.Sleep(time.Second)
				s.data[0].Close()
				time.Sleep(500 * time.Millisecond)
				s.ctl.put(wire.Fault{Code: 160}.Append(nil)...)
			},
			state: stateRunning, text: "longer than the server allows", code: 160, after: 1500 * time.Millisecond,
		},
		{
			name: "reads nothing", spec: func(s *engine.Spec) { s.Duration = 0 },
			server: func(s *script) { s.upTo(wire.TestRunning) },
			state:  stateRunning, text: "no byte moved in any stream for 2m0s", code: 144, after: 120 * time.Second,
		},
		{
			name: "reads nothing, --rcv-timeout", spec: func(s *engine.Spec) { s.Duration, s.RcvTimeout = 0, 3*time.Second },
			server: func(s *script) { s.upTo(wire.TestRunning) },
			state:  stateRunning, text: "for 3s", code: 144, after: 3 * time.Second,
		},
		{
			name: "interrupted here", server: func(s *script) {
				s.upTo(wire.TestRunning).flow().ctl.want(wire.ClientTerminate)
			},
			client: func(c *Client, cancel context.CancelFunc) { time.Sleep(time.Second); cancel() },
			state:  stateRunning, text: "interrupted while running the test", is: ErrInterrupted, after: time.Second,
		},
		{
			name: "silent after TEST_END", server: func(s *script) { s.upTo(wire.TestRunning).flow().end() },
			state: stateEnd, text: "gave up waiting for the server to end the test after 10s", after: 12 * time.Second,
		},
		{
			name: "silent after Stop", server: func(s *script) { s.upTo(wire.TestRunning).flow().end() },
			client: func(c *Client, _ context.CancelFunc) { time.Sleep(time.Second); c.Stop(); c.Stop() },
			state:  stateEnd, text: "after 3s", after: time.Second + stopTimeout,
		},
		{
			name: "Stop while waiting for results", server: func(s *script) { s.upTo(wire.TestRunning).flow().end() },
			client: func(c *Client, _ context.CancelFunc) { time.Sleep(4 * time.Second); c.Stop() },
			state:  stateEnd, text: "after 3s", after: 4*time.Second + stopTimeout,
		},
		{
			name: "interrupted while waiting for results", server: func(s *script) { s.upTo(wire.TestRunning).flow().end() },
			client: func(_ *Client, cancel context.CancelFunc) { time.Sleep(3 * time.Second); cancel() },
			state:  stateEnd, text: "interrupted while waiting", is: ErrInterrupted, after: 3 * time.Second,
		},
		{
			name: "dies after TEST_END", server: func(s *script) { s.upTo(wire.TestRunning).flow().end().ctl.Close() },
			state: stateEnd, text: "closed the control connection while this end was waiting for the server to end the test", after: 2 * time.Second,
		},
		{
			name: "fails after TEST_END", server: func(s *script) { s.upTo(wire.TestRunning).flow().end().ctl.put(wire.Fault{Code: 205}.Append(nil)...) },
			state: stateEnd, text: "could not write to a data stream", code: 205, after: 2 * time.Second,
		},
		{
			name: "silent instead of results", server: func(s *script) { s.upTo(wire.TestRunning).flow().exchange() },
			state: stateResults, text: "gave up waiting for the server's results after 10s", after: 12 * time.Second,
		},
		{
			name: "half the results, then nothing", server: func(s *script) {
				s.upTo(wire.TestRunning).flow().exchange().ctl.put(0, 0, 1, 0, '{', '"')
			},
			state: stateResults, text: "gave up waiting for the server's results", after: 12 * time.Second,
		},
		{
			name: "half the results, then the end", server: func(s *script) {
				s.upTo(wire.TestRunning).flow().exchange().ctl.put(0, 0, 1, 0, '{', '"')
				s.ctl.Close()
			},
			state: stateResults, text: "in the middle of a message", after: 2 * time.Second,
		},
		{
			name: "announces 4 GB", server: func(s *script) { s.upTo(wire.TestRunning).flow().exchange().ctl.put(0xff, 0xff, 0xff, 0xff) },
			state: stateResults, text: "it sent a JSON message of 4294967295 bytes", after: 2 * time.Second,
		},
		{
			name: "results that are no JSON", server: func(s *script) { s.upTo(wire.TestRunning).flow().exchange().ctl.send("hello") },
			state: stateResults, text: "results make no sense", code: 117, after: 2 * time.Second,
		},
		{
			name: "results of an unknown stream", server: func(s *script) {
				s.upTo(wire.TestRunning).flow().exchange().ctl.send(strings.Replace(goodResults, `"id":1`, `"id":9`, 1))
			},
			state: stateResults, text: "stream 9 that does not exist", code: 117, after: 2 * time.Second,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{t: t, ln: newPipeListener()}
				done := make(chan struct{})
				go func() {
					defer close(done)
					test.server(s)
					s.close()
				}()
				var sink reports
				c, err := dialPipe(t.Context(), t, s.ln, testSpec(test.spec), Options{Sink: &sink})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.client != nil {
					go test.client(c, cancel)
				}
				r := c.Run(ctx)
				took := time.Since(c.Info().Start)
				<-done

				checkError(t, r.Err, test.state, test.text, test.code, test.is)
				// Loops look up every 20 ms, the stall is looked for every second.
				if took < test.after || took > test.after+testSlack {
					t.Errorf("want it after %v, took %v", test.after, took)
				}
				if sink.begun != 1 || len(sink.results) != 1 {
					t.Errorf("want one Begin and one End, got %d and %d", sink.begun, len(sink.results))
				}
				var sum uint64
				for _, iv := range sink.intervals {
					sum += iv.Bytes(engine.Upload)
				}
				sent, ok := r.Sent(engine.Upload).Get()
				if !ok || sent.Bytes != sum || sent.Bytes == 0 && !strings.HasPrefix(test.name, "reads nothing") {
					t.Errorf("the account of this end is lost: sent %+v, intervals %d", r.Sent(engine.Upload), sum)
				}
				if r.Received(engine.Upload).Known() {
					t.Errorf("the server told nothing, yet it received %+v", r.Received(engine.Upload))
				}
			})
		})
	}
}

// TestResultsMerged: both ends' accounts, and nothing that comes behind them, matter.
func TestResultsMerged(t *testing.T) {
	endings := map[string]func(*script){
		"as it should be":    func(s *script) { s.ctl.state(wire.DisplayResults); s.ctl.want(wire.Done) },
		"no DISPLAY_RESULTS": func(s *script) { s.ctl.Close() },
		"a fault instead":    func(s *script) { s.ctl.put(wire.Fault{Code: 119}.Append(nil)...) },
		"noise behind the end": func(s *script) {
			s.ctl.state(wire.DisplayResults)
			s.ctl.want(wire.Done)
			s.ctl.Write(wire.Fault{Code: 205}.Append(nil)) // 3.21; the client may be gone already
		},
	}
	for name, ending := range endings {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{t: t, ln: newPipeListener()}
				done := make(chan struct{})
				go func() {
					defer close(done)
					s.upTo(wire.TestRunning).flow().exchange().ctl.send(goodResults)
					ending(s)
					s.close()
				}()
				c, err := dialPipe(t.Context(), t, s.ln, testSpec(nil), Options{})
				if err != nil {
					t.Fatal(err)
				}
				r := c.Run(t.Context())
				<-done
				if r.Err != nil {
					t.Errorf("want no error, got %v", r.Err)
				}
				got := r.Received(engine.Upload)
				if want := (engine.End{Bytes: 777, Seconds: 1.5}); !got.Known() || got.Value != want {
					t.Errorf("received: want %+v, got %+v", want, got)
				}
				if r.RemoteCPU.Value.Total != 50 || r.RemoteCongestion != "reno" || r.LocalCongestion != "pipe" {
					t.Errorf("want the server's CPU and both algorithms, got %+v, %q, %q", r.RemoteCPU, r.RemoteCongestion, r.LocalCongestion)
				}
			})
		})
	}
}

// TestOldServerBothWays plays a server before 3.7: it does not know the key, takes half
// of the streams and turns the others away.
func TestOldServerBothWays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{t: t, ln: newPipeListener()}
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.upTo(wire.CreateStreams)
			go io.Copy(io.Discard, s.data[0])
			surplus, err := s.ln.Accept()
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := wire.ReadCookie(surplus); err != nil { // the old one does not read it, but a pipe needs it
				t.Error(err)
			}
			s.ctl.put(byte(wire.TestStart), byte(wire.TestRunning))
			peer{surplus, t}.state(wire.AccessDenied)
			surplus.Close()
			s.close()
		}()
		c, err := dialPipe(t.Context(), t, s.ln, testSpec(func(s *engine.Spec) { s.Direction = engine.Both }), Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := c.Run(t.Context())
		<-done
		checkError(t, r.Err, stateRunning, "too old to send and receive at once", 121, nil)
	})
}
