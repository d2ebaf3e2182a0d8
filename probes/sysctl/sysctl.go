package sysctl

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"linerate/probes"
	"linerate/probes/internal/kfs"
)

const folder = "proc/sys"

// Reader reads the settings of one computer. It holds no state and is safe for
// concurrent use.
type Reader struct{ root fs.FS }

// New reads this computer.
func New() *Reader { return NewAt("/") }

// NewAt reads the fixture tree at dir, a folder that holds proc.
func NewAt(dir string) *Reader { return &Reader{root: os.DirFS(dir)} }

// Read reads every known setting, in under a millisecond. Each is there, as a value or
// with the reason why it has none. Numbers of one setting are separated by single spaces.
func (r *Reader) Read() probes.Settings {
	if err := kfs.LinuxOnly(); err != nil {
		return Unread(err)
	}
	all := make(probes.Settings, len(hostWide)+len(ownNetwork))
	visible := kfs.Exists(r.root, folder+"/net")
	for _, name := range hostWide {
		all[name] = r.setting(name, true, visible)
	}
	for _, name := range ownNetwork {
		all[name] = r.setting(name, false, visible)
	}
	return all
}

// Unread is every known setting with the reason why none was read.
func Unread(err error) probes.Settings {
	all := make(probes.Settings, len(hostWide)+len(ownNetwork))
	for _, list := range [][]string{hostWide, ownNetwork} {
		for _, name := range list {
			all[name] = probes.Unread[probes.Setting](err)
		}
	}
	return all
}

func (r *Reader) setting(name string, host, visible bool) probes.Reading[probes.Setting] {
	text, err := kfs.Text(r.root, path(name))
	if errors.Is(err, fs.ErrNotExist) {
		err = probes.Missing{Status: probes.Absent, Reason: r.absent(name, host, visible)}
	}
	if err != nil {
		return probes.Unread[probes.Setting](err)
	}
	return probes.Got(probes.Setting{Value: strings.Join(strings.Fields(text), " "), Host: host})
}

// absent is why there is no such setting here.
func (r *Reader) absent(name string, host, visible bool) string {
	switch {
	case !visible:
		return "/proc/sys is not there"
	case strings.HasPrefix(name, "net.netfilter."):
		return "connection tracking is not loaded"
	case strings.HasPrefix(name, "net.ipv6.") && !kfs.Exists(r.root, folder+"/net/ipv6"):
		return "the kernel has no IPv6"
	// tcp_mem is as old as the network stack, and only the first namespace shows it.
	case host && !kfs.Exists(r.root, path("net.ipv4.tcp_mem")):
		return "one value for the whole host, which this network namespace does not show"
	}
	return "this kernel does not have it"
}

// path is the file of a setting. None of the known names has a dot within a part of it.
func path(name string) string { return folder + "/" + strings.ReplaceAll(name, ".", "/") }

// hostWide are the settings that hold for the whole computer, whatever the namespace.
// Containers see the first group on newer kernels, without being able to write it, and not
// the second.
var hostWide = []string{
	"net.core.rmem_max",
	"net.core.wmem_max",
	"net.core.rmem_default",
	"net.core.wmem_default",
	"net.ipv4.tcp_available_congestion_control",
	"net.ipv4.tcp_allowed_congestion_control",
	"net.netfilter.nf_conntrack_max",
	"net.netfilter.nf_conntrack_buckets",

	"net.core.netdev_max_backlog",
	"net.core.netdev_budget",
	"net.core.netdev_budget_usecs",
	"net.core.dev_weight",
	"net.core.dev_weight_rx_bias",
	"net.core.dev_weight_tx_bias",
	"net.core.default_qdisc",
	"net.core.busy_poll",
	"net.core.busy_read",
	"net.core.rps_sock_flow_entries",
	"net.core.flow_limit_cpu_bitmap",
	"net.core.flow_limit_table_len",
	"net.core.gro_normal_batch",
	"net.core.high_order_alloc_disable",
	"net.core.max_skb_frags",
	"net.core.skb_defer_max",
	"net.ipv4.tcp_mem",
	"net.ipv4.udp_mem",
	"net.ipv4.tcp_max_orphans",
	// Not netdev_rss_key: no rule needs it, and who knows it can make flows collide.
}

// ownNetwork are the settings that each network namespace has for itself. A new one takes
// some of them over from the host when it is made.
var ownNetwork = []string{
	"net.core.optmem_max",
	"net.core.rps_default_mask",
	"net.core.somaxconn",
	"net.core.txrehash",
	"net.ipv4.conf.all.arp_announce",
	"net.ipv4.conf.all.arp_filter",
	"net.ipv4.conf.all.arp_ignore",
	"net.ipv4.conf.default.arp_announce",
	"net.ipv4.conf.default.arp_filter",
	"net.ipv4.conf.default.arp_ignore",
	"net.ipv4.ip_forward",
	"net.ipv4.tcp_adv_win_scale",
	"net.ipv4.tcp_congestion_control",
	"net.ipv4.tcp_ecn",
	"net.ipv4.tcp_limit_output_bytes",
	"net.ipv4.tcp_max_reordering",
	"net.ipv4.tcp_moderate_rcvbuf",
	"net.ipv4.tcp_mtu_probing",
	"net.ipv4.tcp_no_metrics_save",
	"net.ipv4.tcp_no_ssthresh_metrics_save",
	"net.ipv4.tcp_notsent_lowat",
	"net.ipv4.tcp_rmem",
	"net.ipv4.tcp_sack",
	"net.ipv4.tcp_shrink_window",
	"net.ipv4.tcp_slow_start_after_idle",
	"net.ipv4.tcp_syncookies",
	"net.ipv4.tcp_timestamps",
	"net.ipv4.tcp_window_scaling",
	"net.ipv4.tcp_wmem",
	"net.ipv4.udp_rmem_min",
	"net.ipv4.udp_wmem_min",
	"net.ipv6.conf.all.forwarding",
}
