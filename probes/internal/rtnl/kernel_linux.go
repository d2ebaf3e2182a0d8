//go:build linux

package rtnl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/probes"
)

// Kernel asks the running system, in the network namespace of this process. The zero
// value is ready; every call opens and closes its own socket.
type Kernel struct{}

// patience bounds a netlink request whose context has no deadline. The kernel answers
// in microseconds unless someone holds the RTNL lock, which a driver resetting its card
// does for seconds.
const patience = time.Second

func open(ctx context.Context) (*netlink.Handle, error) {
	h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("opening netlink: %w", err)
	}
	wait := patience
	if deadline, ok := ctx.Deadline(); ok {
		wait = max(time.Until(deadline), time.Millisecond)
	}
	if err := errors.Join(ctx.Err(), h.SetSocketTimeout(wait)); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// Link asks RTM_GETLINK. An interface that is not there is fs.ErrNotExist.
func (Kernel) Link(ctx context.Context, name string) (Link, error) {
	h, err := open(ctx)
	if err != nil {
		return Link{}, err
	}
	defer h.Close()
	l, err := h.LinkByName(name)
	var missing netlink.LinkNotFoundError
	if errors.As(err, &missing) {
		return Link{}, noInterface(name)
	}
	if err != nil {
		return Link{}, fmt.Errorf("interface %s: %w", name, err)
	}
	return describe(l), nil
}

func describe(l netlink.Link) Link {
	a := l.Attrs()
	d := Link{Index: a.Index, Master: a.MasterIndex, Name: a.Name, MTU: a.MTU, Loopback: a.Flags&net.FlagLoopback != 0}
	// Devices without a carrier of their own (lo, tun) stay in the unknown state.
	d.Up = a.Flags&net.FlagUp != 0 && (a.OperState == netlink.OperUp || a.OperState == netlink.OperUnknown)
	switch t := l.(type) {
	case *netlink.Device: // no IFLA_LINKINFO
	case *netlink.Tuntap:
		d.Kind, d.Tap = "tun", t.Mode == netlink.TUNTAP_MODE_TAP
	default:
		d.Kind = l.Type()
	}
	d.Counters = probes.Unknown[probes.NICCounters](probes.Absent, "the kernel gave no statistics")
	if s := a.Statistics; s != nil {
		d.Counters = probes.Got(probes.NICCounters{
			RxBytes: s.RxBytes, TxBytes: s.TxBytes, RxPackets: s.RxPackets, TxPackets: s.TxPackets,
			RxErrors: s.RxErrors, TxErrors: s.TxErrors, RxDropped: s.RxDropped, TxDropped: s.TxDropped,
			RxMissed: s.RxMissedErrors,
		})
	}
	return d
}

// Route asks RTM_GETROUTE, like "ip route get": routing rules and metrics count. A zone
// in dest chooses the interface.
func (Kernel) Route(ctx context.Context, dest netip.Addr) (Route, error) {
	h, err := open(ctx)
	if err != nil {
		return Route{}, err
	}
	defer h.Close()
	dest = dest.Unmap()
	opt, err := zone(dest)
	if err != nil {
		return Route{}, err
	}
	routes, err := h.RouteGetWithOptions(dest.AsSlice(), opt)
	if err != nil {
		return Route{}, fmt.Errorf("route to %s: %w", dest, err)
	}
	if len(routes) == 0 {
		return Route{}, fmt.Errorf("route to %s: the kernel gave none", dest)
	}
	r := routes[0]
	link, err := h.LinkByIndex(r.LinkIndex)
	if err != nil {
		return Route{}, fmt.Errorf("interface %d of the route to %s: %w", r.LinkIndex, dest, err)
	}
	found := Route{Link: link.Attrs().Name}
	found.Source, _ = netip.AddrFromSlice(r.Src)
	found.Gateway = gateway(r)
	found.Source, found.Gateway = found.Source.Unmap(), found.Gateway.Unmap()
	return found, nil
}

// gateway also knows an IPv4 route through an IPv6 neighbour (RTA_VIA).
func gateway(r netlink.Route) netip.Addr {
	gw, ok := netip.AddrFromSlice(r.Gw)
	if via, isVia := r.Via.(*netlink.Via); !ok && isVia {
		gw, _ = netip.AddrFromSlice(via.Addr)
	}
	return gw
}

func zone(dest netip.Addr) (*netlink.RouteGetOptions, error) {
	if dest.Zone() == "" {
		return nil, nil
	}
	index, err := strconv.Atoi(dest.Zone())
	if err == nil {
		return &netlink.RouteGetOptions{OifIndex: index}, nil
	}
	ifi, err := net.InterfaceByName(dest.Zone())
	if err != nil {
		return nil, fmt.Errorf("zone of %s: %w", dest, err)
	}
	return &netlink.RouteGetOptions{OifIndex: ifi.Index}, nil
}
