package iperf

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"linerate/engine"
	"linerate/engine/internal/wire"
)

const (
	goodHello  = `{"v":1,"agent":"linerate 1.0","rx":1000,"tx":2000,"host":{"os":"linux"}}`
	goodSample = `{"n":1,"m":500000,"w":1790000000000000,"d":500000,"c":[[0,100]],"s":[{"i":1,"b":500}]}`
)

// TestSideMalformed: whatever a server sends in frames, the test ends well, and what was
// wrong is told.
func TestSideMalformed(t *testing.T) {
	frame := func(s wire.State, text string) []byte { return wire.AppendFrame(nil, s, []byte(text)) }
	hello, sample := frame(wire.FrameHello, goodHello), frame(wire.FrameSample, goodSample)
	big := wire.AppendJSON([]byte{byte(wire.FrameSample)}, make([]byte, wire.MaxFrame+1))
	join := func(list ...[]byte) (all []byte) {
		for _, b := range list {
			all = append(all, b...)
		}
		return all
	}
	changed := func(old, new string) []byte { return frame(wire.FrameSample, strings.Replace(goodSample, old, new, 1)) }
	tests := []struct {
		name   string
		early  []byte // before CREATE_STREAMS
		later  []byte // while the payload flows
		ended  string // part of; "": all is well
		sample uint64
	}{
		{"well", hello, sample, "", 1},
		{"hello late", nil, join(hello, sample), "", 1},
		{"two hellos", hello, join(hello, sample), "", 1},
		{"reserved frames", join(hello, frame(wire.FrameRequest, `{}`)), join(frame(wire.FrameAnswer, `x`), sample), "", 1},
		{"sample without hello", nil, sample, "before the hello", 0},
		{"hello without JSON", frame(wire.FrameHello, `hello`), sample, "parsing a hello", 0},
		{"hello with odd facts", frame(wire.FrameHello, `{"v":1,"rx":1,"tx":2,"host":{"cpu":{"cores":-4}}}`), sample, "Cores is -4", 0},
		{"too many cores", frame(wire.FrameHello, `{"v":1,"rx":1,"tx":2,"host":{"cpu":{"cores":1025}}}`), nil, "1025 cores", 0},
		{"unknown status", frame(wire.FrameHello, `{"v":1,"rx":1,"tx":2,"host":{"name":{"status":"fine"}}}`), nil, `unknown reading status "fine"`, 0},
		{"empty frame", hello, join([]byte{byte(wire.FrameSample), 0, 0, 0, 0}, sample), "length 0", 0},
		{"long frame", hello, join(big, sample), "more than the 65536 allowed", 0},
		{"sample without JSON", hello, join(frame(wire.FrameSample, `{`), sample), "parsing a sample", 0},
		{"the same sample again", hello, join(sample, sample), "out of order", 1},
		{"a stream that is not", hello, changed(`"i":1`, `"i":3`), "stream 3 that does not exist", 0},
		{"odd TCP_INFO", hello, changed(`"b":500`, `"b":500,"f":[280,999]`), "TCP_INFO that cannot be", 0},
		{"odd SO_MEMINFO", hello, changed(`"b":500`, `"b":500,"e":[4294967296]`), "SO_MEMINFO that cannot be", 0},
		{"odd vitals", hello, changed(`"d":`, `"v":{"dirty":{"value":-1,"status":"ok"}},"d":`), "Dirty is -1", 0},
		{"odd other program", hello, changed(`"d":`, `"o":[{"n":"x","t":[1,-2,3,4]}],"d":`), "another program of", 0},
		{"odd path", hello, changed(`"d":`, `"x":{"out":{"value":4074,"status":"fine"}},"d":`), `unknown reading status "fine"`, 0},
		{"path of a packet that is none", hello, changed(`"d":`, `"x":{"out":{"value":67,"status":"ok"}},"d":`), "a packet of 67 bytes", 0},
		{"path to nowhere", hello, changed(`"d":`, `"x":{"out":{"value":4074,"status":"ok"}},"xt":"here","d":`), "a path that cannot be", 0},
		{"good after bad", hello, join(frame(wire.FrameSample, `{}`), sample), "no number", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ln := newPipeListener()
				done := make(chan bool)
				go func() {
					defer close(done)
					s := &script{t: t, ln: ln}
					s.upTo(wire.ParamExchange)
					s.ctl.put(test.early...)
					s.ctl.state(wire.CreateStreams)
					stream, err := s.ln.Accept()
					if err != nil {
						t.Error(err)
						return
					}
					if _, err := wire.ReadCookie(stream); err != nil {
						t.Error(err)
					}
					s.data = append(s.data, stream)
					s.ctl.put(byte(wire.TestStart), byte(wire.TestRunning))
					s.flow()
					time.Sleep(500 * time.Millisecond)
					s.ctl.put(test.later...)
					s.end()
					s.ctl.put(sample...) // it was on its way
					s.ctl.state(wire.ExchangeResults)
					s.ctl.json(wire.MaxClientResults)
					s.ctl.send(goodResults)
					s.ctl.state(wire.DisplayResults)
					s.ctl.want(wire.Done)
					s.close()
				}()
				c, err := dialPipe(t.Context(), t, ln, testSpec(nil), Options{})
				if err != nil {
					t.Fatal(err)
				}
				seen := make(chan engine.FarEnd, 1)
				time.AfterFunc(time.Second, func() {
					far, _ := c.Far()
					seen <- far
				})
				r := c.Run(t.Context())
				<-done
				during := <-seen
				if r.Err != nil || r.Streams[0].Received.Value.Bytes != 777 {
					t.Errorf("the test ended with %v, %+v", r.Err, r.Streams[0])
				}
				if !strings.Contains(during.Ended, test.ended) || (during.Ended == "") != (test.ended == "") || during.Seq != test.sample {
					t.Errorf("sample %d, ended %q; want %d, %q", during.Seq, during.Ended, test.sample, test.ended)
				}
			})
		})
	}
}

// TestSideFrameInResults: between EXCHANGE_RESULTS and the end a frame has no place.
func TestSideFrameInResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := newPipeListener()
		go func() {
			s := (&script{t: t, ln: ln}).upTo(wire.TestRunning).flow().exchange()
			s.ctl.send(goodResults)
			s.ctl.put(wire.AppendFrame(nil, wire.FrameSample, []byte(goodSample))...)
			s.close()
		}()
		c, err := dialPipe(t.Context(), t, ln, testSpec(nil), Options{})
		if err != nil {
			t.Fatal(err)
		}
		// Both accounts are there, so that it changes nothing.
		if r := c.Run(t.Context()); r.Err != nil || !r.Received(engine.Upload).Known() {
			t.Errorf("%v, %+v", r.Err, r.Received(engine.Upload))
		}
		if far, ok := c.Far(); ok {
			t.Errorf("a stock server passes for linerate: %+v", far)
		}
	})
}

// FuzzFar: whatever comes in frames, what Far gives is harmless.
func FuzzFar(f *testing.F) {
	f.Add([]byte(goodHello), []byte(goodSample))
	f.Add([]byte(`{"v":1,"rx":1,"tx":2,"host":{"name":{"value":"\u001b","status":"ok"}},"route":{"dest":"fe80::1%\u001b","nic":{"value":{"name":"\u0007"},"status":"ok"}},"settings":{"\u001b":{"value":"\u001b"}}}`),
		[]byte(`{"n":1,"m":1,"w":1,"s":[{"i":1,"b":1,"f":[280,1,0,0,0,0,0,0,0,0,0,0,1448],"t":[5,1,2,-1]},{"i":3,"b":0,"q":[1,2,3]}],"v":{"tcp":{"value":{"\u001b":1},"status":"ok"},"qdiscs":{"value":[{"kind":"\u001b"}],"status":"ok"}}}`))
	f.Add([]byte(goodHello), []byte(`{"n":1,"m":1,"w":1,"o":[{"n":"\u001b[2J","t":[1,4000,0,-1]}],"x":{"out":{"value":4074,"status":"ok"},"black_hole":true,"too_big":{"value":4075,"status":"ok"},"in":{"value":-1,"status":"ok"}},"xt":"fe80::1%\u001b"}`))
	f.Add([]byte(goodHello), []byte(`{"n":1,"m":1,"w":1,"oy":"\u001b","x":{"out":{"status":"failed","reason":"\u001b"},"reported":{"value":1e9,"status":"ok"}}}`))
	f.Fuzz(func(t *testing.T, hello, sample []byte) {
		far := newFarEnd(engine.Spec{Streams: 1, Direction: engine.Both})
		far.opened([]engine.Conn{{ID: 1}, {ID: 3}})
		far.heard(wire.FrameHello, hello, nil)
		far.heard(wire.FrameSample, sample, nil)
		now, _ := far.newest()
		harmless(t, &now)
		if n := len(now.Load.Cores.Value); n > wire.MaxCores || len(now.Streams) > 2 {
			t.Errorf("%d cores, %d streams", n, len(now.Streams))
		}
		if n := now.PathMTU.Out; n.Known() && (n.Value < leastPacket || n.Value > mostPacket) || now.PathMTU.In.Known() || len(now.Load.Others.Value) > wire.MaxOthers {
			t.Errorf("path %+v, %d other programs", now.PathMTU, len(now.Load.Others.Value))
		}
		if now.Seq > 0 && (now.Sampled.After(now.At) || now.At.Sub(now.Sampled) > oldest || now.OffsetErr < 0) {
			t.Errorf("sampled %v, came %v, error %v", now.Sampled, now.At, now.OffsetErr)
		}
	})
}

// harmless fails for a text with control characters, a share that is none, a list too long.
func harmless(t *testing.T, far *engine.FarEnd) {
	t.Helper()
	c := *far
	// Offset and the times are differences of clocks; everything else must be tame as it is.
	c.Offset = 0
	before := fmt.Sprintf("%+v", c)
	if err := tame(&c); err != nil {
		t.Errorf("%v in %s", err, before)
	}
	if after := fmt.Sprintf("%+v", c); after != before {
		t.Errorf("not clean:\n%q\n%q", before, after)
	}
}
