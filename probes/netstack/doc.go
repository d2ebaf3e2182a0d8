// Package netstack reads the kernel's network stack: the counters of TCP, UDP, IP and
// ICMP, the memory of sockets, the packet backlog and receive softirqs of each core, which
// core serves which interrupt, and which program listens on a port.
//
// probes/host calls it, a few times a second; the files whose text is long stay open, so
// that all of it takes about 0.2 ms. The counters of the protocols are those of the network
// namespace that the process was started in; backlog, softirqs and interrupts are the whole
// computer's, in a container too. It draws no conclusions and changes nothing.
package netstack
