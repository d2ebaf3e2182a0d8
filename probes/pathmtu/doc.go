// Package pathmtu finds the largest packet that passes from this computer to a host, and
// whether larger ones vanish without a word.
//
// engine/session calls it, through probes/host, when payload flows and for doctor, and
// engine/iperf's server towards its clients, for the other direction. It sends datagrams that no router may cut up to the UDP
// side of the host's port and reads what ICMP says; it needs no privilege, takes 3 s at most
// unless told otherwise, and never opens a TCP connection. A program that serves UDP on
// that port would read them, so it is for the time before a UDP test. What routers report
// is kept by the kernel too, as if TCP had run into it.
package pathmtu
