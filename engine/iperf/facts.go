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

// facts are what a hello says of the server's computer.
type facts struct {
	host     probes.Host
	settings probes.Settings
	path
}

// path is how packets reach one client.
type path struct {
	route   probes.Reading[probes.Route]
	adapter probes.Reading[probes.Adapter]
}

// nic is the name of the interface that the packets leave by, "" when it is not known.
func (p path) nic() string { return p.route.Value.NIC.Value.Name }

// files keeps the facts for the next client: they hardly change, and reading them takes
// longer than a whole handshake on loopback.
type files struct {
	host     engine.HostSource     // nil: nothing is read
	evidence engine.EvidenceSource // nil where host is not one too

	turn chan struct{} // held while reading; capacity 1

	mu     sync.Mutex
	known  facts // path not used
	readAt time.Time
	paths  map[netip.Addr]filed
}

type filed struct {
	path
	at time.Time
}

func newFiles(host engine.HostSource) *files {
	evidence, _ := host.(engine.EvidenceSource)
	return &files{host: host, evidence: evidence, turn: make(chan struct{}, 1), paths: make(map[netip.Addr]filed)}
}

// about gives the facts for a client, newly read where they are older than factsEvery. What
// cannot be read until ctx ends is unknown, and tried again the next time.
func (f *files) about(ctx context.Context, client netip.Addr) facts {
	why := "the server does not read its computer"
	unknown := facts{path: path{
		probes.Unknown[probes.Route](probes.Unsupported, why), probes.Unknown[probes.Adapter](probes.Unsupported, why),
	}}
	if f.host == nil {
		return unknown
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
	got := f.known
	got.path = unknown.path
	if p, ok := f.paths[client]; ok {
		got.path = p.path
	}
	return got
}

func (f *files) readHost(ctx context.Context) {
	if time.Since(f.readAt) < factsEvery && !f.readAt.IsZero() {
		return
	}
	now := facts{host: f.host.Host(ctx)}
	if f.evidence != nil {
		now.settings = f.evidence.Settings(ctx)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known = now
	if ctx.Err() == nil {
		f.readAt = time.Now()
	}
}

func (f *files) readPath(ctx context.Context, client netip.Addr) {
	f.mu.Lock()
	old, ok := f.paths[client]
	f.mu.Unlock()
	if ok && time.Since(old.at) < factsEvery {
		return
	}
	p := path{
		route:   probes.Unknown[probes.Route](probes.Absent, "the client has no address"),
		adapter: probes.Unknown[probes.Adapter](probes.Unsupported, "the server does not read its network card"),
	}
	if client.IsValid() {
		p.route = f.host.Route(ctx, client)
	}
	if f.evidence != nil && p.nic() != "" {
		p.adapter = f.evidence.Adapter(ctx, p.nic())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for addr, old := range f.paths {
		if len(f.paths) >= keptFacts || time.Since(old.at) >= factsEvery {
			delete(f.paths, addr)
		}
	}
	entry := filed{path: p}
	if ctx.Err() == nil {
		entry.at = time.Now()
	}
	f.paths[client] = entry
}

// hello puts the facts into the form in which they travel. What is not fit to be told to
// a peer, who would take it for a lie, stays here.
func (x facts) hello() wire.Hello {
	h := wire.Hello{Version: wire.SideVersion, Host: asJSON(&x.host)}
	if x.route.Known() {
		h.Route = asJSON(&x.route.Value)
	}
	if x.adapter.Known() {
		h.Adapter = asJSON(&x.adapter.Value)
	}
	known := make(map[string]probes.Setting, len(x.settings))
	for name, s := range x.settings {
		if s.Known() {
			known[name] = s.Value
		}
	}
	if len(known) > 0 {
		h.Settings = asJSON(&known)
	}
	return h
}

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

// factsOf decodes a hello. An error means that the far end is not to be trusted.
func factsOf(h wire.Hello) (facts, error) {
	why := "the far end does not tell"
	x := facts{path: path{probes.Unknown[probes.Route](probes.Absent, why), probes.Unknown[probes.Adapter](probes.Absent, why)}}
	if err := fromJSON(h.Host, &x.host); err != nil {
		return x, err
	}
	var route probes.Route
	if err := fromJSON(h.Route, &route); err != nil {
		return x, err
	}
	if h.Route != nil {
		x.route = probes.Got(route)
	}
	var adapter probes.Adapter
	if err := fromJSON(h.Adapter, &adapter); err != nil {
		return x, err
	}
	if h.Adapter != nil {
		x.adapter = probes.Got(adapter)
	}
	var settings map[string]probes.Setting
	if err := fromJSON(h.Settings, &settings); err != nil {
		return x, err
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
