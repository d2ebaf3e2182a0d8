package lab

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// Need skips the test when this machine cannot build a lab, and fails it in the gate.
func Need(t testing.TB) {
	t.Helper()
	reason := ""
	if os.Geteuid() != 0 {
		reason = "network namespaces need root"
	} else if _, err := os.Stat("/dev/net/tun"); err != nil {
		reason = "no /dev/net/tun"
	}
	if reason == "" {
		return
	}
	if os.Getenv("LINERATE_GATE") == "1" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// Host is a network namespace of the test's own, with its loopback up.
type Host struct {
	Name string
	Addr netip.Addr // set by the link that joins it to another host
	ns   netns.NsHandle
	nl   *netlink.Handle
}

// NewHost makes a host; it goes when the test ends.
func NewHost(t testing.TB, name string) *Host {
	t.Helper()
	h := &Host{Name: name}
	err := onOwnThread(func() error {
		ns, err := netns.New()
		if err != nil {
			return fmt.Errorf("making a network namespace: %w", err)
		}
		h.ns = ns
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.ns.Close() })
	if h.nl, err = netlink.NewHandleAt(h.ns); err != nil {
		t.Fatalf("netlink in %s: %v", name, err)
	}
	t.Cleanup(h.nl.Close)
	lo, err := h.nl.LinkByName("lo")
	if err == nil {
		err = h.nl.LinkSetUp(lo)
	}
	if err != nil {
		t.Fatalf("bringing loopback up in %s: %v", name, err)
	}
	return h
}

// onOwnThread runs f on a thread that is thrown away afterwards, so that f may change
// the thread's namespace.
func onOwnThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread dies with the goroutine
		done <- f()
	}()
	return <-done
}

// Do runs f on a thread inside the host. Sockets and devices that f opens stay there;
// goroutines that f starts do not run there.
func (h *Host) Do(f func() error) error {
	return onOwnThread(func() error {
		if err := netns.Set(h.ns); err != nil {
			return fmt.Errorf("entering %s: %w", h.Name, err)
		}
		return f()
	})
}

// Start starts cmd inside the host.
func (h *Host) Start(cmd *exec.Cmd) error { return h.Do(cmd.Start) }

// Output runs a program inside the host and gives what it printed on both outputs.
func (h *Host) Output(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out []byte
	err := h.Do(func() (err error) {
		out, err = cmd.CombinedOutput()
		return err
	})
	return out, err
}

// Background starts a server inside the host, waits until it listens on port, and kills it
// when the test ends. The caller may wait for it before.
func (h *Host) Background(t testing.TB, cmd *exec.Cmd, port int) {
	t.Helper()
	if err := h.Start(cmd); err != nil {
		t.Fatalf("starting %s on %s: %v", cmd.Path, h.Name, err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if err := h.Do(func() error { return awaitTaken(t.Context(), port) }); err != nil {
		t.Fatalf("%s on %s: %v", cmd.Path, h.Name, err)
	}
}

// join gives a device its address in a /30 of the lab and brings it up.
func (h *Host) join(dev string, addr netip.Addr) error {
	link, err := h.nl.LinkByName(dev)
	if err != nil {
		return fmt.Errorf("%s in %s: %w", dev, h.Name, err)
	}
	ip := &netlink.Addr{IPNet: &net.IPNet{IP: addr.AsSlice(), Mask: net.CIDRMask(30, 32)}}
	if err := h.nl.AddrAdd(link, ip); err != nil {
		return fmt.Errorf("address of %s in %s: %w", dev, h.Name, err)
	}
	h.Addr = addr
	return h.nl.LinkSetUp(link)
}

// Shape puts a token bucket filter of rate bit/s with a queue of limit bytes on a device
// of the host.
func (h *Host) Shape(t testing.TB, dev string, rate float64, limit uint32) {
	t.Helper()
	link, err := h.nl.LinkByName(dev)
	if err != nil {
		t.Fatalf("%s in %s: %v", dev, h.Name, err)
	}
	bytesPerSecond := uint64(rate / 8)
	burst := uint32(max(16<<10, bytesPerSecond/250)) // tbf needs a jiffy's worth at least
	tbf := &netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: link.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		Rate:       bytesPerSecond,
		Limit:      limit,
		Buffer:     netlink.Xmittime(bytesPerSecond, burst),
	}
	if err := h.nl.QdiscReplace(tbf); err != nil {
		t.Fatalf("tbf on %s in %s: %v", dev, h.Name, err)
	}
}
