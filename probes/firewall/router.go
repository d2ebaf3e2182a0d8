package firewall

import (
	"context"
	"fmt"

	"linerate/probes"
	"linerate/probes/internal/kfs"
	"linerate/probes/internal/rtnl"
)

// router tells whether this computer forwards packets between networks: forwarding is on
// and more than one way out of it is up.
func (r *Reader) router(ctx context.Context) probes.Reading[bool] {
	four, err := kfs.Int(r.root, "proc/sys/net/ipv4/ip_forward")
	six, noSix := kfs.Int(r.root, "proc/sys/net/ipv6/conf/all/forwarding")
	switch {
	case noSix == nil && six > 0 || err == nil && four > 0:
	case err != nil:
		return probes.Unread[bool](err)
	default:
		return probes.Got(false)
	}
	all, err := r.links.All(ctx)
	if err != nil {
		return probes.Unread[bool](fmt.Errorf("counting interfaces: %w", err))
	}
	return probes.Got(waysOut(all) > 1)
}

// waysOut counts the interfaces that are up and lead out of this computer. Ports of a
// bridge or bond are part of it; those of a VRF are not. A bridge that has only the ends
// of containers and virtual machines for ports leads nowhere else, and neither does one
// without ports: a host that runs Docker forwards to itself.
func waysOut(all []rtnl.Link) int {
	outward := map[int]bool{} // by index of a bridge: a port leads out
	vrf := map[int]bool{0: true}
	for _, l := range all {
		vrf[l.Index] = vrf[l.Index] || l.Kind == "vrf"
		if l.Master != 0 && l.Up && !inward(l) {
			outward[l.Master] = true
		}
	}
	ways := 0
	for _, l := range all {
		switch {
		case !l.Up || l.Loopback || !vrf[l.Master]:
		case l.Kind == "vrf" || l.Kind == "dummy" || l.Kind == "ifb" || l.Kind == "nlmon":
		case l.Kind == "bridge" && !outward[l.Index]:
		default:
			ways++
		}
	}
	return ways
}

// inward tells that a port of a bridge is the end of a container or virtual machine.
func inward(l rtnl.Link) bool {
	return l.Kind == "veth" || l.Kind == "tun" || l.Kind == "dummy"
}
