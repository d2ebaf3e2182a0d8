package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"linerate/engine"
	"linerate/probes"

	"github.com/google/go-cmp/cmp"
)

func setting(v string) probes.Reading[probes.Setting] { return probes.Got(probes.Setting{Value: v}) }

// patient is a mini-PC whose link came up at 100 Mbit/s, on the way to a host.
func patient() engine.Examination {
	on, off := probes.Got(true), probes.Got(false)
	return engine.Examination{
		Target: "nas.lan", Port: 5201, Dest: netip.MustParseAddr("10.0.0.2"), Source: netip.MustParseAddr("10.0.0.1"),
		Machine: probes.Got(probes.Host{
			Name: probes.Got("minipc"), OS: "linux", Arch: "amd64", Kernel: probes.Got("6.1.0-18-amd64"), Platform: probes.Got("Debian GNU/Linux 12 (bookworm)"),
			Virtual: probes.Unknown[string](probes.Absent, "not a virtual machine"),
			CPU: probes.CPU{Model: probes.Got("Intel(R) N100"), Cores: 4, FreqHz: probes.Got([]float64{0.8e9, 2.9e9, 2.9e9, 2.9e9}), MaxHz: probes.Got(3.4e9),
				Governor: probes.Got("powersave"), Driver: probes.Got("intel_pstate")},
		}),
		Cores:  probes.Got([]probes.CoreLoad{{Core: 0, Idle: 1}, {Core: 1, System: .25, Steal: .05, Idle: .7}, {Core: 2, Idle: 1}, {Core: 3, Idle: 1}}),
		Window: 2 * time.Second,
		Links: []engine.Link{{
			NIC: probes.Got(probes.NIC{
				Name: "enp1s0.7", Kind: probes.Got("vlan"), Driver: probes.Got("ixgbe"), SpeedBps: probes.Got(100e6), Duplex: probes.Got("half"), MTU: probes.Got(1500), Up: on,
				Offloads: probes.Offloads{TSO: on, GSO: on, GRO: off, LRO: off}, RxQueues: probes.Got(4), TxQueues: probes.Got(4),
			}),
			Adapter: probes.Adapter{
				Device: "enp1s0", Supported: probes.Got([]float64{100e6, 1e9, 2.5e9, 10e9}), Offered: probes.Got([]float64{100e6, 1e9}), Advertised: probes.Got([]float64{100e6}),
				Autoneg: on, Rings: probes.Got(probes.Rings{Rx: 512, RxMax: 4096, Tx: 512, TxMax: 4096}), Channels: probes.Got(probes.Channels{Now: 4, Max: 63}),
				Pause: probes.Got(probes.Pause{Rx: true}), EEE: probes.Unknown[probes.EEE](probes.Denied, "EEE of enp1s0.7: needs root"),
				PCIe: probes.Got(probes.PCIe{GTps: 5, Lanes: 1, MaxGTps: 5, MaxLane: 8, Usable: 3.4e9}),
				USB:  probes.Unknown[float64](probes.Absent, "not a USB adapter"), ASPM: off, NUMA: probes.Got(0), RPS: off, Fixed: []string{"lro"},
				Chain:   []probes.Layer{{Name: "enp1s0.7", Kind: "vlan", Overhead: 4, MTU: 1500}, {Name: "enp1s0", Kind: "physical", MTU: 1500}},
				Members: probes.Unknown[[]probes.Member](probes.Absent, "no bond"), WiFi: probes.Unknown[probes.WiFi](probes.Absent, "no radio"),
				Optics: probes.Unknown[probes.Optics](probes.Absent, "no light"),
			},
			Qdiscs:  probes.Got([]probes.Qdisc{{Kind: "mq", Parent: "root"}, {Kind: "fq_codel", Parent: ":1"}, {Kind: "fq_codel", Parent: ":2"}, {Kind: "tbf", Parent: "root", RateBps: 50e6}}),
			Ceiling: probes.Got(93.9e6),
		}},
		Settings: probes.Settings{
			"net.ipv4.tcp_rmem": setting("4096\t131072\t6291456"), "net.ipv4.tcp_wmem": setting("4096\t16384\t4194304"),
			"net.core.rmem_max": setting("212992"), "net.core.wmem_max": probes.Unknown[probes.Setting](probes.Absent, "no such setting in this namespace"),
			"net.ipv4.tcp_congestion_control": setting("cubic"), "net.core.default_qdisc": setting("fq_codel"), "net.ipv4.tcp_mtu_probing": setting("0"),
			"net.ipv4.tcp_timestamps": setting("0"), "net.ipv4.tcp_sack": setting("1"),
		},
		Firewall: probes.Firewall{Kind: probes.Got("nftables (firewalld)"), Rules: probes.Unknown[int](probes.Denied, "listing rules needs CAP_NET_ADMIN"), Router: on},
		Vitals: probes.Vitals{
			Window:    2 * time.Second,
			Pressure:  probes.Pressure{CPU: probes.Got(20 * time.Millisecond), Memory: probes.Got(time.Duration(0)), IO: probes.Unknown[time.Duration](probes.Absent, "no psi")},
			Quota:     probes.Quota{Cores: probes.Got(2.0), Throttled: probes.Got(100 * time.Millisecond)},
			Thermal:   probes.Thermal{Events: probes.Got(uint64(0)), Margin: probes.Got(45.0)},
			Conntrack: probes.Got(probes.Conntrack{Count: 120, Max: 262144}),
		},
		Gateway: probes.Got(true),
		RTT:     probes.PathRTT{Idle: probes.Got(40 * time.Millisecond), Hops: probes.Got(7)},
		MTU: probes.PathMTU{Out: probes.Got(1400), TooBig: probes.Got(1401), BlackHole: true,
			Reported: probes.Unknown[int](probes.Absent, "no router named a limit"), In: probes.Unknown[int](probes.NotRead, "only a linerate server can tell the way back")},
		Findings: []engine.Finding{
			{
				Code: "R02", Severity: engine.SeverityFault, Confidence: engine.Sure, Dir: engine.Both, Text: "Half duplex on enp1s0.7: one direction starves the other.",
				Evidence: []engine.Evidence{{Name: "half duplex", Value: 1, Unit: engine.True}},
				Remedy:   []engine.Remedy{{Text: "Switch autonegotiation on at both ends of the cable.", Temporary: "ethtool -s enp1s0 autoneg on", Persistent: "/etc/systemd/network/10-enp1s0.link, below [Link]: AutoNegotiation=yes, as the manual of systemd.link tells it"}},
			},
			{Code: "R43", Severity: engine.SeverityWarning, Confidence: engine.Likely, Side: engine.Path, Dir: engine.Upload, Text: "The path drops packets above 1400 bytes in upload.",
				Evidence: []engine.Evidence{{Name: "MTU of the sender", Value: 1500, Unit: "B"}, {Name: "core 3 clock", Value: 1.4e9, Unit: "Hz"}, {Name: "signal", Value: -71, Unit: "dBm"},
					{Name: "queue drops", Value: 340, Unit: "1/s"}, {Name: "without payload", Value: 1.5, Unit: "s"}, {Name: "core 3 busy", Value: .985, Unit: "share"},
					{Name: "fastest the card can do", Value: 10e9, Unit: "bit/s"}, {Name: "TCP memory", Value: 12000, Unit: "pages"}, {Name: "rules", Value: 400}}},
		},
	}
}

const patientText = `linerate doctor: the way to nas.lan port 5201, without traffic

  computer    minipc · Debian GNU/Linux 12 (bookworm) · linux 6.1.0-18-amd64 amd64
  cpu         Intel(R) N100 · 4 cores · 0.80 to 2.90 of 3.40 GHz · governor powersave (intel_pstate)
  load        cores 7.5 % busy over 2.00 s, core 1 30 %, 1.2 % taken by the hypervisor ·
              waiting for cpu 1.0 % · memory 0.0 % · pressure io – ·
              CPU limit 2 cores, held back 5.0 % · not slowed by heat · 45 K below the trip point
  enp1s0.7    vlan · ixgbe · 100 Mbit/s · half duplex · MTU 1500 ·
              at most 93.9 Mbit/s of TCP payload
    cable     can 100 Mbit/s, 1, 2.5, 10 Gbit/s · offers 100 Mbit/s, 1 Gbit/s ·
              the other end offers 100 Mbit/s · autonegotiation on · pause frames in on, out off ·
              EEE –
    offloads  TSO on · GSO on · GRO off · LRO off (fixed)
    queues    4 queues of 63 · rings of 512 in, 512 out (of 4096, 4096) ·
              qdisc mq, fq_codel, tbf at 50.0 Mbit/s
    bus       PCIe 5 GT/s x1: 3.40 Gbit/s usable (the card can 5 GT/s x8) · power saving (L1) off ·
              memory node 0
    chain     enp1s0.7 (vlan) +4 B → enp1s0 (physical)
  settings    tcp_rmem 4096 131072 6291456 · tcp_wmem 4096 16384 4194304 · rmem_max 212992 ·
              wmem_max – · congestion control cubic · new queues fq_codel · mtu_probing 0 ·
              timestamps 0
  firewall    nftables (firewalld) · rules – · 120 of 262144 connections tracked ·
              forwards for others
  path        10.0.0.2 from 10.0.0.1, this computer's gateway · round trip 40.0 ms ·
              7 routers on the way · packets of 1400 bytes pass · from 1401 on they vanish ·
              path MTU back – · 470 kB in flight fill it

fault: Half duplex on enp1s0.7: one direction starves the other.
  R02, sure · half duplex
  - Switch autonegotiation on at both ends of the cable.
      now:    ethtool -s enp1s0 autoneg on
      lasts:  /etc/systemd/network/10-enp1s0.link, below [Link]: AutoNegotiation=yes, as the manual of systemd.link tells it

warning: The path drops packets above 1400 bytes in upload.
  R43, likely, path, upload · MTU of the sender 1500 bytes · core 3 clock 1.40 GHz ·
  signal -71.0 dBm · queue drops 340/s · without payload 1.50 s · core 3 busy 98 % ·
  fastest the card can do 10.0 Gbit/s · TCP memory 12.0k pages · rules 400

could not be read
  pressure io: no psi
  enp1s0.7 EEE: needs root
  wmem_max: no such setting in this namespace
  rules: listing rules needs CAP_NET_ADMIN
  path MTU back: only a linerate server can tell the way back
`

func TestDoctor(t *testing.T) {
	var out bytes.Buffer
	if err := Doctor(&out, patient(), 100); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(patientText, "\n"), strings.Split(out.String(), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for line := range strings.Lines(out.String()) {
		command := strings.Contains(line, "now:  ") || strings.Contains(line, "lasts:")
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 && !command {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

// Nothing is known: everything is a dash, and every dash has its reason below.
func TestDoctorOfNothing(t *testing.T) {
	gone := func() engine.Examination {
		return engine.Examination{Links: []engine.Link{{NIC: probes.Unknown[probes.NIC](probes.Absent, "no interface but loopback is up")}, {NIC: probes.Got(probes.NIC{Name: "eth0"})}}}
	}
	x := gone()
	var out bytes.Buffer
	if err := Doctor(&out, x, 80); err != nil {
		t.Fatal(err)
	}
	facts, list, found := strings.Cut(out.String(), "could not be read\n")
	if !found || strings.Contains(facts, " 0 ") || strings.Contains(facts, "0.0") {
		t.Errorf("unknown passes for zero:\n%s", &out)
	}
	for _, want := range []string{"computer", "cores", "interface: no interface but loopback is up", "eth0 kind, driver, speed, duplex", "tcp_rmem"} {
		if !strings.Contains(list, want) {
			t.Errorf("no %q in the list of what could not be read:\n%s", want, list)
		}
	}
}

func TestDoctorOfSavedEvidence(t *testing.T) {
	x := patient()
	x.Traffic, x.Program, x.Taken = true, "linerate 0.3", time.Date(2026, 11, 30, 15, 4, 5, 0, time.UTC)
	var out bytes.Buffer
	if err := Doctor(&out, x, 100); err != nil {
		t.Fatal(err)
	}
	want := "linerate doctor: a test of nas.lan, as linerate 0.3 saw it on 2026-11-30 15:04:05\n"
	if got, _, _ := strings.Cut(out.String(), "\n"); got+"\n" != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What comes from a file or a driver cannot steer the terminal.
func TestDoctorIsHarmless(t *testing.T) {
	x := patient()
	x.Links[0].NIC.Value.Name = "eth\x1b[2J0"
	x.Links[0].Adapter.EEE = probes.Unknown[probes.EEE](probes.Failed, "a\x07b")
	x.Findings[0].Text = "\u202eevil"
	for _, write := range []func(*bytes.Buffer) error{
		func(b *bytes.Buffer) error { return Doctor(b, x, 100) },
		func(b *bytes.Buffer) error { return DoctorJSON(b, x, JSONOptions{}) },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(out.String(), "\x1b\x07\u202e") {
			t.Errorf("control characters in %q", out.String())
		}
	}
}

// The memory, and who is behind a port of this computer, are told where they are known and
// asked for where root would tell.
func TestDoctorTellsOfMemoryAndListener(t *testing.T) {
	for name, tt := range map[string]struct {
		memory   probes.Reading[float64]
		listener probes.Reading[string]
		want     []string
		not      string
	}{
		"known":       {probes.Got(409.6e9), probes.Got("ss\x1b[hd"), []string{"memory      at most 410 Gbit/s\n", "served by ss"}, "could not be read\n  memory"},
		"denied":      {probes.Unknown[float64](probes.Denied, "only root may read it"), probes.Unknown[string](probes.Denied, "another user's"), []string{"\n  memory bandwidth: only root may read it\n", "\n  listener: another user's\n"}, "served by"},
		"absent":      {probes.Unknown[float64](probes.Absent, "no SMBIOS"), probes.Unknown[string](probes.Absent, "another computer"), nil, "another computer"},
		"of old docs": {probes.Reading[float64]{}, probes.Reading[string]{}, nil, "listener"},
	} {
		x := patient()
		x.Memory, x.Listener = tt.memory, tt.listener
		var out strings.Builder
		if err := Doctor(&out, x, 96); err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in\n%s", name, want, out.String())
			}
		}
		if strings.Contains(out.String(), tt.not) || strings.Contains(out.String(), "\x1b") {
			t.Errorf("%s: %q or a control character in\n%s", name, tt.not, out.String())
		}
	}
}

func TestDoctorJSON(t *testing.T) {
	x := patient()
	x.Taken = time.Date(2026, 11, 30, 15, 4, 5, 0, time.UTC)
	var out bytes.Buffer
	if err := DoctorJSON(&out, x, JSONOptions{Version: "linerate 0.3"}); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Format         int
		Version, Taken string
		Target         *struct {
			Host, Address string
			RTT           probes.PathRTT
		}
		Findings   []struct{ Code, Severity string }
		Computer   probes.Reading[probes.Host]
		Load       struct{ Window float64 }
		Interfaces []struct {
			NIC     probes.Reading[probes.NIC]
			Adapter probes.Adapter
			Ceiling probes.Reading[float64] `json:"ceiling_bps"`
		}
		Settings probes.Settings
		Unread   []unreadJSON
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatalf("%v in\n%s", err, &out)
	}
	if doc.Format != 1 || doc.Version != "linerate 0.3" || doc.Taken != "2026-11-30T15:04:05Z" || doc.Target.Address != "10.0.0.2" || doc.Load.Window != 2 {
		t.Errorf("head: %+v", doc)
	}
	if len(doc.Findings) != 2 || doc.Findings[0].Code != "R02" || doc.Findings[0].Severity != "fault" {
		t.Errorf("findings: %+v", doc.Findings)
	}
	if diff := cmp.Diff(x.Links[0].Adapter, doc.Interfaces[0].Adapter); diff != "" {
		t.Errorf("adapter (-want +got):\n%s", diff)
	}
	if doc.Interfaces[0].Ceiling.Value != 93.9e6 || doc.Computer.Value.Name.Value != "minipc" || doc.Target.RTT.Hops.Value != 7 {
		t.Errorf("ceiling %+v, computer %+v, path %+v", doc.Interfaces[0].Ceiling, doc.Computer, doc.Target)
	}
	if want := (unreadJSON{"enp1s0.7", "EEE", probes.Denied, "needs root"}); len(doc.Unread) != 5 || doc.Unread[1] != want {
		t.Errorf("unread %+v, want %+v second of five", doc.Unread, want)
	}

	x.Target = ""
	out.Reset()
	if err := DoctorJSON(&out, x, JSONOptions{}); err != nil || strings.Contains(out.String(), `"target"`) {
		t.Errorf("error %v, or a target where none was named", err)
	}
	x.Links[0].Ceiling.Value = math.Inf(1)
	if err := DoctorJSON(&out, x, JSONOptions{}); err == nil {
		t.Error("an infinite ceiling was written")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestDoctorTellsOfItsWriter(t *testing.T) {
	if err := Doctor(full{}, patient(), 100); err == nil {
		t.Error("text: no error")
	}
	if err := DoctorJSON(full{}, patient(), JSONOptions{}); err == nil {
		t.Error("JSON: no error")
	}
}
