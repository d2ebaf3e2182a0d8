package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// roles are the commands that take a flag.
type roles uint8

const (
	onHost   roles = 1 << iota // linerate HOST
	onDemo                     // linerate demo
	onRun                      // linerate run HOST
	onC                        // linerate -c HOST
	onServe                    // linerate serve
	onS                        // linerate -s
	onDoctor                   // linerate doctor

	tests    = onHost | onDemo | onRun | onC
	dials    = onHost | onRun | onC
	screens  = onHost | onDemo
	listens  = onServe | onS
	printers = onRun | onC | onS
	network  = dials | listens
	anywhere = tests | listens
	ownTests = onHost | onDemo | onRun
)

// option is one flag of the command line.
type option struct {
	long, short string
	arg         string // the name of its value in the help; "" for a switch
	without     string // the value it gets when it stands alone, for --timestamps[=FORMAT]
	roles       roles
	group       string // heading in the help; "" keeps it out of the help
	help        string
	iperf3      string // what iperf3 says about a value it refuses
	set         func(value string) error
}

// value is an option as pflag sees it: it hands the word on to its setter.
type value struct{ option }

func (v value) Set(s string) error { return v.set(s) }
func (v value) String() string     { return "" }

// Type names what is expected, for the sentence about a flag without its value.
func (v value) Type() string { return strings.ToLower(v.arg) }

// register adds the options of one command to a flag set and lets it read iperf3's
// abbreviations and other names.
func register(fs *pflag.FlagSet, table []option, role roles) {
	names := []string{"help"} // cobra adds it
	for _, o := range table {
		if o.roles&role == 0 {
			continue
		}
		f := fs.VarPF(value{o}, o.long, o.short, o.help)
		switch {
		case o.arg == "":
			f.NoOptDefVal = "true"
		case o.without != "":
			f.NoOptDefVal = o.without
		}
		names = append(names, o.long)
	}
	fs.SetNormalizeFunc(abbreviations(names))
}

// abbreviations resolves a long flag the way getopt_long does: the whole name, or the
// beginning of exactly one.
func abbreviations(names []string) func(*pflag.FlagSet, string) pflag.NormalizedName {
	return func(_ *pflag.FlagSet, typed string) pflag.NormalizedName {
		found := ""
		for _, name := range names {
			if name == typed {
				return pflag.NormalizedName(name)
			}
			if strings.HasPrefix(name, typed) {
				if found != "" {
					return pflag.NormalizedName(typed)
				}
				found = name
			}
		}
		if found != "" {
			return pflag.NormalizedName(found)
		}
		return pflag.NormalizedName(typed)
	}
}

// belongs says which commands take the flag, for one that does not.
func (o option) belongs() string {
	var words []string
	for _, c := range []struct {
		role roles
		name string
	}{{onHost, "linerate HOST"}, {onRun, "linerate run"}, {onC, "linerate -c"}, {onDemo, "linerate demo"}, {onDoctor, "linerate doctor"}, {onServe, "linerate serve"}, {onS, "linerate -s"}} {
		if o.roles&c.role != 0 {
			words = append(words, c.name)
		}
	}
	return "only for " + strings.Join(words, ", ")
}

// The setters below turn the word after a flag into a value, or say what was expected.

func text(p *string) func(string) error {
	return func(s string) error {
		*p = s
		return nil
	}
}

func on(p *bool) func(string) error {
	return func(s string) (err error) {
		if *p, err = strconv.ParseBool(s); err != nil {
			return fmt.Errorf("expected no value")
		}
		return nil
	}
}

// ignored accepts what this version has no use for.
func ignored(string) error { return nil }

// whole reads an integer in a range, in decimal, octal (052) or hexadecimal (0x34) as
// iperf3 does for -S.
func whole[T int | int64](p *T, lo, hi int64, want string) func(string) error {
	return func(s string) error {
		n, err := strconv.ParseInt(s, 0, 64)
		if err != nil || n < lo || n > hi {
			return fmt.Errorf("expected %s", want)
		}
		*p = T(n)
		return nil
	}
}

// notBuilt refuses a flag of iperf3 that this version does not have.
func notBuilt(what string) func(string) error {
	return func(string) error {
		return &problem{
			text: what + " is not built yet",
			hint: "this version tests TCP; iperf3 itself has it",
			code: exitUsage,
		}
	}
}
