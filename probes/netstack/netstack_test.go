package netstack

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/probes"
)

// vm is /proc of the build machine: Linux 6.18.44, a KVM guest (Firecracker) with two
// cores and virtio network and disk, after some hours of iperf3 on loopback.
const vm = "testdata/linux-6.18-kvm-2cpu"

func linux(t testing.TB) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skipf("fixture trees are read on Linux only, this is %s", runtime.GOOS)
	}
}

// tree writes files below proc of a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	linux(t)
	dir := t.TempDir()
	for path, content := range files {
		write(t, filepath.Join(dir, "proc", path), content)
	}
	return dir
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestVirtualMachine(t *testing.T) {
	linux(t)
	r := NewAt(vm)
	c := r.Counters()
	for name, want := range map[string]uint64{
		"TcpExt.TCPLostRetransmit": 583, "TcpExt.TCPTimeouts": 2, "TcpExt.TCPMTUPFail": 0, "TcpExt.PruneCalled": 2,
		"IpExt.InOctets": 5284666258348, "IpExt.InECT0Pkts": 0,
		"Tcp.RetransSegs": 31143, "Tcp.OutSegs": 101126882, "Udp.RcvbufErrors": 0, "Udp.InDatagrams": 77,
		"Ip.FragFails": 0, "Icmp.InDestUnreachs": 1, "Icmp6InPktTooBigs": 0, "Ip6InReceives": 21294, "Udp6RcvbufErrors": 0,
	} {
		if got, ok := c.Value[name]; !ok || got != want {
			t.Errorf("%s = %d, %v, want %d", name, got, ok, want)
		}
	}
	for _, name := range []string{"Tcp.MaxConn", "MPTcpExt.MPTCPRetrans", "IcmpMsg.InType3", "UdpLite.InDatagrams", "UdpLite6InDatagrams"} {
		if got, ok := c.Value[name]; ok {
			t.Errorf("%s = %d, want it left out", name, got)
		}
	}
	soft := r.Softnet()
	if diff := cmp.Diff(probes.Got([]probes.Softnet{{Core: 0, Processed: 49807033}, {Core: 1, Processed: 48375887}}), soft); diff != "" {
		t.Errorf("softnet (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(probes.Got([]uint64{37377767, 36600085}), r.NetRx()); diff != "" {
		t.Errorf("NET_RX (-want +got):\n%s", diff)
	}
	if p := r.SocketPages(); p != probes.Got(uint64(2013)) {
		t.Errorf("socket pages %+v, want 2013", p)
	}
}

// Rows of an old kernel have 11 columns and no number of their core; of a newer one, the
// row of an offline core is missing.
func TestSoftnetOfOtherKernels(t *testing.T) {
	const old = "0000a6a2 00000003 00000002 00000000 00000000 00000000 00000000 00000000 00000000 00000007 00000001\n"
	const newer = "ffffffff 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n" +
		"00000001 00000000 0000000a 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000005\n"
	tests := []struct {
		name, text string
		want       []probes.Softnet
	}{
		{"4.19", old + old, []probes.Softnet{
			{Core: 0, Processed: 0xa6a2, Dropped: 3, Squeezed: 2, RPS: 7, FlowLimit: 1},
			{Core: 1, Processed: 0xa6a2, Dropped: 3, Squeezed: 2, RPS: 7, FlowLimit: 1},
		}},
		{"5.15 with cores 1 to 4 offline", newer, []probes.Softnet{{Core: 0, Processed: 1<<32 - 1}, {Core: 5, Processed: 1, Squeezed: 10}}},
	}
	for _, tt := range tests {
		got := NewAt(tree(t, map[string]string{"net/softnet_stat": tt.text})).Softnet()
		if diff := cmp.Diff(probes.Got(tt.want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestMissingAndDamaged(t *testing.T) {
	all := func(r *Reader) map[string]probes.Reading[int] {
		as := func(status probes.Status, reason string) probes.Reading[int] {
			return probes.Unknown[int](status, reason)
		}
		c, s, n, p, q := r.Counters(), r.Softnet(), r.NetRx(), r.SocketPages(), r.Queues(nil, []string{"eth0"})
		return map[string]probes.Reading[int]{
			"counters": as(c.Status, c.Reason), "softnet": as(s.Status, s.Reason), "net_rx": as(n.Status, n.Reason),
			"pages": as(p.Status, p.Reason), "queues": as(q.Status, q.Reason),
		}
	}
	for what, got := range all(NewAt(tree(t, nil))) {
		if got.Status != probes.Absent || !strings.Contains(got.Reason, "/proc/") || strings.Contains(got.Reason, t.Name()) {
			t.Errorf("%s without /proc: %+v, want it absent, with the file as the user knows it", what, got)
		}
	}
	damaged := map[string]string{
		"net/netstat": "TcpExt: SyncookiesSent\nIpExt: 1\n", "net/snmp": "Ip: Forwarding\nIp: 1\n", "net/softnet_stat": "zz\n",
		"softirqs": "  CPU0\n NET_RX: x\n", "net/sockstat": "TCP: mem x\n", "interrupts": "CPUx\n",
	}
	for what, got := range all(NewAt(tree(t, damaged))) {
		if got.Status != probes.Failed || !strings.Contains(got.Reason, "/proc/") && what != "counters" || strings.Contains(got.Reason, t.Name()) {
			t.Errorf("%s of damaged files: %+v", what, got)
		}
	}
	empty := map[string]string{"softirqs": "  CPU0\n  TIMER: 1\n", "net/sockstat": "sockets: used 17\nUDP: inuse 0 mem 0\n"}
	r := NewAt(tree(t, empty))
	if n, p := r.NetRx(), r.SocketPages(); n.Status != probes.Absent || p.Status != probes.Absent {
		t.Errorf("without the line: %+v, %+v", n, p)
	}
}

// A namespace without IPv6 has no snmp6; that must not hide the rest.
func TestWithoutIPv6(t *testing.T) {
	r := NewAt(tree(t, map[string]string{
		"net/netstat": "TcpExt: TCPTimeouts TCPNewerThanThis\nTcpExt: 5 6\n",
		"net/snmp":    "Tcp: MaxConn RetransSegs\nTcp: -1 7\n",
	}))
	want := probes.Got(probes.Counters{"TcpExt.TCPTimeouts": 5, "TcpExt.TCPNewerThanThis": 6, "Tcp.RetransSegs": 7})
	if diff := cmp.Diff(want, r.Counters()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
