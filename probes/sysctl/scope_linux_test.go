//go:build linux

package sysctl

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// The lists are checked against the running kernel: what a new namespace shows and what
// can be written there. /proc/sys shows the namespace of the thread that reads it.
func TestNetnsScopes(t *testing.T) {
	host := New().Read()
	if !host["net.ipv4.tcp_mem"].Known() {
		t.Skip("this test runs in a container, which does not see the host's settings")
	}
	runtime.LockOSThread() // and never unlocked: the thread ends with the test
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		if os.Getenv("LINERATE_GATE") == "1" {
			t.Fatalf("no network namespace: %v", err)
		}
		t.Skipf("no network namespace (needs root): %v", err)
	}
	inside := New().Read()
	for _, name := range ownNetwork {
		if host[name].Known() != inside[name].Known() {
			t.Errorf("%s: %q on the host, %q in a namespace: it is not the namespace's own", name, host[name].Why(), inside[name].Why())
		}
		if !inside[name].Known() {
			t.Logf("%s: %s", name, inside[name].Why())
			continue
		}
		if info, err := os.Stat("/" + path(name)); err != nil || info.Mode()&0o200 == 0 {
			t.Errorf("%s cannot be written in a namespace: %v", name, err)
		}
	}
	for _, name := range hostWide {
		if !inside[name].Known() {
			continue
		}
		if host[name] != inside[name] {
			t.Errorf("%s: %+v on the host, %+v in a namespace", name, host[name], inside[name])
		}
		if info, err := os.Stat("/" + path(name)); err != nil || info.Mode()&0o222 != 0 {
			t.Errorf("%s can be written in a namespace: %v", name, err)
		}
	}
}
