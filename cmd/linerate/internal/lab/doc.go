// Package lab builds small networks for tests: hosts that are network namespaces, links
// between them with a rate, a delay and a queue, and programs that run on them.
//
// Only tests import it. Nothing it makes outlives the process: namespaces have no name
// and vanish with the last program in them, so a test that crashes leaves nothing
// behind. Traffic never leaves these namespaces. It needs Linux and root; Need says what
// is missing.
package lab
