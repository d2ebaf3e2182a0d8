package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"linerate/engine"
)

// parse reads a command line as a client's test, without running anything.
func parse(role roles, line string) (*options, engine.Spec, error) {
	o := newOptions()
	table := flagTable(o)
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	fs.SetOutput(discard{})
	register(fs, table, role)
	err := fs.Parse(strings.Fields(line))
	var spec engine.Spec
	if err == nil {
		spec, err = o.test(target{host: "h"}, runLasts, fs.Changed)
	}
	if err != nil {
		return o, spec, flagProblem(err, table, fs)
	}
	return o, spec, nil
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func TestTestFlags(t *testing.T) {
	base := engine.Spec{Host: "h", Port: 5201, Streams: 1, Interval: time.Second, Duration: 10 * time.Second, Affinity: -1, SrvAffinity: -1}
	tests := []struct {
		line string
		want func(*engine.Spec)
	}{
		{"", func(*engine.Spec) {}},
		{"-P 4 -R", func(s *engine.Spec) { s.Streams, s.Direction = 4, engine.Download }},
		{"-RP4", func(s *engine.Spec) { s.Streams, s.Direction = 4, engine.Download }},
		{"-NZP 4", func(s *engine.Spec) { s.NoDelay, s.ZeroCopy, s.Streams = true, true, 4 }},
		{"--rev --par 2", func(s *engine.Spec) { s.Streams, s.Direction = 2, engine.Download }},
		{"--parallel=128", func(s *engine.Spec) { s.Streams = 128 }},
		{"--bidir", func(s *engine.Spec) { s.Direction = engine.Both }},
		{"--bid", func(s *engine.Spec) { s.Direction = engine.Both }},
		{"-t 0", func(s *engine.Spec) { s.Duration = 0 }},
		{"-t 30", func(s *engine.Spec) { s.Duration = 30 * time.Second }},
		{"-t 2m", func(s *engine.Spec) { s.Duration = 2 * time.Minute }},
		{"-n 10M", func(s *engine.Spec) { s.Duration, s.Bytes = 0, 10<<20 }},
		{"-n 1.5k", func(s *engine.Spec) { s.Duration, s.Bytes = 0, 1536 }},
		{"-t 0 -n 1", func(s *engine.Spec) { s.Duration, s.Bytes = 0, 1 }},
		{"-k 2K", func(s *engine.Spec) { s.Duration, s.Blocks = 0, 2048 }},
		{"-O 3", func(s *engine.Spec) { s.Omit = 3 * time.Second }},
		{"-i 0", func(s *engine.Spec) { s.Interval = -1 }},
		{"-i 0.1", func(s *engine.Spec) { s.Interval = 100 * time.Millisecond }},
		{"-l 1M", func(s *engine.Spec) { s.BlockSize = 1 << 20 }},
		{"-w 4M", func(s *engine.Spec) { s.Window = 4 << 20 }},
		{"-C bbr", func(s *engine.Spec) { s.Congestion = "bbr" }},
		{"--linux-congestion reno", func(s *engine.Spec) { s.Congestion = "reno" }},
		{"-M 1400", func(s *engine.Spec) { s.MSS = 1400 }},
		{"-b 1.5G", func(s *engine.Spec) { s.Bitrate = 1.5e9 }},
		{"-b 100m/10", func(s *engine.Spec) { s.Bitrate, s.Burst = 1e8, 10 }},
		{"--bandwidth 1k", func(s *engine.Spec) { s.Bitrate = 1000 }},
		{"-b 0", func(*engine.Spec) {}},
		{"--fq-rate 2G", func(s *engine.Spec) { s.FQRate = 2e9 }},
		{"--fq-rate 2G --no-fq-socket-pacing", func(*engine.Spec) {}},
		{"--pacing-timer 500", func(*engine.Spec) {}},
		{"--skip-rx-copy --repeating-payload", func(s *engine.Spec) { s.SkipRxCopy, s.Repeating = true, true }},
		{"-S 0x20", func(s *engine.Spec) { s.TOS = 32 }},
		{"-S 052", func(s *engine.Spec) { s.TOS = 42 }},
		{"--dscp 46", func(s *engine.Spec) { s.TOS = 184 }},
		{"--dscp EF", func(s *engine.Spec) { s.TOS = 184 }},
		{"--dscp af11", func(s *engine.Spec) { s.TOS = 40 }},
		{"--dscp lowdelay", func(s *engine.Spec) { s.TOS = 16 }},
		{"-L 0x12345", func(s *engine.Spec) { s.FlowLabel = 0x12345 }},
		{"-4", func(s *engine.Spec) { s.Family = 4 }},
		{"-6", func(s *engine.Spec) { s.Family = 6 }},
		{"-B 192.0.2.1%eth0", func(s *engine.Spec) { s.Bind, s.BindDev = "192.0.2.1", "eth0" }},
		{"-B fe80::1%eth0", func(s *engine.Spec) { s.Bind = "fe80::1%eth0" }},
		{"--bind-dev eth1 --cport 4000", func(s *engine.Spec) { s.BindDev, s.ClientPort = "eth1", 4000 }},
		{"-A 2", func(s *engine.Spec) { s.Affinity = 2 }},
		{"-A 0,3", func(s *engine.Spec) { s.Affinity, s.SrvAffinity = 0, 3 }},
		{"-p 5202 --connect-timeout 300", func(s *engine.Spec) { s.Port, s.ConnectTimeout = 5202, 300*time.Millisecond }},
		{"-R --rcv-timeout 500 --snd-timeout 900", func(s *engine.Spec) {
			s.Direction, s.RcvTimeout, s.SndTimeout = engine.Download, 500*time.Millisecond, 900*time.Millisecond
		}},
		{"-T lab --extra-data x --get-server-output", func(s *engine.Spec) { s.Title, s.ExtraData, s.ServerOutput = "lab", "x", true }},
	}
	for _, test := range tests {
		t.Run(test.line, func(t *testing.T) {
			want := base
			test.want(&want)
			_, got, err := parse(onRun, test.line)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReportFlags(t *testing.T) {
	tests := []struct {
		line string
		want output
	}{
		{"-f g -V", output{unit: 'g', verbose: true}},
		{"-J", output{json: true}},
		{"--json", output{json: true}},
		{"--json-stream", output{stream: true}},
		{"--json-stream-full", output{full: true}},
		{"--timestamps", output{timestamps: true, stampLayout: "%c "}},
		{"--timestamps=%H:%M", output{timestamps: true, stampLayout: "%H:%M"}},
		{"--logfile x --forceflush", output{logfile: "x", flush: true}},
	}
	for _, test := range tests {
		t.Run(test.line, func(t *testing.T) {
			o, _, err := parse(onC, test.line)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, o.output, cmp.AllowUnexported(output{})); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

// Each line must be refused with one sentence, and under iperf3's spelling with iperf3's
// own where it has one. The texts were read from iperf3 3.18.
func TestBadFlags(t *testing.T) {
	tests := []struct {
		line, want, iperf3 string
	}{
		{"-P 129", `-P "129": expected 1 to 128 streams`, "number of parallel streams too large (maximum = 128)"},
		{"-P 0", `-P "0": expected 1 to 128 streams`, "number of parallel streams too large (maximum = 128)"},
		{"-P", "-P: expected streams after it", ""},
		{"--parallel", "-P: expected streams after it", ""},
		{"-P x", `-P "x": expected 1 to 128 streams`, "number of parallel streams too large (maximum = 128)"},
		{"-t -1", `-t "-1": expected a whole number of seconds up to 86400, 0 for no end`, "test duration valid values are 0 to 86400 seconds"},
		{"-t 1.5", `-t "1.5": expected a whole number of seconds up to 86400, 0 for no end`, "test duration valid values are 0 to 86400 seconds"},
		{"-O 601", `-O "601": expected a whole number of seconds up to 600`, "bogus value for --omit (maximum = 600 seconds)"},
		{"-i 61", `-i "61": expected 0, or 0.1 to 60 seconds`, "invalid report interval (min = 0.1, max = 60 seconds)"},
		{"-i 0.05", `-i "0.05": expected 0, or 0.1 to 60 seconds`, "invalid report interval (min = 0.1, max = 60 seconds)"},
		{"-R --bidir", "-R and --bidir: only one of them", "cannot be both reverse and bidirectional"},
		{"-n 1M -k 2", "-t, -n, -k: expected only one of them", "only one test end condition (-t, -n, -k) may be specified"},
		{"-t 5 -n 1M", "-t, -n, -k: expected only one of them", "only one test end condition (-t, -n, -k) may be specified"},
		{"-l 2M", `-l "2M": expected at most 1.00 MiB`, "block size too large (maximum = 1048576 bytes)"},
		{"-w 600M", `-w "600M": expected at most 512 MiB`, "socket buffer size too large (maximum = 536870912 bytes)"},
		{"-w big", `-w "big": expected a size such as 4096, 128K or 1.5M (K, M, G and T are steps of 1024)`, "socket buffer size too large (maximum = 536870912 bytes)"},
		{"-f x", `-f "x": expected one of k, m, g, t, K, M, G, T`, "bad format specifier (valid formats are in the set [kmgtKMGT])"},
		{"-p 0", `-p "0": expected a port from 1 to 65535`, "port number must be between 1 and 65535 inclusive"},
		{"-p 70000", `-p "70000": expected a port from 1 to 65535`, "port number must be between 1 and 65535 inclusive"},
		{"-S 256", `-S "256": expected a type of service from 0 to 255 (0x20 and 040 are fine too)`, "bad TOS value (must be between 0 and 255 inclusive)"},
		{"--dscp 64", `--dscp "64": expected 0 to 63 or a name such as ef, af11, cs1`, "bad TOS value (must be between 0 and 255 inclusive)"},
		{"-b 10MB", `-b "10MB": expected a rate in bits per second such as 500K, 100M or 2.5G (K, M, G and T are steps of 1000)`, ""},
		{"-4 -6", "-4 and -6: only one of them", ""},
		{"-A x", `-A "x": expected a core from 0 to 1024, or two: 2,3`, "unable to set CPU affinity: "},
		{"-R --rcv-timeout 50", `--rcv-timeout "50": expected 100 milliseconds or more`, "receive timeout value is incorrect or not in range: "},
		{"--rcv-timeout 500", "--rcv-timeout: only for a test that receives", "client receive timeout is valid only in receiving mode: "},
		{"-L 0", `-L "0": expected a flow label from 1 to 1048575`, "unable to set IPv6 flow label"},
		{"--foo", "--foo: there is no such flag", ""},
		{"-y", "-y: there is no such flag", ""},
		{"-Ry", "-y: there is no such flag", ""},
		{"--v", "--v: could be --verbose, --version, --version4, --version6", ""},
		{"--auto", "--auto: only for linerate demo", ""},
		{"-u", "UDP (-u) is not built yet", ""},
		{"--sctp", "SCTP (--sctp) is not built yet", ""},
		{"-F file", "sending a file (-F) is not built yet", ""},
		{"--bidir=maybe", `--bidir "maybe": expected no value`, ""},
	}
	for _, test := range tests {
		t.Run(test.line, func(t *testing.T) {
			_, _, err := parse(onC, test.line)
			p, ok := err.(*problem)
			if !ok {
				t.Fatalf("error: got %v, want a *problem", err)
			}
			if p.text != test.want {
				t.Errorf("text: got %q, want %q", p.text, test.want)
			}
			if p.iperf3 != test.iperf3 {
				t.Errorf("in iperf3's words: got %q, want %q", p.iperf3, test.iperf3)
			}
			if p.code != exitUsage {
				t.Errorf("exit code: got %d, want %d", p.code, exitUsage)
			}
		})
	}
}

// Names of flags must be unambiguous within each command, or registering them panics.
func TestTableRegisters(t *testing.T) {
	for _, role := range []roles{onHost, onDemo, onRun, onServe, onDoctor, onC | onS} {
		register(pflag.NewFlagSet("test", pflag.ContinueOnError), flagTable(newOptions()), role)
	}
}

func TestEveryListedFlagIsExplained(t *testing.T) {
	for _, o := range flagTable(newOptions()) {
		if (o.group == "") != (o.help == "") {
			t.Errorf("--%s: group %q and help %q: need both or none", o.long, o.group, o.help)
		}
	}
}

func TestTarget(t *testing.T) {
	tests := []struct {
		word string
		want target
		bad  string
	}{
		{"server", target{"server", 0}, ""},
		{"server.example:5202", target{"server.example", 5202}, ""},
		{"192.0.2.7", target{"192.0.2.7", 0}, ""},
		{"192.0.2.7:443", target{"192.0.2.7", 443}, ""},
		{"2001:db8::7", target{"2001:db8::7", 0}, ""},
		{"fe80::1%eth0", target{"fe80::1%eth0", 0}, ""},
		{"[2001:db8::7]", target{"2001:db8::7", 0}, ""},
		{"[2001:db8::7]:5202", target{"2001:db8::7", 5202}, ""},
		{"[fe80::1%eth0]:5202", target{"fe80::1%eth0", 5202}, ""},
		{"", target{}, `"": expected a host name or address, with :PORT if need be`},
		{"a b", target{}, `"a b": expected a host name or address, with :PORT if need be`},
		{"http://server/x", target{}, `"http://server/x": expected a host, not a http address`},
		{"server:", target{}, `"server:": expected HOST:PORT`},
		{":5201", target{}, `":5201": expected HOST:PORT`},
		{"server:0", target{}, `"server:0": expected a port from 1 to 65535 after the colon`},
		{"server:70000", target{}, `"server:70000": expected a port from 1 to 65535 after the colon`},
		{"server:http", target{}, `"server:http": expected a port from 1 to 65535 after the colon`},
		{"2001:db8::7:x", target{}, `"2001:db8::7:x": expected an IPv6 address`},
		{"[server]:5201", target{}, `"[server]:5201": expected an IPv6 address in the brackets`},
		{"[::1", target{}, `"[::1": expected [IPv6 address]:PORT`},
		{"[::1]:", target{}, `"[::1]:": expected a port after the colon`},
		{"[::1]x", target{}, `"[::1]x": expected [IPv6 address]:PORT`},
	}
	for _, test := range tests {
		t.Run(test.word, func(t *testing.T) {
			got, err := parseTarget(test.word)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if text != test.bad || got != test.want {
				t.Errorf("got %+v, %q; want %+v, %q", got, text, test.want, test.bad)
			}
		})
	}
}

func TestPortTwice(t *testing.T) {
	o := newOptions()
	o.spec.Port = 5201
	given := func(long string) bool { return long == "port" }
	if _, err := o.test(target{"h", 5202}, 0, given); err == nil {
		t.Error("5202 after the host and 5201 after -p: got no error")
	}
	if _, err := o.test(target{"h", 5201}, 0, given); err != nil {
		t.Errorf("the same port twice: got %v", err)
	}
}

func TestSpelledLikeIperf3(t *testing.T) {
	tests := []struct {
		line string
		want bool
	}{
		{"-c host", true},
		{"-s", true},
		{"--client host", true},
		{"--cl host", true},
		{"--server", true},
		{"-p 5202 -s", true},
		{"-P4 -c host", true},
		{"-Rc host", true},
		{"-t 5 --client=host", true},
		{"host", false},
		{"host -P 4", false},
		{"-T -c host", false},
		{"--title -s host", false},
		{"--set-mss 1400 host", false},
		{"-C cubic host", false},
		{"-Ccs host", false},
		{"run -c", false},
		{"demo -s", false},
		{"--timestamps -s", true},
		{"-- -s", false},
		{"", false},
	}
	for _, test := range tests {
		if got := spelledLikeIperf3(strings.Fields(test.line)); got != test.want {
			t.Errorf("%q: got %v, want %v", test.line, got, test.want)
		}
	}
}
