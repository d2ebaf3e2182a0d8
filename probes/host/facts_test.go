package host

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"linerate/probes"
	"linerate/probes/host/hosttest"
)

func TestHostOfFixtures(t *testing.T) {
	const bare = "not a virtual machine, as far as the kernel knows"
	all := func(n int, hz float64) []float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = hz
		}
		return list
	}
	guest := hosttest.N100()
	guest.Hz = 0
	const noFreq = "no cpufreq: virtual machine"
	tests := []struct {
		name    string
		machine hosttest.Machine
		want    probes.Host
	}{
		{"mini-PC", hosttest.N100(), probes.Host{
			Name: probes.Got("minipc"), Kernel: probes.Got("6.1.0-18-amd64"), Platform: probes.Got("Debian GNU/Linux 12 (bookworm)"),
			Virtual: probes.Unknown[string](probes.Absent, bare),
			CPU: probes.CPU{
				Model: probes.Got("Intel(R) N100"), Cores: 4, FreqHz: probes.Got(all(4, 2.9e9)),
				MaxHz: probes.Got(3.4e9), Governor: probes.Got("powersave"), Driver: probes.Got("intel_pstate"),
			},
		}},
		{"workstation", hosttest.Workstation(), probes.Host{
			Name: probes.Got("workstation"), Kernel: probes.Got("6.8.0-45-generic"), Platform: probes.Got("Ubuntu 24.04.1 LTS"),
			Virtual: probes.Unknown[string](probes.Absent, bare),
			CPU: probes.CPU{
				Model: probes.Got("AMD Ryzen 9 7950X 16-Core Processor"), Cores: 16, FreqHz: probes.Got(all(16, 5.1e9)),
				MaxHz: probes.Got(5.881e9), Governor: probes.Got("performance"), Driver: probes.Got("amd-pstate-epp"),
			},
		}},
		{"guest", guest, probes.Host{
			Name: probes.Got("minipc"), Kernel: probes.Got("6.1.0-18-amd64"), Platform: probes.Got("Debian GNU/Linux 12 (bookworm)"),
			Virtual: probes.Got("hypervisor"),
			CPU: probes.CPU{
				Model: probes.Got("Intel(R) N100"), Cores: 4,
				FreqHz:   probes.Unknown[[]float64](probes.Absent, noFreq),
				MaxHz:    probes.Unknown[float64](probes.Absent, noFreq),
				Governor: probes.Unknown[string](probes.Absent, noFreq),
				Driver:   probes.Unknown[string](probes.Absent, noFreq),
			},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.OS, tt.want.Arch = runtime.GOOS, runtime.GOARCH
			got := NewAt(hosttest.New(t, tt.machine).Root()).Host(t.Context())
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestRouteOfFixture(t *testing.T) {
	m := hosttest.Workstation()
	h := hosttest.New(t, m)
	h.Transfer(90_140, 9_014)
	s := NewAt(h.Root())
	got := s.Route(t.Context(), netip.MustParseAddr("10.0.0.2"))
	on, full := probes.Got(true), probes.Got("full")
	want := probes.Got(probes.Route{
		Dest:   netip.MustParseAddr("10.0.0.2"),
		Source: m.NIC.Source,
		NIC: probes.Got(probes.NIC{
			Name: "enp65s0np0", Kind: probes.Got("physical"), Driver: probes.Got("mlx5_core"),
			SpeedBps: probes.Got(25e9), Duplex: full, MTU: probes.Got(9000), Up: on,
			Offloads: probes.Offloads{TSO: on, GSO: on, GRO: on, LRO: on},
			RxQueues: probes.Got(16), TxQueues: probes.Got(16),
			Counters: probes.Got(probes.NICCounters{RxBytes: 90_140, TxBytes: 9_014, RxPackets: 10, TxPackets: 1}),
		}),
	})
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	far := s.Route(t.Context(), netip.MustParseAddr("203.0.113.9"))
	if far.Value.Gateway != m.NIC.Gateway {
		t.Errorf("gateway %v, want %v", far.Value.Gateway, m.NIC.Gateway)
	}
	lo := s.Route(t.Context(), netip.MustParseAddr("127.0.0.1"))
	if nic := lo.Value.NIC.Value; nic.Kind.Value != "loopback" || nic.SpeedBps.Why() != "loopback has no line speed" || nic.MTU.Value != 65536 {
		t.Errorf("route to loopback: %+v", nic)
	}
	if none := s.Route(t.Context(), netip.MustParseAddr("2001:db8::1")); none.Known() || !strings.Contains(none.Why(), "unreachable") {
		t.Errorf("route to nowhere: %+v", none)
	}
}

// A folder with nothing in it, as in a container that hides /proc and /sys.
func TestHostWithoutAnything(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skipf("fixture trees are read on Linux only, this is %s", runtime.GOOS)
	}
	s := NewAt(t.TempDir())
	h := s.Host(t.Context())
	for what, r := range map[string]probes.Reading[string]{
		"name": h.Name, "kernel": h.Kernel, "platform": h.Platform, "virtual": h.Virtual, "model": h.CPU.Model, "governor": h.CPU.Governor,
	} {
		if r.Status != probes.Absent || r.Reason == "" {
			t.Errorf("%s: %+v, want it absent with a reason", what, r)
		}
	}
	if r := s.Route(t.Context(), netip.MustParseAddr("10.0.0.2")); r.Status != probes.Absent {
		t.Errorf("route: %+v", r)
	}
	if l := s.Load(); l.Cores.Status != probes.Absent || l.Threads.Status != probes.Absent || l.Process.Status != probes.Absent {
		t.Errorf("load: %+v", l)
	}
}

// gopsutil breaks on a file that is empty where it expects a line.
func TestBrokenProbeHidesNoOther(t *testing.T) {
	h := hosttest.New(t, hosttest.N100())
	info := filepath.Join(h.Root(), "proc/cpuinfo")
	if err := os.WriteFile(info, []byte("processor\t: 0\nmodel name\t: x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.Root(), "sys/devices/system/cpu/cpu0/topology/core_id"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	got := NewAt(h.Root()).Host(t.Context())
	if got.CPU.Model.Status != probes.Failed || !strings.Contains(got.CPU.Model.Reason, "the probe broke") {
		t.Errorf("model: %+v, want the panic as its reason", got.CPU.Model)
	}
	if !got.Name.Known() || !got.Kernel.Known() || !got.Platform.Known() {
		t.Errorf("a broken probe hid others: %+v", got)
	}
}

func TestLateProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan bool)
		defer close(stuck)
		start := time.Now()
		slow := begin(t.Context(), func(context.Context) probes.Reading[string] {
			<-stuck
			return probes.Got("too late")
		})
		quick := begin(t.Context(), func(context.Context) probes.Reading[string] { return probes.Got("here") })
		if got := slow.wait(probes.Unread[string]); got.Status != probes.Failed || got.Reason != "no answer in time" {
			t.Errorf("a stuck probe gave %+v", got)
		}
		if got := quick.wait(probes.Unread[string]); got != probes.Got("here") {
			t.Errorf("the probe beside it gave %+v", got)
		}
		if took := time.Since(start); took != patience {
			t.Errorf("waited %v, want %v", took, patience)
		}

		ctx, cancel := context.WithCancel(t.Context())
		p := begin(ctx, func(context.Context) probes.Reading[string] {
			<-stuck
			return probes.Got("too late")
		})
		cancel()
		if got := p.wait(probes.Unread[string]); got.Reason != context.Canceled.Error() {
			t.Errorf("a cancelled probe gave %+v", got)
		}
	})
}

func TestContainer(t *testing.T) {
	tests := []struct{ file, content, want string }{
		{".dockerenv", "", "docker"},
		{"run/.containerenv", "engine=\"podman-4.9\"\n", "podman"},
		{"run/systemd/container", "lxc\n", "lxc"},
		{"proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n", "wsl"},
		{"proc/self/cgroup", "0::/kubepods.slice/kubepods-burstable.slice/cri-containerd-1.scope\n", "kubernetes"},
		{"proc/self/cgroup", "12:cpu:/docker/0123abcd\n", "docker"},
		{"proc/self/cgroup", "0::/user.slice/user-1000.slice/session-3.scope\n", ""},
		{"proc/self/cgroup", "0::/system.slice/docker.service\n", ""},
	}
	for _, tt := range tests {
		s := &Source{root: fstest.MapFS{tt.file: {Data: []byte(tt.content)}}}
		if got := s.container(); got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.file, tt.content, got, tt.want)
		}
	}
	if runtime.GOOS != "linux" {
		return
	}
	both := &Source{root: fstest.MapFS{".dockerenv": {}, "proc/cpuinfo": {Data: []byte("flags\t: hypervisor\n")}}}
	if got := both.virtual(t.Context()); got != probes.Got("docker on hypervisor") {
		t.Errorf("container in a virtual machine: %+v", got)
	}
}

func TestPrettyName(t *testing.T) {
	tests := []struct{ text, want string }{
		{"PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\n", "Debian GNU/Linux 12 (bookworm)"},
		{"NAME=Alpine\nVERSION_ID=3.20.1\n", "Alpine 3.20.1"},
		{"NAME='OpenWrt'\nPRETTY_NAME='OpenWrt 23.05.3'\n", "OpenWrt 23.05.3"},
		{`PRETTY_NAME="A \"quoted\" \\ name"`, `A "quoted" \ name`},
		{"PRETTY_NAME=\"\x1b[31mred\x07\"\n", "[31mred"},
		{"# comment\nID=x\n", ""},
		{"", ""},
		{`PRETTY_NAME="`, `"`},
	}
	for _, tt := range tests {
		if got := prettyName(tt.text); got != tt.want {
			t.Errorf("prettyName(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func FuzzPrettyName(f *testing.F) {
	f.Add("PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n")
	f.Add("NAME='x\nVERSION_ID=\\\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		name := prettyName(text)
		for _, r := range name {
			if unicode.IsControl(r) {
				t.Fatalf("prettyName(%q) = %q has a control character", text, name)
			}
		}
		if name == "" {
			return
		}
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", `$`, `\$`).Replace(name)
		if again := prettyName(fmt.Sprintf("PRETTY_NAME=\"%s\"\n", quoted)); again != name {
			t.Fatalf("written and read again: %q, want %q", again, name)
		}
	})
}
