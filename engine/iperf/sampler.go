package iperf

import (
	"context"
	"maps"
	"sync"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// sideEvery is the cadence of the side channel.
const sideEvery = 500 * time.Millisecond

// glance is one reading of the server's computer.
type glance struct {
	load   probes.Load
	vitals probes.Vitals // of the interface that the guest's packets leave by
}

// sampler reads the server's computer twice a second for all tests together, as long as
// somebody has a seat: the test of a linerate client. The load between two readings cannot
// be had twice, and reading once is cheaper.
type sampler struct {
	host     engine.HostSource     // nil: nothing is read, tests are only woken
	evidence engine.EvidenceSource // nil where host is not one too

	reading sync.Mutex // Load is for one goroutine: held by run

	mu     sync.Mutex
	seats  map[*seat]string // with the interface that the test goes over, "" unknown
	cancel context.CancelFunc
	done   chan struct{}
}

// seat is one test's place at a sampler.
type seat struct {
	news chan glance // the newest; what nobody took is replaced
}

func newSampler(host engine.HostSource) *sampler {
	evidence, _ := host.(engine.EvidenceSource)
	return &sampler{host: host, evidence: evidence, seats: make(map[*seat]string)}
}

// join takes a seat; the first one starts the readings.
func (s *sampler) join(nic string) *seat {
	g := &seat{news: make(chan glance, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seats[g] = nic
	if len(s.seats) == 1 {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		s.cancel, s.done = cancel, done
		go func() {
			defer close(done)
			s.run(ctx)
		}()
	}
	return g
}

// move tells that a test goes over another interface.
func (s *sampler) move(g *seat, nic string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seats[g] = nic
}

// leave gives a seat back. The last one waits until nothing is read any more.
func (s *sampler) leave(g *seat) {
	s.mu.Lock()
	delete(s.seats, g)
	last := len(s.seats) == 0
	cancel, done := s.cancel, s.done
	s.mu.Unlock()
	if last {
		cancel()
		<-done
	}
}

func (s *sampler) run(ctx context.Context) {
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.host != nil {
		s.host.Load() // its window reaches back to the last test
	}
	tick := time.NewTicker(sideEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.read(ctx)
		}
	}
}

// read reads once and tells everybody.
func (s *sampler) read(ctx context.Context) {
	load := unreadLoad("the server does not read its computer")
	if s.host != nil {
		load = s.host.Load()
	}
	vitals := make(map[string]probes.Vitals)
	for g, nic := range s.all() {
		v, ok := vitals[nic]
		if !ok && s.evidence != nil {
			v = picked(s.evidence.Vitals(ctx, nic))
			vitals[nic] = v
		}
		g.tell(glance{load, v})
	}
}

// all gives the seats, to go through them without the lock.
func (s *sampler) all() map[*seat]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.seats)
}

// tell replaces the news. Only one goroutine tells, so there is room after the old ones
// have been taken out.
func (g *seat) tell(n glance) {
	select {
	case <-g.news:
	default:
	}
	g.news <- n
}

func unreadLoad(why string) probes.Load {
	return probes.Load{
		Cores:   probes.Unknown[[]probes.CoreLoad](probes.Unsupported, why),
		Threads: probes.Unknown[[]probes.ThreadLoad](probes.Unsupported, why),
		Process: probes.Unknown[probes.ThreadLoad](probes.Unsupported, why),
		Others:  probes.Unknown[[]probes.ThreadLoad](probes.Unsupported, why),
	}
}
