package nic

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"linerate/probes"
)

// lineSpeed gives speed and duplex of an interface that is hardware, or stands on
// hardware, and the reason for all others: the kernel shows 10 Gbit/s for a veth and a
// tun, which means nothing. n has everything but speed, duplex and queues; below
// describes an interface that n stands on.
func lineSpeed(n probes.NIC, s sysfs, below func(name string) probes.NIC) (probes.Reading[float64], probes.Reading[string]) {
	k := n.Kind.Value
	switch {
	case k == "loopback":
		return noSpeed("loopback has no line speed")
	case k == "wifi":
		return noSpeed("Wi-Fi changes its rate with the signal")
	case s.err != nil:
		err := fmt.Errorf("line speed: %w", s.err)
		return probes.Unread[float64](err), probes.Unread[string](err)
	case s.exists("device"):
		return hardware(s, n)
	case k == "bond" || k == "team":
		return bond(s, below)
	case len(s.lower()) > 0:
		return stacked(k, s, below)
	case k == "bridge":
		return noSpeed("bridge without a port")
	case k == "":
		return noSpeed("not hardware: no line speed")
	}
	return noSpeed(k + " is virtual and has no line speed")
}

func noSpeed(reason string) (probes.Reading[float64], probes.Reading[string]) {
	return probes.Unknown[float64](probes.Absent, reason), probes.Unknown[string](probes.Absent, reason)
}

// hardware believes the driver, but for those that make a figure up.
func hardware(s sysfs, n probes.NIC) (probes.Reading[float64], probes.Reading[string]) {
	driver := n.Driver.Value
	if driver == "vmxnet3" {
		return noSpeed("vmxnet3 says 10 Gbit/s whatever the host has")
	}
	speed, err := speedFile(s)
	switch {
	case err == nil:
		return probes.Got(speed), duplexFile(s)
	case errors.Is(err, fs.ErrPermission):
		return probes.Unread[float64](err), duplexFile(s)
	case !n.Up.Or(true):
		return noSpeed("no line speed: the link is down")
	case driver == "virtio_net":
		return noSpeed("virtio: the hypervisor tells no line speed")
	}
	return noSpeed("the driver tells no line speed")
}

// errNoSpeed stands for the kernel's several ways to say unknown.
var errNoSpeed = probes.Missing{Status: probes.Absent, Reason: "no line speed"}

// speedFile reads speed, which is in Mbit/s. Unknown is -1 (SPEED_UNKNOWN), the same as
// an unsigned number of 16 or 32 bits in older drivers, 0 in some, or EINVAL.
func speedFile(s sysfs) (bps float64, err error) {
	mbit, err := s.number("speed")
	if err != nil {
		return 0, err
	}
	if mbit <= 0 || mbit == math.MaxUint16 || mbit >= math.MaxInt32 {
		return 0, errNoSpeed
	}
	return float64(mbit) * 1e6, nil
}

func duplexFile(s sysfs) probes.Reading[string] {
	duplex, err := s.text("duplex")
	if err == nil && duplex != "full" && duplex != "half" {
		return probes.Unknown[string](probes.Absent, "the driver tells no duplex")
	}
	return probes.Read(duplex, err)
}

// bond believes the bonding driver, which adds up the members in use, if all of them
// have a speed that means something.
func bond(s sysfs, below func(string) probes.NIC) (probes.Reading[float64], probes.Reading[string]) {
	members := s.lower()
	if len(members) == 0 {
		return noSpeed("no member of the bond is visible here")
	}
	for _, name := range members {
		if m := below(name); m.Up.Or(true) && !m.SpeedBps.Known() {
			return noSpeed(fmt.Sprintf("%s below it: %s", name, m.SpeedBps.Why()))
		}
	}
	speed, err := speedFile(s)
	if err != nil {
		return noSpeed("the bond tells no line speed")
	}
	return probes.Got(speed), duplexFile(s)
}

// stacked takes the speed of the one way out below a VLAN, macvlan or bridge. Ports
// without a link and those of virtual machines and containers are no way out of this
// computer; with two ways the speed depends on the destination.
func stacked(kind string, s sysfs, below func(string) probes.NIC) (probes.Reading[float64], probes.Reading[string]) {
	var ways []probes.NIC
	for _, name := range s.lower() {
		n := below(name)
		switch n.Kind.Value {
		case "veth", "tun", "tap", "dummy":
			continue
		}
		if n.Up.Or(true) {
			ways = append(ways, n)
		}
	}
	switch {
	case len(ways) == 0:
		return noSpeed(kind + " without a port that is hardware and up")
	case len(ways) > 1:
		return noSpeed(fmt.Sprintf("%s with %d ports out of this computer", kind, len(ways)))
	case !ways[0].SpeedBps.Known():
		return noSpeed(fmt.Sprintf("%s below it: %s", ways[0].Name, ways[0].SpeedBps.Why()))
	}
	return ways[0].SpeedBps, ways[0].Duplex
}
