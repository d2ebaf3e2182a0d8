package firewall

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"linerate/probes"
	"linerate/probes/internal/nfnl"
	"linerate/probes/internal/rtnl"
)

func linux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skipf("packet filters are read on Linux only, this is %s", runtime.GOOS)
	}
}

func tree(files map[string]string) fstest.MapFS {
	root := fstest.MapFS{}
	for path, content := range files {
		root[path] = &fstest.MapFile{Data: []byte(content)}
	}
	return root
}

func base(table, chain string) nfnl.Chain { return nfnl.Chain{Table: table, Name: chain, Base: true} }
func sub(table, chain string) nfnl.Chain  { return nfnl.Chain{Table: table, Name: chain} }

func TestKind(t *testing.T) {
	linux(t)
	const (
		withNFT   = "nft_ct 24576 2 - Live 0x0\nnf_tables 372736 99 nft_ct, Live 0x0\nnf_conntrack 200704 3 nft_ct, Live 0x0\n"
		withoutIt = "e1000e 356352 0 - Live 0x0\n"
		needs     = "listing firewall rules needs CAP_NET_ADMIN"
	)
	denied := &nfnl.Saved{Denied: true}
	tests := []struct {
		name   string
		files  map[string]string
		filter *nfnl.Saved
		kind   probes.Reading[string]
		rules  probes.Reading[int]
	}{
		{"Fedora", map[string]string{"proc/modules": withNFT},
			&nfnl.Saved{Tables: nfnl.Ruleset{Rules: 120, Chains: []nfnl.Chain{base("firewalld", "filter_INPUT"), sub("firewalld", "filter_IN_public")}}},
			probes.Got("nftables (firewalld)"), probes.Got(120)},
		{"Ubuntu with ufw and Docker, iptables built on nf_tables", map[string]string{"proc/modules": withNFT, "proc/net/ip_tables_names": ""},
			&nfnl.Saved{Tables: nfnl.Ruleset{Rules: 210, Chains: []nfnl.Chain{base("filter", "INPUT"), sub("filter", "ufw-user-input"), sub("filter", "ufw6-user-input"), sub("nat", "DOCKER"), sub("nat", "DOCKER-USER")}}},
			probes.Got("nftables (docker, ufw)"), probes.Got(210)},
		{"OpenWrt 21 with the older filter", map[string]string{"proc/modules": withoutIt, "proc/net/ip_tables_names": "mangle\nfilter\n", "proc/net/ip6_tables_names": "filter\n"},
			&nfnl.Saved{Old: map[string]nfnl.Ruleset{"mangle": {}, "filter": {Rules: 40, Chains: []nfnl.Chain{sub("filter", "zone_lan_input")}}, "6/filter": {Rules: 30}}},
			probes.Got("iptables (fw3)"), probes.Got(70)},
		{"both", map[string]string{"proc/net/ip_tables_names": "filter\n"},
			&nfnl.Saved{Tables: nfnl.Ruleset{Rules: 3, Chains: []nfnl.Chain{base("inet", "own")}}, Old: map[string]nfnl.Ruleset{"filter": {Rules: 4}}},
			probes.Got("nftables + iptables"), probes.Got(7)},
		{"an empty table of each", map[string]string{"proc/net/ip_tables_names": "filter\n"},
			&nfnl.Saved{Tables: nfnl.Ruleset{Rules: 9, Chains: []nfnl.Chain{sub("t", "no hook leads here")}}, Old: map[string]nfnl.Ruleset{"filter": {}}},
			probes.Got("none"), probes.Got(0)},
		{"no filter in the kernel, and no right to ask it", map[string]string{"proc/modules": withoutIt}, denied, probes.Got("none"), probes.Got(0)},
		{"built in, no right", map[string]string{"proc/modules": withoutIt, "proc/sys/kernel/osrelease": "6.1.0\n", "lib/modules/6.1.0/modules.builtin": "kernel/net/netfilter/nf_tables.ko\n"},
			denied, probes.Unknown[string](probes.Denied, needs), probes.Unknown[int](probes.Denied, needs)},
		{"a kernel without modules, no right", nil, denied, probes.Unknown[string](probes.Denied, needs), probes.Unknown[int](probes.Denied, needs)},
		{"firewalld runs, no right", map[string]string{"proc/modules": withNFT, "run/firewalld.pid": "812\n"}, denied,
			probes.Got("nftables (firewalld)"), probes.Unknown[int](probes.Denied, needs)},
		{"ufw is on and Docker runs, no right", map[string]string{"proc/modules": withNFT, "etc/ufw/ufw.conf": "# set to yes\nENABLED=yes\nLOGLEVEL=low\n", "run/docker.sock": ""}, denied,
			probes.Got("nftables (docker, ufw)"), probes.Unknown[int](probes.Denied, needs)},
		{"ufw is installed and off, no right", map[string]string{"proc/modules": withNFT, "etc/ufw/ufw.conf": "ENABLED=yes\nENABLED=no\n"}, denied,
			probes.Unknown[string](probes.Denied, needs), probes.Unknown[int](probes.Denied, needs)},
		{"a table that is gone again", map[string]string{"proc/net/ip_tables_names": "nat\n"}, &nfnl.Saved{},
			probes.Unknown[string](probes.Absent, "table nat of ip_tables: file does not exist"), probes.Unknown[int](probes.Absent, "table nat of ip_tables: file does not exist")},
	}
	for _, tt := range tests {
		r := &Reader{root: tree(tt.files), filter: tt.filter, links: &rtnl.Saved{}}
		got := r.Read(t.Context())
		if got.Kind != tt.kind || got.Rules != tt.rules {
			t.Errorf("%s: %+v, rules %+v\nwant %+v, rules %+v", tt.name, got.Kind, got.Rules, tt.kind, tt.rules)
		}
	}
	r := &Reader{root: hidden{tree(nil)}, filter: &nfnl.Saved{}, links: &rtnl.Saved{}}
	if got := r.Read(t.Context()); got.Rules.Status != probes.Denied || got.Rules.Reason != "listing firewall rules needs root" {
		t.Errorf("where only root sees the tables: %+v", got.Rules)
	}
	broken := &Reader{root: tree(nil), filter: unreadable{errors.New("damaged")}, links: &rtnl.Saved{}}
	if got := broken.Read(t.Context()); got.Kind.Status != probes.Failed || got.Rules.Reason != "damaged" {
		t.Errorf("a damaged answer: %+v", got)
	}
}

// hidden refuses the file that only root may read.
type hidden struct{ fs.FS }

func (h hidden) Open(name string) (fs.File, error) {
	if name == "proc/net/ip_tables_names" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return h.FS.Open(name)
}

// unreadable is a filter, or a network, that does not answer.
type unreadable struct{ err error }

func (u unreadable) NFTables(context.Context) (nfnl.Ruleset, error) { return nfnl.Ruleset{}, u.err }
func (u unreadable) Legacy(string, bool) (nfnl.Ruleset, error)      { return nfnl.Ruleset{}, u.err }
func (u unreadable) All(context.Context) ([]rtnl.Link, error)       { return nil, u.err }

func TestTracked(t *testing.T) {
	linux(t)
	tests := []struct {
		name  string
		files map[string]string
		want  probes.Reading[bool]
	}{
		{"loaded", map[string]string{conntrackFolder + "/nf_conntrack_count": "5\n"}, probes.Got(true)},
		{"not loaded", map[string]string{"proc/sys/net/core/somaxconn": "4096\n"}, probes.Got(false)},
		{"loaded, in a container that is not shown it", map[string]string{"proc/sys/net/core/somaxconn": "4096\n", "proc/modules": "nf_conntrack 1 2 - Live 0x0\n"},
			probes.Unknown[bool](probes.Absent, "connection tracking is loaded, and not shown to this network namespace")},
		{"no /proc/sys", nil, probes.Unknown[bool](probes.Absent, "/proc/sys is not there")},
	}
	for _, tt := range tests {
		r := &Reader{root: tree(tt.files), filter: &nfnl.Saved{}, links: &rtnl.Saved{}}
		if got := r.Read(t.Context()).Tracked; got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestRouter(t *testing.T) {
	linux(t)
	type links = map[string]rtnl.SavedLink
	lo := rtnl.SavedLink{Index: 1, Up: true, Loopback: true}
	port := func(index, master int, kind string) rtnl.SavedLink {
		return rtnl.SavedLink{Index: index, Master: master, Kind: kind, Up: true}
	}
	off := map[string]string{"proc/sys/net/ipv4/ip_forward": "0\n", "proc/sys/net/ipv6/conf/all/forwarding": "0\n"}
	on := map[string]string{"proc/sys/net/ipv4/ip_forward": "1\n"}
	six := map[string]string{"proc/sys/net/ipv4/ip_forward": "0\n", "proc/sys/net/ipv6/conf/all/forwarding": "1\n"}
	tests := []struct {
		name  string
		files map[string]string
		links links
		want  bool
	}{
		{"two ports and no forwarding", off, links{"lo": lo, "a": port(2, 0, ""), "b": port(3, 0, "")}, false},
		{"two ports", on, links{"lo": lo, "a": port(2, 0, ""), "b": port(3, 0, "")}, true},
		{"IPv6 only", six, links{"lo": lo, "a": port(2, 0, ""), "b": port(3, 0, "")}, true},
		{"the second is down", on, links{"lo": lo, "a": port(2, 0, ""), "b": {Index: 3}}, false},
		{"Docker with a container", on, links{"lo": lo, "a": port(2, 0, ""), "docker0": port(3, 0, "bridge"), "veth": port(4, 3, "veth")}, false},
		{"OpenWrt: ports bridged to the LAN, one to the WAN", on, links{"lo": lo, "wan": port(2, 0, "dsa"), "br-lan": port(3, 0, "bridge"), "lan1": port(4, 3, "dsa"), "lan2": port(5, 3, "dsa")}, true},
		{"Proxmox: one bridge with the port and machines", on, links{"lo": lo, "vmbr0": port(2, 0, "bridge"), "nic": port(3, 2, ""), "tap": port(4, 2, "tun")}, false},
		{"a namespace between two others", on, links{"lo": lo, "x": port(2, 0, "veth"), "y": port(3, 0, "veth")}, true},
		{"two ports of a bond", on, links{"lo": lo, "bond0": port(2, 0, "bond"), "a": port(3, 2, ""), "b": port(4, 2, "")}, false},
		{"two ports in a VRF", on, links{"lo": lo, "red": port(9, 0, "vrf"), "a": port(3, 9, ""), "b": port(4, 9, "")}, true},
		{"a VPN gateway", on, links{"lo": lo, "a": port(2, 0, ""), "wg0": port(3, 0, "wireguard")}, true},
	}
	for _, tt := range tests {
		r := &Reader{root: tree(tt.files), filter: &nfnl.Saved{}, links: &rtnl.Saved{Links: tt.links}}
		if got := r.Read(t.Context()).Router; got != probes.Got(tt.want) {
			t.Errorf("%s: %+v, want %v", tt.name, got, tt.want)
		}
	}
	none := &Reader{root: tree(nil), filter: &nfnl.Saved{}, links: &rtnl.Saved{}}
	if got := none.Read(t.Context()).Router; got.Status != probes.Absent {
		t.Errorf("without /proc: %+v", got)
	}
	broken := &Reader{root: tree(on), filter: &nfnl.Saved{}, links: unreadable{errors.New("damaged")}}
	if got := broken.Read(t.Context()).Router; got.Status != probes.Failed || !strings.Contains(got.Reason, "damaged") {
		t.Errorf("without the interfaces: %+v", got)
	}
}

func FuzzModules(f *testing.F) {
	f.Add("nf_tables 372736 99 nft_ct, Live 0x0\n", "kernel/net/netfilter/nf_conntrack.ko\n")
	f.Fuzz(func(t *testing.T, loaded, builtin string) {
		r := &Reader{root: tree(map[string]string{"proc/modules": loaded, "proc/sys/kernel/osrelease": "6", "lib/modules/6/modules.builtin": builtin})}
		m := r.modules()
		if !m.known || m.has("nf_tables") && !strings.Contains(loaded+builtin, "nf") {
			t.Fatalf("%q and %q gave %q", loaded, builtin, m.names)
		}
	})
}
