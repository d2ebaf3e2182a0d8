package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"linerate/engine"
	"linerate/engine/unit"
)

// Headings of the help, in its order.
const (
	groupTest    = "Test"
	groupTCP     = "TCP and pace"
	groupNetwork = "Network"
	groupReport  = "Report"
	groupScreen  = "Screen"
	groupDemo    = "Demo"
	groupServer  = "Server"
)

var groups = []string{groupDemo, groupTest, groupTCP, groupNetwork, groupServer, groupReport, groupScreen}

// flagTable lists every flag, bound to o: iperf3's names, short forms and suffix rules,
// then our own. A flag of iperf3 that is missing here is one that iperf3 does not have.
func flagTable(o *options) []option {
	return append(append(append(append(append(
		testFlags(o), tcpFlags(o)...), networkFlags(o)...), reportFlags(o)...), ownFlags(o)...), missingFlags()...)
}

func testFlags(o *options) []option {
	s := &o.spec
	return []option{
		{long: "client", short: "c", arg: "HOST", roles: onC, set: text(&o.client)},
		{long: "time", short: "t", arg: "SECONDS", roles: tests, group: groupTest, set: seconds(&s.Duration, engine.MaxDuration, "a whole number of seconds up to 86400, 0 for no end"),
			help:   "how long; 0: until stopped (10; HOST, demo: 0)",
			iperf3: "test duration valid values are 0 to 86400 seconds"},
		{long: "bytes", short: "n", arg: "SIZE", roles: tests, group: groupTest, set: size(&s.Bytes, math.MaxUint64),
			help: "bytes to send instead of -t (K, M, G: ×1024)"},
		{long: "blockcount", short: "k", arg: "COUNT", roles: tests, group: groupTest, set: size(&s.Blocks, math.MaxUint64),
			help: "blocks to send instead of -t"},
		{long: "parallel", short: "P", arg: "STREAMS", roles: tests, group: groupTest, set: whole(&s.Streams, 1, engine.MaxStreams, "1 to 128 streams"),
			help:   "streams in each direction (1)",
			iperf3: "number of parallel streams too large (maximum = 128)"},
		{long: "reverse", short: "R", roles: tests, group: groupTest, set: on(&o.reverse),
			help: "download: the server sends"},
		{long: "bidir", roles: tests, group: groupTest, set: on(&o.bidir),
			help: "both ways at once"},
		{long: "omit", short: "O", arg: "SECONDS", roles: tests, group: groupTest, set: seconds(&s.Omit, engine.MaxOmit, "a whole number of seconds up to 600"),
			help:   "seconds to leave out of the result (0; HOST and demo: 2)",
			iperf3: "bogus value for --omit (maximum = 600 seconds)"},
		{long: "interval", short: "i", arg: "SECONDS", roles: tests | onS, group: groupTest, set: interval(&s.Interval),
			help:   "time between reports, 0.1 to 60; 0: result only (1)",
			iperf3: "invalid report interval (min = 0.1, max = 60 seconds)"},
		{long: "length", short: "l", arg: "SIZE", roles: tests, group: groupTest, set: size(&s.BlockSize, engine.MaxBlockSize),
			help:   "bytes of one block (128K)",
			iperf3: "block size too large (maximum = 1048576 bytes)"},
		{long: "title", short: "T", arg: "TEXT", roles: dials, group: groupReport, set: text(&s.Title),
			help: "put TEXT before every line"},
		{long: "extra-data", arg: "TEXT", roles: onRun | onC, group: groupReport, set: text(&s.ExtraData),
			help: "put TEXT into the JSON of both ends"},
		{long: "get-server-output", roles: onRun | onC, group: groupReport, set: on(&s.ServerOutput),
			help: "show the server's report too"},
	}
}

func tcpFlags(o *options) []option {
	s := &o.spec
	return []option{
		{long: "window", short: "w", arg: "SIZE", roles: tests, group: groupTCP, set: size(&s.Window, engine.MaxWindow),
			help:   "socket buffers, at both ends",
			iperf3: "socket buffer size too large (maximum = 536870912 bytes)"},
		{long: "congestion", short: "C", arg: "NAME", roles: tests, group: groupTCP, set: text(&s.Congestion),
			help: "congestion control: cubic, bbr, reno …"},
		{long: "linux-congestion", arg: "NAME", roles: tests, set: text(&s.Congestion)},
		{long: "set-mss", short: "M", arg: "BYTES", roles: tests, group: groupTCP, set: whole(&s.MSS, 0, engine.MaxMSS, "a segment size of up to 32767 bytes"),
			help:   "largest TCP segment",
			iperf3: "TCP MSS too large (maximum = 32767 bytes)"},
		{long: "no-delay", short: "N", roles: tests, group: groupTCP, set: on(&s.NoDelay),
			help: "send small blocks at once (no Nagle)"},
		{long: "bitrate", short: "b", arg: "RATE", roles: tests, group: groupTCP, set: pace(s),
			help: "limit per stream, bits/s (K, M, G: ×1000), /BURST blocks"},
		{long: "bandwidth", arg: "RATE", roles: tests, set: pace(s)},
		{long: "fq-rate", arg: "RATE", roles: tests, group: groupTCP, set: rate(&s.FQRate),
			help: "limit per stream, paced by the kernel (Linux)"},
		{long: "no-fq-socket-pacing", roles: tests, set: func(string) error { s.FQRate = 0; return nil }},
		{long: "pacing-timer", arg: "MICROSECONDS", roles: tests, set: ignored},
		{long: "zerocopy", short: "Z", roles: tests, group: groupTCP, set: on(&s.ZeroCopy),
			help: "send without copying (sendfile)"},
		{long: "skip-rx-copy", roles: tests, group: groupTCP, set: on(&s.SkipRxCopy),
			help: "receive without copying (MSG_TRUNC)"},
		{long: "repeating-payload", roles: tests, set: on(&s.Repeating)},
		{long: "snd-timeout", arg: "MILLISECONDS", roles: tests | onS, group: groupTCP, set: millis(&s.SndTimeout, 0, "a number of milliseconds"),
			help: "give up on data not acknowledged for so long"},
		{long: "rcv-timeout", arg: "MILLISECONDS", roles: anywhere, group: groupTCP, set: millis(&s.RcvTimeout, 100, "100 milliseconds or more"),
			help:   "give up when nothing arrives for so long (120000)",
			iperf3: "receive timeout value is incorrect or not in range: "},
	}
}

func networkFlags(o *options) []option {
	s := &o.spec
	tos := "bad TOS value (must be between 0 and 255 inclusive)"
	port := "port number must be between 1 and 65535 inclusive"
	return []option{
		{long: "port", short: "p", arg: "PORT", roles: network | onDoctor, group: groupNetwork, set: whole(&s.Port, 1, 65535, "a port from 1 to 65535"),
			help: "port of the server (5201)", iperf3: port},
		{long: "version4", short: "4", roles: network | onDoctor, group: groupNetwork, set: on(&o.ipv4), help: "IPv4 only"},
		{long: "version6", short: "6", roles: network | onDoctor, group: groupNetwork, set: on(&o.ipv6), help: "IPv6 only"},
		{long: "bind", short: "B", arg: "ADDRESS[%DEV]", roles: network, group: groupNetwork, set: bind(s),
			help: "use this local address, and this interface"},
		{long: "bind-dev", arg: "DEV", roles: network, group: groupNetwork, set: text(&s.BindDev),
			help: "use this interface (Linux)"},
		{long: "cport", arg: "PORT", roles: dials, group: groupNetwork, set: whole(&s.ClientPort, 1, 65535, "a port from 1 to 65535"),
			help: "local port of the first stream", iperf3: port},
		{long: "connect-timeout", arg: "MILLISECONDS", roles: dials, group: groupNetwork, set: millis(&s.ConnectTimeout, 1, "a number of milliseconds"),
			help: "give up connecting after so long"},
		{long: "tos", short: "S", arg: "TOS", roles: tests, group: groupNetwork, set: whole(&s.TOS, 0, 255, "a type of service from 0 to 255 (0x20 and 040 are fine too)"),
			help: "IP type of service, 0 to 255", iperf3: tos},
		{long: "dscp", arg: "DSCP", roles: tests, group: groupNetwork, set: dscp(&s.TOS),
			help: "IP DSCP: 0 to 63, or ef, af11 … af43, cs0 … cs7", iperf3: tos},
		{long: "flowlabel", short: "L", arg: "LABEL", roles: dials, group: groupNetwork, set: whole(&s.FlowLabel, 1, 0xfffff, "a flow label from 1 to 1048575"),
			help: "IPv6 flow label (Linux)", iperf3: "unable to set IPv6 flow label"},
		{long: "affinity", short: "A", arg: "CORE[,SERVERCORE]", roles: anywhere, group: groupNetwork, set: affinity(s),
			help: "run on this core, and the server on that one", iperf3: "unable to set CPU affinity: "},
	}
}

func reportFlags(o *options) []option {
	r := &o.output
	return []option{
		{long: "server", short: "s", roles: onS, set: on(&o.server)},
		{long: "format", short: "f", arg: "UNIT", roles: onHost | onRun | onC | onS, group: groupReport, set: rateUnit(&r.unit),
			help:   "k, m, g, t for bits, K, M, G, T for bytes per second",
			iperf3: "bad format specifier (valid formats are in the set [kmgtKMGT])"},
		{long: "verbose", short: "V", roles: printers | onHost, group: groupReport, set: on(&r.verbose),
			help: "say more"},
		{long: "json", short: "J", roles: printers, group: groupReport, set: on(&r.json),
			help: "one JSON document at the end, as iperf3 writes it"},
		{long: "json", short: "J", roles: onDoctor, group: groupReport, set: on(&r.json),
			help: "one JSON document"},
		{long: "evidence", arg: "FILE", roles: onDoctor, group: groupReport, set: text(&o.evidence.from),
			help: "judge saved evidence instead of this computer"},
		{long: "expect", arg: "RATE", roles: onHost | onRun | onDoctor, group: groupReport, set: lineSpeed(&o.expect),
			help: "the line speed that should be there, such as 10G"},
		{long: "save-evidence", arg: "FILE", roles: ownTests | onDoctor, group: groupReport, set: text(&o.evidence.save),
			help: "write all that the findings rest on: a bug report"},
		{long: "json-stream", roles: printers, group: groupReport, set: on(&r.stream),
			help: "one JSON object a line while the test runs"},
		{long: "json-stream-full-output", roles: printers, group: groupReport, set: on(&r.full),
			help: "and the whole document at the end"},
		{long: "logfile", arg: "FILE", roles: printers, group: groupReport, set: text(&r.logfile),
			help: "append everything to FILE, print nothing"},
		{long: "timestamps", arg: "FORMAT", without: "%c ", roles: printers | onHost, group: groupReport, set: stamps(r),
			help: "put the time before every line (strftime)"},
		{long: "forceflush", roles: printers, set: on(&r.flush)},
		{long: "pidfile", short: "I", arg: "FILE", roles: onRun | onC | listens, group: groupReport, set: text(&o.pidfile),
			help: "write the process number to FILE"},
		{long: "debug", short: "d", arg: "LEVEL", without: "4", roles: onC | onS, set: whole(&o.debug, 1, 4, "a level from 1 to 4")},
		{long: "one-off", short: "1", roles: listens, group: groupServer, set: on(&o.oneOff),
			help: "end after one test"},
		{long: "daemon", short: "D", roles: listens, set: on(&o.daemon)},
	}
}

// ownFlags are the ones iperf3 does not have, and --version.
func ownFlags(o *options) []option {
	c := &o.screen
	choice := func(p *string, words ...string) func(string) error {
		return func(s string) error {
			for _, w := range words {
				if s == w {
					*p = s
					return nil
				}
			}
			return fmt.Errorf("expected %s or %s", strings.Join(words[:len(words)-1], ", "), words[len(words)-1])
		}
	}
	return []option{
		{long: "auto", roles: onDemo, group: groupDemo, set: on(&o.demo.auto),
			help: "find the best stream count by itself"},
		{long: "link", arg: "RATE", roles: onDemo, group: groupDemo, set: rate(&o.demo.link),
			help: "simulate a link of this speed, such as 10G"},
		{long: "per-stream", arg: "RATE", roles: onDemo, group: groupDemo, set: rate(&o.demo.perStream),
			help: "and limit each stream on it, such as 2.5G"},
		{long: "max-tests", arg: "COUNT", roles: listens, group: groupServer, set: whole(&o.max, 1, 1024, "1 to 1024 tests"),
			help: "tests at the same time (64)"},
		{long: "color", arg: "MODE", roles: screens, group: groupScreen, set: choice(&c.color, "auto", "never", "16", "256", "true"),
			help: "auto, never, 16, 256 or true"},
		{long: "glyphs", arg: "SET", roles: screens, group: groupScreen, set: choice(&c.glyphs, "auto", "braille", "block", "ascii"),
			help: "auto, braille, block or ascii"},
		{long: "theme", arg: "NAME", roles: screens, group: groupScreen, set: choice(&c.theme, "auto", "dark", "light", "mono"),
			help: "auto, dark, light or mono"},
		{long: "refresh", arg: "TIME", roles: screens, group: groupScreen, set: refresh(&c.refresh),
			help: "time between two pictures, 100ms to 10s (250ms)"},
		{long: "no-sync", roles: screens, group: groupScreen, set: on(&c.noSync),
			help: "do not use synchronised output"},
		{long: "plain", roles: screens | onServe, group: groupScreen, set: on(&o.output.plain),
			help: "print lines instead of drawing a screen"},
		{long: "version", short: "v", roles: anywhere | onDoctor, set: on(&o.version)},
	}
}

// missingFlags are iperf3's that this version does not have.
func missingFlags() []option {
	var list []option
	for _, m := range []struct {
		long, short, arg, what string
		roles                  roles
	}{
		{"udp", "u", "", "UDP (-u)", tests},
		{"udp-counters-64bit", "", "", "UDP (--udp-counters-64bit)", tests},
		{"gsro", "", "", "UDP (--gsro)", tests},
		{"dont-fragment", "", "", "UDP (--dont-fragment)", tests},
		{"sctp", "", "", "SCTP (--sctp)", tests},
		{"xbind", "X", "NAME", "SCTP (-X)", tests},
		{"nstreams", "", "COUNT", "SCTP (--nstreams)", tests},
		{"mptcp", "m", "", "MPTCP (-m)", anywhere},
		{"file", "F", "FILE", "sending a file (-F)", anywhere},
		{"cntl-ka", "", "TIMES", "keepalive on the control connection (--cntl-ka)", anywhere},
		{"username", "", "NAME", "authentication (--username)", dials},
		{"rsa-public-key-path", "", "FILE", "authentication (--rsa-public-key-path)", dials},
		{"rsa-private-key-path", "", "FILE", "authentication (--rsa-private-key-path)", listens},
		{"authorized-users-path", "", "FILE", "authentication (--authorized-users-path)", listens},
		{"time-skew-threshold", "", "SECONDS", "authentication (--time-skew-threshold)", listens},
		{"use-pkcs1-padding", "", "", "authentication (--use-pkcs1-padding)", listens},
		{"server-bitrate-limit", "", "RATE", "--server-bitrate-limit", listens},
		{"server-max-duration", "", "SECONDS", "--server-max-duration", listens},
		{"idle-timeout", "", "SECONDS", "--idle-timeout", listens},
	} {
		list = append(list, option{long: m.long, short: m.short, arg: m.arg, roles: m.roles, set: notBuilt(m.what)})
	}
	return list
}

// seconds reads whole seconds: the wire has no fractions. "90s", "15m" and "1h" are fine
// too.
func seconds(p *time.Duration, most time.Duration, want string) func(string) error {
	return func(s string) error {
		d, err := time.ParseDuration(s)
		if n, nerr := strconv.ParseInt(s, 10, 32); nerr == nil {
			d, err = time.Duration(n)*time.Second, nil
		}
		if err != nil || d < 0 || d > most || d%time.Second != 0 {
			return fmt.Errorf("expected %s", want)
		}
		*p = d
		return nil
	}
}

// interval reads -i; iperf3's 0 (no reports) is a negative Interval in a Spec.
func interval(p *time.Duration) func(string) error {
	return func(s string) error {
		v, err := strconv.ParseFloat(strings.TrimSuffix(s, "s"), 64)
		d := time.Duration(math.Round(v * float64(time.Second)))
		switch {
		case err == nil && v == 0:
			*p = -1
		case err != nil || d < engine.MinInterval || d > engine.MaxInterval:
			return fmt.Errorf("expected 0, or 0.1 to 60 seconds")
		default:
			*p = d
		}
		return nil
	}
}

// millis reads milliseconds, iperf3's unit for time-outs.
func millis(p *time.Duration, least int64, want string) func(string) error {
	return func(s string) error {
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil || n < least {
			return fmt.Errorf("expected %s", want)
		}
		*p = time.Duration(n) * time.Millisecond
		return nil
	}
}

func refresh(p *time.Duration) func(string) error {
	return func(s string) error {
		d, err := time.ParseDuration(s)
		if n, nerr := strconv.ParseFloat(s, 64); nerr == nil {
			d, err = time.Duration(n*float64(time.Second)), nil
		}
		if err != nil || d < 100*time.Millisecond || d > 10*time.Second {
			return fmt.Errorf("expected a time from 100ms to 10s")
		}
		*p = d
		return nil
	}
}

func size[T int | uint64](p *T, most uint64) func(string) error {
	return func(s string) error {
		n, err := unit.ParseSize(s)
		if err != nil {
			return err
		}
		if n > most {
			return fmt.Errorf("expected at most %s", unit.BytesIEC(most))
		}
		*p = T(n)
		return nil
	}
}

func rate(p *float64) func(string) error {
	return func(s string) (err error) {
		*p, err = unit.ParseRate(s)
		return err
	}
}

// lineSpeed reads a rate that a link can have.
func lineSpeed(p *float64) func(string) error {
	return func(s string) error {
		v, err := unit.ParseRate(s)
		if err != nil || v <= 0 {
			return fmt.Errorf("expected a line speed such as 100M, 2.5G or 10G")
		}
		*p = v
		return nil
	}
}

func pace(s *engine.Spec) func(string) error {
	return func(word string) (err error) {
		s.Bitrate, s.Burst, err = unit.ParseRateBurst(word)
		return err
	}
}

func bind(s *engine.Spec) func(string) error {
	return func(word string) error {
		host, dev := splitDevice(word)
		s.Bind = host
		if dev != "" {
			s.BindDev = dev
		}
		return nil
	}
}

// affinity reads -A n or n,m.
func affinity(s *engine.Spec) func(string) error {
	return func(word string) error {
		own, far, both := strings.Cut(word, ",")
		core := func(p *int) func(string) error { return whole(p, 0, 1024, "a core from 0 to 1024, or two: 2,3") }
		if err := core(&s.Affinity)(own); err != nil || !both {
			return err
		}
		return core(&s.SrvAffinity)(far)
	}
}

func rateUnit(p *byte) func(string) error {
	return func(s string) error {
		if len(s) != 1 || !strings.Contains("kmgtKMGT", s) {
			return fmt.Errorf("expected one of k, m, g, t, K, M, G, T")
		}
		*p = s[0]
		return nil
	}
}

func stamps(r *output) func(string) error {
	return func(s string) error {
		r.timestamps, r.stampLayout = true, s
		return nil
	}
}

// classes are the names iperf3 knows, as the whole type-of-service byte (RFC 2474, 2597,
// 3246, 5865; the last three are the bits of RFC 1349).
var classes = map[string]int{
	"cs0": 0x00, "cs1": 0x20, "cs2": 0x40, "cs3": 0x60, "cs4": 0x80, "cs5": 0xa0, "cs6": 0xc0, "cs7": 0xe0,
	"af11": 0x28, "af12": 0x30, "af13": 0x38, "af21": 0x48, "af22": 0x50, "af23": 0x58,
	"af31": 0x68, "af32": 0x70, "af33": 0x78, "af41": 0x88, "af42": 0x90, "af43": 0x98,
	"ef": 0xb8, "va": 0xb0, "lowdelay": 0x10, "throughput": 0x08, "reliability": 0x04,
}

func dscp(tos *int) func(string) error {
	return func(s string) error {
		if class, known := classes[strings.ToLower(s)]; known {
			*tos = class
			return nil
		}
		n, err := strconv.ParseInt(s, 0, 64)
		if err != nil || n < 0 || n > 63 {
			return fmt.Errorf("expected 0 to 63 or a name such as ef, af11, cs1")
		}
		*tos = int(n) << 2
		return nil
	}
}
