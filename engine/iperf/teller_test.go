package iperf

import (
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"linerate/engine/internal/wire"
)

// sideParams ask for the side channel.
const sideParams = `{"tcp":true,"omit":0,"time":0,"num":0,"blockcount":0,"parallel":1,"len":1000,"pacing_timer":1000,"client_version":"linerate","x_linerate":{"v":1}}`

// frame reads one frame of the given kind.
func (p peer) frame(s wire.State) []byte {
	p.t.Helper()
	p.want(s)
	text, err := wire.ReadFrame(p)
	if err != nil {
		p.t.Errorf("script: reading a frame: %v", err)
	}
	return text
}

// begin plays a linerate client of an upload up to TEST_RUNNING.
func (g *guest) begin() *guest {
	g.t.Helper()
	g.want(wire.ParamExchange)
	g.send(sideParams)
	g.frame(wire.FrameHello) // before CREATE_STREAMS
	g.want(wire.CreateStreams)
	g.stream()
	g.want(wire.TestStart)
	g.want(wire.TestRunning)
	return g
}

// quit ends the script and lets pour see it.
func (g *guest) quit() {
	g.leave()
	time.Sleep(200 * ms)
}

// finish trades results after TEST_END has been sent.
func (g *guest) finish() {
	g.t.Helper()
	g.want(wire.ExchangeResults)
	g.send(goodResults)
	g.json(wire.MaxServerResults)
	g.want(wire.DisplayResults)
	g.state(wire.Done)
	g.wantEnd()
	g.quit()
}

// TestSideOnTheWire follows the bytes: hello, samples, and none after TEST_END.
func TestSideOnTheWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := serve(t, &Server{Host: &fakeHost{}})
		g := newGuest(t, v.ln).begin()
		g.pour()
		began := time.Now()
		for n := 1; n <= 4; n++ {
			s, err := wire.ParseSample(g.frame(wire.FrameSample))
			if err != nil || s.Seq != uint64(n) || len(s.Streams) != 1 || len(s.Cores) != 2 {
				t.Errorf("sample %d: %v: %+v", n, err, s)
			}
			if took := time.Since(began); took > time.Duration(n)*sideEvery {
				t.Errorf("sample %d after %v", n, took)
			}
		}
		time.Sleep(100 * time.Millisecond)
		g.state(wire.TestEnd)
		time.Sleep(2 * time.Second) // a sample would have come by now
		g.finish()
		v.stop(t)
	})
}

// TestSideSlowReader: a client that does not read its control connection gets no old
// samples later, and holds up nothing.
func TestSideSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := serve(t, &Server{Host: &fakeHost{}})
		g := newGuest(t, v.ln).begin()
		g.pour()
		time.Sleep(20 * time.Second)
		s, err := wire.ParseSample(g.frame(wire.FrameSample))
		if err != nil || s.Clock < (18*time.Second).Microseconds() || s.Streams[0].Bytes < 15e6 {
			t.Errorf("the first sample read after 20 s is of %v, %d bytes, %v", micro(s.Clock), s.Streams[0].Bytes, err)
		}
		// Half a frame, and then nothing more.
		g.want(wire.FrameSample)
		half := make([]byte, 100)
		if _, err := io.ReadFull(g, half); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		before := time.Now()
		g.state(wire.TestEnd)
		size := int(half[2])<<8 | int(half[3])
		rest := make([]byte, size+4-len(half))
		if _, err := io.ReadFull(g, rest); err != nil {
			t.Fatal(err)
		}
		if _, err := wire.ParseSample(append(half[4:], rest...)); err != nil {
			t.Errorf("the frame that was begun: %v", err)
		}
		g.want(wire.ExchangeResults)
		if took := time.Since(before); took > testSlack {
			t.Errorf("the end of the test took %v", took)
		}
		g.send(goodResults)
		g.json(wire.MaxServerResults)
		g.want(wire.DisplayResults)
		g.quit()
		v.stop(t)
	})
}

// TestSideLeave: whoever goes in the middle of a frame leaves nothing behind.
func TestSideLeave(t *testing.T) {
	for _, how := range []string{"closed", "interrupted", "server stopped"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := serve(t, &Server{Host: &fakeHost{}})
				g := newGuest(t, v.ln).begin()
				g.pour()
				time.Sleep(700 * time.Millisecond) // the server is writing
				switch how {
				case "closed":
					g.quit()
				case "interrupted":
					g.state(wire.ClientTerminate)
					g.wantEnd()
					g.quit()
				case "server stopped":
					v.cancel()
					synctest.Wait()
					g.want(wire.ServerTerminate)
					g.quit()
				}
				began := time.Now()
				v.stop(t)
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

// TestSideAllowance: on a slow test all samples together stay below 1 % of the payload.
func TestSideAllowance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := serve(t, &Server{Host: &fakeHost{}})
		g := newGuest(t, v.ln).begin()
		var payload, side atomic.Int64
		data := g.data[0]
		go func() { // 80 kbit/s
			for {
				n, err := data.Write(make([]byte, blockLen))
				if err != nil {
					return
				}
				payload.Add(int64(n))
				time.Sleep(100 * time.Millisecond)
			}
		}()
		samples := 0
		go func() {
			time.Sleep(60 * time.Second)
			g.state(wire.TestEnd)
		}()
		for {
			var head [1]byte
			if _, err := io.ReadFull(g, head[:]); err != nil {
				t.Fatal(err)
			}
			if wire.State(head[0]) == wire.ExchangeResults {
				break
			}
			text, err := wire.ReadFrame(g)
			if err != nil {
				t.Fatal(err)
			}
			samples++
			if side.Add(int64(len(text))); side.Load() > payload.Load()/100 {
				t.Errorf("%d bytes of samples after %d of payload", side.Load(), payload.Load())
			}
		}
		if samples < 15 {
			t.Errorf("%d samples in a minute, %d bytes for %d of payload", samples, side.Load(), payload.Load())
		}
		g.quit()
		v.stop(t)
	})
}

// TestSideRequests: what a client sends on the side channel.
func TestSideRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := serve(t, &Server{Host: &fakeHost{}})
		g := newGuest(t, v.ln).begin()
		g.pour()
		g.put(wire.AppendFrame(nil, wire.FrameRequest, []byte(`{"streams":4}`))...)
		if text := string(g.frame(wire.FrameAnswer)); !strings.Contains(text, `"refused"`) {
			t.Errorf("the answer is %s", text)
		}
		g.put(wire.AppendFrame(nil, wire.FrameSample, []byte(`nonsense`))...) // a server has no use for one
		g.put(byte(wire.FrameRequest), 0, 0, 0, 0)
		big := make([]byte, wire.MaxFrame+1)
		g.put(append(wire.AppendJSON([]byte{byte(wire.FrameRequest)}, big), byte(wire.TestEnd))...)
		g.finish()
		v.stop(t)
		if log := strings.Join(v.log(), "\n"); strings.Count(log, "on the side channel") != 1 || !strings.Contains(log, "test 1: invalid AddrPort sent a JSON message of length 0 on the side channel") {
			t.Errorf("log:\n%s", log)
		}
	})
}

// TestSideUnasked: frames of a client that has not asked for the side channel break the
// protocol.
func TestSideUnasked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := serve(t, &Server{Host: &fakeHost{}})
		g := newGuest(t, v.ln).upTo(wire.TestRunning, plainParams)
		g.put(byte(wire.FrameRequest))
		g.wantFault(110)
		g.quit()
		v.stop(t)
	})
}
