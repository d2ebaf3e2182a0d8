//go:build linux

package rtnl

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/probes"
)

func TestLinkAgreesWithPackageNet(t *testing.T) {
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, ifi := range all {
		l, err := Kernel{}.Link(t.Context(), ifi.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since, by another test on this machine
		}
		if err != nil {
			t.Errorf("%s: %v", ifi.Name, err)
			continue
		}
		if l.Index != ifi.Index || l.MTU != ifi.MTU || l.Loopback != (ifi.Flags&net.FlagLoopback != 0) {
			t.Errorf("%s: %+v, package net says %+v", ifi.Name, l, ifi)
		}
		if l.Up && ifi.Flags&net.FlagUp == 0 {
			t.Errorf("%s is up, package net says it is down", ifi.Name)
		}
		if !l.Counters.Known() {
			t.Errorf("%s: counters %s", ifi.Name, l.Counters.Why())
		}
		checked++
	}
	if checked == 0 {
		t.Errorf("none of %d interfaces was there", len(all))
	}
}

func TestContextEndsTheRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Kernel{}).Link(ctx, "lo"); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
	ctx, cancel = context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if _, err := (Kernel{}).Link(ctx, "lo"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("past its deadline: %v", err)
	}
}

// Every network namespace has a lo of its own, whose offloads can be switched without
// harm to others.
func TestNetnsOffloadsFollowTheKernel(t *testing.T) {
	runtime.LockOSThread() // and never unlocked: the thread ends with the test
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		if os.Getenv("LINERATE_GATE") == "1" {
			t.Fatalf("no network namespace: %v", err)
		}
		t.Skipf("no network namespace (needs root): %v", err)
	}
	for _, on := range []bool{false, true, false} {
		set(t, unix.ETHTOOL_STSO, on)
		set(t, unix.ETHTOOL_SGRO, on)
		set(t, unix.ETHTOOL_SGSO, !on)
		got := Kernel{}.Offloads("lo")
		if got.TSO != probes.Got(on) || got.GRO != probes.Got(on) || got.GSO != probes.Got(!on) || !got.LRO.Known() {
			t.Errorf("after tso %v, gro %v, gso %v: %+v", on, on, !on, got)
		}
	}
}

func set(t *testing.T, cmd uint32, on bool) {
	t.Helper()
	value := struct{ cmd, data uint32 }{cmd: cmd}
	if on {
		value.data = 1
	}
	if err := ethtool("lo", unsafe.Pointer(&value)); err != nil {
		t.Fatalf("ethtool command %#x: %v", cmd, err)
	}
}

func TestEthtoolRefuses(t *testing.T) {
	if name, err := (Kernel{}).Driver("a-name-that-is-too-long-for-an-interface"); !errors.Is(err, unix.ENODEV) {
		t.Errorf("driver %q, %v, want no such device", name, err)
	}
	if name, err := (Kernel{}).Driver("lr-none"); !errors.Is(err, unix.ENODEV) {
		t.Errorf("driver %q, %v, want no such device", name, err)
	}
	if _, _, err := (Kernel{}).Channels("lo"); probes.Unread[int](err).Status != probes.Absent {
		t.Errorf("channels of lo: %v, want it absent", err)
	}
}
