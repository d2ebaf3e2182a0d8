//go:build unix

package main

import (
	"os"
	"syscall"
)

// endings are the signals that end a run.
var endings = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}

func isHangUp(s os.Signal) bool { return s == syscall.SIGHUP }

// lives reports whether a process exists, be it somebody else's.
func lives(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || err == syscall.EPERM
}
