//go:build linux

package nstest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Need skips the test where no namespaces can be made, or a program is missing, and fails
// it in the gate.
func Need(t testing.TB, programs ...string) {
	t.Helper()
	reason := ""
	if os.Geteuid() != 0 {
		reason = "network namespaces need root"
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil && reason == "" {
			reason = "no program " + p
		}
	}
	if reason == "" {
		return
	}
	if os.Getenv("LINERATE_GATE") == "1" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// Host is a network namespace with its loopback up.
type Host struct{ ns *os.File }

// New makes a host; it goes when the test ends.
func New(t testing.TB) *Host {
	t.Helper()
	h := &Host{}
	must(t, onOwnThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("making a network namespace: %w", err)
		}
		var err error
		h.ns, err = os.Open("/proc/thread-self/ns/net")
		return err
	}))
	t.Cleanup(func() { h.ns.Close() })
	must(t, h.Do(func() error { return setUp("lo") }))
	// Else nothing of IPv6 works in the first two seconds of a device.
	h.Sysctl(t, "net.ipv6.conf.default.accept_dad", "0")
	return h
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// FD is the namespace for calls that take one; it holds until the test ends.
func (h *Host) FD() int { return int(h.ns.Fd()) }

// onOwnThread runs f on a thread that is thrown away afterwards, so that f may change the
// thread's namespace.
func onOwnThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread dies with the goroutine
		done <- f()
	}()
	return <-done
}

// Do runs f on a thread inside the host. Sockets that f opens stay there; goroutines that f
// starts do not run there.
func (h *Host) Do(f func() error) error {
	return onOwnThread(func() error {
		if err := unix.Setns(h.FD(), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("entering a network namespace: %w", err)
		}
		return f()
	})
}

// End is one end of a link.
type End struct {
	Host *Host
	Dev  string
	MTU  int
	Addr []string // "10.0.1.1/24"
}

// Join links two hosts by a veth pair.
func Join(t testing.TB, a, b End) {
	t.Helper()
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU = a.Dev, a.MTU
	must(t, a.Host.Do(func() error {
		return netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: b.Dev, PeerMTU: uint32(b.MTU), PeerNamespace: netlink.NsFd(b.Host.FD())})
	}))
	for _, end := range []End{a, b} {
		must(t, end.Host.Do(func() error { return end.configure() }))
	}
	for _, end := range []End{a, b} {
		must(t, end.Host.Do(func() error { return end.awaitReady(t.Context()) }))
	}
}

// awaitReady waits until the kernel has noticed that both ends are up, without which
// IPv6 answers nobody: up to a second.
func (e End) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	l, err := netlink.LinkByName(e.Dev)
	if err != nil {
		return err
	}
	for {
		addrs, err := netlink.AddrList(l, netlink.FAMILY_V6)
		if err != nil {
			return err
		}
		waiting := len(addrs) == 0 // not even its link-local address
		for _, a := range addrs {
			waiting = waiting || a.Flags&unix.IFA_F_TENTATIVE != 0
		}
		if !waiting {
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready for IPv6: %w", e.Dev, ctx.Err())
		}
	}
}

func (e End) configure() error {
	l, err := netlink.LinkByName(e.Dev)
	if err != nil {
		return err
	}
	for _, text := range e.Addr {
		addr, err := netlink.ParseAddr(text)
		if err != nil {
			return err
		}
		if err := netlink.AddrAdd(l, addr); err != nil {
			return fmt.Errorf("address %s of %s: %w", text, e.Dev, err)
		}
	}
	return setUp(e.Dev)
}

func setUp(dev string) error {
	l, err := netlink.LinkByName(dev)
	if err != nil {
		return err
	}
	return netlink.LinkSetUp(l)
}

// Route sends packets for a network by way of a neighbour.
func (h *Host) Route(t testing.TB, network, gateway string) {
	t.Helper()
	must(t, h.Do(func() error {
		_, dst, err := net.ParseCIDR(network)
		if err != nil {
			return err
		}
		return netlink.RouteAdd(&netlink.Route{Dst: dst, Gw: netip.MustParseAddr(gateway).AsSlice()})
	}))
}

// Sysctl sets a kernel setting of the host, "net.ipv4.ip_forward".
func (h *Host) Sysctl(t testing.TB, name, value string) {
	t.Helper()
	must(t, h.Do(func() error {
		return os.WriteFile(filepath.Join("/proc/sys", strings.ReplaceAll(name, ".", "/")), []byte(value), 0o644)
	}))
}

// Filter loads a ruleset of nft into the host.
func (h *Host) Filter(t testing.TB, rules string) {
	t.Helper()
	must(t, h.Do(func() error {
		cmd := exec.CommandContext(t.Context(), "nft", "-f", "-")
		cmd.Stdin = strings.NewReader(rules)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("nft: %w: %s in\n%s", err, bytes.TrimSpace(out), rules)
		}
		return nil
	}))
}

// Bottleneck is host a, a router m and host b: MTU 9000 at both ends and towards a, 4074
// from the router to b. The addresses are 10.7.1.1, 10.7.1.254, 10.7.2.254 and 10.7.2.1, and
// likewise fd07:1::1, fd07:1::fe, fd07:2::fe and fd07:2::1.
func Bottleneck(t testing.TB) (a, m, b *Host) {
	t.Helper()
	a, m, b = New(t), New(t), New(t)
	Join(t, End{Host: a, Dev: "up", MTU: 9000, Addr: []string{"10.7.1.1/24", "fd07:1::1/64"}},
		End{Host: m, Dev: "left", MTU: 9000, Addr: []string{"10.7.1.254/24", "fd07:1::fe/64"}})
	Join(t, End{Host: m, Dev: "right", MTU: 4074, Addr: []string{"10.7.2.254/24", "fd07:2::fe/64"}},
		End{Host: b, Dev: "up", MTU: 9000, Addr: []string{"10.7.2.1/24", "fd07:2::1/64"}})
	m.Sysctl(t, "net.ipv4.ip_forward", "1")
	m.Sysctl(t, "net.ipv6.conf.all.forwarding", "1")
	a.Route(t, "10.7.2.0/24", "10.7.1.254")
	a.Route(t, "fd07:2::/64", "fd07:1::fe")
	b.Route(t, "10.7.1.0/24", "10.7.2.254")
	b.Route(t, "fd07:1::/64", "fd07:2::fe")
	return a, m, b
}
