package host

import (
	"context"
	"runtime"
	"strings"

	gopsutil "github.com/shirou/gopsutil/v3/host"

	"linerate/probes"
	"linerate/probes/cpu"
	"linerate/probes/internal/kfs"
)

// virtual names the container, the virtual machine, or both: "docker", "kvm", "docker
// on kvm".
func (s *Source) virtual(ctx context.Context) probes.Reading[string] {
	if runtime.GOOS != "linux" {
		return gopsutilVirtual(ctx)
	}
	box, machine := s.container(), cpu.Hypervisor(s.root)
	switch {
	case box != "" && machine.Known():
		return probes.Got(box + " on " + machine.Value)
	case box != "":
		return probes.Got(box)
	}
	return machine
}

func gopsutilVirtual(ctx context.Context) probes.Reading[string] {
	system, role, err := gopsutil.VirtualizationWithContext(ctx)
	switch {
	case err != nil:
		return probes.Unknown[string](probes.Unsupported, "virtual machines are not told apart on "+runtime.GOOS)
	case system == "" || role != "guest":
		return probes.Unknown[string](probes.Absent, "not a virtual machine, as far as the system knows")
	}
	return probes.Got(system)
}

// container goes by the marks that the managers leave. A container's cgroup may hide
// its name, and a mark may be missing, so "" is no proof.
func (s *Source) container() string {
	if kfs.Exists(s.root, ".dockerenv") {
		return "docker"
	}
	if kfs.Exists(s.root, "run/.containerenv") {
		return "podman"
	}
	// systemd writes what its manager told it: "lxc", "systemd-nspawn", "wsl" …
	if name, err := kfs.Text(s.root, "run/systemd/container"); err == nil && name != "" {
		return name
	}
	release, _ := kfs.Text(s.root, "proc/sys/kernel/osrelease")
	if strings.Contains(strings.ToLower(release), "microsoft") {
		return "wsl"
	}
	groups, _ := kfs.Text(s.root, "proc/self/cgroup")
	for _, m := range []struct{ mark, name string }{
		{"/kubepods", "kubernetes"}, {"/docker/", "docker"}, {"/docker-", "docker"}, {"/libpod-", "podman"},
		{"/lxc/", "lxc"}, {"/lxc.payload", "lxc"}, {"/machine.slice/systemd-nspawn", "systemd-nspawn"},
	} {
		if strings.Contains(groups, m.mark) {
			return m.name
		}
	}
	return ""
}
