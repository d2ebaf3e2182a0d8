package main

import (
	"strconv"
	"time"

	"linerate/engine"
)

// spelling says whose command line is being read: the rules for errors and exit codes
// follow it.
type spelling uint8

const (
	ours   spelling = iota // linerate HOST, run, demo, serve
	iperf3                 // linerate -c, linerate -s
)

// options is everything a command line can ask for. The setters of the flag table fill
// it; what a command does not take stays zero.
type options struct {
	spelling spelling
	spec     engine.Spec
	reverse  bool
	bidir    bool
	ipv4     bool
	ipv6     bool

	client string // -c HOST
	server bool   // -s
	daemon bool
	oneOff bool
	max    int // --max-tests

	output   output
	screen   screen
	demo     demoOptions
	evidence evidenceOptions
	expect   float64 // --expect, bits/s; 0: not given
	pidfile  string
	debug    int // accepted for iperf3's sake; it changes nothing
	version  bool
}

// newOptions is what a command line without flags means.
func newOptions() *options {
	return &options{spec: engine.Spec{Affinity: -1, SrvAffinity: -1}}
}

// output is how a report is written.
type output struct {
	unit        byte // -f; 0: chosen per number
	verbose     bool
	json        bool
	stream      bool // --json-stream
	full        bool // --json-stream-full-output
	logfile     string
	flush       bool // accepted: every line is flushed anyway
	timestamps  bool
	stampLayout string // strftime; "" with timestamps: iperf3's "%c "
	plain       bool   // --plain: no screen, even on a terminal
}

// screen is how the dashboard looks.
type screen struct {
	color, glyphs, theme string
	refresh              time.Duration
	noSync               bool
}

// demoOptions are the flags only demo has.
type demoOptions struct {
	auto      bool
	link      float64 // bits/s of the simulated link; 0: none
	perStream float64 // bits/s of one stream on it; 0: no limit but the link
}

// test is the Spec of a client's test, checked, with its defaults. Without -t, -n and -k
// it lasts so long; 0 is until stopped. given says whether a flag was on the command line.
func (o *options) test(to target, lasts time.Duration, given func(long string) bool) (engine.Spec, error) {
	s := o.spec
	s.Host = to.host
	switch {
	case o.reverse && o.bidir:
		return s, usageLike("cannot be both reverse and bidirectional",
			"-R and --bidir: only one of them", "--bidir alone runs both ways at once")
	case o.reverse:
		s.Direction = engine.Download
	case o.bidir:
		s.Direction = engine.Both
	}
	if to.port != 0 {
		if given("port") && s.Port != to.port {
			return s, usage("two different ports: "+strconv.Itoa(to.port)+" after the host and "+strconv.Itoa(s.Port)+" after -p", "keep one")
		}
		s.Port = to.port
	}
	if err := o.family(&s); err != nil {
		return s, err
	}
	if s.RcvTimeout > 0 && s.Direction == engine.Upload {
		return s, usageLike("client receive timeout is valid only in receiving mode: ",
			"--rcv-timeout: only for a test that receives", "add -R or --bidir")
	}
	if !given("time") && s.Bytes == 0 && s.Blocks == 0 {
		s.Duration = lasts
	}
	s = s.Defaults()
	return s, s.Validate()
}

func (o *options) family(s *engine.Spec) error {
	switch {
	case o.ipv4 && o.ipv6:
		return usage("-4 and -6: only one of them", "without either, both are tried")
	case o.ipv4:
		s.Family = 4
	case o.ipv6:
		s.Family = 6
	}
	return nil
}
