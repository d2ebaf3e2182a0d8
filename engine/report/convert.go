package report

import (
	"fmt"
	"math"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// seconds gives a duration with the microseconds that iperf3 keeps.
func seconds(d time.Duration) number { return number(d.Round(time.Microsecond).Seconds()) }

func newSpan(start, end number, bytes uint64) span {
	s := span{Start: start, End: end, Seconds: number(math.Round(float64(end-start)*1e6) / 1e6), Bytes: bytes}
	if s.Seconds > 0 {
		s.BitsPerSecond = number(float64(bytes) * 8 / float64(s.Seconds))
	}
	return s
}

// maybe gives a pointer to a known value, nil otherwise: the key is then left out.
func maybe[T any](r probes.Reading[T]) *T {
	if !r.Known() {
		return nil
	}
	return &r.Value
}

func flag(on bool) int {
	if on {
		return 1
	}
	return 0
}

func (o JSONOptions) head() startHead {
	return startHead{Connected: []connectedJSON{}, Version: o.Version, SystemInfo: o.System}
}

// start converts what is known when the payload begins to flow.
func (o JSONOptions) start(info engine.TestInfo) any {
	head := o.head()
	for _, c := range info.Conns {
		head.Connected = append(head.Connected, connectedJSON{
			Socket: c.Socket, LocalHost: plainAddr(c.Local.Addr()), LocalPort: int(c.Local.Port()),
			RemoteHost: plainAddr(c.Remote.Addr()), RemotePort: int(c.Remote.Port()),
		})
	}
	spec := info.Spec
	rates := startRates{Cookie: info.Cookie, TargetBitrate: number(spec.Bitrate), FQRate: number(spec.FQRate)}
	if spec.MSS > 0 {
		rates.TCPMSS = &spec.MSS
	} else {
		rates.TCPMSSDefault = &info.MSS
	}
	at := timestampJSON{Time: httpTime(info.Start), Timesecs: info.Start.Unix()}
	buffers := startBuffers{SockBufsize: spec.Window, SndbufActual: info.SndBuf, RcvbufActual: info.RcvBuf}
	if info.Role == engine.Server {
		peer := info.Control.Remote
		return startServer{
			startHead: head, startBuffers: buffers, Timestamp: at,
			Accepted: hostPort{plainAddr(peer.Addr()), int(peer.Port())}, startRates: rates, TestStart: asked(spec),
		}
	}
	return startClient{
		startHead: head, Timestamp: at, ConnectingTo: hostPort{spec.Host, spec.Port},
		startRates: rates, startBuffers: buffers, TestStart: asked(spec),
	}
}

func asked(s engine.Spec) testStart {
	return testStart{
		Protocol: "TCP", NumStreams: s.Streams, BlkSize: s.Block(),
		Omit: int(s.Omit / time.Second), Duration: int(s.Duration / time.Second),
		Bytes: s.Bytes, Blocks: s.Blocks,
		Reverse: flag(s.Direction == engine.Download), Bidir: flag(s.Direction == engine.Both),
		TOS: s.TOS, TargetBitrate: number(s.Bitrate), FQRate: number(s.FQRate),
		Interval: number(max(0, s.Interval.Seconds())),
	}
}

// interval converts one report. Sum is the only direction, or client to server in a
// both-way test, seen from either end.
func interval(info engine.TestInfo, iv engine.Interval) intervalJSON {
	doc := intervalJSON{Streams: []intervalStream{}}
	for _, s := range iv.Streams {
		doc.Streams = append(doc.Streams, streamInterval(iv, s))
	}
	dirs := info.Spec.Direction.Dirs()
	doc.Sum = sumInterval(info.Role, iv, dirs[0])
	if len(dirs) > 1 {
		reverse := sumInterval(info.Role, iv, dirs[1])
		doc.SumBidirReverse = &reverse
	}
	return doc
}

func streamInterval(iv engine.Interval, s engine.StreamInterval) intervalStream {
	js := intervalStream{
		Socket: s.Socket, span: newSpan(seconds(iv.Start), seconds(iv.End), s.Bytes),
		Omitted: iv.Omitted, Sender: s.Sender,
	}
	if !s.Sender {
		return js
	}
	js.Retransmits = maybe(s.Retransmits)
	tcp, ok := s.TCP.Get()
	if !ok {
		return js
	}
	cwnd, rtt, rttvar := tcp.CwndBytes(), tcp.RTT.Microseconds(), tcp.RTTVar.Microseconds()
	js.SndCwnd, js.RTT, js.RTTVar, js.PMTU = &cwnd, &rtt, &rttvar, &tcp.PMTU
	if tcp.Has(engine.InfoSndWnd) {
		wnd := uint64(tcp.SndWnd)
		js.SndWnd = &wnd
	}
	return js
}

func sumInterval(role engine.Role, iv engine.Interval, dir engine.Direction) intervalSum {
	return intervalSum{
		span:        newSpan(seconds(iv.Start), seconds(iv.End), iv.Bytes(dir)),
		Retransmits: maybe(iv.Retransmits(dir)),
		Omitted:     iv.Omitted, Sender: sends(role, dir),
	}
}

// sends reports whether this end sends in a direction.
func sends(role engine.Role, dir engine.Direction) bool {
	return (role == engine.Client) == (dir == engine.Upload)
}

// end converts the result, {} when no stream was ever measured, and lists what the zeros
// in it stand for.
func end(r engine.Result) (any, []unknownField) {
	if len(r.Streams) == 0 {
		return struct{}{}, nil
	}
	e := &ending{result: r}
	doc := endJSON{Streams: []endStream{}}
	for i, s := range r.Streams {
		doc.Streams = append(doc.Streams, e.stream(i, s))
	}
	dirs := r.Info.Spec.Direction.Dirs()
	doc.SumSent, doc.SumReceived = e.sums("", dirs[0])
	if len(dirs) > 1 {
		sent, received := e.sums("_bidir_reverse", dirs[1])
		doc.SumSentBidirReverse, doc.SumReceivedBidirReverse = &sent, &received
	}
	doc.CPU = e.cpu()
	doc.SenderCongestion, doc.ReceiverCongestion = r.LocalCongestion, r.RemoteCongestion
	if dir := r.Info.Spec.Direction; dir != engine.Both && !sends(r.Info.Role, dir) {
		doc.SenderCongestion, doc.ReceiverCongestion = r.RemoteCongestion, r.LocalCongestion
	}
	return doc, e.unknown
}

// ending collects the places of an end object that hold zero for want of knowledge.
type ending struct {
	result  engine.Result
	unknown []unknownField
}

func (e *ending) note(field, reason string) {
	e.unknown = append(e.unknown, unknownField{Field: field, Reason: reason})
}

// account is known bytes over known seconds; for an unknown half iperf3 has zero bytes
// over this end's time.
func (e *ending) account(field string, r probes.Reading[engine.End]) span {
	a, ok := r.Get()
	if !ok {
		e.note(field, r.Why())
		a.Seconds = e.result.Elapsed.Seconds()
	}
	return newSpan(0, number(math.Round(a.Seconds*1e6)/1e6), a.Bytes)
}

func (e *ending) stream(i int, s engine.StreamResult) endStream {
	at := fmt.Sprintf("end.streams[%d].", i)
	js := endStream{
		Sender:   endSender{Socket: s.Socket, span: e.account(at+"sender", s.Sent), Sender: s.Sender},
		Receiver: endReceiver{Socket: s.Socket, span: e.account(at+"receiver", s.Received), Sender: s.Sender},
	}
	if js.Sender.Retransmits = maybe(s.Retransmits); js.Sender.Retransmits != nil {
		js.Sender.senderTCP = &senderTCP{
			MaxSndCwnd: s.TCP.MaxCwnd, MaxSndWnd: s.TCP.MaxSndWnd,
			MaxRTT: s.TCP.MaxRTT.Microseconds(), MinRTT: s.TCP.MinRTT.Microseconds(), MeanRTT: s.TCP.MeanRTT.Microseconds(),
		}
	}
	return js
}

func (e *ending) sums(suffix string, dir engine.Direction) (sent, received endSum) {
	sender := sends(e.result.Info.Role, dir)
	sent = endSum{
		span:        e.account("end.sum_sent"+suffix, e.result.Sent(dir)),
		Retransmits: maybe(e.result.Retransmits(dir)), Sender: sender,
	}
	received = endSum{span: e.account("end.sum_received"+suffix, e.result.Received(dir)), Sender: sender}
	return sent, received
}

func (e *ending) cpu() cpuJSON {
	local, remote := e.result.LocalCPU, e.result.RemoteCPU
	if !remote.Known() {
		e.note("end.cpu_utilization_percent.remote", remote.Why())
	}
	return cpuJSON{
		number(local.Total), number(local.User), number(local.System),
		number(remote.Value.Total), number(remote.Value.User), number(remote.Value.System),
	}
}
