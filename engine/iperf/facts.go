package iperf

import (
	"context"
	"encoding/json"
	"net/netip"
	"sync"
	"time"

	"linerate/engine"
	"linerate/engine/internal/wire"
	"linerate/probes"
)

const (
	// factsWithin is how long the handshake may wait for the facts of a hello. They take a
	// few milliseconds; a card on a slow bus tells its share with a later hello.
	factsWithin = 200 * time.Millisecond
	// factsEvery is how old facts may be. With it, running tests are told them again.
	factsEvery = 30 * time.Second
	// keptFacts bounds the routes that are remembered.
	keptFacts = 64
)

// files keeps what a hello says of the server's computer, written down, for the next
// client: it hardly changes, and to read and write it takes longer than a whole handshake
// on loopback.
type files struct {
	host     engine.HostSource     // nil: nothing is read
	evidence engine.EvidenceSource // nil where host is not one too

	turn chan struct{} // held while reading; capacity 1

	mu     sync.Mutex
	known  wire.Hello // without route and adapter
	readAt time.Time
	paths  map[netip.Addr]path
}

// path is how packets reach one client.
type path struct {
	nic            string // of the interface that they leave by, "" when it is not known
	route, adapter json.RawMessage
	at             time.Time
}

func newFiles(host engine.HostSource) *files {
	evidence, _ := host.(engine.EvidenceSource)
	return &files{host: host, evidence: evidence, turn: make(chan struct{}, 1), paths: make(map[netip.Addr]path)}
}

// about gives the facts for a client and the interface on the way to it, newly read where
// they are older than factsEvery. What cannot be read until ctx ends is unknown, and tried
// again the next time.
func (f *files) about(ctx context.Context, client netip.Addr) (h wire.Hello, nic string) {
	if f.host == nil {
		return wire.Hello{}, ""
	}
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
	}
	if ctx.Err() == nil {
		f.readHost(ctx)
		f.readPath(ctx, client)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	h, p := f.known, f.paths[client]
	h.Route, h.Adapter = p.route, p.adapter
	return h, p.nic
}

func (f *files) readHost(ctx context.Context) {
	if time.Since(f.readAt) < factsEvery && !f.readAt.IsZero() {
		return
	}
	host := f.host.Host(ctx)
	h := wire.Hello{Host: asJSON(&host)}
	if f.evidence != nil {
		wall := f.evidence.Firewall(ctx)
		memory := f.evidence.Memory(ctx)
		h.Firewall, h.Memory = asJSON(&wall), asJSON(&memory)
		known := make(map[string]probes.Setting)
		for name, s := range f.evidence.Settings(ctx) {
			if s.Known() {
				known[name] = s.Value
			}
		}
		h.Settings = asJSON(&known)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known = h
	if ctx.Err() == nil {
		f.readAt = time.Now()
	}
}

func (f *files) readPath(ctx context.Context, client netip.Addr) {
	f.mu.Lock()
	old, ok := f.paths[client]
	f.mu.Unlock()
	if ok && time.Since(old.at) < factsEvery || !client.IsValid() {
		return
	}
	var p path
	if route, ok := f.host.Route(ctx, client).Get(); ok {
		p.nic, p.route = route.NIC.Value.Name, asJSON(&route)
	}
	if f.evidence != nil && p.nic != "" {
		if adapter, ok := f.evidence.Adapter(ctx, p.nic).Get(); ok {
			p.adapter = asJSON(&adapter)
		}
	}
	if ctx.Err() == nil {
		p.at = time.Now()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for addr, old := range f.paths {
		if len(f.paths) >= keptFacts || time.Since(old.at) >= factsEvery {
			delete(f.paths, addr)
		}
	}
	f.paths[client] = p
}

// asJSON writes down what is told to a client; nil for what a client would not believe.
func asJSON[T any](v *T) json.RawMessage {
	// A copy, since the original may be shared and tame changes lists in place.
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var c T
	if json.Unmarshal(text, &c) != nil || tame(&c) != nil {
		return nil
	}
	return text
}

// facts are what a hello says, decoded.
type facts struct {
	host     probes.Host
	route    probes.Reading[probes.Route]
	adapter  probes.Reading[probes.Adapter]
	settings probes.Settings
	firewall probes.Firewall
	memory   probes.Reading[float64]
}

// factsOf decodes a hello. An error means that the far end is not to be trusted.
func factsOf(h wire.Hello) (x facts, err error) {
	why := "the far end does not tell"
	x.route, x.adapter = probes.Unknown[probes.Route](probes.Absent, why), probes.Unknown[probes.Adapter](probes.Absent, why)
	if h.Memory == nil {
		x.memory = probes.Unknown[float64](probes.Absent, why)
	}
	if h.Route != nil {
		x.route.Status, x.route.Reason = probes.OK, ""
	}
	if h.Adapter != nil {
		x.adapter.Status, x.adapter.Reason = probes.OK, ""
	}
	var settings map[string]probes.Setting
	for _, err := range []error{
		fromJSON(h.Host, &x.host), fromJSON(h.Route, &x.route.Value), fromJSON(h.Adapter, &x.adapter.Value),
		fromJSON(h.Settings, &settings), fromJSON(h.Firewall, &x.firewall), fromJSON(h.Memory, &x.memory),
	} {
		if err != nil {
			return facts{}, err
		}
	}
	if settings != nil {
		x.settings = make(probes.Settings, len(settings))
		for name, s := range settings {
			x.settings[name] = probes.Got(s)
		}
	}
	return x, nil
}

// fromJSON decodes a peer's JSON and makes it harmless. No text leaves v as it is.
func fromJSON[T any](text json.RawMessage, v *T) error {
	if text == nil {
		return nil
	}
	if err := json.Unmarshal(text, v); err != nil {
		return err
	}
	return tame(v)
}
