package cpu

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"linerate/probes"
)

// tree writes files below a new folder; only Linux's readers can use it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skipf("fixture trees are read on Linux only, this is %s", runtime.GOOS)
	}
	dir := t.TempDir()
	for path, content := range files {
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestInfo(t *testing.T) {
	const noFreq = "no cpufreq driver"
	type files = map[string]string
	tests := []struct {
		name  string
		files files
		want  probes.CPU
	}{
		{
			"two clusters of an ARM board (RK3588, Linux 6.1), one big core offline",
			files{
				"proc/cpuinfo": "processor\t: 0\nBogoMIPS\t: 48.00\nFeatures\t: fp asimd aes\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x2\nCPU part\t: 0xd05\nCPU revision\t: 0\n\n" +
					"processor\t: 4\nBogoMIPS\t: 48.00\nFeatures\t: fp asimd aes\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x4\nCPU part\t: 0xd0b\nCPU revision\t: 0\n\nSerial\t\t: 1234\n",
				"sys/devices/system/cpu/online":                         "0,4\n",
				"sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq":  "1800000\n",
				"sys/devices/system/cpu/cpu4/cpufreq/scaling_cur_freq":  "2256000\n",
				"sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq":  "1800000\n",
				"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":  "schedutil\n",
				"sys/devices/system/cpu/cpu0/cpufreq/scaling_driver":    "scmi\n",
				"sys/devices/system/cpu/cpu4/cpufreq/scaling_governor":  "performance\n",
				"sys/devices/system/cpu/cpu5/hotplug/state":             "0\n",
				"sys/devices/system/cpu/cpu5/cpufreq/scaling_governor2": "x\n",
			},
			probes.CPU{
				Model: probes.Got("Cortex-A55 + Cortex-A76"), Cores: 2,
				FreqHz:   probes.Got([]float64{1.8e9, 2.256e9}),
				MaxHz:    probes.Got(1.8e9),
				Governor: probes.Got("mixed: performance, schedutil"),
				Driver:   probes.Got("scmi"),
			},
		},
		{
			"a router (MT7621, OpenWrt)",
			files{
				"proc/cpuinfo":                  "system type\t\t: MediaTek MT7621 ver:1 eco:3\nmachine\t\t\t: Some Router\nprocessor\t\t: 0\ncpu model\t\t: MIPS 1004Kc V2.15\nBogoMIPS\t\t: 584.90\n\nprocessor\t\t: 1\ncpu model\t\t: MIPS 1004Kc V2.15\n",
				"sys/devices/system/cpu/online": "0-1\n",
			},
			probes.CPU{
				Model: probes.Got("MIPS 1004Kc V2.15"), Cores: 2,
				FreqHz:   probes.Unknown[[]float64](probes.Absent, noFreq),
				MaxHz:    probes.Unknown[float64](probes.Absent, noFreq),
				Governor: probes.Unknown[string](probes.Absent, noFreq),
				Driver:   probes.Unknown[string](probes.Absent, noFreq),
			},
		},
		{
			"a container without /sys, in a virtual machine",
			files{
				"proc/cpuinfo": "processor\t: 0\nmodel name\t: Intel(R) Xeon(R)   Processor\nflags\t\t: fpu hypervisor avx\n",
				"proc/stat":    "cpu  4 0 4 4 0 0 0 0 0 0\ncpu0 2 0 2 2 0 0 0 0 0 0\ncpu7 2 0 2 2 0 0 0 0 0 0\nintr 0\n",
			},
			probes.CPU{
				Model: probes.Got("Intel(R) Xeon(R) Processor"), Cores: 2,
				FreqHz:   probes.Unknown[[]float64](probes.Absent, "no cpufreq: virtual machine"),
				MaxHz:    probes.Unknown[float64](probes.Absent, "no cpufreq: virtual machine"),
				Governor: probes.Unknown[string](probes.Absent, "no cpufreq: virtual machine"),
				Driver:   probes.Unknown[string](probes.Absent, "no cpufreq: virtual machine"),
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := NewAt(tree(t, tt.files)).Info(t.Context())
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestInfoWithoutAnything(t *testing.T) {
	info := NewAt(tree(t, nil)).Info(t.Context())
	if info.Model.Known() || info.FreqHz.Known() || info.Governor.Known() || info.MaxHz.Known() {
		t.Errorf("an empty tree gave %+v", info)
	}
	for _, reason := range []string{info.Model.Why(), info.FreqHz.Why(), info.Governor.Why(), info.MaxHz.Why()} {
		if len(reason) < 8 {
			t.Errorf("reason %q in %+v says nothing", reason, info)
		}
	}
	if info.Cores < 1 {
		t.Errorf("%d cores, want at least the one that runs this", info.Cores)
	}
}

func TestInfoFrequencyOfAllOrNone(t *testing.T) {
	files := map[string]string{
		"sys/devices/system/cpu/online":                        "0-1\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": "1800000\n",
		"sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq": "<unknown>\n",
	}
	r := NewAt(tree(t, files))
	for _, got := range []probes.Reading[[]float64]{r.Info(t.Context()).FreqHz, r.Clocks()} {
		if got.Status != probes.Failed || !strings.Contains(got.Reason, "cpu1") {
			t.Errorf("got %+v, want a failure that names cpu1", got)
		}
	}
}

func TestClocksAreByCoreNumber(t *testing.T) {
	r := NewAt(tree(t, map[string]string{
		"sys/devices/system/cpu/online":                        "0,3\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": "1800000\n",
		"sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq": "800000\n",
	}))
	if diff := cmp.Diff(probes.Got([]float64{1.8e9, 0, 0, 8e8}), r.Clocks()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := NewAt(tree(t, nil)).Clocks(); got.Status != probes.Absent || got.Reason != "no cpufreq: /sys is not there" {
		t.Errorf("without /sys: %+v", got)
	}
}

func TestHypervisor(t *testing.T) {
	const flags = "flags\t\t: fpu vme hypervisor\n"
	tests := []struct {
		name, want string
		files      map[string]string
	}{
		{"Firecracker", "kvm", map[string]string{"proc/cpuinfo": flags, "sys/devices/system/clocksource/clocksource0/available_clocksource": "kvm-clock tsc\n"}},
		{"ESXi", "vmware", map[string]string{"proc/cpuinfo": flags, "sys/class/dmi/id/sys_vendor": "VMware, Inc.\n"}},
		{"Hyper-V", "hyper-v", map[string]string{"sys/class/dmi/id/sys_vendor": "Microsoft Corporation\n", "sys/class/dmi/id/product_name": "Virtual Machine\n"}},
		{"a Surface laptop", "", map[string]string{"sys/class/dmi/id/sys_vendor": "Microsoft Corporation\n", "sys/class/dmi/id/product_name": "Surface Pro\n", "proc/cpuinfo": "flags\t: fpu\n"}},
		{"EC2 bare metal", "", map[string]string{"sys/class/dmi/id/sys_vendor": "Amazon EC2\n", "sys/class/dmi/id/product_name": "c5.metal\n", "proc/cpuinfo": "flags\t: fpu avx\n"}},
		{"a KVM host", "", map[string]string{"proc/modules": "kvm_intel 479232 0\nkvm 1363968 1 kvm_intel\n", "proc/cpuinfo": "flags\t: fpu vmx\n"}},
		{"Xen guest", "xen", map[string]string{"sys/hypervisor/type": "xen\n"}},
		{"Xen domain 0", "", map[string]string{"sys/hypervisor/type": "xen\n", "proc/xen/capabilities": "control_d\n"}},
		{"ARM guest", "kvm", map[string]string{"proc/device-tree/compatible": "linux,dummy-virt\x00", "proc/cpuinfo": "Features\t: fp\n"}},
		{"unknown hypervisor", "hypervisor", map[string]string{"proc/cpuinfo": flags}},
		{"nothing readable", "", nil},
	}
	for _, tt := range tests {
		root := fstest.MapFS{}
		for path, content := range tt.files {
			root[path] = &fstest.MapFile{Data: []byte(content)}
		}
		got := Hypervisor(root)
		if got.Known() != (tt.want != "") || got.Value != tt.want {
			t.Errorf("%s: got %+v, want %q", tt.name, got, tt.want)
		}
	}
}

func FuzzBoardModel(f *testing.F) {
	f.Add("cpu model\t: MIPS 1004Kc V2.15\n")
	f.Add("uarch\t: sifive,u74-mc\nHardware : x")
	f.Add(": \n:")
	f.Fuzz(func(t *testing.T, text string) {
		name := boardModel(text)
		if name != strings.Join(strings.Fields(name), " ") {
			t.Fatalf("name %q is not trimmed", name)
		}
		if strings.TrimSpace(name) != "" {
			if again := boardModel(fmt.Sprintf("cpu model : %s\n", name)); again != name {
				t.Fatalf("written and read again: %q, want %q", again, name)
			}
		}
	})
}
