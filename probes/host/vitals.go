package host

import (
	"context"
	"errors"
	"sync"
	"time"

	"linerate/probes"
	"linerate/probes/disk"
	"linerate/probes/firewall"
	"linerate/probes/netstack"
	"linerate/probes/nic"
	"linerate/probes/pressure"
)

// slowEvery is how often the slow readings are made, a little under a second so that a
// caller with that period gets them every time.
const slowEvery = 950 * time.Millisecond

// How long Vitals waits for what the kernel may hold up. Both take under a millisecond
// as a rule. Of the slow ones the earlier reading is at hand.
const (
	trafficWait = 250 * time.Millisecond
	slowWait    = 50 * time.Millisecond
)

// vitals is what Vitals reads with and remembers.
type vitals struct {
	stack    *netstack.Reader
	pressure *pressure.Reader
	firewall *firewall.Reader
	disk     *disk.Reader

	mu      sync.Mutex
	traffic lane[nic.Traffic]
	slow    lane[slow]
	last    slow          // what the slow lane brought
	began   time.Duration // when it was sent, by the clock
	sent    bool
	noClock probes.Reading[[]float64] // there is no cpufreq: for the slow lane alone
}

// slow is the slow tier of probes.Vitals.
type slow struct {
	nic       string
	tried     bool
	way       []string // from nic down to the wire
	driver    probes.Reading[probes.Counters]
	queues    probes.Reading[[]probes.QueueIRQ]
	thermal   probes.Thermal
	conntrack probes.Reading[probes.Conntrack]
	coreHz    probes.Reading[[]float64]
	disks     probes.Reading[[]probes.DiskTimes]
	dirty     probes.Reading[float64]
}

// Vitals reads the counters of this computer and of one of its interfaces, with what is
// below it. What is slow
// to read (see probes.Vitals) is read about once a second, in between the earlier reading is
// given again. The rest takes some 0.4 ms. Safe for concurrent use; calls wait for each
// other.
func (s *Source) Vitals(ctx context.Context, nicName string) probes.Vitals {
	r := &s.vitals
	r.mu.Lock()
	defer r.mu.Unlock()

	at, err := s.clock()
	v := probes.Vitals{At: s.epoch.Add(at)}
	if err != nil {
		v.At = time.Now()
	}
	way := r.wayOf(nicName)
	r.traffic.begin(context.WithoutCancel(ctx), func(ctx context.Context) nic.Traffic { return s.traffic(ctx, nicName, way) })
	s.refresh(ctx, nicName, at)

	v.TCP = r.stack.Counters()
	v.SocketPages = r.stack.SocketPages()
	v.Softnet = r.stack.Softnet()
	v.NetRx = r.stack.NetRx()
	v.Pressure = r.pressure.Stalls()
	v.Quota = r.pressure.Quota()

	s.takeTraffic(ctx, &v)
	s.takeSlow(ctx, nicName, &v)
	return v
}

// wayOf is the way down from an interface as it was a second ago, nil when that is not
// known.
func (r *vitals) wayOf(nicName string) []string {
	if r.last.nic == nicName {
		return r.last.way
	}
	return nil
}

func (s *Source) traffic(ctx context.Context, nicName string, way []string) nic.Traffic {
	if nicName == "" {
		return nic.NoTraffic(errNoNIC)
	}
	if way == nil {
		way = s.nic.Way(ctx, nicName)
	}
	return s.nic.Traffic(ctx, way)
}

var errNoNIC = probes.Missing{Status: probes.Absent, Reason: "no interface is known"}

func (s *Source) takeTraffic(ctx context.Context, v *probes.Vitals) {
	l := &s.vitals.traffic
	t, err := l.wait(ctx, s.within(trafficWait-time.Since(l.since)))
	if err != nil {
		t = nic.NoTraffic(err)
	}
	v.Link, v.Carrier, v.Qdiscs, v.Members = t.Link, t.Carrier, t.Qdiscs, t.Members
}

// within is how long to wait for an answer of the running system. A fixture's answers are
// part of the test and always worth waiting for.
func (s *Source) within(limit time.Duration) time.Duration {
	if s.live {
		return limit
	}
	return time.Minute
}

// refresh sends the slow lane when it is time, or for another interface.
func (s *Source) refresh(ctx context.Context, nicName string, at time.Duration) {
	r := &s.vitals
	if r.sent && at-r.began < slowEvery && r.last.nic == nicName {
		return
	}
	if r.slow.busy() {
		return // the answer will be taken, and the next call sends it again
	}
	r.sent, r.began = true, at
	r.slow.begin(context.WithoutCancel(ctx), func(ctx context.Context) slow { return s.readSlow(ctx, nicName) })
}

func (s *Source) readSlow(ctx context.Context, nicName string) slow {
	r := &s.vitals
	now := slow{
		nic:       nicName,
		tried:     true,
		thermal:   r.pressure.Thermal(),
		conntrack: r.firewall.Conntrack(),
		coreHz:    r.noClock,
		disks:     r.disk.Times(),
		dirty:     r.disk.Dirty(),
		driver:    probes.Unread[probes.Counters](errNoNIC),
		queues:    probes.Unread[[]probes.QueueIRQ](errNoNIC),
	}
	// That there is no cpufreq takes longer to find out than a frequency takes to read.
	if r.noClock.Status != probes.Absent {
		now.coreHz = s.cpu.Clocks()
		r.noClock = now.coreHz
	}
	if nicName == "" {
		return now
	}
	now.way = s.nic.Way(ctx, nicName)
	wire := now.way[len(now.way)-1]
	now.driver = s.nic.Statistics(wire)
	irqs, err := s.nic.Interrupts(ctx, wire)
	if err != nil {
		now.queues = probes.Unread[[]probes.QueueIRQ](err)
		return now
	}
	now.queues = r.stack.Queues(irqs.IRQs, irqs.Names)
	return now
}

// takeSlow puts the newest slow reading into v: the one on its way if it comes now, else
// the one before.
func (s *Source) takeSlow(ctx context.Context, nicName string, v *probes.Vitals) {
	r := &s.vitals
	if r.slow.busy() {
		late := r.slow.late()
		now, err := r.slow.wait(ctx, s.within(slowWait-time.Since(r.slow.since)))
		switch {
		case err == nil:
			r.last = now
		case late || !errors.Is(err, errLate) && !errors.Is(err, ctx.Err()):
			r.last = noSlow(nicName, err)
		}
	}
	last := r.last
	if last.nic != nicName || !last.tried {
		last = noSlow(nicName, nil)
	}
	v.Driver, v.Queues, v.Thermal, v.Conntrack = last.driver, last.queues, last.thermal, last.conntrack
	v.CoreHz, v.Disks, v.Dirty = last.coreHz, last.disks, last.dirty
}

// noSlow is a slow reading of which only the reason for its absence is known; without an
// error it is on its way.
func noSlow(nicName string, err error) slow {
	return slow{
		nic: nicName, tried: err != nil,
		driver: notYet[probes.Counters](err), queues: notYet[[]probes.QueueIRQ](err),
		thermal:   probes.Thermal{Events: notYet[uint64](err), Throttled: notYet[time.Duration](err), Margin: notYet[float64](err)},
		conntrack: notYet[probes.Conntrack](err), coreHz: notYet[[]float64](err),
		disks: notYet[[]probes.DiskTimes](err), dirty: notYet[float64](err),
	}
}

func notYet[T any](err error) probes.Reading[T] {
	if err == nil {
		return probes.Unknown[T](probes.NotRead, "being read")
	}
	return probes.Unread[T](err)
}

// close closes the files that Vitals keeps open, unless a probe is stuck in one of them.
func (r *vitals) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.slow.busy() {
		if _, err := r.slow.wait(context.Background(), patience); errors.Is(err, errLate) {
			return
		}
	}
	r.stack.Close()
	r.pressure.Close()
	r.disk.Close()
}
