// Package nstest gives tests small networks of their own: hosts that are network namespaces
// without a name, joined by veth pairs. They go with the last file that refers
// to them, so nothing is left behind by a test that crashes.
//
// Only tests import it. It needs Linux and root; Need says what is missing.
package nstest
