package diagnose

import (
	"strings"
	"testing"

	"linerate/engine"
	"linerate/probes"
)

// Remedies fit the computer that they are for.
func TestRemediesFitTheSystem(t *testing.T) {
	on := func(system, kernel, os string) func(engine.Side) func(*Evidence) {
		return func(side engine.Side) func(*Evidence) {
			return host(side, func(h *probes.Host) { h.Platform, h.Kernel, h.OS = probes.Got(system), probes.Got(kernel), os })
		}
	}
	debian := on("Debian GNU/Linux 12 (bookworm)", "6.1.0-18-amd64", "linux")
	proxmox := on("Debian GNU/Linux 12 (bookworm)", "6.8.12-1-pve", "linux")
	ubuntu := on("Ubuntu 24.04.1 LTS", "6.8.0-45-generic", "linux")
	rocky := on("Rocky Linux 9.4 (Blue Onyx)", "5.14.0", "linux")
	openwrt := on("OpenWrt 23.05.3", "5.15.150", "linux")
	opnsense := on("OPNsense 24.7 freebsd 14.1", "14.1-RELEASE", "freebsd")
	freebsd := on("freebsd 14.1", "14.1-RELEASE", "freebsd")
	darwin := on("darwin 14.5", "23.5.0", "darwin")
	ring := func(side func(engine.Side) func(*Evidence)) Evidence {
		return base(direction(down), linked(local, probes.Counters{"rx_missed_errors": 4800, "rx_packets": 3e6}), rings(local, 512, 4096), side(local))
	}
	softirqFull := func(side func(engine.Side) func(*Evidence)) Evidence {
		return base(direction(down), cores(local, 0, .1, .2, .1), softirq(local, 0, .94, .04), channels(local, 1), side(local))
	}
	hole := func(side func(engine.Side) func(*Evidence)) Evidence {
		return base(mtu(local, 9000), stuckFlow(up, 8e9), swept(4074, true), side(local))
	}
	window := func(side func(engine.Side) func(*Evidence)) Evidence { return smallWindow(side(farEnd)) }
	cut := func(side func(engine.Side) func(*Evidence)) Evidence { return cut(side(local)) }
	tests := []struct {
		name, code string
		e          Evidence
		dir        engine.Direction
		want, not  string // parts of all remedies together
	}{
		{"ring, Debian", RingOverflow, ring(debian), down, "/etc/systemd/network/10-eth0.link, below [Link]: RxBufferSize=4096", ""},
		{"ring, Proxmox", RingOverflow, ring(proxmox), down, "/etc/network/interfaces, below iface eth0: post-up ethtool -G eth0 rx 4096", ".link"},
		{"ring, Rocky", RingOverflow, ring(rocky), down, "ethtool.ring-rx 4096", ".link"},
		{"ring, OpenWrt", RingOverflow, ring(openwrt), down, "/etc/rc.local", ".link"},
		{"ring, FreeBSD", RingOverflow, ring(freebsd), down, "descriptors", "ethtool"},
		{"steering, OpenWrt", SoftIRQCore, softirqFull(openwrt), down, "uci set network.globals.packet_steering='1'", ""},
		{"steering, Debian", SoftIRQCore, softirqFull(debian), down, "rps_cpus", "uci"},
		{"MTU, Proxmox", BlackHole, hole(proxmox), up, "/etc/network/interfaces, below iface eth0: mtu 4074", ""},
		{"MTU, Ubuntu", BlackHole, hole(ubuntu), up, "netplan set ethernets.eth0.mtu=4074; netplan apply", ""},
		{"MTU, Rocky", BlackHole, hole(rocky), up, "802-3-ethernet.mtu 4074", ""},
		{"MTU, OpenWrt", BlackHole, hole(openwrt), up, "uci set network.@device[0].mtu='4074'; uci commit network", ""},
		{"MTU, OPNsense", BlackHole, hole(opnsense), up, "Interfaces > eth0 > MTU: 4074", "sysctl -w"},
		{"MTU, macOS", BlackHole, hole(darwin), up, "networksetup -setMTU eth0 4074", "ip link"},
		{"window, Debian at the far end", ReceiveWindow, window(debian), up, "At the far end: let autotuning give the receiver more. sysctl -w net.ipv4.tcp_rmem='4096 131072 134217728'", ""},
		{"window, OPNsense", ReceiveWindow, window(opnsense), up, "System > Tunables: kern.ipc.maxsockbuf = 134217728", "sysctl -w"},
		{"window, FreeBSD", ReceiveWindow, window(freebsd), up, "net.inet.tcp.recvbuf_max=134217728", "tcp_rmem"},
		{"window, macOS", ReceiveWindow, window(darwin), up, "net.inet.tcp.autorcvbufmax=134217728", "tcp_rmem"},
		{"offloads, Ubuntu", OffloadsOff, cut(ubuntu), up, "netplan set ethernets.eth0.tcp-segmentation-offload=true", ""},
		{"policer, OpenWrt", Policer, base(quietFar, rateOf(up, 25e6), sender(up, windows(wide(20*ms, 21*ms), lost(16306, 374, 0), by(cubic))), tcp(local, probes.Counters{"TcpExt.TCPLostRetransmit": 10, "TcpExt.TCPTimeouts": 5, "Tcp.RetransSegs": 374}), openwrt(local)), up, "uci set sqm.@queue[0].upload='23000'", "/etc/network"},
		{"policer, Proxmox", Policer, base(quietFar, rateOf(up, 25e6), sender(up, windows(wide(20*ms, 21*ms), lost(16306, 374, 0), by(cubic))), tcp(local, probes.Counters{"TcpExt.TCPLostRetransmit": 10, "TcpExt.TCPTimeouts": 5, "Tcp.RetransSegs": 374}), proxmox(local)), up, "/etc/network/interfaces, below iface eth0: post-up tc qdisc", "uci"},
		{"forced link, Proxmox", LinkBelow, base(card(local, .1*gig, []float64{.1 * gig, gig}, nil), proxmox(local)), up, "post-up ethtool -s eth0 autoneg on", ".link"},
		{"settings, OpenWrt", BacklogDrops, base(direction(down), softnet(local, probes.Softnet{Core: 1, Dropped: 9}), openwrt(local)), down, "service sysctl restart", "--system"},
		{"governor, OpenWrt", SlowClock, base(clocked(local, "powersave", "cpufreq-dt", 2e9, 1e9, 1e9, 1e9, 1e9), cores(local, .9), openwrt(local)), up, "/etc/rc.local", "tuned"},
		{"governor, Rocky", SlowClock, base(clocked(local, "powersave", "acpi-cpufreq", 2e9, 1e9, 1e9, 1e9, 1e9), cores(local, .9), rocky(local)), up, "tuned-adm profile network-throughput", ".link"},
		{"offloads, OPNsense", OffloadsOff, cut(opnsense), up, "off on purpose", "ethtool"},
	}
	for _, tt := range tests {
		v := answer(t, tt.code, tt.e, tt.dir)
		if v.state != Holds {
			t.Errorf("%s: %v: %s", tt.name, v.state, v.why)
			continue
		}
		var all []string
		for _, r := range v.finding.Remedy {
			all = append(all, r.Text, r.Temporary, r.Persistent)
		}
		text := strings.Join(all, " ")
		if !strings.Contains(text, tt.want) || tt.not != "" && strings.Contains(text, tt.not) {
			t.Errorf("%s: %q, want %q and no %q", tt.name, text, tt.want, tt.not)
		}
		checkFinding(t, tt.name, v.finding)
	}
}

// A router that manages queues keeps offloads off on purpose: no advice, no warning.
func TestNoOffloadAdviceForQueueManagers(t *testing.T) {
	for name, edit := range map[string]func(*Evidence){
		"OPNsense": host(local, func(h *probes.Host) { h.OS, h.Platform = "freebsd", probes.Got("OPNsense 24.7") }),
		"OpenWrt with SQM": func(e *Evidence) {
			platform(local, "OpenWrt 23.05.3")(e)
			qdiscs(local, probes.Qdisc{Kind: "cake", RateBps: 40 * gig})(e)
		},
	} {
		v := answer(t, OffloadsOff, cut(edit), up)
		if v.state != Holds || v.finding.Severity >= engine.SeverityWarning {
			t.Errorf("%s: %v %v", name, v.state, v.finding.Severity)
		}
		for _, r := range v.finding.Remedy {
			if strings.Contains(r.Temporary+r.Persistent, "tso") {
				t.Errorf("%s: advises %+v", name, r)
			}
		}
	}
}

// Commands name the card where the card is what they change.
func TestRemediesNameTheCard(t *testing.T) {
	e := base(direction(down), nic(local, func(n *probes.NIC) { n.Name, n.Kind = "bond0.7", probes.Got("vlan") }),
		adapter(local, func(a *probes.Adapter) { a.Device = "enp1s0" }), linked(local, probes.Counters{"rx_missed_errors": 4800}), rings(local, 512, 4096))
	v := answer(t, RingOverflow, e, down)
	if len(v.finding.Remedy) == 0 || v.finding.Remedy[0].Temporary != "ethtool -G enp1s0 rx 4096" {
		t.Errorf("got %+v", v.finding.Remedy)
	}
}
