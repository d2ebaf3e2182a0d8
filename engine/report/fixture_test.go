package report

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// captured reads what a real iperf3 3.18 printed (testdata/capture runs it).
func captured(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "iperf3-3.18", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// scene is a test in the engine's terms, equivalent to one that iperf3 ran: every stream
// moves 50 Mbit/s.
type scene struct {
	role      engine.Role
	spec      engine.Spec
	omitted   int // intervals
	intervals int
	step      time.Duration // 0: 1 s
	host      string        // "" 127.0.0.1
	cut       error         // the test was cut short: nothing is known of the other end
	output    string        // of the server
	json      bool          // output is JSON
}

const mbit50 = 6 << 20 // bytes in one second

// socket is iperf3's number of a stream, in order of creation.
func socket(role engine.Role, n int) int {
	if role == engine.Server && n > 0 {
		return 6 + 2*n
	}
	return 5 + 2*n
}

var errCut = errors.New("the server has terminated")

func (s scene) info() engine.TestInfo {
	spec := s.spec.Defaults()
	if s.host == "" {
		s.host = "127.0.0.1"
	}
	spec.Host, spec.Port = s.host, 46202
	addr := netip.MustParseAddr("127.0.0.1")
	if s.host == "::1" {
		addr = netip.MustParseAddr("::1")
	}
	near, far := netip.AddrPortFrom(addr, 40000), netip.AddrPortFrom(addr, 46202)
	if s.role == engine.Server {
		near, far = far, near
	}
	info := engine.TestInfo{
		Role: s.role, Spec: spec, Cookie: "zmsga3simmz4tsffdadateryc6dtpigkbyse",
		Start:   time.Date(2026, 11, 30, 13, 15, 0, 0, time.UTC),
		Control: engine.Conn{Local: near, Remote: far},
		MSS:     32768, SndBuf: 16384, RcvBuf: 131072,
	}
	for _, dir := range spec.Direction.Dirs() {
		for range spec.Streams {
			n := len(info.Conns)
			id := n + 1
			if id > 1 {
				id++ // iperf3 has no stream 2
			}
			info.Conns = append(info.Conns, engine.Conn{
				ID: id, Socket: socket(s.role, n), Dir: dir, Sender: sends(s.role, dir), Local: near, Remote: far,
			})
		}
	}
	return info
}

func (s scene) reports() (reports []engine.Interval) {
	step := s.step
	if step == 0 {
		step = time.Second
	}
	bytes := uint64(mbit50 * step.Seconds())
	conns := s.info().Conns
	for i := range s.omitted + s.intervals {
		n := i
		if i >= s.omitted {
			n -= s.omitted // the clock starts again
		}
		iv := engine.Interval{Start: time.Duration(n) * step, End: time.Duration(n+1) * step, Omitted: i < s.omitted}
		for _, c := range conns {
			si := engine.StreamInterval{
				Conn: c, Bytes: bytes,
				Retransmits: probes.Unknown[uint64](probes.Absent, "only the sender counts them"),
				TCP:         probes.Got(engine.TCPInfo{Size: engine.InfoRTO, SndCwnd: 36, SndMSS: 32741, RTT: 36 * time.Microsecond, RTTVar: 29 * time.Microsecond, SndWnd: 371712, PMTU: 65535}),
			}
			if c.Sender {
				si.Retransmits = probes.Got[uint64](0)
			}
			iv.Streams = append(iv.Streams, si)
		}
		reports = append(reports, iv)
	}
	return reports
}

func (s scene) result() engine.Result {
	info := s.info()
	step := max(s.step, time.Second)
	if s.step > 0 {
		step = s.step
	}
	elapsed := time.Duration(s.intervals) * step
	end := probes.Got(engine.End{Bytes: uint64(mbit50 * elapsed.Seconds()), Seconds: elapsed.Seconds()})
	r := engine.Result{
		Info: info, Elapsed: elapsed, Err: s.cut,
		LocalCPU: engine.CPUUse{Total: 0.5, User: 0.2, System: 0.3}, LocalCongestion: "bbr",
		PeerOutput: s.output, PeerOutputJSON: s.json,
	}
	if s.cut == nil {
		r.RemoteCPU = probes.Got(engine.CPUUse{Total: 0.2, System: 0.2})
		r.RemoteCongestion = "bbr"
	} else {
		r.RemoteCPU = probes.Unknown[engine.CPUUse](probes.Failed, "the server ended the test")
	}
	for _, c := range info.Conns {
		sr := engine.StreamResult{Conn: c, Sent: end, Received: end, Retransmits: probes.Got[uint64](0)}
		if s.cut != nil {
			untold := probes.Unknown[engine.End](probes.Failed, "the server ended the test")
			if c.Sender {
				sr.Received = untold
			} else {
				sr.Sent = untold
				sr.Retransmits = probes.Unknown[uint64](probes.Absent, "only the sender counts them")
			}
		}
		if c.Sender {
			sr.TCP = engine.TCPExtremes{Samples: 1, MaxCwnd: 1178694, MaxSndWnd: 371712, MinRTT: 36000, MeanRTT: 36000, MaxRTT: 36000}
		}
		r.Streams = append(r.Streams, sr)
	}
	return r
}

// play feeds the whole test to a sink.
func (s scene) play(sink engine.Sink) {
	sink.Begin(s.info())
	for _, iv := range s.reports() {
		sink.Interval(iv)
	}
	sink.End(s.result())
}
