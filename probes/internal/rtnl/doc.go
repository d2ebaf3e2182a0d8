// Package rtnl asks the kernel about interfaces and routes: rtnetlink for links,
// counters, queueing disciplines, routes and what tunnels run over, the ethtool ioctl for
// drivers, their statistics, offloads, channels, link modes and modules, and nl80211 for
// the radio.
//
// probes/nic and probes/pathmtu call it. [Kernel] asks the running system (Linux; elsewhere
// every answer is errors.ErrUnsupported), [Saved] answers from a file in a fixture tree. It
// reads only: nothing here changes a setting. Two answers need CAP_NET_ADMIN, the light in
// an optical module and the far end of a WireGuard device; all else needs no privilege.
package rtnl
