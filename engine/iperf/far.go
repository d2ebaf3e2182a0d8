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
	others   others
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
	f.now.Firewall, f.now.Memory = x.firewall, x.memory
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
	next.Load.Others = f.others.hear(&s, next.Sampled)
	if s.Path != nil {
		if next.PathMTU, next.Probed, err = pathOf(&s); err != nil {
			return fmt.Errorf("a sample with a path that cannot be: %w", err)
		}
	}
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
