// Package lab builds small networks for tests: hosts that are network namespaces, links
// between them with all that can be wrong with a path, and programs that run on them,
// on chosen cores, under a CPU limit, or slower than they would.
//
// Hosts are joined in one of two ways. Join makes a veth pair: fast, without a delay,
// with what the kernel itself can do to packets (an MTU, offloads off, Host.Shape,
// Host.Filter); with Through a third host forwards between two. NewRelay makes a TUN
// device on each side and carries every packet from one to the other in this process,
// which can delay, queue, police, lose and overtake; it takes a core for some 500 Mbit/s
// of ordinary frames.
//
// Only tests import it. Nothing it makes outlives the process: namespaces have no name
// and vanish with the last program in them, and the programs die with the thread that
// started them, so a test that crashes leaves nothing behind but, at worst, an empty
// control group, which the next NewGroup removes. Traffic never leaves these namespaces.
// It needs Linux and root; Need says what is missing.
package lab
