package pathmtu

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"linerate/probes"
	"linerate/probes/internal/echo"
	"linerate/probes/internal/rtnl"
)

// Patience is how long Read takes at most when its context has no deadline. A path
// without trouble takes one round trip.
const Patience = 3 * time.Second

// Read probes the path to dest, a host and a port of it where nobody listens for UDP, such
// as that of an iperf3 server. Only the direction to dest is known afterwards.
//
// When time runs out before the limit is found to the byte, Out is what passed and TooBig
// what did not; the limit is between. A host that answers no UDP is pinged, where the
// system allows it; that tells the direction only when all pings come back or a router
// names the limit.
func Read(ctx context.Context, dest netip.AddrPort) probes.PathMTU {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, Patience)
		defer cancel()
	}
	return outward(ctx, dest).WithoutBack(probes.NotRead, notAsked)
}

// notAsked is why the way back is not known.
const notAsked = "only a linerate server can tell the way back"

// outward probes the path to dest.
func outward(ctx context.Context, dest netip.AddrPort) probes.PathMTU {
	if !echo.Sized() {
		return probes.NoPathMTU(probes.Unsupported, "probed on Linux only, this is "+runtime.GOOS)
	}
	if !dest.IsValid() || dest.Port() == 0 {
		return probes.NoPathMTU(probes.Failed, fmt.Sprintf("probing %s: not an address and a port", dest))
	}
	top, err := interfaceMTU(ctx, dest.Addr())
	if err != nil {
		return unread(err)
	}
	udp := echo.New(echo.UDP, dest)
	defer udp.Close()
	found, err := find(ctx, udp, min(echo.Least(dest.Addr()), top), top)
	mtu := found.pathMTU(top)
	if err != nil {
		mtu = pinged(ctx, dest, top, err)
	}
	mtu.TCP = probes.Read(udp.RouteMTU())
	return mtu
}

func unread(err error) probes.PathMTU {
	r := probes.Unread[int](err)
	return probes.NoPathMTU(r.Status, r.Reason)
}

// interfaceMTU gives the MTU of the interface that leads to dest.
func interfaceMTU(ctx context.Context, dest netip.Addr) (int, error) {
	var kernel rtnl.Kernel
	route, err := kernel.Route(ctx, dest)
	if err != nil {
		return 0, err
	}
	link, err := kernel.Link(ctx, route.Link)
	if err != nil {
		return 0, err
	}
	return min(link.MTU, echo.Most(dest)), nil
}

// pathMTU puts what was found into words.
func (f found) pathMTU(top int) probes.PathMTU {
	m := probes.PathMTU{
		Out:      probes.Got(f.pass),
		TooBig:   probes.Unknown[int](probes.Absent, "all sizes up to the interface's MTU pass"),
		Reported: probes.Unknown[int](probes.Absent, "no router named a limit"),
	}
	if f.reported > 0 {
		m.Reported = probes.Got(f.reported)
	}
	if f.pass >= top {
		return m
	}
	if f.fail > top {
		m.TooBig = probes.Unknown[int](probes.Failed, "time ran out")
		return m
	}
	m.TooBig = probes.Got(f.fail)
	m.BlackHole = f.fail < f.told
	return m
}

// pinged tries ICMP echo requests where UDP had the error failed.
func pinged(ctx context.Context, dest netip.AddrPort, top int, failed error) probes.PathMTU {
	ping := echo.New(echo.Ping, dest)
	defer ping.Close()
	found, err := find(ctx, ping, min(echo.Least(dest.Addr()), top), top)
	if err != nil {
		// A ping that may not be sent is no news of the host.
		return unread(failed)
	}
	m := found.pathMTU(top)
	if m.BlackHole {
		m.Out = probes.Unknown[int](probes.Failed, fmt.Sprintf("a ping of %d bytes is answered and one of %d is not: it, or its answer, is lost", found.pass, found.fail))
		m.TooBig, m.BlackHole = probes.Unknown[int](probes.Failed, m.Out.Reason), false
	}
	return m
}

// errSilent is a host, or something before it, that answers nothing.
var errSilent = errors.New("the host answers no probe")
