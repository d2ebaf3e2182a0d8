package iperf

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// TestMain fails the run when it leaves goroutines or descriptors behind: every
// goroutine has an owner that waits for it, and every connection is closed.
func TestMain(m *testing.M) {
	goroutines, fds := runtime.NumGoroutine(), descriptors()
	code := m.Run()
	fuzzing := flag.Lookup("test.fuzz").Value.String() != "" // leaves a goroutine of its own
	if code == 0 && !fuzzing {
		code = leaked(goroutines, fds)
	}
	os.Exit(code)
}

// leaked waits a moment for what is just ending.
func leaked(goroutines, fds int) int {
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		g, f := runtime.NumGoroutine(), descriptors()
		if g <= goroutines && f <= fds {
			return 0
		}
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			stacks = stacks[:runtime.Stack(stacks, true)]
			fmt.Printf("left behind: %d goroutines of %d, %d descriptors of %d\n%s\n", g-goroutines, g, f-fds, f, stacks)
			return 1
		}
	}
}

// descriptors counts the open ones, on Linux, without the runtime's own.
func descriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	n := 0
	for _, e := range entries {
		target, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && target != "anon_inode:[eventpoll]" && target != "anon_inode:[eventfd]" {
			n++
		}
	}
	return n
}
