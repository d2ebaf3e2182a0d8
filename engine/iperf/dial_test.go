package iperf

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/engine"
	"linerate/engine/internal/wire"
)

func addrs(list ...string) []netip.Addr {
	var out []netip.Addr
	for _, s := range list {
		out = append(out, netip.MustParseAddr(s))
	}
	return out
}

func TestInterleave(t *testing.T) {
	tests := []struct{ in, want []netip.Addr }{
		{nil, nil},
		{addrs("::1", "::2", "10.0.0.1", "10.0.0.2"), addrs("::1", "10.0.0.1", "::2", "10.0.0.2")},
		{addrs("10.0.0.1", "10.0.0.2", "::1"), addrs("10.0.0.1", "::1", "10.0.0.2")},
		{addrs("::1", "::2"), addrs("::1", "::2")},
	}
	for _, test := range tests {
		got := interleave(test.in)
		if !slices.Equal(got, test.want) {
			t.Errorf("%v: want %v, got %v", test.in, test.want, got)
		}
	}
}

// closer is a connection that only knows whether it was closed.
type closer struct {
	net.Conn
	name   string
	mu     sync.Mutex
	closed bool
}

func (c *closer) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return nil
}

// TestRace dials addresses that answer after a time, or fail after one.
func TestRace(t *testing.T) {
	const never = time.Hour
	type host struct {
		after time.Duration
		err   error
		deaf  bool // goes on connecting though it was told to stop
	}
	refusedErr := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	unreachableErr := &net.OpError{Op: "dial", Err: syscall.ENETUNREACH}
	tests := []struct {
		name  string
		hosts []host
		want  int // index; -1: fails
		err   error
		after time.Duration
	}{
		{"one", []host{{after: 30 * time.Millisecond}}, 0, nil, 30 * time.Millisecond},
		{"first is quick enough", []host{{after: 200 * time.Millisecond}, {after: time.Millisecond}}, 0, nil, 200 * time.Millisecond},
		{"first is silent", []host{{after: never}, {after: time.Millisecond}}, 1, nil, 251 * time.Millisecond},
		{"first fails at once", []host{{err: unreachableErr}, {after: time.Millisecond}}, 1, nil, time.Millisecond},
		{"all but the last are silent", []host{{after: never}, {after: never}, {after: 10 * time.Millisecond}}, 2, nil, 510 * time.Millisecond},
		{"the slow one wins after all", []host{{after: 400 * time.Millisecond}, {after: never}}, 0, nil, 400 * time.Millisecond},
		{"the loser is closed", []host{{after: 255 * time.Millisecond, deaf: true}, {after: 4 * time.Millisecond}}, 1, nil, 254 * time.Millisecond},
		{"a refusal says more than no route", []host{{err: refusedErr}, {err: unreachableErr}}, -1, syscall.ECONNREFUSED, 0},
		{"a refusal says more than silence", []host{{after: never}, {err: refusedErr}}, -1, syscall.ECONNREFUSED, 10 * time.Second},
		{"silence says more than no route", []host{{err: unreachableErr}, {after: never}}, -1, context.DeadlineExceeded, 10 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var list []netip.AddrPort
				conns := make([]*closer, len(test.hosts))
				for i := range test.hosts {
					list = append(list, netip.AddrPortFrom(netip.MustParseAddr("::1"), uint16(i)))
				}
				dial := func(ctx context.Context, a netip.AddrPort) (net.Conn, error) {
					h := test.hosts[a.Port()]
					done := ctx.Done()
					if h.deaf {
						done = nil
					}
					select {
					case <-time.After(h.after):
					case <-done:
						return nil, ctx.Err()
					}
					if h.err != nil {
						return nil, h.err
					}
					conns[a.Port()] = &closer{name: a.String()}
					return conns[a.Port()], nil
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				began := time.Now()
				got, err := race(ctx, list, dial)
				// The deaf loser is waited for, so that it can be closed.
				if took := time.Since(began); took < test.after || took > test.after+time.Millisecond {
					t.Errorf("want it after %v, took %v", test.after, took)
				}
				if !errors.Is(err, test.err) || (err != nil) != (test.want < 0) {
					t.Errorf("want error %v, got %v", test.err, err)
				}
				for i, c := range conns {
					switch {
					case c == nil && i == test.want:
						t.Errorf("want connection %d", i)
					case c != nil && (i == test.want) == c.closed:
						t.Errorf("connection %d: closed %v", i, c.closed)
					case c != nil && i == test.want && got != c:
						t.Errorf("got connection %v", got)
					}
				}
			})
		})
	}
}

// noting is a connection that notes when it is written to.
type noting struct {
	net.Conn
	note func()
}

func (n noting) Write(b []byte) (int, error) {
	n.note()
	return n.Conn.Write(b)
}

// TestOpenOrder: data connections are opened and introduced in order, side by side
// only where the order carries no meaning and the path is long.
func TestOpenOrder(t *testing.T) {
	tests := []struct {
		name string
		n    int
		dir  engine.Direction
		rtt  time.Duration
		took time.Duration
	}{
		{"short path", 8, engine.Upload, time.Millisecond, 8 * time.Millisecond},
		{"long path", 100, engine.Upload, 200 * time.Millisecond, 299 * time.Millisecond},
		{"long path, download", 3, engine.Download, 200 * time.Millisecond, 202 * time.Millisecond},
		{"long path, both ways", 8, engine.Both, 200 * time.Millisecond, 1600 * time.Millisecond},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var arrived []int
				var cookies []int // by the one goroutine that introduces them
				cookie := wire.NewCookie()
				var readers sync.WaitGroup
				defer readers.Wait()
				o := opener{cookie: cookie, rtt: test.rtt, each: time.Second, dial: func(_ context.Context, i int) (net.Conn, error) {
					here, there := net.Pipe()
					time.Sleep(test.rtt)
					mu.Lock()
					arrived = append(arrived, i)
					mu.Unlock()
					readers.Go(func() {
						got, err := wire.ReadCookie(there)
						if err != nil || got != cookie {
							t.Errorf("stream %d: cookie %v, %v", i, got, err)
						}
					})
					return noting{here, func() { cookies = append(cookies, i) }}, nil
				}}
				began := time.Now()
				conns, err := o.open(t.Context(), test.n, test.dir)
				if err != nil || len(conns) != test.n {
					t.Fatalf("want %d connections, got %d, %v", test.n, len(conns), err)
				}
				if took := time.Since(began); took != test.took {
					t.Errorf("want %v, took %v", test.took, took)
				}
				synctest.Wait()
				if !slices.IsSorted(arrived) || !slices.IsSorted(cookies) {
					t.Errorf("connected in the order %v, introduced in the order %v", arrived, cookies)
				}
				closeConns(conns)
			})
		})
	}
}

// TestOpenFails: one connection that fails closes the others.
func TestOpenFails(t *testing.T) {
	for _, rtt := range []time.Duration{0, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var opened []*closer
			o := opener{rtt: rtt, each: time.Minute, dial: func(_ context.Context, i int) (net.Conn, error) {
				if i == 2 {
					return nil, syscall.ECONNREFUSED
				}
				here, there := net.Pipe()
				go wire.ReadCookie(there)
				c := &closer{Conn: here}
				mu.Lock()
				defer mu.Unlock()
				opened = append(opened, c)
				return c, nil
			}}
			_, err := o.open(t.Context(), 4, engine.Upload)
			if !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("want the error of the third, got %v", err)
			}
			for _, c := range opened {
				if !c.closed {
					t.Error("a connection was left open")
				}
				c.Conn.Close()
			}
			synctest.Wait()
		})
	}
}

// TestCPUTimes: percent of one core between two readings.
func TestCPUTimes(t *testing.T) {
	at := time.Now()
	a := cpuTimes{user: time.Second, system: time.Second, at: at}
	b := cpuTimes{user: 3 * time.Second, system: 1500 * time.Millisecond, at: at.Add(2 * time.Second)}
	if diff := cmp.Diff(engine.CPUUse{Total: 125, User: 100, System: 25}, b.since(a)); diff != "" {
		t.Errorf("want − got +\n%s", diff)
	}
	if got := a.since(a); got != (engine.CPUUse{}) {
		t.Errorf("no time between the readings: got %+v", got)
	}
	first := processTimes()
	for sum := 0; ; sum++ { // work until the process clock has moved
		if now := processTimes(); now.user+now.system > first.user+first.system {
			if now.since(first).Total <= 0 {
				t.Errorf("after %d rounds: %+v since %+v", sum, now, first)
			}
			break
		}
	}
}

// TestSpecParams: what one end asks is what the other runs.
func TestSpecParams(t *testing.T) {
	spec := engine.Spec{
		Streams: 3, Direction: engine.Both, Duration: 5 * time.Second, Omit: 2 * time.Second, BlockSize: 1000, Window: 1 << 20,
		MSS: 1200, NoDelay: true, Congestion: "reno", Bitrate: 1e6, Burst: 3, FQRate: 2e6, ZeroCopy: true, SkipRxCopy: true,
		Repeating: true, TOS: 8, FlowLabel: 7, SrvAffinity: 2, Title: "t", ExtraData: "x", ServerOutput: true,
	}
	text, err := params(spec, "linerate").JSON()
	if err != nil {
		t.Fatal(err)
	}
	p, err := wire.ParseParams(text)
	if err != nil {
		t.Fatal(err)
	}
	want := spec
	want.Port, want.Interval, want.Affinity = 5201, time.Second, -1
	if diff := cmp.Diff(want, specOf(p, 5201, time.Second)); diff != "" {
		t.Errorf("want − got +\n%s", diff)
	}

	// A client before 3.3 that sends -n leaves out time.
	old, err := wire.ParseParams([]byte(`{"tcp":true,"omit":0,"num":1000,"parallel":1,"len":131072}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := specOf(old, 5201, 0); got.Duration != 0 || got.Bytes != 1000 || got.BlockSize != 0 {
		t.Errorf("-n of an old client: %+v", got)
	}
}

func TestPrepare(t *testing.T) {
	s, err := prepare(engine.Spec{Omit: 1200 * time.Millisecond, Affinity: -1, SrvAffinity: -1})
	if err != nil || s.Omit != 2*time.Second || s.Port != 5201 || s.Streams != 1 {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestAgent(t *testing.T) {
	for in, want := range map[string]string{"3.12": "iperf 3.12", "linerate 0.1": "linerate 0.1", "": ""} {
		if got := agentOf(in); got != want {
			t.Errorf("%q: want %q, got %q", in, want, got)
		}
	}
}

// TestWhere: how sentences name the server.
func TestWhere(t *testing.T) {
	at := func(list ...string) (out []netip.AddrPort) {
		for _, a := range list {
			out = append(out, netip.MustParseAddrPort(a))
		}
		return out
	}
	tests := []struct {
		host  string
		addrs []netip.AddrPort
		want  string
	}{
		{"10.0.0.1", at("10.0.0.1:5201"), "10.0.0.1:5201"},
		{"fe80::1%eth0", at("[fe80::1%eth0]:5201"), "[fe80::1%eth0]:5201"},
		{"box", at("10.0.0.1:5201"), "box:5201 (10.0.0.1:5201)"},
		{"box", at("10.0.0.1:5201", "[::1]:5201"), "box:5201 (2 addresses tried)"},
	}
	for _, test := range tests {
		r := route{spec: engine.Spec{Host: test.host, Port: 5201}, addrs: test.addrs}
		if got := r.where(); got != test.want {
			t.Errorf("want %q, got %q", test.want, got)
		}
	}
}

func ExampleError() {
	err := error(busyError(stateFirst, nil))
	var e *Error
	if errors.As(err, &e) {
		fmt.Println("linerate: error:", e)
		fmt.Println("linerate: hint:", e.Hint)
	}
	fmt.Println(errors.Is(err, ErrBusy))
	// Output:
	// linerate: error: the server is busy with another test
	// linerate: hint: an iperf3 server runs one test at a time: try again later, or start `linerate serve` there
	// true
}
