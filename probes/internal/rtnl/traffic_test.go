package rtnl

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/probes"
)

// Messages of Linux 6.18 (x86-64), as the kernel sent them for:
//
//	tc qdisc add dev B root handle 8001: tbf rate 200mbit burst 32kb latency 50ms
//	tc qdisc add dev A root handle 1: htb default 10
//	tc class add dev A parent 1: classid 1:1 htb rate 100mbit ceil 200mbit
//	tc class add dev A parent 1:1 classid 1:10 htb rate 50mbit ceil 50gbit
//	tc qdisc add dev A parent 1:10 handle 10: tbf rate 40gbit burst 1mb latency 50ms
const (
	tbf200M = "000000000200000000000180ffffffff0300000008000100746266002c00020028000100000100000000000040787d01000000000000000000000000d0921300005000000000000005000c000000000030000700140001005a0000000000000001000000000000001800030000000000000000000000000000000000000000002c0003005a000000000000000100000000000000000000000000000000000000000000000000000000000000"
	htbRoot = "000000000300000000000100ffffffff0300000008000100687462002400020018000200110003000a00000010000000000000000000000008000500e803000005000c00000000003000070014000100b00000000000000002000000000000001800030000000000000000000000000000000000020000002c000300b0000000000000000200000000000000020000000000000000000000000000000000000000000000"
	tbf40G  = "0000000003000000000010001000010001000000080001007462660038000200280001000001000000000000ffffffff00000000000000000000000080b2f60ecc0c0000000000000c00040000f2052a0100000005000c00000000003000070014000100b00000000000000002000000000000001800030000000000000000000000000000000000000000002c000300b0000000000000000200000000000000000000000000000000000000000000000000000000000000"
	class50 = "0000000003000000100001000100010000001000080001006874620040000200300001000001000000000000105e5f000001000000000000ffffffffa00f000000000000400d030000000000000000000c000700806e8774010000004800070014000100b000000000000000020000000000000018000300000000000000000000000000000000000200000018000400020000000000000000000000c90e0000ffffffff2c000300b000000000000000020000000000000002000000000000000000000000000000000000000000000018000400020000000000000000000000c90e0000ffffffff"
	class1  = "000000000300000001000100ffffffff0000000008000100687462003400020030000100000100000000000020bcbe00000100000000000040787d01d0070000e8030000400d030007000000000000004800070014000100b00000000000000002000000000000001800030000000000000000000000000000000000000000001800040000000000000000000000000064070000b20300002c000300b00000000000000002000000000000000000000000000000000000000000000000000000000000001800040000000000000000000000000064070000b2030000"
)

func fromHex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// attr writes one attribute as the kernel does, padded to four bytes.
func attr(kind uint16, value []byte) []byte {
	b := binary.NativeEndian.AppendUint16(nil, uint16(4+len(value)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = append(b, value...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

func u32(n ...uint32) []byte {
	var b []byte
	for _, n := range n {
		b = binary.NativeEndian.AppendUint32(b, n)
	}
	return b
}

func u64(n ...uint64) []byte {
	var b []byte
	for _, n := range n {
		b = binary.NativeEndian.AppendUint64(b, n)
	}
	return b
}

// nested sets the flag that newer kernels mark nests with.
const nested = 1 << 15

// qdisc writes an RTM_NEWQDISC message.
func qdisc(kind string, parent uint32, options []byte, queue ...uint32) []byte {
	m := append(u32(0, 2, 0x10000, parent, 2), attr(tcaKind, append([]byte(kind), 0))...)
	if options != nil {
		m = append(m, attr(tcaOptions|nested, options)...)
	}
	stats := append(attr(1, u64(90, 1)), attr(tcaStatsQueue, u32(queue...))...)
	return append(m, attr(tcaStats2, stats)...)
}

func TestParseQdiscFromTheKernel(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the messages were recorded on a little-endian machine")
	}
	tests := []struct {
		name, hex string
		index     int
		handle    string
		want      probes.Qdisc
	}{
		{"tbf", tbf200M, 2, "8001:", probes.Qdisc{Kind: "tbf", Parent: "root", RateBps: 200e6}},
		{"htb", htbRoot, 3, "1:", probes.Qdisc{Kind: "htb", Parent: "root", Overlimits: 2}},
		{"tbf beyond 32 bits", tbf40G, 3, "10:", probes.Qdisc{Kind: "tbf", Parent: "1:10", RateBps: 40e9}},
		{"class beyond 32 bits", class50, 3, "1:10", probes.Qdisc{Kind: "htb", Parent: "1:1", RateBps: 50e9, Overlimits: 2}},
		{"class", class1, 3, "1:1", probes.Qdisc{Kind: "htb", Parent: "root", RateBps: 200e6}},
	}
	for _, tt := range tests {
		got, handle, index, err := parseQdisc(fromHex(t, tt.hex))
		if err != nil || index != tt.index || handleName(handle) != tt.handle {
			t.Errorf("%s: interface %d, handle %s, %v, want %d, %s", tt.name, index, handleName(handle), err, tt.index, tt.handle)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// What the build machines' kernel does not have, written by hand from linux/pkt_sched.h.
func TestParseQdiscBuilt(t *testing.T) {
	tests := []struct {
		name    string
		message []byte
		want    probes.Qdisc
	}{
		{"cake", qdisc("cake", handleRoot, append(attr(4, u32(1)), attr(cakeBaseRate64, u64(6.25e6))...), 3, 4500, 7, 0, 9),
			probes.Qdisc{Kind: "cake", Parent: "root", RateBps: 50e6, Backlog: 4500, Dropped: 7, Overlimits: 9}},
		{"cake without a bandwidth", qdisc("cake", handleRoot, attr(cakeBaseRate64, u64(0)), 0, 0, 0, 0, 0),
			probes.Qdisc{Kind: "cake", Parent: "root"}},
		{"fq with maxrate", qdisc("fq", 0x10, append(attr(1, u32(10000)), attr(fqFlowMaxRate, u32(125e6))...), 1, 2, 3, 4, 5),
			probes.Qdisc{Kind: "fq", Parent: ":10", RateBps: 1e9, Backlog: 2, Dropped: 3, Requeues: 4, Overlimits: 5}},
		{"fq without", qdisc("fq", handleRoot, attr(fqFlowMaxRate, u32(math.MaxUint32)), 0, 0, 0, 0, 0),
			probes.Qdisc{Kind: "fq", Parent: "root"}},
		{"netem with rate", qdisc("netem", handleRoot, append(make([]byte, netemOptions), attr(netemRate, u32(1.25e6, 0, 0, 0))...), 0, 0, 0, 0, 0),
			probes.Qdisc{Kind: "netem", Parent: "root", RateBps: 10e6}},
		{"netem beyond 32 bits", qdisc("netem", handleRoot, append(append(make([]byte, netemOptions), attr(netemRate, u32(math.MaxUint32, 0, 0, 0))...), attr(netemRate64, u64(12.5e9))...), 0, 0, 0, 0, 0),
			probes.Qdisc{Kind: "netem", Parent: "root", RateBps: 100e9}},
		{"netem with delay only", qdisc("netem", handleRoot, make([]byte, netemOptions), 0, 0, 0, 0, 0),
			probes.Qdisc{Kind: "netem", Parent: "root"}},
		{"netem cut short", qdisc("netem", handleRoot, make([]byte, 7), 0, 0, 0, 0, 0),
			probes.Qdisc{Kind: "netem", Parent: "root"}},
		{"ingress", qdisc("ingress", handleIngress, nil, 0, 0, 0, 0, 0), probes.Qdisc{Kind: "ingress", Parent: "ingress"}},
		{"mq of the default", qdisc("mq", handleRoot, nil, 0, 0, 1<<32-1, 0, 0), probes.Qdisc{Kind: "mq", Parent: "root", Dropped: 1<<32 - 1}},
	}
	for _, tt := range tests {
		got, _, index, err := parseQdisc(tt.message)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil || index != 2 {
			t.Errorf("%s: interface %d, %v (-want +got):\n%s", tt.name, index, err, diff)
		}
	}
	for _, bad := range [][]byte{nil, make([]byte, 19), make([]byte, 20), append(make([]byte, 20), attr(tcaOptions, nil)...)} {
		if got, _, _, err := parseQdisc(bad); err == nil {
			t.Errorf("%x gave %+v", bad, got)
		}
	}
}

func TestParseLink(t *testing.T) {
	all := make([]uint64, len(statNames))
	for i := range all {
		all[i] = uint64(i + 1)
	}
	header := u32(0, 7, 0, 0)
	message := func(fields int, more ...[]byte) []byte {
		m := append(append([]byte(nil), header...), attr(3, []byte("eth0\x00"))...)
		m = append(m, attr(iflaStats64, u64(all[:fields]...))...)
		for _, a := range more {
			m = append(m, a...)
		}
		return m
	}
	info := attr(iflaLinkInfo|nested, attr(iflaInfoKind, []byte("bond\x00")))
	got, err := parseLink(message(len(all), attr(iflaCarrierChanges, u32(3)), info))
	if err != nil || got.Index != 7 || got.Kind != "bond" || got.Carrier != probes.Got(uint64(3)) {
		t.Errorf("%+v, %v", got, err)
	}
	for name, want := range map[string]uint64{"rx_packets": 1, "rx_bytes": 3, "rx_crc_errors": 13, "rx_missed_errors": 16, "rx_otherhost_dropped": 25} {
		if got.Counters[name] != want {
			t.Errorf("%s = %d, want %d", name, got.Counters[name], want)
		}
	}
	// Linux 3.10 has 23 fields and counts no carrier changes.
	old, err := parseLink(message(23))
	if _, ok := old.Counters["rx_nohandler"]; err != nil || ok || len(old.Counters) != 23 || old.Carrier.Status != probes.Absent || old.Kind != "" {
		t.Errorf("of an old kernel: %+v, %v", old, err)
	}
	if _, err := parseLink(append(header, attr(3, []byte("eth0\x00"))...)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without statistics: %v", err)
	}
	if _, err := parseLink(header[:15]); !errors.Is(err, errShort) {
		t.Errorf("cut short: %v", err)
	}
}

func TestNamed(t *testing.T) {
	pad := func(s string) string { return s + strings.Repeat("\x00", statNameSize-len(s)) }
	full := strings.Repeat("n", statNameSize) // not closed by a zero
	names := pad("rx_packets") + pad("") + full + pad("tx_timeout") + "beyond"
	got := named([]byte(names), u64(5, 6, 7, math.MaxUint64), 4)
	want := probes.Counters{"rx_packets": 5, full: 7, "tx_timeout": math.MaxUint64}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func FuzzParseQdisc(f *testing.F) {
	for _, s := range []string{tbf200M, htbRoot, tbf40G, class50} {
		f.Add(fromHex(f, s))
	}
	f.Add(qdisc("cake", handleRoot, attr(cakeBaseRate64, u64(6.25e6))))
	f.Add(qdisc("netem", handleRoot, make([]byte, 25)))
	f.Fuzz(func(t *testing.T, msg []byte) {
		q, _, _, err := parseQdisc(msg)
		if err != nil {
			return
		}
		if q.Kind == "" || q.Parent == "" || !(q.RateBps >= 0) || q.RateBps > 8*math.MaxUint64 {
			t.Fatalf("%x gave %+v", msg, q)
		}
		again := qdisc(q.Kind, handleRoot, nil, 0, uint32(q.Backlog), uint32(q.Dropped), uint32(q.Requeues), uint32(q.Overlimits))
		back, _, _, err := parseQdisc(again)
		q.Parent, q.RateBps = "root", 0
		if diff := cmp.Diff(q, back); diff != "" || err != nil {
			t.Fatalf("written and read again: %v (-want +got):\n%s", err, diff)
		}
	})
}

func FuzzParseLink(f *testing.F) {
	f.Add(append(u32(0, 7, 0, 0), attr(iflaStats64, u64(1, 2, 3))...))
	f.Add(append(u32(0, 7, 0, 0), 4, 0, 35, 0))
	f.Fuzz(func(t *testing.T, msg []byte) {
		l, err := parseLink(msg)
		if err == nil && (l.Counters == nil || len(l.Counters) > len(statNames)) {
			t.Fatalf("%x gave %+v", msg, l)
		}
	})
}
