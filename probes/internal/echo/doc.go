// Package echo sends datagrams of a given size to a host and reads what comes back,
// without a privilege.
//
// probes/pathmtu and probes/pathrtt call it. A UDP datagram to a port that nobody listens
// on is answered by ICMP: "port unreachable" from the host tells that it arrived,
// "fragmentation needed" from a router that it was too big. A TCP server's port is such a
// port for UDP, so a probe reaches the very host a test runs against and counts as nothing
// there; but a program that serves UDP on the port reads it. Hosts answer some six such
// probes at once and one a second after that (icmp_ratelimit of Linux). A ping has no such
// limit where the system lets users send one (net.ipv4.ping_group_range); its answer is as
// large as itself.
//
// The package decides nothing and never opens a TCP connection.
package echo
