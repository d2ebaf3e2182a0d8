// Package hosttest builds folders that stand in for a whole computer in tests: /proc
// and /sys in the kernel's own formats, with the cores, threads and network interface
// of a machine that is not at hand.
//
// Tests of probes/host, engine/session and cmd/linerate use it:
//
//	h := hosttest.New(t, hosttest.N100())
//	src := host.NewAt(h.Root())
//	src.Load() // first reading
//	h.Advance(time.Second, cores, threads)
//	src.Load() // exactly these loads, over a window of one second
//
// Happen does for src.Vitals what Advance does for src.Load.
//
// The tree has a clock of its own, proc/uptime: only Advance moves it, so loads do not
// depend on how fast a test runs. What sysfs does not have and a real kernel tells
// through netlink and ethtool is in netlink.json at the root (see rtnl.Saved).
package hosttest
