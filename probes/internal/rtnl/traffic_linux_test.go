//go:build linux

package rtnl

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/probes"
)

// pair makes two ends of a veth in a network namespace of their own. The calling
// thread is never given back.
func pair(t *testing.T) (a, b netlink.Link) {
	t.Helper()
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		if os.Getenv("LINERATE_GATE") == "1" {
			t.Fatalf("no network namespace: %v", err)
		}
		t.Skipf("no network namespace (needs root): %v", err)
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "lrq0"
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: "lrq1"}); err != nil {
		t.Fatal(err)
	}
	ends := make([]netlink.Link, 2)
	for i, name := range []string{"lrq0", "lrq1"} {
		l, err := netlink.LinkByName(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := netlink.LinkSetUp(l); err != nil {
			t.Fatal(err)
		}
		ends[i] = l
	}
	return ends[0], ends[1]
}

func TestNetnsTrafficOfRealShapers(t *testing.T) {
	a, b := pair(t)
	add := func(q netlink.Qdisc) {
		t.Helper()
		if err := netlink.QdiscAdd(q); err != nil {
			t.Fatal(err)
		}
	}
	on := func(l netlink.Link, parent, handle uint32) netlink.QdiscAttrs {
		return netlink.QdiscAttrs{LinkIndex: l.Attrs().Index, Parent: parent, Handle: handle}
	}
	add(&netlink.Tbf{QdiscAttrs: on(b, netlink.HANDLE_ROOT, netlink.MakeHandle(1, 0)), Rate: 25e6, Limit: 1e6, Buffer: 64e3})
	add(netlink.NewHtb(on(a, netlink.HANDLE_ROOT, netlink.MakeHandle(1, 0))))
	class := netlink.ClassAttrs{LinkIndex: a.Attrs().Index, Parent: netlink.MakeHandle(1, 0), Handle: netlink.MakeHandle(1, 1)}
	if err := netlink.ClassAdd(netlink.NewHtbClass(class, netlink.HtbClassAttrs{Rate: 50e6, Ceil: 80e6, Buffer: 1600, Cbuffer: 1600})); err != nil {
		t.Fatal(err)
	}

	left, err := Kernel{}.Traffic(t.Context(), "lrq0")
	if err != nil {
		t.Fatal(err)
	}
	rates := map[string]float64{}
	for _, q := range left.Qdiscs.Value {
		rates[q.Kind+" "+q.Parent] = q.RateBps
	}
	if diff := cmp.Diff(map[string]float64{"htb root": 0, "htb class 1:1": 80e6}, rates); diff != "" {
		t.Errorf("htb (-want +got):\n%s", diff)
	}
	right, err := Kernel{}.Traffic(t.Context(), "lrq1")
	if err != nil {
		t.Fatal(err)
	}
	if q := right.Qdiscs.Value; len(q) != 1 || q[0].Kind != "tbf" || q[0].RateBps != 200e6 {
		t.Errorf("tbf: %+v", right.Qdiscs)
	}
	if left.Kind != "veth" || left.Index != a.Attrs().Index || left.Carrier.Value < 1 {
		t.Errorf("the link itself: %+v", left)
	}
	links, err := Kernel{}.All(t.Context())
	if err != nil || len(links) != 3 {
		t.Errorf("interfaces: %+v, %v, want lo and two more", links, err)
	}
}

// The library reads the same counters in its own way.
func TestNetnsTrafficAgreesWithLink(t *testing.T) {
	pair(t)
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		t.Fatal(err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		t.Fatal(err)
	}
	send(t, 100)
	for _, name := range []string{"lo", "lrq0"} {
		// IPv6 sends what it likes when the link comes up, so the two readings may have
		// a packet between them.
		agreed := false
		for range 50 {
			link, err := Kernel{}.Link(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			traffic, err := Kernel{}.Traffic(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			n, c := link.Counters.Value, traffic.Counters
			if agreed = n.TxBytes == c["tx_bytes"] && n.RxBytes == c["rx_bytes"] && n.TxPackets == c["tx_packets"] && n.TxDropped == c["tx_dropped"] && n.RxMissed == c["rx_missed_errors"]; agreed {
				break
			}
		}
		if !agreed {
			t.Errorf("%s: the two readers never agreed", name)
		}
	}
	before, err := Kernel{}.Traffic(t.Context(), "lo")
	if err != nil {
		t.Fatal(err)
	}
	send(t, 1000)
	after, err := Kernel{}.Traffic(t.Context(), "lo")
	if err != nil {
		t.Fatal(err)
	}
	// The datagram, 42 bytes of headers, and the refusal that comes back.
	if d := after.Counters.Since(before.Counters); d["rx_bytes"] < 1042 || d["rx_bytes"] != d["tx_bytes"] || d["rx_packets"] < 1 {
		t.Errorf("a datagram of 1000 bytes over lo: %v", d)
	}
}

// send sends one datagram to a port of loopback that nobody listens to.
func send(t *testing.T, size int) {
	t.Helper()
	c, err := net.Dial("udp", "127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
}

// A veth tells the index of its other end as a statistic.
func TestNetnsDriverStatistics(t *testing.T) {
	_, b := pair(t)
	c, err := Kernel{}.Statistics("lrq0")
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := c["peer_ifindex"]; !ok || got != uint64(b.Attrs().Index) {
		t.Errorf("peer_ifindex %d, want %d: %v", got, b.Attrs().Index, c)
	}
}

func TestTrafficRefuses(t *testing.T) {
	for _, name := range []string{"", "lr-none", strings.Repeat("x", 16)} {
		if _, err := (Kernel{}).Traffic(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("traffic of %q: %v, want it absent", name, err)
		}
		if _, err := (Kernel{}).Statistics(name); err == nil {
			t.Errorf("statistics of %q", name)
		}
	}
	_, err := Kernel{}.Statistics("lo")
	if probes.Unread[int](err).Status != probes.Absent || !strings.Contains(err.Error(), "driver statistics of lo: the device does not tell") {
		t.Errorf("statistics of lo: %v", err)
	}
}

func BenchmarkTraffic(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (Kernel{}).Traffic(b.Context(), "lo"); err != nil {
			b.Fatal(err)
		}
	}
}
