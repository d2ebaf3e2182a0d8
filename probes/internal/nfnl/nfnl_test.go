package nfnl

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// attr writes one netlink attribute, padded to four bytes.
func attr(kind uint16, value string) []byte {
	b := binary.NativeEndian.AppendUint16(nil, uint16(4+len(value)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = append(b, value...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

func message(attrs ...[]byte) []byte {
	m := make([]byte, nfgenmsgSize)
	for _, a := range attrs {
		m = append(m, a...)
	}
	return m
}

func TestParseChain(t *testing.T) {
	table, name := attr(chainTable, "filter\x00"), attr(chainName, "INPUT\x00")
	hook := attr(chainHook|1<<15, "\x08\x00\x01\x00\x00\x00\x00\x01")
	tests := []struct {
		msg  []byte
		want Chain
		ok   bool
	}{
		{message(table, attr(2, "12345678"), name, hook), Chain{"filter", "INPUT", true}, true},
		{message(table, name), Chain{"filter", "INPUT", false}, true},
		{message(name, hook), Chain{}, false},
		{message(), Chain{}, false},
		{nil, Chain{}, false},
		{append(message(table, name), 3, 0, 1, 0), Chain{"filter", "INPUT", false}, true},
	}
	for _, tt := range tests {
		got, err := parseChain(tt.msg)
		if (err == nil) != tt.ok || tt.ok && got != tt.want {
			t.Errorf("%x: %+v, %v, want %+v", tt.msg, got, err, tt.want)
		}
	}
}

func FuzzParseChain(f *testing.F) {
	f.Add(message(attr(chainTable, "filter\x00"), attr(chainName, "INPUT\x00")))
	f.Fuzz(func(t *testing.T, msg []byte) {
		c, err := parseChain(msg)
		if err != nil {
			return
		}
		again := message(attr(chainName, c.Name), attr(chainTable, c.Table))
		if c.Base {
			again = append(again, attr(chainHook, "")...)
		}
		if back, err := parseChain(again); err != nil || back != c {
			t.Fatalf("%x gave %+v, written and read again %+v, %v", msg, c, back, err)
		}
	})
}

// Verdicts of standard targets, linux/netfilter/x_tables.h.
const (
	accept  = -2
	returns = -5
)

// standard writes an entry without matches that gives a verdict; chain one that begins an
// added chain, or with the name ERROR ends the table.
func standard(at layout, size int, verdict int32) []byte {
	data := binary.NativeEndian.AppendUint32(nil, uint32(verdict))
	return entry(at, size, "", append(data, 0, 0, 0, 0))
}

func chain(at layout, size int, name string) []byte {
	data := make([]byte, 32)
	copy(data, name)
	return entry(at, size, "ERROR", data)
}

func entry(at layout, size int, target string, data []byte) []byte {
	e := make([]byte, size+targetData)
	binary.NativeEndian.PutUint16(e[at.targetOffset:], uint16(size))
	binary.NativeEndian.PutUint16(e[at.nextOffset:], uint16(size+targetData+len(data)))
	binary.NativeEndian.PutUint16(e[size:], uint16(targetData+len(data)))
	copy(e[size+targetName:], target)
	return append(e, data...)
}

// filter is the table of that name (hooks INPUT, FORWARD and OUTPUT) with rules in INPUT and
// an added chain.
func filter(at layout, size, rules, ruled int) []byte {
	var all []byte
	for range rules {
		all = append(all, standard(at, size, accept)...)
	}
	for range 3 { // policies
		all = append(all, standard(at, size, accept)...)
	}
	all = append(all, chain(at, size, "lr-test")...)
	for range ruled {
		all = append(all, standard(at, size, accept)...)
	}
	all = append(all, standard(at, size, returns)...)
	return append(all, chain(at, size, "ERROR")...)
}

const filterHooks = 0b01110

func TestParseEntries(t *testing.T) {
	for _, tt := range []struct {
		name string
		at   layout
		size int
	}{{"IPv4", layout4, 112}, {"IPv6", layout6, 168}, {"IPv6 on 32-bit x86", layout6, 164}} {
		rules, chains, err := parseEntries(filter(tt.at, tt.size, 3, 2), filterHooks, tt.at)
		if diff := cmp.Diff([]string{"lr-test"}, chains); diff != "" || rules != 5 || err != nil {
			t.Errorf("%s: %d rules, %v, want 5 (-want +got):\n%s", tt.name, rules, err, diff)
		}
	}
	good := filter(layout4, 112, 0, 0)
	for name, bad := range map[string][]byte{
		"empty": nil, "cut short": good[:len(good)-1], "without an end": good[:3*152], "too few for its hooks": chain(layout4, 112, "ERROR"),
		"zeros": make([]byte, 1000),
	} {
		if rules, chains, err := parseEntries(bad, filterHooks, layout4); err == nil {
			t.Errorf("%s: %d rules, %v", name, rules, chains)
		}
	}
}

func FuzzParseEntries(f *testing.F) {
	f.Add(filter(layout4, 112, 3, 2), uint32(filterHooks), false)
	f.Add(filter(layout6, 168, 0, 0), uint32(filterHooks), true)
	f.Fuzz(func(t *testing.T, entries []byte, hooks uint32, v6 bool) {
		at := layout4
		if v6 {
			at = layout6
		}
		rules, chains, err := parseEntries(entries, hooks, at)
		if err == nil && (rules < 0 || rules+len(chains) > len(entries)/at.size) {
			t.Fatalf("%d rules and %d chains in %d bytes", rules, len(chains), len(entries))
		}
	})
}

func TestSaved(t *testing.T) {
	want := &Saved{
		Tables: Ruleset{Chains: []Chain{{"firewalld", "filter_INPUT", true}}, Rules: 70},
		Old:    map[string]Ruleset{"filter": {Rules: 4}, "6/filter": {Rules: 2, Chains: []Chain{{Table: "filter", Name: "ufw6-x"}}}},
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadSaved(fstest.MapFS{SavedFile: {Data: text}})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatalf("%v (-want +got):\n%s", err, diff)
	}
	four, err4 := got.Legacy("filter", false)
	six, err6 := got.Legacy("filter", true)
	if four.Rules != 4 || six.Rules != 2 || err4 != nil || err6 != nil {
		t.Errorf("%+v, %v, %+v, %v", four, err4, six, err6)
	}
	if _, err := got.Legacy("nat", true); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a table that is not there: %v", err)
	}
	got.Denied = true
	if _, err := got.NFTables(t.Context()); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("denied: %v", err)
	}
	if none, err := ReadSaved(fstest.MapFS{}); err != nil || none.Tables.Rules != 0 {
		t.Errorf("without a file: %+v, %v", none, err)
	}
	if _, err := ReadSaved(fstest.MapFS{SavedFile: {Data: []byte("{")}}); err == nil {
		t.Error("a damaged file was read")
	}
}
