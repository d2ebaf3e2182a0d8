package sessiontest

import (
	"net/netip"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// farEvery is how often a linerate server tells about itself.
const farEvery = 500 * time.Millisecond

// FarEnd is a server's script of what it tells about its own end.
type FarEnd struct {
	Host   string        // name of the computer
	NIC    string        // and of its interface
	Delay  time.Duration // between a sample and its arrival
	Every  time.Duration // between samples; 0: 500 ms
	EndsAt time.Duration // the age of the test from which on it makes no sense; 0: never
	Silent time.Duration // the age from which on no sample comes; 0: never
	Brief  bool          // its sockets are told briefly: no TCP_INFO

	// Load is how busy its cores and the threads of the streams are; nil: not told.
	Load func(age time.Duration) ([]probes.CoreLoad, []probes.ThreadLoad)
	// Others are the busiest programs of its computer that are no test's; nil: not told.
	Others func(age time.Duration) []probes.ThreadLoad
	// Memory is the peak bandwidth of its RAM, bits/s; 0: not told.
	Memory float64
	// Kind is that of its interface: "wireguard"; "" unknown. MTU is its MTU; 0: 1500.
	Kind string
	MTU  int
	// PathMTU is what it finds of the path to the client when the test has run for PathAt,
	// and Probed the address it probes; the zero value: it tells nothing.
	PathMTU probes.PathMTU
	PathAt  time.Duration
	Probed  netip.Addr
	// Vitals are its counters since the begin of the test; nil: not told.
	Vitals func(age time.Duration) probes.Vitals
}

// Far is what the server has told so far; false when it is no linerate.
func (t *Test) Far() (engine.FarEnd, bool) {
	f := t.server.Far
	if f == nil {
		return engine.FarEnd{}, false
	}
	now := time.Now()
	if ended := t.Ended(); !ended.IsZero() {
		now = ended
	}
	far := engine.FarEnd{
		Agent:   t.server.Agent,
		Host:    probes.Host{Name: probes.Got(f.Host), OS: "linux", CPU: probes.CPU{Cores: 4}},
		Route:   probes.Got(probes.Route{NIC: probes.Got(f.nic())}),
		Adapter: probes.Got(probes.Adapter{Device: f.NIC}),
		FactsAt: t.info.Start,
		Load:    Plain{}.Load(),
	}
	far.Memory = probes.Unknown[float64](probes.Absent, "the far end does not tell")
	if f.Memory > 0 {
		far.Memory = probes.Got(f.Memory)
	}
	age := now.Sub(t.info.Start)
	if f.EndsAt > 0 && age >= f.EndsAt {
		age, far.Ended = f.EndsAt, "a sample without sense"
	}
	if f.Silent > 0 {
		age = min(age, f.Silent)
	}
	every := f.Every
	if every == 0 {
		every = farEvery
	}
	n := (age - f.Delay) / every
	if n <= 0 {
		return far, true
	}
	t.sampleFar(&far, f, n*every)
	far.Seq, far.At = uint64(n), far.Sampled.Add(f.Delay)
	return far, true
}

func (f *FarEnd) nic() probes.NIC {
	n := probes.NIC{Name: f.NIC, MTU: probes.Got(1500)}
	if f.MTU > 0 {
		n.MTU = probes.Got(f.MTU)
	}
	if f.Kind != "" {
		n.Kind = probes.Got(f.Kind)
	}
	return n
}

// sampleFar is the sample that was taken when the test had run for age.
func (t *Test) sampleFar(far *engine.FarEnd, f *FarEnd, age time.Duration) {
	far.Sampled = t.info.Start.Add(age)
	far.Wall = far.Sampled
	if f.Load != nil {
		cores, threads := f.Load(age)
		far.Load = probes.Load{
			At: far.Sampled, Window: farEvery, Cores: probes.Got(cores), Threads: probes.Got(threads),
			Process: probes.Got(probes.ThreadLoad{System: 0.5}),
			Others:  probes.Unknown[[]probes.ThreadLoad](probes.Absent, "the far end does not tell"),
		}
	}
	if f.Others != nil {
		far.Load.Others = probes.Got(f.Others(age))
	}
	if age >= f.PathAt {
		far.PathMTU, far.Probed = f.PathMTU, f.Probed
	}
	if f.Vitals != nil {
		far.Vitals = f.Vitals(age)
		far.Vitals.At, far.Vitals.Window = far.Sampled, age
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.streams {
		far.Streams = append(far.Streams, t.farStream(&t.streams[i], f, i, age.Truncate(watchEvery)))
	}
}

func (t *Test) farStream(near *scripted, f *FarEnd, i int, age time.Duration) engine.FarStream {
	s := scripted{conn: near.conn}
	s.conn.Sender = !s.conn.Sender
	s.conn.Local, s.conn.Remote = near.conn.Remote, near.conn.Local
	s.run(t, age)
	info := t.tcp(&s, s, age)
	out := engine.FarStream{
		Counters: engine.Counters{
			Conn: s.conn, TID: threadID(i), Bytes: uint64(s.bytes), BaseAcked: cookieBytes,
			TCP: probes.Got(info), TCPAt: t.info.Start.Add(age),
		},
		At:          t.info.Start.Add(age),
		Retransmits: probes.Unknown[uint64](probes.Absent, "only the sending end knows"),
		Cwnd:        probes.Unknown[uint64](probes.Absent, "only the sending end knows"),
		RTT:         probes.Unknown[time.Duration](probes.Absent, "only the sending end knows"),
	}
	if s.conn.Sender {
		out.Retransmits, out.Cwnd, out.RTT = probes.Got(uint64(info.TotalRetrans)), probes.Got(info.CwndBytes()), probes.Got(info.RTT)
	}
	if f.Brief {
		out.TCP = probes.Unknown[engine.TCPInfo](probes.Absent, "left out")
	}
	return out
}
