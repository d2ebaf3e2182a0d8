package iperf

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"linerate/engine"
	"linerate/engine/internal/wire"
	"linerate/probes"
)

// swallowing is a path that lets 4074 bytes pass and says nothing. A search takes its time.
type swallowing struct {
	takes time.Duration

	mu    sync.Mutex
	asked []netip.AddrPort
	now   int // searches under way
	most  int
	left  time.Duration // what the last one was given
}

func (*swallowing) RTT(context.Context, netip.AddrPort, int) probes.PathRTT { panic("not asked for") }

func (p *swallowing) MTU(ctx context.Context, dest netip.AddrPort) probes.PathMTU {
	p.mu.Lock()
	p.asked = append(p.asked, dest)
	p.now++
	p.most = max(p.most, p.now)
	if end, ok := ctx.Deadline(); ok {
		p.left = time.Until(end)
	}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.now--
	}()
	select {
	case <-time.After(p.takes):
	case <-ctx.Done():
	}
	return probes.PathMTU{
		Out: probes.Got(4074), TooBig: probes.Got(4075), BlackHole: true, TCP: probes.Got(9000),
		Reported: probes.Unknown[int](probes.Absent, "no router named a limit"),
	}.WithoutBack(probes.NotRead, "only a linerate server can tell the way back")
}

// places are what the path was asked for.
func (p *swallowing) places() []netip.AddrPort {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// ownHost is one to which an address belongs.
type ownHost struct {
	fakeHost
	own netip.Addr
	by  string // kind of the interface that leads to it
}

func (h *ownHost) Route(_ context.Context, dest netip.Addr) probes.Reading[probes.Route] {
	r := probes.Route{Dest: dest, NIC: probes.Got(probes.NIC{Kind: probes.Got("physical")})}
	if dest == h.own {
		r.NIC.Value.Kind = probes.Got(h.by)
		if h.by != "loopback" {
			r.Source = dest
		}
	}
	return probes.Got(r)
}

// TestSweeper: only a client on another computer is probed, at its very address and port.
func TestSweeper(t *testing.T) {
	here := netip.MustParseAddr("192.0.2.1")
	other := netip.MustParseAddr("198.51.100.9")
	tests := []struct {
		name   string
		host   engine.HostSource
		client string
		want   bool
	}{
		{"a client elsewhere", &fakeHost{}, "198.51.100.7:40000", true},
		{"over IPv6", &fakeHost{}, "[2001:db8::7]:40000", true},
		{"without a host to ask", nil, "198.51.100.7:40000", true},
		{"loopback", nil, "127.0.0.9:40000", false},
		{"loopback of IPv6", nil, "[::1]:40000", false},
		{"the server's address", nil, "192.0.2.1:40000", false},
		{"another address of the server", &ownHost{own: other, by: "physical"}, "198.51.100.9:40000", false},
		{"another address, routed by loopback", &ownHost{own: other, by: "loopback"}, "198.51.100.9:40000", false},
		{"no address", nil, "", false},
	}
	for _, test := range tests {
		path := &swallowing{}
		var client netip.AddrPort
		if test.client != "" {
			client = netip.MustParseAddrPort(test.client)
		}
		mtu, ok := newSweeper(path, test.host).look(t.Context(), here, client)
		if ok != test.want || ok != (len(path.asked) == 1) || ok && (path.asked[0] != client || mtu.Out.Value != 4074) {
			t.Errorf("%s: %v, %+v; asked for %v", test.name, ok, mtu.Out, path.asked)
		}
		if ok && (path.left > sweepWithin || path.left < sweepWithin/2) {
			t.Errorf("%s: was given %v", test.name, path.left)
		}
	}
	if _, ok := newSweeper(nil, &fakeHost{}).look(t.Context(), here, netip.MustParseAddrPort("198.51.100.7:40000")); ok {
		t.Error("without a path source there is an answer")
	}
}

// TestSweeperTurns: many tests at once do not probe at once, and none waits beyond its end.
func TestSweeperTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := &swallowing{takes: time.Second}
		s := newSweeper(path, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		var all sync.WaitGroup
		found := make(chan bool, 20)
		for range cap(found) {
			all.Go(func() {
				_, ok := s.look(ctx, netip.Addr{}, netip.MustParseAddrPort("198.51.100.7:40000"))
				found <- ok
			})
		}
		began := time.Now()
		all.Wait()
		if took := time.Since(began); took > 2500*time.Millisecond {
			t.Errorf("took %v", took)
		}
		n := 0
		for range cap(found) {
			if <-found {
				n++
			}
		}
		if path.most != sweepsAtOnce || n != 2*sweepsAtOnce {
			t.Errorf("%d at once, %d found something, want %d and %d", path.most, n, sweepsAtOnce, 2*sweepsAtOnce)
		}
	})
}

// apart gives the two ends addresses.
func (v *served) apart() {
	v.ln.from, v.ln.at = netip.MustParseAddrPort("198.51.100.7:40000"), netip.MustParseAddrPort("192.0.2.1:5201")
}

// TestSidePath: the client hears what reaches it, once, however long the test lasts.
func TestSidePath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := &swallowing{takes: 1200 * time.Millisecond}
		v := serve(t, &Server{Host: &fakeHost{}, Path: path})
		v.apart()
		c, err := dialPipe(t.Context(), t, v.ln, testSpec(func(s *engine.Spec) { s.Duration = 4 * time.Second }), Options{})
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(1300*time.Millisecond, func() {
			if far, _ := c.Far(); far.PathMTU != (probes.PathMTU{}) {
				t.Errorf("before the next sample: %+v", far.PathMTU)
			}
		})
		time.AfterFunc(1700*time.Millisecond, func() {
			if far, _ := c.Far(); far.Seq != 3 || !far.PathMTU.Out.Known() {
				t.Errorf("sample %d: %+v", far.Seq, far.PathMTU)
			}
		})
		if r := c.Run(t.Context()); r.Err != nil {
			t.Fatal(r.Err)
		}
		far, _ := c.Far()
		want := (&swallowing{}).MTU(t.Context(), netip.AddrPort{}).WithoutBack(probes.NotRead, "")
		if far.PathMTU != want || far.Probed != v.ln.from.Addr() || far.Ended != "" {
			t.Errorf("probed %v: %+v, want %+v; ended %q", far.Probed, far.PathMTU, want, far.Ended)
		}
		if places := path.places(); len(places) != 1 || places[0] != v.ln.from {
			t.Errorf("probed %v", places)
		}
		v.stop(t)
	})
}

// TestSidePathWhenNothingMoves: where large packets vanish no sample is earned, and yet the
// client hears why.
func TestSidePathWhenNothingMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := serve(t, &Server{Host: &fakeHost{}, Path: &swallowing{takes: time.Second}})
		v.apart()
		g := newGuest(t, v.ln)
		g.want(wire.ParamExchange)
		g.send(strings.Replace(sideParams, `"tcp":true`, `"tcp":true,"reverse":true`, 1))
		g.frame(wire.FrameHello)
		g.want(wire.CreateStreams)
		g.stream() // and never read
		g.want(wire.TestStart)
		g.want(wire.TestRunning)
		began := time.Now()
		s, err := wire.ParseSample(g.frame(wire.FrameSample))
		if err != nil || s.Path == nil || s.PathTo != "198.51.100.7" || time.Since(began) > time.Second+sideEvery {
			t.Errorf("after %v: %v, path %s to %q", time.Since(began), err, s.Path, s.PathTo)
		}
		time.Sleep(10 * time.Second) // nothing more is earned, so nothing more may come
		g.state(wire.TestEnd)
		g.finish()
		v.stop(t)
	})
}

// TestSidePathCutShort: a search does not hold up the end of a test.
func TestSidePathCutShort(t *testing.T) {
	for _, how := range []string{"ended", "closed", "server stopped"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := serve(t, &Server{Host: &fakeHost{}, Path: &swallowing{takes: time.Hour}})
				v.apart()
				g := newGuest(t, v.ln).begin()
				g.pour()
				time.Sleep(300 * ms)
				began := time.Now()
				switch how {
				case "ended":
					g.state(wire.TestEnd)
					g.finish()
				case "closed":
					g.quit()
				case "server stopped":
					v.cancel()
					g.want(wire.ServerTerminate)
					g.quit()
				}
				v.stop(t)
				if took := time.Since(began); took > time.Second {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

func TestPathOf(t *testing.T) {
	tests := []struct{ name, path, to, err string }{
		{"all passes", `{"out":{"value":9000,"status":"ok"},"too_big":{"status":"absent","reason":"all sizes pass"}}`, "2001:db8::7", ""},
		{"a black hole", `{"out":{"value":4074,"status":"ok"},"too_big":{"value":4075,"status":"ok"},"black_hole":true}`, "192.0.2.1", ""},
		{"nothing known", `{"out":{"status":"failed","reason":"the host answers no probe"}}`, "192.0.2.1", ""},
		{"a later version with more", `{"out":{"value":9000,"status":"ok"},"more":[1]}`, "", ""},
		{"the least", `{"out":{"value":68,"status":"ok"}}`, "", ""},
		{"less", `{"out":{"value":67,"status":"ok"}}`, "", "a packet of 67 bytes"},
		{"the most", `{"tcp":{"value":65576,"status":"ok"}}`, "", ""},
		{"more", `{"tcp":{"value":65577,"status":"ok"}}`, "", "a packet of 65577 bytes"},
		{"a limit beyond all", `{"reported":{"value":1000000,"status":"ok"}}`, "", "a packet of 1000000 bytes"},
		{"negative", `{"too_big":{"value":-1,"status":"ok"}}`, "", "TooBig is -1"},
		{"a fraction", `{"out":{"value":4074.5,"status":"ok"}}`, "", "cannot unmarshal"},
		{"what passes does not", `{"out":{"value":4074,"status":"ok"},"too_big":{"value":4074,"status":"ok"}}`, "", "4074 bytes are too big where 4074 pass"},
		{"too big for nothing", `{"too_big":{"value":4074,"status":"ok"}}`, "", "too big"},
		{"a hole without an edge", `{"out":{"value":4074,"status":"ok"},"black_hole":true}`, "", "of no size vanish"},
		{"to no address", `{"out":{"value":4074,"status":"ok"}}`, "router", "unable to parse"},
	}
	for _, test := range tests {
		mtu, to, err := pathOf(&wire.Sample{Path: []byte(test.path), PathTo: test.to})
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, want %q", test.name, err, test.err)
		}
		if err == nil && (to.IsValid() != (test.to != "") || mtu.In.Known()) {
			t.Errorf("%s: to %v, %+v", test.name, to, mtu)
		}
	}
	mtu, to, err := pathOf(&wire.Sample{Path: []byte(`{"out":{"status":"failed","reason":"a\u001b[2Jb"},"in":{"value":9000,"status":"ok"},"in_black_hole":true}`), PathTo: "::ffff:192.0.2.1"})
	if err != nil || mtu.Out.Reason != "a[2Jb" || mtu.In.Known() || mtu.InBlackHole || to.String() != "192.0.2.1" {
		t.Errorf("%v: to %v, %+v", err, to, mtu)
	}
}
