package diagnose

import (
	"fmt"
	"strings"

	"linerate/engine"
)

// family is what decides how a setting is made to last.
type family uint8

const (
	plainLinux     family = iota // systemd's .link files
	netplanLinux                 // Ubuntu
	managedLinux                 // NetworkManager: Fedora, RHEL and what descends from it
	proxmoxLinux                 // /etc/network/interfaces
	openWrtLinux                 // uci
	firewallSystem               // pfSense, OPNsense: offloads are off there on purpose
	bsd
	macOS
	windowsSystem
)

// system is one computer as far as remedies depend on it.
type system struct {
	family family
	nic    string // its interface, "IF" where that is unknown
	card   string // the hardware below it, or the same
	place  string // begins a remedy's sentence when it is not this computer
	guest  bool   // it runs in a virtual machine or a container
}

// marks tell the family by what a system calls itself, in order.
var marks = []struct {
	text   string
	family family
}{
	{"pfsense", firewallSystem}, {"opnsense", firewallSystem},
	{"openwrt", openWrtLinux}, {"immortalwrt", openWrtLinux}, {"turris", openWrtLinux},
	{"proxmox", proxmoxLinux},
	{"ubuntu", netplanLinux},
	{"fedora", managedLinux}, {"red hat", managedLinux}, {"rhel", managedLinux}, {"centos", managedLinux},
	{"rocky", managedLinux}, {"alma", managedLinux}, {"oracle linux", managedLinux},
}

// system finds out what kind of computer a side is. One that is not known is taken for
// a plain Linux.
func (e *Evidence) system(side engine.Side) system {
	end := e.end(side)
	s := system{nic: safeName(end.NIC.Value.Name)}
	s.card = s.nic
	if d := end.Adapter.Device; d != "" {
		s.card = safeName(d)
	}
	if e.side(side) == engine.Far {
		s.place = "At the far end: "
	}
	host, ok := end.Host.Get()
	if !ok {
		return s
	}
	virtual, guest := host.Virtual.Get()
	s.guest = guest && virtual != ""
	names := strings.ToLower(host.Platform.Value + " " + host.Kernel.Value + " " + host.Name.Value)
	switch host.OS {
	case "darwin":
		s.family = macOS
		return s
	case "windows":
		s.family = windowsSystem
		return s
	case "freebsd", "openbsd", "netbsd", "dragonfly":
		s.family = bsd
	}
	for _, m := range marks {
		// A firewall's name may be that of the computer; all others must be the system's.
		if strings.Contains(names, m.text) && (m.family == firewallSystem) == (s.family == bsd) {
			s.family = m.family
			return s
		}
	}
	// A container on Proxmox shows the kernel of its host.
	if strings.Contains(host.Kernel.Value, "-pve") && virtual != "lxc" {
		s.family = proxmoxLinux
	}
	return s
}

// linux reports whether Linux commands fit.
func (s system) linux() bool { return s.family < firewallSystem }

// keepsOffloadsOff reports whether the computer is of a kind that switches offloads off
// on purpose.
func (s system) keepsOffloadsOff() bool { return s.family == firewallSystem }

// say makes a remedy without commands.
func (s system) say(text string) engine.Remedy { return engine.Remedy{Text: s.sentence(text)} }

// sentence puts the place in front.
func (s system) sentence(text string) string {
	if s.place == "" {
		return text
	}
	if len(text) > 1 && text[1] >= 'a' && text[1] <= 'z' {
		text = strings.ToLower(text[:1]) + text[1:]
	}
	return s.place + text
}

// safeName gives a name that may stand in a command people copy: a far host sends it.
func safeName(name string) string {
	odd := func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", r)
	}
	if name == "" || name[0] == '-' || strings.ContainsFunc(name, odd) {
		return noName
	}
	return name
}

// noName stands in commands for a name that is not known.
const noName = "IF"

// do makes a remedy of Linux commands; elsewhere only the sentence is left.
func (s system) do(text, temporary, persistent string) engine.Remedy {
	r := s.say(text)
	if s.linux() {
		r.Temporary, r.Persistent = temporary, persistent
	}
	return r
}

// ownFile is the one file that settings of this program's advice go to.
const ownFile = "/etc/sysctl.d/90-linerate.conf"

// sysctl sets kernel settings; pairs are "key=value".
func (s system) sysctl(text string, pairs ...string) engine.Remedy {
	now, lines := make([]string, len(pairs)), make([]string, len(pairs))
	for i, p := range pairs {
		key, value, _ := strings.Cut(p, "=")
		if strings.Contains(value, " ") {
			now[i] = fmt.Sprintf("%s='%s'", key, value)
		} else {
			now[i] = p
		}
		lines[i] = key + " = " + value
	}
	load := "sysctl --system"
	if s.family == openWrtLinux { // BusyBox knows no --system
		load = "service sysctl restart"
	}
	return s.do(text, "sysctl -w "+strings.Join(now, " "),
		fmt.Sprintf("printf '%s\\n' >> %s; %s", strings.Join(lines, `\n`), ownFile, load))
}

// fullClock keeps the cores from clocking down.
func (s system) fullClock() engine.Remedy {
	temporary, persistent := "cpupower frequency-set -g performance", "a unit with the same line, or tuned-adm profile network-throughput"
	switch s.family {
	case managedLinux:
		persistent = "tuned-adm profile network-throughput"
	case openWrtLinux:
		temporary = "for g in /sys/devices/system/cpu/cpufreq/policy*/scaling_governor; do echo performance > $g; done"
		persistent = "/etc/rc.local, before exit 0: the same line"
	}
	return s.do("Let the cores run at full clock.", temporary, persistent)
}

// bufferKeys are the settings that bound the autotuning of one socket buffer.
type bufferKeys struct{ linux, bsd, darwin string }

var (
	receiveKeys = bufferKeys{"net.ipv4.tcp_rmem", "net.inet.tcp.recvbuf_max", "net.inet.tcp.autorcvbufmax"}
	sendKeys    = bufferKeys{"net.ipv4.tcp_wmem", "net.inet.tcp.sendbuf_max", "net.inet.tcp.autosndbufmax"}
)

// buffer raises what autotuning may give to one socket, bytes. least and start are the
// other two numbers of the Linux setting.
func (s system) buffer(text string, keys bufferKeys, least, start, most uint64) engine.Remedy {
	r := s.say(text)
	switch s.family {
	case firewallSystem:
		r.Temporary = fmt.Sprintf("sysctl kern.ipc.maxsockbuf=%d %s=%d", most, keys.bsd, most)
		r.Persistent = fmt.Sprintf("System > Tunables: kern.ipc.maxsockbuf = %d, %s = %d", most, keys.bsd, most)
	case bsd:
		r.Temporary = fmt.Sprintf("sysctl kern.ipc.maxsockbuf=%d %s=%d", most, keys.bsd, most)
		r.Persistent = fmt.Sprintf("/etc/sysctl.conf: kern.ipc.maxsockbuf=%d, %s=%d", most, keys.bsd, most)
	case macOS:
		r.Temporary = fmt.Sprintf("sysctl -w %s=%d", keys.darwin, most)
		r.Persistent = "a launchd daemon that runs the same line at boot"
	case windowsSystem:
		r.Temporary = "netsh interface tcp set global autotuninglevel=normal"
	default:
		return s.sysctl(text, fmt.Sprintf("%s=%d %d %d", keys.linux, least, start, most))
	}
	return r
}

// ethtool runs "ethtool FLAG CARD args". link is the line of a systemd.link file and nm the
// NetworkManager setting that make it last; "" where they have none.
func (s system) ethtool(text, flag, args, link, nm string) engine.Remedy {
	name := s.card
	if flag == "-K" { // what the stack may leave to the device it hands packets to
		name = s.nic
	}
	command := fmt.Sprintf("ethtool %s %s %s", flag, name, args)
	persistent := ""
	switch s.family {
	case proxmoxLinux, openWrtLinux:
		persistent = s.atBoot(name, command)
	case managedLinux:
		persistent = s.nmcli(nm)
	}
	if persistent == "" && link != "" {
		persistent = fmt.Sprintf("/etc/systemd/network/10-%s.link, below [Link]: %s", name, link)
	}
	if persistent == "" {
		persistent = s.atBoot(name, command)
	}
	return s.do(text, command, persistent)
}

// atBoot is where a command about an interface is put to be run again after the next boot.
func (s system) atBoot(name, command string) string {
	switch s.family {
	case proxmoxLinux:
		return fmt.Sprintf("/etc/network/interfaces, below iface %s: post-up %s", name, command)
	case openWrtLinux:
		return "/etc/rc.local, before exit 0: " + command
	}
	return "a udev rule or a unit that runs it when " + name + " appears"
}

// shapeUpload makes a shaper of what OpenWrt sends last, kbit/s.
func shapeUpload(kbit string) string {
	return fmt.Sprintf("uci set sqm.@queue[0].upload='%s'; uci set sqm.@queue[0].enabled='1'; uci commit sqm; service sqm restart", kbit)
}

// nmcli makes a NetworkManager setting last.
func (s system) nmcli(setting string) string {
	if setting == "" {
		return ""
	}
	return fmt.Sprintf(`nmcli connection modify "$(nmcli -g GENERAL.CONNECTION device show %s)" %s`, s.nic, setting)
}

// mtu sets the largest packet of the interface.
func (s system) mtu(text string, bytes int) engine.Remedy {
	r := s.say(text)
	switch s.family {
	case firewallSystem:
		r.Temporary = fmt.Sprintf("ifconfig %s mtu %d", s.nic, bytes)
		r.Persistent = fmt.Sprintf("Interfaces > %s > MTU: %d", s.nic, bytes)
	case bsd:
		r.Temporary = fmt.Sprintf("ifconfig %s mtu %d", s.nic, bytes)
		r.Persistent = fmt.Sprintf(`/etc/rc.conf: add "mtu %d" to ifconfig_%s`, bytes, s.nic)
	case macOS:
		r.Temporary = fmt.Sprintf("ifconfig %s mtu %d", s.nic, bytes)
		r.Persistent = fmt.Sprintf("networksetup -setMTU %s %d", s.nic, bytes)
	case windowsSystem:
		r.Persistent = fmt.Sprintf(`netsh interface ipv4 set subinterface "%s" mtu=%d store=persistent`, s.nic, bytes)
	default:
		r.Temporary = fmt.Sprintf("ip link set dev %s mtu %d", s.nic, bytes)
		r.Persistent = s.lastingMTU(bytes)
	}
	return r
}

func (s system) lastingMTU(bytes int) string {
	switch s.family {
	case openWrtLinux:
		return fmt.Sprintf("uci set network.@device[0].mtu='%d'; uci commit network; service network restart (the device section of %s)", bytes, s.nic)
	case proxmoxLinux:
		return fmt.Sprintf("/etc/network/interfaces, below iface %s: mtu %d", s.nic, bytes)
	case netplanLinux:
		return fmt.Sprintf("netplan set ethernets.%s.mtu=%d; netplan apply", s.nic, bytes)
	case managedLinux:
		return s.nmcli(fmt.Sprintf("802-3-ethernet.mtu %d", bytes))
	}
	return fmt.Sprintf("/etc/systemd/network/10-%s.link, below [Link]: MTUBytes=%d", s.nic, bytes)
}

// steering hands received packets to all cores by the kernel (RPS).
func (s system) steering(cores int) engine.Remedy {
	queues := fmt.Sprintf("/sys/class/net/%s/queues/rx-0", s.nic)
	persistent := fmt.Sprintf("a unit that writes rps_cpus when %s appears; net.core.rps_sock_flow_entries = 32768 in %s", s.nic, ownFile)
	if s.family == openWrtLinux {
		persistent = "uci set network.globals.packet_steering='1'; uci commit network; service network restart"
	}
	return s.do("Let the kernel hand received packets to all cores (RPS).",
		fmt.Sprintf("echo %s > %s/rps_cpus; sysctl -w net.core.rps_sock_flow_entries=32768; echo 32768 > %s/rps_flow_cnt", cpuMask(cores), queues, queues),
		persistent)
}
