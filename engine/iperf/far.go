package iperf

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"linerate/engine"
	"linerate/engine/internal/wire"
	"linerate/probes"
)

// oldest bounds how far back a peer's clock can date what it tells.
const oldest = time.Hour

// farEnd collects what a server tells on the side channel. The reader of the control
// connection calls heard; anybody may call newest.
type farEnd struct {
	epoch time.Time // zero of the local steady clock

	mu       sync.Mutex
	facts    *wire.Hello   // not decoded yet: that takes longer than a handshake may
	conns    []engine.Conn // in order of creation, as the far end sees them
	question time.Duration // when the parameters left
	greeted  bool
	clocks   clocks
	names    counterNames
	now      engine.FarEnd // nothing in it is written again
}

func newFarEnd(spec engine.Spec) *farEnd {
	return &farEnd{epoch: time.Now(), conns: layout(engine.Server, spec)}
}

// asked notes when the parameters left: a hello will be the answer.
func (f *farEnd) asked(at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.question = at.Sub(f.epoch)
}

// opened gives the streams their addresses.
func (f *farEnd) opened(near []engine.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, c := range near {
		f.conns[i].Local, f.conns[i].Remote = c.Remote, c.Local
	}
}

// newest gives all that is known.
func (f *farEnd) newest() (engine.FarEnd, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end(f.decode())
	return f.now, f.greeted
}

// agent gives the name of the server's program; false as long as it is not known to be
// linerate.
func (f *farEnd) agent() (string, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now.Agent, f.greeted
}

// heard takes a frame. One that makes no sense is the last.
func (f *farEnd) heard(s wire.State, text []byte, bad error) {
	arrived := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now.Ended != "" {
		return
	}
	switch {
	case bad != nil:
	case s == wire.FrameHello:
		bad = f.hello(text, arrived)
	case s == wire.FrameSample:
		bad = f.sample(text, arrived)
	}
	f.end(bad)
}

// end notes what was wrong with a frame, if anything was: no other is looked at.
func (f *farEnd) end(bad error) {
	if bad != nil {
		f.greeted = true
		f.now.Ended = wire.Clean(bad.Error(), tameText)
	}
}

func (f *farEnd) hello(text []byte, arrived time.Time) error {
	h, err := wire.ParseHello(text)
	if err != nil {
		return err
	}
	at := arrived.Sub(f.epoch)
	if received, sent := micro(h.Received), micro(h.Sent); f.greeted {
		f.clocks.heard(sent, at)
	} else {
		f.clocks = exchanged(f.question, received, sent, at)
		f.now.Load = unreadLoad("no sample has come yet")
	}
	f.greeted = true
	f.now.Agent, f.now.FactsAt = h.Agent, arrived
	f.facts = &h
	return nil
}

// decode takes the facts of the last hello.
func (f *farEnd) decode() error {
	if f.facts == nil || f.now.Ended != "" {
		return nil
	}
	x, err := factsOf(*f.facts)
	f.facts = nil
	if err != nil {
		return fmt.Errorf("a hello with facts that cannot be: %w", err)
	}
	f.now.Host, f.now.Route, f.now.Adapter, f.now.Settings = x.host, x.route, x.adapter, x.settings
	f.now.Firewall = x.firewall
	return nil
}

func micro(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

func (f *farEnd) sample(text []byte, arrived time.Time) error {
	if err := f.decode(); err != nil {
		return err
	}
	s, err := wire.ParseSample(text)
	if err != nil {
		return err
	}
	switch {
	case !f.greeted:
		return errors.New("a sample before the hello")
	case s.Seq <= f.now.Seq:
		return errors.New("samples out of order")
	}
	next := f.now
	next.Seq, next.At = s.Seq, arrived
	f.clocks.heard(micro(s.Clock), arrived.Sub(f.epoch))
	difference, wrong := f.clocks.difference()
	next.Sampled = within(f.epoch.Add(micro(s.Clock)-difference), arrived)
	next.Wall = time.UnixMicro(s.Wall)
	next.Offset, next.OffsetErr = next.Wall.Sub(next.Sampled), wrong

	if next.Streams, err = f.streams(&s, next.Sampled); err != nil {
		return err
	}
	next.Load = loadOf(&s, next.Streams, next.Sampled)
	if s.Vitals != nil {
		var v probes.Vitals
		if err := fromJSON(s.Vitals, &v); err != nil {
			return fmt.Errorf("a sample with vitals that cannot be: %w", err)
		}
		if err := f.names.complete(&v); err != nil {
			return err
		}
		v.At = next.Sampled.Add(-micro(s.VitalsAge))
		next.Vitals = v
	}
	f.now = next
	return nil
}

// within keeps a far time translated by a guess from lying in the future, or before all
// tests.
func within(at, arrived time.Time) time.Time {
	switch {
	case at.After(arrived):
		return arrived
	case at.Before(arrived.Add(-oldest)):
		return arrived.Add(-oldest)
	}
	return at
}

// streams gives the newest of every stream heard of so far.
func (f *farEnd) streams(s *wire.Sample, sampled time.Time) ([]engine.FarStream, error) {
	told := make(map[int]*wire.Stream, len(s.Streams))
	for i := range s.Streams {
		told[s.Streams[i].ID] = &s.Streams[i]
	}
	before := f.now.Streams
	list := make([]engine.FarStream, 0, len(f.conns))
	for _, c := range f.conns {
		var old *engine.FarStream
		if len(before) > 0 && before[0].ID == c.ID {
			old, before = &before[0], before[1:]
		}
		st := told[c.ID]
		switch {
		case st != nil:
			delete(told, c.ID)
			now, err := streamOf(st, c, sampled)
			if err != nil {
				return nil, err
			}
			if !now.TCP.Known() && old != nil && len(st.Brief) > 0 {
				now.TCP, now.TCPAt, now.Mem = old.TCP, old.TCPAt, old.Mem
			}
			now.Congestion = s.Congestion
			list = append(list, now)
		case old != nil:
			list = append(list, *old)
		}
	}
	for id := range told {
		return nil, fmt.Errorf("a sample with a stream %d that does not exist", id)
	}
	return list, nil
}

const (
	leftOut    = "left out: the side channel takes no more than 1 % of the rate"
	onlySender = "only the sending end knows"
)

// streamOf is one stream of a sample.
func streamOf(st *wire.Stream, c engine.Conn, sampled time.Time) (engine.FarStream, error) {
	why := st.Why
	if why == "" {
		why = leftOut
	}
	at := sampled.Add(-micro(st.Age))
	now := engine.FarStream{
		Counters: engine.Counters{
			Conn: c, Bytes: st.Bytes, BaseAcked: st.Base, TCPAt: at,
			TCP: probes.Unknown[engine.TCPInfo](probes.Absent, why),
			Mem: probes.Unknown[engine.SockMem](probes.Absent, leftOut),
		},
		At:          at,
		Retransmits: probes.Unknown[uint64](probes.Absent, why),
		Cwnd:        probes.Unknown[uint64](probes.Absent, why),
		RTT:         probes.Unknown[time.Duration](probes.Absent, why),
	}
	if len(st.Thread) > 0 {
		now.TID = st.Thread[0]
	}
	if len(st.Info) > 0 {
		var info engine.TCPInfo
		if !fromNumbers(infoFields(&info), st.Info) {
			return now, fmt.Errorf("a sample with a TCP_INFO that cannot be: %v", st.Info)
		}
		now.TCP = probes.Got(info)
		if c.Sender && info.Has(engine.InfoBase) {
			now.Retransmits, now.Cwnd, now.RTT = probes.Got(uint64(info.TotalRetrans)), probes.Got(info.CwndBytes()), probes.Got(info.RTT)
		}
	}
	if len(st.Mem) > 0 {
		var mem engine.SockMem
		if !fromNumbers(memFields(&mem), st.Mem) {
			return now, fmt.Errorf("a sample with a SO_MEMINFO that cannot be: %v", st.Mem)
		}
		now.Mem = probes.Got(mem)
	}
	if b := st.Brief; len(b) > 0 && c.Sender {
		now.Retransmits, now.Cwnd, now.RTT = probes.Got(b[0]), probes.Got(b[1]), probes.Got(micro(int64(b[2])))
	}
	if !c.Sender {
		now.Retransmits, now.Cwnd = probes.Unknown[uint64](probes.Absent, onlySender), probes.Unknown[uint64](probes.Absent, onlySender)
		now.RTT = probes.Unknown[time.Duration](probes.Absent, onlySender)
	}
	return now, nil
}

// loadOf is how busy the far end's computer, process and threads were.
func loadOf(s *wire.Sample, streams []engine.FarStream, sampled time.Time) probes.Load {
	l := probes.Load{
		At: sampled.Add(-micro(s.LoadAge)), Window: micro(s.Window),
		Cores:   untold[[]probes.CoreLoad](s.CoresWhy),
		Threads: untold[[]probes.ThreadLoad](s.ThreadsWhy),
		Process: untold[probes.ThreadLoad](s.ProcessWhy),
	}
	if len(s.Cores) > 0 && s.CoresWhy == "" {
		cores := make([]probes.CoreLoad, len(s.Cores))
		for i, row := range s.Cores {
			cores[i] = coreOf(row)
		}
		l.Cores = probes.Got(cores)
	}
	if len(s.Process) > 0 && s.ProcessWhy == "" {
		l.Process = probes.Got(probes.ThreadLoad{User: share(s.Process[0]), System: share(s.Process[1])})
	}
	sends := make(map[int]bool, len(streams))
	for i := range streams {
		sends[streams[i].ID] = streams[i].Sender
	}
	var threads []probes.ThreadLoad
	for i := range s.Streams {
		if t := s.Streams[i].Thread; len(t) > 0 {
			id := s.Streams[i].ID
			threads = append(threads, probes.ThreadLoad{TID: t[0], Name: threadName(sends[id], id), User: share(t[1]), System: share(t[2]), Core: t[3]})
		}
	}
	if len(threads) > 0 && s.ThreadsWhy == "" {
		l.Threads = probes.Got(threads)
	}
	return l
}

func untold[T any](why string) probes.Reading[T] {
	if why == "" {
		why = leftOut
	}
	return probes.Unknown[T](probes.Absent, why)
}

func share(n int) float64 { return float64(n) / 1000 }

// coreOf reads a row of wire.Sample.Cores.
func coreOf(row []int) probes.CoreLoad {
	var full [7]int
	copy(full[:], row)
	c := probes.CoreLoad{
		Core: full[0],
		User: share(full[1]), System: share(full[2]), IRQ: share(full[3]), SoftIRQ: share(full[4]), Steal: share(full[5]),
	}
	c.Idle = max(0, 1-c.Busy())
	c.IOWait = min(share(full[6]), c.Idle)
	return c
}
