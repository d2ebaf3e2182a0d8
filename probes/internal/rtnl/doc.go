// Package rtnl asks the kernel about interfaces and routes: rtnetlink for links,
// counters, queueing disciplines and routes, the ethtool ioctl for drivers, their
// statistics, offloads and channels.
//
// probes/nic calls it. [Kernel] asks the running system (Linux; elsewhere every answer
// is errors.ErrUnsupported), [Saved] answers from a file in a fixture tree. It reads
// only: nothing here changes a setting, and nothing needs a privilege.
package rtnl
