// Package firewall reads what stands between the network card and a socket: which packet
// filter there is and who manages it, how many rules it has, the table of tracked
// connections, and whether this computer forwards packets for others.
//
// probes/host calls it. Counting rules needs CAP_NET_ADMIN; without it the package goes by
// the traces that managers leave, and says what it does not know. It speaks of the network
// namespace of this process. It changes no rule and loads no kernel module.
package firewall
