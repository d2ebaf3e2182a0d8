// Package nfnl asks the kernel's packet filters which chains and how many rules they have:
// nf_tables by netlink, the older ip_tables by getsockopt.
//
// probes/firewall calls it. [Kernel] asks the running system (Linux; elsewhere every answer
// is errors.ErrUnsupported), [Saved] answers from a file in a fixture tree. It only counts
// and never changes a rule. Both questions need CAP_NET_ADMIN in the network
// namespace; without it the answer is fs.ErrPermission.
package nfnl
