package sysctl

import (
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"linerate/probes"
)

// files has the settings of Linux 6.18 as the kernel writes them, with tabs.
func files(settings map[string]string) fs.FS {
	root := fstest.MapFS{}
	for name, value := range settings {
		root[path(name)] = &fstest.MapFile{Data: []byte(value + "\n")}
	}
	return root
}

func linux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skipf("settings are read on Linux only, this is %s", runtime.GOOS)
	}
}

func TestHost(t *testing.T) {
	linux(t)
	got := (&Reader{files(map[string]string{
		"net.ipv4.tcp_mem": "142236\t189651\t284472", "net.ipv4.tcp_rmem": "4096\t131072\t33554432",
		"net.core.netdev_max_backlog": "1000", "net.ipv4.tcp_congestion_control": "cubic", "net.core.rmem_max": "4194304",
		"net.core.flow_limit_cpu_bitmap": "", "net.ipv4.tcp_available_congestion_control": "reno cubic bbr",
	})}).Read()
	for name, want := range map[string]probes.Setting{
		"net.ipv4.tcp_rmem":                         {Value: "4096 131072 33554432"},
		"net.ipv4.tcp_congestion_control":           {Value: "cubic"},
		"net.ipv4.tcp_mem":                          {Value: "142236 189651 284472", Host: true},
		"net.core.netdev_max_backlog":               {Value: "1000", Host: true},
		"net.core.rmem_max":                         {Value: "4194304", Host: true},
		"net.core.flow_limit_cpu_bitmap":            {Value: "", Host: true},
		"net.ipv4.tcp_available_congestion_control": {Value: "reno cubic bbr", Host: true},
	} {
		if got[name] != probes.Got(want) {
			t.Errorf("%s: %+v, want %+v", name, got[name], want)
		}
	}
	for name, reason := range map[string]string{
		"net.core.skb_defer_max":         "this kernel does not have it",
		"net.netfilter.nf_conntrack_max": "connection tracking is not loaded",
		"net.ipv6.conf.all.forwarding":   "the kernel has no IPv6",
	} {
		if got[name].Status != probes.Absent || got[name].Reason != reason {
			t.Errorf("%s: %+v, want %q", name, got[name], reason)
		}
	}
}

// A container on Linux 6.18: what belongs to the host is not shown, or read-only.
func TestContainer(t *testing.T) {
	linux(t)
	got := (&Reader{files(map[string]string{
		"net.ipv4.tcp_rmem": "4096\t131072\t33554432", "net.core.rmem_max": "4194304", "net.core.optmem_max": "131072",
	})}).Read()
	for _, name := range []string{"net.core.netdev_max_backlog", "net.core.default_qdisc", "net.ipv4.tcp_mem"} {
		if got[name].Status != probes.Absent || !strings.Contains(got[name].Reason, "whole host") {
			t.Errorf("%s: %+v", name, got[name])
		}
	}
	if !got["net.core.rmem_max"].Value.Host || got["net.ipv4.tcp_rmem"].Value.Host || got["net.core.optmem_max"].Value.Host {
		t.Errorf("scopes: rmem_max %+v, tcp_rmem %+v, optmem_max %+v", got["net.core.rmem_max"], got["net.ipv4.tcp_rmem"], got["net.core.optmem_max"])
	}
	if name := "net.ipv4.tcp_sack"; got[name].Reason != "this kernel does not have it" {
		t.Errorf("%s: %+v", name, got[name])
	}
}

func TestDeniedAndNothing(t *testing.T) {
	linux(t)
	got := (&Reader{denying{}}).Read()
	if s := got["net.ipv4.tcp_rmem"]; s.Status != probes.Denied || s.Reason != "reading /proc/sys/net/ipv4/tcp_rmem: permission denied" {
		t.Errorf("without the right: %+v", s)
	}
	got = NewAt(t.TempDir()).Read()
	if len(got) != len(hostWide)+len(ownNetwork) {
		t.Errorf("%d settings for %d names", len(got), len(hostWide)+len(ownNetwork))
	}
	for name, s := range got {
		if s.Status != probes.Absent || s.Reason != "/proc/sys is not there" {
			t.Errorf("%s without /proc: %+v", name, s)
		}
	}
}

type denying struct{}

func (denying) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

func BenchmarkRead(b *testing.B) {
	r := New()
	b.ReportAllocs()
	for b.Loop() {
		r.Read()
	}
}
