package firewall

import (
	"strings"

	"linerate/probes/internal/kfs"
)

// modules are the parts of the kernel that are loaded or built in.
type modules struct {
	known bool // the kernel has modules at all, and shows them
	names string
}

// has tells that a module is there; false when that is not known.
func (m modules) has(name string) bool { return strings.Contains(m.names, "\n"+name+"\n") }

// backend is what a manager most likely uses: nf_tables where it is there.
func (m modules) backend() string {
	if m.known && !m.has("nf_tables") {
		return "iptables"
	}
	return "nftables"
}

func (r *Reader) modules() modules {
	loaded, err := kfs.Text(r.root, "proc/modules")
	if err != nil {
		return modules{}
	}
	var b strings.Builder
	b.WriteByte('\n')
	for line := range strings.Lines(loaded) {
		name, _, _ := strings.Cut(line, " ")
		b.WriteString(strings.TrimSpace(name) + "\n")
	}
	// "kernel/net/netfilter/nf_tables.ko", one per line. A container has no such list; in the
	// kernels that such hosts have, these are modules.
	release, _ := kfs.Text(r.root, "proc/sys/kernel/osrelease")
	builtin, _ := kfs.Text(r.root, "lib/modules/"+release+"/modules.builtin")
	for line := range strings.Lines(builtin) {
		file := line[strings.LastIndexByte(line, '/')+1:]
		name, _, _ := strings.Cut(strings.TrimSpace(file), ".")
		b.WriteString(strings.ReplaceAll(name, "-", "_") + "\n")
	}
	return modules{known: true, names: b.String()}
}
