package hosttest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"linerate/probes"
	"linerate/probes/internal/nfnl"
)

// writeVitals writes the files that Happen changes. Of the NIC's, netlink.json is written by
// writeLinks.
func (h *Host) writeVitals() {
	h.t.Helper()
	v := h.vitals
	netstat, snmp, snmp6 := protocolFiles(v.TCP.Value)
	h.write("proc/net/netstat", netstat)
	h.write("proc/net/snmp", snmp)
	h.write("proc/net/snmp6", snmp6)
	h.write("proc/net/sockstat", fmt.Sprintf("sockets: used 160\nTCP: inuse 5 orphan 0 tw 0 alloc 7 mem %d\nUDP: inuse 3 mem 1\n", v.SocketPages.Value))
	h.write("proc/net/softnet_stat", softnetFile(v.Softnet.Value))
	h.write("proc/softirqs", softirqsFile(v.NetRx.Value))
	h.write("proc/interrupts", h.interruptsFile())
	for resource, total := range map[string]time.Duration{"cpu": v.Pressure.CPU.Value, "memory": v.Pressure.Memory.Value, "io": v.Pressure.IO.Value} {
		h.write("proc/pressure/"+resource, fmt.Sprintf("some avg10=0.00 avg60=0.00 avg300=0.00 total=%d\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", total.Microseconds()))
	}
	h.write("sys/fs/cgroup/cpu.stat", fmt.Sprintf("usage_usec 1\nnr_periods 1\nnr_throttled 1\nthrottled_usec %d\n", v.Quota.Throttled.Value.Microseconds()))
	h.write("proc/sys/net/netfilter/nf_conntrack_count", fmt.Sprintf("%d\n", v.Conntrack.Value.Count))
	h.write("proc/sys/net/netfilter/nf_conntrack_max", fmt.Sprintf("%d\n", v.Conntrack.Value.Max))
	h.write("proc/net/stat/nf_conntrack", conntrackFile(v.Conntrack.Value))
	h.write("proc/diskstats", diskstatsFile(v.Disks.Value))
	h.write("proc/vmstat", fmt.Sprintf("nr_free_pages 262144\nnr_dirty %.0f\nnr_dirty_threshold %d\n", v.Dirty.Value*dirtyThreshold, dirtyThreshold))
	h.writeHeat(v)
	if h.machine.Hz != 0 {
		for core, hz := range v.CoreHz.Value {
			h.write(fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", core), fmt.Sprintf("%.0f\n", hz/1000))
		}
	}
}

const dirtyThreshold = 1_000_000 // pages

func (h *Host) writeHeat(v probes.Vitals) {
	const throttle, zone = "sys/devices/system/cpu/cpu%d/thermal_throttle/core_", "sys/class/thermal/thermal_zone0/"
	if h.machine.Hz == 0 { // virtual
		return
	}
	for core := range h.machine.Cores {
		events, ms := uint64(0), int64(0)
		if core == 0 {
			events, ms = v.Thermal.Events.Value, v.Thermal.Throttled.Value.Milliseconds()
		}
		h.write(fmt.Sprintf(throttle+"throttle_count", core), fmt.Sprintf("%d\n", events))
		h.write(fmt.Sprintf(throttle+"throttle_total_time_ms", core), fmt.Sprintf("%d\n", ms))
	}
	h.write(zone+"trip_point_0_type", "passive\n")
	h.write(zone+"trip_point_0_temp", "100000\n")
	h.write(zone+"temp", fmt.Sprintf("%.0f\n", (100-v.Thermal.Margin.Value)*1000))
}

// protocolFiles divides the counters among the kernel's three files.
func protocolFiles(c probes.Counters) (netstat, snmp, snmp6 string) {
	type table struct{ names, values []string }
	tables := map[string]*table{}
	for _, name := range slices.Sorted(maps.Keys(c)) {
		group, column, ok := strings.Cut(name, ".")
		if !ok {
			snmp6 += fmt.Sprintf("%-32s\t%d\n", name, c[name])
			continue
		}
		if tables[group] == nil {
			tables[group] = new(table)
		}
		tables[group].names = append(tables[group].names, column)
		tables[group].values = append(tables[group].values, fmt.Sprint(c[name]))
	}
	text := func(group string) string {
		t := tables[group]
		return fmt.Sprintf("%s: %s\n%s: %s\n", group, strings.Join(t.names, " "), group, strings.Join(t.values, " "))
	}
	return text("TcpExt") + text("IpExt"), text("Ip") + text("Icmp") + text("Tcp") + text("Udp"), snmp6
}

func softnetFile(rows []probes.Softnet) string {
	var b strings.Builder
	for _, s := range rows {
		fmt.Fprintf(&b, "%08x %08x %08x 00000000 00000000 00000000 00000000 00000000 00000000 %08x %08x 00000000 %08x\n",
			s.Processed, s.Dropped, s.Squeezed, s.RPS, s.FlowLimit, s.Core)
	}
	return b.String()
}

func softirqsFile(netRx []uint64) string {
	var b strings.Builder
	b.WriteString("                    ")
	for core := range netRx {
		fmt.Fprintf(&b, "%-11s", fmt.Sprintf("CPU%d", core))
	}
	b.WriteString("\n")
	for _, name := range []string{"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"} {
		fmt.Fprintf(&b, "%12s:", name)
		for _, n := range netRx {
			if name != "NET_RX" {
				n = 0
			}
			fmt.Fprintf(&b, " %10d", n)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// firstIRQ is the interrupt of the NIC's queue 0.
const firstIRQ = 120

// QueueIRQ is the number of the interrupt of one of the NIC's queues.
func QueueIRQ(queue int) int { return firstIRQ + queue }

func (h *Host) interruptsFile() string {
	var b strings.Builder
	b.WriteString("      ")
	for core := range h.machine.Cores {
		fmt.Fprintf(&b, " %10s", fmt.Sprintf("CPU%d", core))
	}
	b.WriteString("\n")
	row := func(label string, counts []uint64, rest string) {
		fmt.Fprintf(&b, "%5s:", label)
		for _, n := range counts {
			fmt.Fprintf(&b, " %10d", n)
		}
		b.WriteString(rest + "\n")
	}
	none := make([]uint64, h.machine.Cores)
	row("8", none, "  IR-IO-APIC    8-edge      rtc0")
	for q := range h.machine.NIC.Queues {
		row(itoa(QueueIRQ(q)), h.irqs[QueueIRQ(q)], fmt.Sprintf("  IR-PCI-MSIX-%s %4d-edge      %s-TxRx-%d", h.machine.NIC.PCI, q, h.machine.NIC.Name, q))
	}
	row("NMI", none, "   Non-maskable interrupts")
	return b.String()
}

func conntrackFile(c probes.Conntrack) string {
	return "entries  clashres found new invalid ignore delete chainlength insert insert_failed drop early_drop icmp_error  expect_new expect_create expect_delete search_restart\n" +
		fmt.Sprintf("%08x  00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 %08x 00000000 00000000 00000000  00000000 00000000 00000000 00000000\n", c.Count, c.Failed)
}

func diskstatsFile(disks []probes.DiskTimes) string {
	var b strings.Builder
	for i, d := range disks {
		fmt.Fprintf(&b, " 259 %7d %s 0 0 %d 0 0 0 %d 0 0 %d 0 0 0 0 0 0 0\n", i, d.Name, d.ReadBytes/512, d.WrittenBytes/512, d.Busy.Milliseconds())
	}
	return b.String()
}

// diskName is the one disk of every fixture, an NVMe on PCIe 3 x4 with the root file
// system, behind 28 Gbit/s of bus.
const diskName = "nvme0n1"

// writeDisk lays out the disk, the control group and the settings.
func (h *Host) writeDisk() {
	const function = "sys/devices/pci0000:00/0000:00:1d.0/0000:6d:00.0"
	const folder = function + "/nvme/nvme0/" + diskName
	h.write(function+"/current_link_speed", "8.0 GT/s PCIe\n")
	h.write(function+"/current_link_width", "4\n")
	h.write(folder+"/queue/rotational", "0\n")
	h.write(folder+"/"+diskName+"p1/partition", "1\n")
	for i, name := range []string{"", "/" + diskName + "p1"} {
		h.link(fmt.Sprintf("sys/dev/block/259:%d", i), "../../"+strings.TrimPrefix(folder, "sys/")+name)
	}
	h.write("proc/self/mountinfo", "22 27 0:21 / /proc rw,relatime - proc proc rw\n"+
		"27 1 259:1 / / rw,relatime shared:1 - ext4 /dev/"+diskName+"p1 rw\n"+
		"30 27 0:24 / /tmp rw,nosuid - tmpfs tmpfs rw\n"+
		"35 24 0:30 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n")
	h.write("proc/self/cgroup", "0::/\n")
	limit := "max"
	if q := h.machine.Quota; q > 0 {
		limit = itoa(int(math.Round(q * 100_000)))
	}
	h.write("sys/fs/cgroup/cpu.max", limit+" 100000\n")
}

// writeIRQs lays out the interrupts of the NIC: one per queue, each on one core.
func (h *Host) writeIRQs() {
	h.irqs = map[int][]uint64{}
	for q := range h.machine.NIC.Queues {
		h.irqs[QueueIRQ(q)] = make([]uint64, h.machine.Cores)
		h.write(fmt.Sprintf("%s/msi_irqs/%d", h.machine.NIC.folder(), QueueIRQ(q)), "msix\n")
		h.write(fmt.Sprintf("proc/irq/%d/smp_affinity_list", QueueIRQ(q)), itoa(q%h.machine.Cores)+"\n")
	}
}

// Set changes a kernel setting, by its dotted name.
func (h *Host) Set(name, value string) {
	h.t.Helper()
	h.write("proc/sys/"+strings.ReplaceAll(name, ".", "/"), value+"\n")
}

func (h *Host) writeSettings() {
	for name, value := range defaultSettings {
		h.Set(name, value)
	}
	for name, value := range h.machine.Settings {
		h.Set(name, value)
	}
	f := h.machine.Firewall
	saved := nfnl.Saved{Denied: f.Denied, Tables: nfnl.Ruleset{Rules: f.Rules}}
	if f.Table != "" {
		saved.Tables.Chains = []nfnl.Chain{{Table: f.Table, Name: "input", Base: true}}
	}
	text, err := json.MarshalIndent(saved, "", "  ")
	if err != nil {
		h.t.Fatal(err)
	}
	h.write(nfnl.SavedFile, string(text))
}

// defaultSettings are those of Linux 6.1 on a machine with 16 GB.
var defaultSettings = map[string]string{
	"net.core.default_qdisc":                    "fq_codel",
	"net.core.netdev_budget":                    "300",
	"net.core.netdev_budget_usecs":              "8000",
	"net.core.netdev_max_backlog":               "1000",
	"net.core.optmem_max":                       "20480",
	"net.core.rmem_default":                     "212992",
	"net.core.rmem_max":                         "212992",
	"net.core.rps_sock_flow_entries":            "0",
	"net.core.somaxconn":                        "4096",
	"net.core.wmem_default":                     "212992",
	"net.core.wmem_max":                         "212992",
	"net.ipv4.ip_forward":                       "0",
	"net.ipv4.tcp_available_congestion_control": "reno cubic bbr",
	"net.ipv4.tcp_congestion_control":           "cubic",
	"net.ipv4.tcp_limit_output_bytes":           "1048576",
	"net.ipv4.tcp_mem":                          "188319\t251093\t376638",
	"net.ipv4.tcp_moderate_rcvbuf":              "1",
	"net.ipv4.tcp_mtu_probing":                  "0",
	"net.ipv4.tcp_no_metrics_save":              "0",
	"net.ipv4.tcp_notsent_lowat":                "4294967295",
	"net.ipv4.tcp_rmem":                         "4096\t131072\t6291456",
	"net.ipv4.tcp_sack":                         "1",
	"net.ipv4.tcp_slow_start_after_idle":        "1",
	"net.ipv4.tcp_timestamps":                   "1",
	"net.ipv4.tcp_window_scaling":               "1",
	"net.ipv4.tcp_wmem":                         "4096\t16384\t4194304",
	"net.ipv6.conf.all.forwarding":              "0",
}
