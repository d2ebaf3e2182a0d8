package iperf

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/engine"
	"linerate/engine/internal/wire"
)

// served runs a server over pipes for the length of a test.
type served struct {
	*Server
	ln     *pipeListener
	cancel context.CancelFunc
	done   chan error
	mu     sync.Mutex
	events []engine.ServerEvent
}

func serve(t *testing.T, s *Server) *served {
	t.Helper()
	v := &served{Server: s, ln: newPipeListener(), done: make(chan error, 1)}
	s.pipes = pipePlumbing{}
	s.Affinity = -1
	s.Log = func(e engine.ServerEvent) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.events = append(v.events, e)
	}
	ctx, cancel := context.WithCancel(t.Context())
	v.cancel = cancel
	go func() { v.done <- s.Serve(ctx, v.ln) }()
	return v
}

// stop ends the server and waits for it.
func (v *served) stop(t *testing.T) {
	t.Helper()
	v.cancel()
	if err := <-v.done; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if len(v.visits) != 0 || v.streams != 0 || len(v.pending) != 0 {
		t.Errorf("left behind: %d tests, %d streams, %d newcomers", len(v.visits), v.streams, len(v.pending))
	}
}

// waiting counts the newcomers that have not said who they are.
func (v *served) waiting() int {
	v.Server.mu.Lock()
	defer v.Server.mu.Unlock()
	return len(v.pending)
}

// log gives the texts of the events so far.
func (v *served) log() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var texts []string
	for _, e := range v.events {
		texts = append(texts, e.Text)
	}
	return texts
}

// guest is a client played step by step.
type guest struct {
	peer
	ln     *pipeListener
	cookie wire.Cookie
	data   []net.Conn
}

// knock connects and sends bytes, a cookie as a rule.
func knock(t *testing.T, ln *pipeListener, first []byte) peer {
	t.Helper()
	conn, err := ln.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := peer{conn, t}
	p.put(first...)
	return p
}

func newGuest(t *testing.T, ln *pipeListener) *guest {
	t.Helper()
	g := &guest{ln: ln, cookie: wire.NewCookie()}
	g.peer = knock(t, ln, g.cookie[:])
	return g
}

const plainParams = `{"tcp":true,"omit":0,"time":2,"num":0,"blockcount":0,"parallel":1,"len":1000,"pacing_timer":1000,"client_version":"3.12"}`

// upTo plays a healthy client of a single upload until it has read the given state.
func (g *guest) upTo(last wire.State, params string) *guest {
	g.t.Helper()
	g.want(wire.ParamExchange)
	if last == wire.ParamExchange {
		return g
	}
	g.send(params)
	g.want(wire.CreateStreams)
	if last == wire.CreateStreams {
		return g
	}
	g.stream()
	g.want(wire.TestStart)
	g.want(wire.TestRunning)
	return g
}

func (g *guest) stream() net.Conn {
	c := knock(g.t, g.ln, g.cookie[:]).Conn
	g.data = append(g.data, c)
	return c
}

// pour sends payload every millisecond until the connection is gone.
func (g *guest) pour() {
	for _, c := range g.data {
		go func() {
			for {
				if _, err := c.Write(make([]byte, blockLen)); err != nil {
					return
				}
				time.Sleep(time.Millisecond)
			}
		}()
	}
}

func (g *guest) leave() {
	g.Close()
	for _, c := range g.data {
		c.Close()
	}
}

// wantFault reads a fault with the given code and the end of the connection.
func (g *guest) wantFault(code wire.Code) {
	g.t.Helper()
	g.want(wire.ServerError)
	f, err := wire.ReadFault(g)
	if err != nil || f.Code != code {
		g.t.Errorf("want fault %d, got %+v, %v", code, f, err)
	}
	g.wantEnd()
}

func (g *guest) wantEnd() {
	g.t.Helper()
	if n, err := io.Copy(io.Discard, g); n != 0 || err != nil {
		g.t.Errorf("want the end of the connection, got %d bytes and %v", n, err)
	}
}

// TestServerErrors: whatever a client does, its test ends within the deadline of the
// state, says why, and leaves the server free.
func TestServerErrors(t *testing.T) {
	tests := []struct {
		name   string
		server *Server // nil: as it comes
		client func(*testing.T, *guest)
		text   string // in the last line of the log
		after  time.Duration
	}{
		{
			name: "cookie and silence", client: func(t *testing.T, g *guest) {
				g.upTo(wire.ParamExchange, "")
				g.wantFault(109)
			},
			text: "gave up waiting for the client's parameters", after: replyTimeout,
		},
		{
			name: "half a length", client: func(t *testing.T, g *guest) {
				g.upTo(wire.ParamExchange, "").put(0, 0)
				g.wantFault(109)
			},
			text: "gave up waiting for the client's parameters", after: replyTimeout,
		},
		{
			name: "leaves at once", client: func(t *testing.T, g *guest) { g.upTo(wire.ParamExchange, "").Close() },
			text: "closed the control connection while this end was waiting for the client's parameters",
		},
		{
			name: "huge parameters", client: func(t *testing.T, g *guest) {
				g.upTo(wire.ParamExchange, "").put(0, 1, 0, 1)
				g.wantFault(114)
			},
			text: "the client sent a JSON message of 65537 bytes",
		},
		{
			name: "parameters that are no JSON", client: func(t *testing.T, g *guest) {
				g.upTo(wire.ParamExchange, "").send("\x1b[2J")
				g.wantFault(114)
			},
			text: "its parameters make no sense",
		},
		{
			name: "200 streams", client: func(t *testing.T, g *guest) {
				g.upTo(wire.ParamExchange, "").send(`{"tcp":true,"parallel":200}`)
				g.wantFault(6)
			},
			text: `"parallel" is not a number from 1 to 128`,
		},
		{
			name: "UDP", client: func(t *testing.T, g *guest) {
				g.upTo(wire.ParamExchange, "").send(`{"udp":true,"len":1460}`)
				g.wantFault(131)
			},
			text: "it asks for UDP, which this version does not serve",
		},
		{
			name: "more streams than are left", server: &Server{MaxStreams: 5}, client: func(t *testing.T, g *guest) {
				g.upTo(wire.ParamExchange, "").send(`{"tcp":true,"parallel":3,"bidirectional":true}`)
				g.wantFault(6)
			},
			text: "its 6 streams are more than this server has left of 5",
		},
		{
			name: "opens no stream", client: func(t *testing.T, g *guest) {
				g.upTo(wire.CreateStreams, plainParams)
				g.wantFault(204)
			},
			text: "it opened 0 of 1 streams", after: streamIdleTimeout,
		},
		{
			name: "opens streams too slowly", client: func(t *testing.T, g *guest) {
				g.upTo(wire.CreateStreams, strings.Replace(plainParams, `"parallel":1`, `"parallel":100`, 1))
				for range 13 {
					g.stream()
					time.Sleep(9 * time.Second)
				}
				g.wantFault(204)
			},
			text: "it opened 13 of 100 streams in 2m0s", after: streamsTimeout,
		},
		{
			name: "leaves while streams are opened", client: func(t *testing.T, g *guest) {
				g.upTo(wire.CreateStreams, plainParams).Close()
			},
			text: "closed the control connection while this end was waiting for the client's streams",
		},
		{
			name: "speaks while streams are opened", client: func(t *testing.T, g *guest) {
				g.upTo(wire.CreateStreams, plainParams).state(wire.TestEnd)
				g.wantFault(110)
			},
			text: "it sent TEST_END too early",
		},
		{
			name: "dies", client: func(t *testing.T, g *guest) {
				g.upTo(wire.TestRunning, plainParams).pour()
				time.Sleep(time.Second)
				g.leave()
			},
			text: "closed the control connection while this end was running the test", after: time.Second,
		},
		{
			name: "is interrupted", client: func(t *testing.T, g *guest) {
				g.upTo(wire.TestRunning, plainParams).pour()
				time.Sleep(time.Second)
				g.state(wire.ClientTerminate)
				g.wantEnd()
			},
			text: "the client was interrupted", after: time.Second,
		},
		{
			name: "says goodbye early", client: func(t *testing.T, g *guest) {
				g.upTo(wire.TestRunning, plainParams).pour()
				time.Sleep(time.Second)
				g.state(wire.Done)
				g.wantEnd()
			},
			text: "the client left while this end was running the test", after: time.Second,
		},
		{
			name: "sends garbage", client: func(t *testing.T, g *guest) {
				g.upTo(wire.TestRunning, plainParams).pour()
				time.Sleep(time.Second)
				g.put('!')
				g.wantFault(110)
			},
			text: `it sent "!"`, after: time.Second,
		},
		{
			name: "sends what a server says", client: func(t *testing.T, g *guest) {
				g.upTo(wire.TestRunning, plainParams).pour()
				g.state(wire.DisplayResults)
				g.wantFault(110)
			},
			text: "it sent DISPLAY_RESULTS while the test was running",
		},
		{
			name: "never ends", client: func(t *testing.T, g *guest) {
				g.upTo(wire.TestRunning, plainParams).pour()
				g.wantFault(160)
			},
			text: "it ran 40s longer than planned", after: 2*time.Second + watchdogGrace,
		},
		{
			name: "sends no payload", client: func(t *testing.T, g *guest) {
				g.upTo(wire.TestRunning, strings.Replace(plainParams, `"time":2`, `"time":0`, 1))
				g.wantFault(144)
			},
			text: "no byte moved in any stream for 2m0s", after: defaultRcvTimeout,
		},
		{
			name: "sends no payload, own limit", server: &Server{RcvTimeout: 5 * time.Second}, client: func(t *testing.T, g *guest) {
				g.upTo(wire.TestRunning, strings.Replace(plainParams, `"time":2`, `"time":0`, 1))
				g.wantFault(144)
			},
			text: "for 5s", after: 5 * time.Second,
		},
		{
			name: "keeps its results", client: func(t *testing.T, g *guest) {
				g.upTo(wire.TestRunning, plainParams).pour()
				g.state(wire.TestEnd)
				g.want(wire.ExchangeResults)
				g.wantFault(109)
			},
			text: "gave up waiting for the client's results", after: replyTimeout,
		},
		{
			name: "huge results", client: func(t *testing.T, g *guest) {
				g.upTo(wire.TestRunning, plainParams).pour()
				g.state(wire.TestEnd)
				g.want(wire.ExchangeResults)
				g.put(0, 0xff, 0xff, 0xff)
				g.wantFault(114)
			},
			text: "the client sent a JSON message of 16777215 bytes",
		},
		{
			name: "results that are no JSON", client: func(t *testing.T, g *guest) {
				g.upTo(wire.TestRunning, plainParams).pour()
				g.state(wire.TestEnd)
				g.want(wire.ExchangeResults)
				g.send("hello")
				g.wantFault(117)
			},
			text: "its results make no sense",
		},
		{
			name: "goodbye instead of results", client: func(t *testing.T, g *guest) {
				g.upTo(wire.TestRunning, plainParams).pour()
				g.state(wire.TestEnd)
				g.want(wire.ExchangeResults)
				g.state(wire.Done)
				g.wantEnd()
			},
			text: "the client left while this end was waiting for the client's results",
		},
		{
			name: "no goodbye", client: func(t *testing.T, g *guest) {
				g.upTo(wire.TestRunning, plainParams).pour()
				g.state(wire.TestEnd)
				g.want(wire.ExchangeResults)
				g.send(goodResults)
				g.json(wire.MaxServerResults)
				g.want(wire.DisplayResults)
				g.wantEnd()
			},
			text: "upload received", after: replyTimeout,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := test.server
				if server == nil {
					server = new(Server)
				}
				v := serve(t, server)
				g := newGuest(t, v.ln)
				began := time.Now()
				test.client(t, g)
				if took := time.Since(began); took < test.after || took > test.after+testSlack {
					t.Errorf("want it over after %v, took %v", test.after, took)
				}
				g.leave()
				synctest.Wait()
				log := v.log()
				if last := log[len(log)-1]; !strings.Contains(last, test.text) {
					t.Errorf("want %q in the last line of the log, got\n%s", test.text, strings.Join(log, "\n"))
				}
				if tests := v.Tests(); len(tests) != 0 {
					t.Errorf("want no running test, got %+v", tests)
				}
				// The server is free for the next one.
				runPlain(t, v.ln)
				v.stop(t)
			})
		})
	}
}

// runPlain runs a whole upload of the plainest kind.
func runPlain(t *testing.T, ln *pipeListener) {
	t.Helper()
	c, err := dialPipe(t.Context(), t, ln, testSpec(nil), Options{})
	if err != nil {
		t.Fatalf("a healthy client: %v", err)
	}
	if r := c.Run(t.Context()); r.Err != nil {
		t.Errorf("a healthy client: %v", r.Err)
	}
}

// TestStrangers: connections that are no clients cost their deadline and nobody else
// anything.
func TestStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := serve(t, &Server{})
		began := time.Now()
		for range 100 { // half-open: not a byte
			knock(t, v.ln, nil)
		}
		slow := knock(t, v.ln, nil) // slow loris: a byte every second
		go func() {
			for range 30 {
				if _, err := slow.Write([]byte("a")); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
			t.Error("30 bytes of a cookie took 30 s and were waited for")
		}()
		web := knock(t, v.ln, []byte("GET / HTTP/1.1\r\nHost: host:5201\r\n\r\n\r\n"))
		if _, err := io.ReadAll(web); err != nil {
			t.Errorf("a web browser: want the end of the connection, got %v", err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("a web browser was kept for %v", took)
		}
		runPlain(t, v.ln)
		if got := v.waiting(); got != 101 {
			t.Errorf("want 101 newcomers pending, got %d", got)
		}
		time.Sleep(cookieTimeout)
		synctest.Wait()
		if got := v.waiting(); got != 0 {
			t.Errorf("want no newcomer pending after the deadline, got %d", got)
		}
		if !slices.ContainsFunc(v.log(), func(s string) bool { return strings.Contains(s, "does not speak iperf3") }) {
			t.Errorf("want the browser in the log, got %q", v.log())
		}
		v.stop(t)
	})
}

// TestPendingLimit: with more newcomers than are kept, the oldest has to go.
func TestPendingLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := serve(t, &Server{})
		oldest := knock(t, v.ln, nil)
		for range maxPending {
			knock(t, v.ln, nil)
		}
		if _, err := oldest.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the oldest newcomer: want it closed, got %v", err)
		}
		runPlain(t, v.ln)
		v.stop(t)
	})
}

func TestServerBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := serve(t, &Server{MaxTests: 2})
		first := newGuest(t, v.ln).upTo(wire.TestRunning, plainParams)
		second := newGuest(t, v.ln).upTo(wire.CreateStreams, plainParams)
		third := newGuest(t, v.ln)
		third.want(wire.AccessDenied)
		third.wantEnd()
		if _, err := dialPipe(t.Context(), t, v.ln, testSpec(nil), Options{}); err == nil {
			t.Error("a fourth client was served")
		} else {
			checkError(t, err, stateFirst, "busy", 121, ErrBusy)
		}
		first.leave()
		synctest.Wait()
		runPlain(t, v.ln)
		second.leave()
		v.stop(t)
	})
}

// TestDataConnections: which connections with a known cookie become streams.
func TestDataConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := serve(t, &Server{})
		g := newGuest(t, v.ln)
		g.want(wire.ParamExchange)

		// Between this test's connections come those of a port scanner and of a test
		// that nobody knows.
		g.send(strings.Replace(plainParams, `"parallel":1`, `"parallel":2`, 1))
		g.want(wire.CreateStreams)
		knock(t, v.ln, nil)
		g.stream()
		stranger := newGuest(t, v.ln)
		stranger.want(wire.ParamExchange) // taken for a new client
		g.stream()
		g.want(wire.TestStart)
		g.want(wire.TestRunning)

		surplus := knock(t, v.ln, g.cookie[:])
		surplus.want(wire.AccessDenied)
		surplus.gone()

		g.state(wire.TestEnd)
		g.want(wire.ExchangeResults)
		g.send(strings.Replace(goodResults, `]}`, `,{"id":3,"bytes":1,"retransmits":-1,"jitter":0,"errors":0,"packets":0}]}`, 1))
		g.json(wire.MaxServerResults)
		g.want(wire.DisplayResults)
		g.state(wire.Done)
		g.wantEnd()

		late := knock(t, v.ln, g.cookie[:])
		late.want(wire.AccessDenied)
		late.gone()
		g.leave()
		stranger.leave()
		v.stop(t)
	})
}

// TestStreamOrder: data connections count in the order of accept, though a cookie that
// came in pieces is complete later than the one behind it.
func TestStreamOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := serve(t, &Server{})
		g := newGuest(t, v.ln)
		g.upTo(wire.CreateStreams, strings.Replace(plainParams, `"parallel":1`, `"parallel":1,"bidirectional":true`, 1))
		up := knock(t, v.ln, g.cookie[:10])
		down := knock(t, v.ln, g.cookie[:])
		synctest.Wait()
		up.put(g.cookie[10:]...)
		g.want(wire.TestStart)
		g.want(wire.TestRunning)
		// The server sends on the second connection, so it can be read.
		if n, err := down.Read(make([]byte, blockLen)); n != blockLen || err != nil {
			t.Errorf("the second connection carries server → client: read %d, %v", n, err)
		}
		if n, err := up.Write(make([]byte, blockLen)); n != blockLen || err != nil {
			t.Errorf("the first connection carries client → server: wrote %d, %v", n, err)
		}
		down.Close()
		up.Close()
		g.leave()
		v.stop(t)
	})
}

func TestServerStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := serve(t, &Server{})
		running := newGuest(t, v.ln).upTo(wire.TestRunning, plainParams)
		waiting := newGuest(t, v.ln).upTo(wire.ParamExchange, "")
		knock(t, v.ln, nil)
		v.cancel()
		running.want(wire.ServerTerminate)
		running.wantEnd()
		waiting.want(wire.ServerTerminate)
		waiting.wantEnd()
		running.leave()
		v.stop(t)
	})
}

func TestOneOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := serve(t, &Server{OneOff: true})
		refused := newGuest(t, v.ln).upTo(wire.ParamExchange, "")
		refused.send(`{"udp":true}`)
		refused.wantFault(131)
		refused.leave()
		synctest.Wait()
		runPlain(t, v.ln) // a refused client does not count
		if err := <-v.done; err != nil {
			t.Errorf("want Serve to return nil after one test, got %v", err)
		}
		v.done <- nil
		v.stop(t)
	})
}

// TestServerEvents: the lines of the log and the live table.
func TestServerEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := serve(t, &Server{})
		c, err := dialPipe(t.Context(), t, v.ln, testSpec(func(s *engine.Spec) { s.Streams, s.Direction = 2, engine.Both }), Options{Agent: "3.99\x1b"})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		time.Sleep(500 * time.Millisecond)
		running := v.Tests()
		if len(running) != 1 || running[0].ID != 1 || len(running[0].Counters) != 4 || running[0].Elapsed < 500*time.Millisecond || running[0].Info.PeerAgent != "iperf 3.99" {
			t.Errorf("the live table: %+v", running)
		}
		for _, n := range running[0].Counters {
			if n.Bytes == 0 {
				t.Errorf("stream %d has moved nothing", n.ID)
			}
		}
		c.Run(t.Context())
		v.stop(t)
		want := []string{
			"accepted 1 test 1: invalid AddrPort connected",
			"started 1 test 1: invalid AddrPort both ways, 4 streams, 2.00 s, iperf 3.99",
		}
		var got []string
		for _, e := range v.events[:2] {
			got = append(got, fmt.Sprintf("%v %d %s", e.Kind, e.Test, e.Text))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("log, want − got +\n%s", diff)
		}
		last := v.events[len(v.events)-1]
		if last.Kind != engine.TestEnded || last.Result == nil || last.Err != nil || !strings.Contains(last.Text, "upload received") || !strings.Contains(last.Text, "download received") {
			t.Errorf("the last line: %+v", last)
		}
	})
}

// printer is a sink with output.
type printer struct {
	reports
	out printed
}

func (p *printer) Transcript(sofar engine.Result) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if sofar.Sent(engine.Upload).Known() || !sofar.Received(engine.Upload).Known() {
		return "the client's part is known too early", false
	}
	return strings.ReplaceAll(p.out.text, "N", fmt.Sprint(len(p.intervals))), p.out.json
}

// TestServerOutput: --get-server-output, from a server that prints text and from one
// that prints JSON, and for a client that did not ask.
func TestServerOutput(t *testing.T) {
	tests := []struct {
		name string
		out  printed
		ask  bool
		want string
		json bool
	}{
		{"text", printed{text: "N lines\n"}, true, "2 lines\n", false},
		{"JSON", printed{text: `{"n":N}`, json: true}, true, "{\n  \"n\": 2\n}", true},
		{"broken JSON goes as text", printed{text: `{"n":`, json: true}, true, `{"n":`, false},
		{"not asked", printed{text: "N lines\n"}, false, "", false},
	}
	for _, test := range tests {
		synctest.Test(t, func(t *testing.T) {
			v := serve(t, &Server{NewSink: func(engine.TestInfo) engine.Sink { return &printer{out: test.out} }})
			spec := testSpec(func(s *engine.Spec) { s.ServerOutput, s.Duration = test.ask, 1500*time.Millisecond })
			c, err := dialPipe(t.Context(), t, v.ln, spec, Options{})
			if err != nil {
				t.Fatal(err)
			}
			r := c.Run(t.Context())
			if r.Err != nil || r.PeerOutput != test.want || r.PeerOutputJSON != test.json {
				t.Errorf("%s: want %q, got %q (JSON %v), %v", test.name, test.want, r.PeerOutput, r.PeerOutputJSON, r.Err)
			}
			v.stop(t)
		})
	}
}
