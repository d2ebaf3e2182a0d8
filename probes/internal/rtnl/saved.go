package rtnl

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"slices"

	"linerate/probes"
)

// SavedFile is the name, at the root of a fixture tree, of the JSON file that holds
// what a real kernel tells through netlink and ethtool only; see [Saved].
const SavedFile = "netlink.json"

// Saved is the content of [SavedFile]: what rtnetlink and ethtool would have said on
// the machine that a fixture tree stands for. It answers like [Kernel].
type Saved struct {
	// Links by interface name. Everything that sysfs has too is read from there.
	Links map[string]SavedLink `json:"links"`
	// Routes are tried in order; the first whose Dest holds the address is the answer.
	Routes []SavedRoute `json:"routes"`
}

// SavedLink is one interface of a fixture.
type SavedLink struct {
	Kind     string             `json:"kind,omitempty"` // IFLA_INFO_KIND; absent for real hardware
	Tap      bool               `json:"tap,omitempty"`
	Loopback bool               `json:"loopback,omitempty"`
	Up       bool               `json:"up"`
	MTU      int                `json:"mtu"`
	Driver   string             `json:"driver,omitempty"`   // ETHTOOL_GDRVINFO
	Features map[string]bool    `json:"features,omitempty"` // "tso", "gso", "gro", "lro"
	Counters probes.NICCounters `json:"counters"`

	Index  int             `json:"index,omitempty"`
	Master int             `json:"master,omitempty"` // index of the bridge or bond it belongs to
	More   probes.Counters `json:"more,omitempty"`   // what rtnl_link_stats64 has and Counters has not
	Flaps  uint64          `json:"flaps,omitempty"`  // changes of the carrier
	Qdiscs []probes.Qdisc  `json:"qdiscs,omitempty"`
	Driven probes.Counters `json:"statistics,omitempty"` // ethtool -S; without it the driver has none

	SavedCard
}

// SavedRoute is one line of a fixture's routing table.
type SavedRoute struct {
	Dest    netip.Prefix `json:"dest"`
	Source  netip.Addr   `json:"source"`
	Gateway netip.Addr   `json:"gateway"` // "" for a destination on the link
	Link    string       `json:"link"`
}

// ReadSaved reads [SavedFile] from the root of a fixture tree.
func ReadSaved(root fs.FS) (*Saved, error) {
	text, err := fs.ReadFile(root, SavedFile)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", SavedFile, err)
	}
	s := new(Saved)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("reading %s: %w", SavedFile, err)
	}
	return s, nil
}

func (s *Saved) find(name string) (SavedLink, error) {
	l, ok := s.Links[name]
	if !ok {
		return l, noInterface(name)
	}
	return l, nil
}

// Link gives the saved answer to RTM_GETLINK.
func (s *Saved) Link(_ context.Context, name string) (Link, error) {
	l, err := s.find(name)
	if err != nil {
		return Link{}, err
	}
	return Link{Index: l.Index, Master: l.Master, Name: name, Kind: l.Kind, Tap: l.Tap, Loopback: l.Loopback, Up: l.Up, MTU: l.MTU, Counters: probes.Got(l.Counters)}, nil
}

// All gives all saved links, in order of name.
func (s *Saved) All(ctx context.Context) ([]Link, error) {
	all := make([]Link, 0, len(s.Links))
	for _, name := range slices.Sorted(maps.Keys(s.Links)) {
		l, err := s.Link(ctx, name)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// Traffic gives the saved counters: Counters by the kernel's names, and More.
func (s *Saved) Traffic(_ context.Context, name string) (Traffic, error) {
	l, err := s.find(name)
	if err != nil {
		return Traffic{}, err
	}
	n := l.Counters
	c := probes.Counters{
		"rx_bytes": n.RxBytes, "tx_bytes": n.TxBytes, "rx_packets": n.RxPackets, "tx_packets": n.TxPackets,
		"rx_errors": n.RxErrors, "tx_errors": n.TxErrors, "rx_dropped": n.RxDropped, "tx_dropped": n.TxDropped,
		"rx_missed_errors": n.RxMissed,
	}
	maps.Copy(c, l.More)
	return Traffic{Index: l.Index, Kind: l.Kind, Counters: c, Carrier: probes.Got(l.Flaps), Qdiscs: probes.Got(slices.Clone(l.Qdiscs))}, nil
}

// Statistics gives the saved answer to ethtool -S.
func (s *Saved) Statistics(name string) (probes.Counters, error) {
	l, err := s.find(name)
	if err == nil && l.Driven == nil {
		err = errUntold
	}
	if err != nil {
		return nil, fmt.Errorf("driver statistics of %s: %w", name, err)
	}
	return maps.Clone(l.Driven), nil
}

// Route gives the saved answer to RTM_GETROUTE.
func (s *Saved) Route(_ context.Context, dest netip.Addr) (Route, error) {
	for _, r := range s.Routes {
		if r.Dest.Contains(dest.Unmap()) {
			return Route{Source: r.Source, Gateway: r.Gateway, Link: r.Link}, nil
		}
	}
	return Route{}, fmt.Errorf("route to %s: network is unreachable", dest)
}

// Driver gives the saved answer to ETHTOOL_GDRVINFO.
func (s *Saved) Driver(name string) (string, error) {
	l, err := s.find(name)
	if err == nil && l.Driver == "" {
		err = fmt.Errorf("driver of %s: %w", name, errUntold)
	}
	return l.Driver, err
}

// Offloads gives the saved features.
func (s *Saved) Offloads(name string) probes.Offloads {
	l, err := s.find(name)
	one := func(feature string) probes.Reading[bool] {
		on, ok := l.Features[feature]
		if err == nil && !ok {
			return probes.Unread[bool](fmt.Errorf("%s of %s: %w", feature, name, errUntold))
		}
		return probes.Read(on, err)
	}
	return probes.Offloads{TSO: one("tso"), GSO: one("gso"), GRO: one("gro"), LRO: one("lro")}
}

// Channels is never saved: the queues folder in sysfs says the same.
func (s *Saved) Channels(name string) (rx, tx int, err error) {
	return 0, 0, fmt.Errorf("channels of %s: %w", name, errUntold)
}
