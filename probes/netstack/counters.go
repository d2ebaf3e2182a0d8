package netstack

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"linerate/probes"
	"linerate/probes/internal/kfs"
)

// groups are the tables of netstat and snmp that are kept. Multipath TCP, UDP-Lite and
// the ICMP messages by number say nothing about a test.
var groups = []string{"Tcp", "TcpExt", "Udp", "Ip", "IpExt", "Icmp"}

// Counters reads /proc/net/netstat, snmp and snmp6: each counter by its group and name
// ("TcpExt.TCPLostRetransmit"), those of IPv6 by the one name they have
// ("Icmp6InPktTooBigs"). Without IPv6 the latter are not there.
//
// prometheus/procfs reads these files into fixed fields of floating point numbers, which
// loses new counters, the difference between absent and zero, and odd ones beyond 2^53.
func (r *Reader) Counters() probes.Reading[probes.Counters] {
	return probes.Read(r.readCounters())
}

func (r *Reader) readCounters() (probes.Counters, error) {
	if err := kfs.LinuxOnly(); err != nil {
		return nil, err
	}
	all := make(probes.Counters, r.counters)
	for _, f := range []struct {
		read  func() ([]byte, error)
		parse func(text []byte, names *names, into probes.Counters) error
		path  string
	}{
		{r.netstat.Read, parseTables, r.netstat.Path()},
		{r.snmp.Read, parseTables, r.snmp.Path()},
		{r.snmp6.Read, parseList, r.snmp6.Path()},
	} {
		text, err := f.read()
		if errors.Is(err, fs.ErrNotExist) && f.path == r.snmp6.Path() {
			continue
		}
		if err == nil {
			err = f.parse(text, &r.names, all)
		}
		if err != nil {
			return nil, fmt.Errorf("network counters: %w", err)
		}
	}
	r.counters = len(all)
	return all, nil
}

// names remembers the names of counters, which are the same in every reading: the maps
// of many readings share them.
type names struct {
	tables map[string][]string // of each column, by the table's line of names
	single map[string]string   // of snmp6
}

// table gives the full names of the columns of a line of names, nil for a table that is
// not kept.
func (n *names) table(header []byte) []string {
	if list, ok := n.tables[string(header)]; ok {
		return list
	}
	if n.tables == nil {
		n.tables = map[string][]string{}
	}
	group, columns, _ := strings.Cut(string(header), ":")
	var list []string
	if slices.Contains(groups, group) {
		for name := range strings.FieldsSeq(columns) {
			list = append(list, group+"."+name)
		}
	}
	if len(n.tables) < maxNames { // the kernel has a dozen; damage must not fill the memory
		n.tables[string(header)] = list
	}
	return list
}

const maxNames = 1000

func (n *names) of(name []byte) string {
	if s, ok := n.single[string(name)]; ok {
		return s
	}
	if n.single == nil {
		n.single = map[string]string{}
	}
	s := string(name)
	if len(n.single) < maxNames {
		n.single[s] = s
	}
	return s
}

// parseTables reads pairs of lines, "TcpExt: NAME NAME" and "TcpExt: 1 2". Columns come and
// go with kernels, so they go by name. Values below zero (Tcp MaxConn -1) stand for
// "none" and are left out.
func parseTables(text []byte, names *names, into probes.Counters) error {
	for len(text) > 0 {
		var header, values []byte
		header, text = line(text)
		values, text = line(text)
		group, _, ok := bytes.Cut(header, []byte(":"))
		again, numbers, same := bytes.Cut(values, []byte(":"))
		if !ok || !same || !bytes.Equal(group, again) {
			return fmt.Errorf("a line of names without its line of values: %.40q", header)
		}
		for _, name := range names.table(header) {
			var word []byte
			word, numbers = field(numbers)
			if n, ok := number(word); ok {
				into[name] = n
			}
		}
	}
	return nil
}

// parseList reads lines of a name and a value.
func parseList(text []byte, names *names, into probes.Counters) error {
	for len(text) > 0 {
		var l []byte
		l, text = line(text)
		name, rest := field(l)
		if bytes.HasPrefix(name, []byte("UdpLite6")) {
			continue
		}
		value, _ := field(rest)
		n, ok := number(value)
		if !ok {
			return fmt.Errorf("a counter without a value: %.40q", l)
		}
		into[names.of(name)] = n
	}
	return nil
}

func line(text []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(text, []byte("\n"))
	return line, rest
}

// field cuts the first word off a line; it is empty at the end.
func field(text []byte) (word, rest []byte) {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t') {
		text = text[1:]
	}
	for i, c := range text {
		if c == ' ' || c == '\t' {
			return text[:i], text[i:]
		}
	}
	return text, nil
}

// number reads a decimal number without making a string of it.
func number(word []byte) (n uint64, ok bool) {
	if len(word) == 0 {
		return 0, false
	}
	for _, c := range word {
		d := uint64(c - '0')
		if d > 9 || n > (1<<64-1-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}
