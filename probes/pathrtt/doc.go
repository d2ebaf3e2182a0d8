// Package pathrtt measures the round trip time to a host, and how many routers are on the
// way back.
//
// cmd/linerate calls it before a test, while one runs (one probe a second), and for
// doctor. It pings where the system lets users do so and the host answers; else it sends
// UDP to the host's port and takes "port unreachable" for an answer. Neither counts as a
// test at an iperf3 server, and no TCP connection is ever opened. A host gives some six of
// the latter answers at once and one a second after that, shared with probes/pathmtu.
package pathrtt
