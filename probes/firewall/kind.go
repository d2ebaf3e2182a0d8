package firewall

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"linerate/probes"
	"linerate/probes/internal/kfs"
	"linerate/probes/internal/nfnl"
)

// filters tells the kind of packet filter and the number of its rules. Kind is known
// without the right to list rules where a manager says that it runs, or where the kernel
// has nothing that could filter.
func (r *Reader) filters(ctx context.Context, m modules) (kind probes.Reading[string], rules probes.Reading[int]) {
	tables, err := r.nfTables(ctx, m)
	older, errOlder := r.ipTables()
	if err == nil {
		err = errOlder
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		if managers := r.hints(); len(managers) > 0 {
			return probes.Got(name([]string{m.backend()}, managers)), probes.Unread[int](err)
		}
		return probes.Unread[string](err), probes.Unread[int](err)
	case err != nil:
		return probes.Unread[string](err), probes.Unread[int](err)
	}
	var backends []string
	if slices.ContainsFunc(tables.Chains, func(c nfnl.Chain) bool { return c.Base }) {
		backends = append(backends, "nftables")
	}
	// A table that was made and never filled filters nothing.
	if older.Rules > 0 {
		backends = append(backends, "iptables")
	}
	if len(backends) == 0 {
		return probes.Got("none"), probes.Got(0)
	}
	managers := managersOf(slices.Concat(tables.Chains, older.Chains))
	return probes.Got(name(backends, managers)), probes.Got(tables.Rules + older.Rules)
}

// name is "nftables", "nftables + iptables (docker, ufw)" …
func name(backends, managers []string) string {
	s := strings.Join(backends, " + ")
	if len(managers) > 0 {
		s += " (" + strings.Join(managers, ", ") + ")"
	}
	return s
}

// nfTables asks nothing where nf_tables is not loaded, since asking would load it.
func (r *Reader) nfTables(ctx context.Context, m modules) (nfnl.Ruleset, error) {
	if m.known && !m.has("nf_tables") {
		return nfnl.Ruleset{}, nil
	}
	return r.filter.NFTables(ctx)
}

// ipTables adds up the tables of ip_tables, the older filter. /proc lists those that are
// there, to root.
func (r *Reader) ipTables() (all nfnl.Ruleset, err error) {
	for _, v6 := range []bool{false, true} {
		file := "proc/net/ip_tables_names"
		if v6 {
			file = "proc/net/ip6_tables_names"
		}
		names, err := kfs.Text(r.root, file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // not loaded
		}
		if errors.Is(err, fs.ErrPermission) {
			return all, probes.Missing{Status: probes.Denied, Reason: "listing firewall rules needs root"}
		}
		if err != nil {
			return all, err
		}
		for table := range strings.FieldsSeq(names) {
			t, err := r.filter.Legacy(table, v6)
			if err != nil {
				return all, err
			}
			all.Rules += t.Rules
			all.Chains = append(all.Chains, t.Chains...)
		}
	}
	return all, nil
}

// marks are the names that managers give to their tables and chains.
var marks = []struct {
	manager string
	table   bool // the mark is a table's name and not the start of a chain's
	mark    string
}{
	{"firewalld", true, "firewalld"}, {"firewalld", false, "FWDI_"},
	{"ufw", false, "ufw-"}, {"ufw", false, "ufw6-"},
	{"fw4", true, "fw4"}, {"fw3", false, "zone_lan_"},
	{"docker", false, "DOCKER"}, {"docker", true, "docker-bridges"},
	{"podman", false, "NETAVARK"}, {"podman", true, "netavark"},
	{"kubernetes", false, "KUBE-"}, {"kubernetes", true, "kube-proxy"},
	{"calico", false, "cali-"}, {"cilium", false, "CILIUM_"},
	{"libvirt", false, "LIBVIRT_"}, {"libvirt", true, "libvirt_network"},
	{"proxmox", false, "PVEFW-"}, {"proxmox", true, "proxmox-firewall"},
	{"lxd", true, "lxd"}, {"incus", true, "incus"},
	{"tailscale", false, "ts-input"}, {"fail2ban", false, "f2b-"}, {"fail2ban", true, "f2b-table"},
	{"crowdsec", true, "crowdsec"}, {"shorewall", false, "shorewall"},
}

func managersOf(chains []nfnl.Chain) []string {
	var found []string
	for _, c := range chains {
		for _, m := range marks {
			if m.table && c.Table == m.mark || !m.table && strings.HasPrefix(c.Name, m.mark) {
				found = append(found, m.manager)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// hints are the managers that show that they run to everybody.
func (r *Reader) hints() []string {
	var found []string
	if kfs.Exists(r.root, "run/docker.sock") {
		found = append(found, "docker")
	}
	if kfs.Exists(r.root, "run/firewalld.pid") {
		found = append(found, "firewalld")
	}
	if conf, err := kfs.Text(r.root, "etc/ufw/ufw.conf"); err == nil && ufwEnabled(conf) {
		found = append(found, "ufw")
	}
	return found
}

// ufwEnabled reads ufw.conf, a list of shell assignments.
func ufwEnabled(conf string) bool {
	on := false
	for line := range strings.Lines(conf) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "ENABLED="); ok {
			on = strings.EqualFold(strings.Trim(value, `"'`), "yes")
		}
	}
	return on
}
