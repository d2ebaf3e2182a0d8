// Package tuitest makes canned snapshots for the tests of the dashboard: whole states of
// sessions as a screen may meet them, from the public case with one full core to a peer
// that sends escape sequences. They depend on nothing but their arguments, so that golden
// screens stay the same.
package tuitest
