package nic

import (
	"linerate/probes"
	"linerate/probes/internal/rtnl"
)

// kind names what an interface is. Virtual ones carry a kind of their own in
// netlink; hardware is known by its device in sysfs.
func kind(link rtnl.Link, s sysfs) probes.Reading[string] {
	switch {
	case link.Loopback:
		return probes.Got("loopback")
	case link.Kind == "tun" && link.Tap:
		return probes.Got("tap")
	case link.Kind != "":
		return probes.Got(link.Kind)
	case s.err != nil:
		return probes.Unread[string](s.err)
	}
	switch t := s.deviceType(); {
	case t == "wlan" || s.exists("phy80211") || s.exists("wireless"):
		return probes.Got("wifi")
	case t != "" && !s.exists("device"):
		return probes.Got(t)
	case s.exists("tun_flags"): // kernels before 4.18 give tun no kind
		return probes.Got("tun")
	case s.exists("device"):
		return probes.Got("physical")
	}
	return probes.Unknown[string](probes.Absent, "neither hardware nor of a kind the kernel names")
}
