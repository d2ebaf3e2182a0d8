//go:build !linux

package rtnl

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"runtime"

	"linerate/probes"
)

// Kernel asks the running system for what package net knows everywhere. The zero value
// is ready.
type Kernel struct{}

// errLinuxOnly is the reason for everything that needs netlink or ethtool.
var errLinuxOnly = probes.Missing{Status: probes.Unsupported, Reason: "read on Linux only, this is " + runtime.GOOS}

// Link gives index, MTU and flags.
func (Kernel) Link(_ context.Context, name string) (Link, error) {
	ifi, err := net.InterfaceByName(name)
	if err != nil {
		return Link{}, fmt.Errorf("interface %s: %w", name, err)
	}
	return Link{
		Index: ifi.Index, Name: ifi.Name, MTU: ifi.MTU,
		Loopback: ifi.Flags&net.FlagLoopback != 0,
		Up:       ifi.Flags&net.FlagRunning != 0,
		Counters: probes.Unread[probes.NICCounters](fmt.Errorf("counters: %w", errLinuxOnly)),
	}, nil
}

// Route finds the source address by connecting a UDP socket, which sends nothing, and
// the interface that has this address. Gateway stays invalid: it is not known.
func (Kernel) Route(ctx context.Context, dest netip.Addr) (Route, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "udp", netip.AddrPortFrom(dest.Unmap(), 9).String())
	if err != nil {
		return Route{}, fmt.Errorf("route to %s: %w", dest, err)
	}
	defer c.Close()
	local, err := netip.ParseAddrPort(c.LocalAddr().String())
	if err != nil {
		return Route{}, fmt.Errorf("route to %s: %w", dest, err)
	}
	r := Route{Source: local.Addr().Unmap()}
	all, err := net.Interfaces()
	if err != nil {
		return Route{}, fmt.Errorf("route to %s: %w", dest, err)
	}
	for _, ifi := range all {
		addrs, err := ifi.Addrs()
		if err != nil {
			continue
		}
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Unmap() == r.Source.WithZone("") {
				r.Link = ifi.Name
				return r, nil
			}
		}
	}
	return Route{}, fmt.Errorf("route to %s: no interface has the address %s", dest, r.Source)
}

// Driver is errors.ErrUnsupported.
func (Kernel) Driver(string) (string, error) { return "", fmt.Errorf("driver: %w", errLinuxOnly) }

// Offloads are all unknown.
func (Kernel) Offloads(string) probes.Offloads {
	no := probes.Unread[bool](fmt.Errorf("offloads: %w", errLinuxOnly))
	return probes.Offloads{TSO: no, GSO: no, GRO: no, LRO: no}
}

// Channels is errors.ErrUnsupported.
func (Kernel) Channels(string) (rx, tx int, err error) {
	return 0, 0, fmt.Errorf("queues: %w", errLinuxOnly)
}
